"""Checks and forecast of paths before a run: minimum delay, outages, traces, and number of packets."""

import math
from typing import Any

from netcarlo.errors import InputError
from netcarlo.networks.outages import MAX_OUTAGES
from netcarlo.networks.path.description import Hops, HopSpec, Route, every_hop
from netcarlo.networks.run import Run
from netcarlo.networks.service import min_transit_ns
from netcarlo.networks.traces import check_end
from netcarlo.networks.traffic import NO_TIME, datagrams, mean, of_association
from netcarlo.schema.quantity import bounds


def check_time_passes(routes: list[Route], transport: Any) -> None:
    """Raise InputError if a packet could arrive in the nanosecond in which it was sent; such a run might
    not end."""
    size = sum(bounds(getattr(transport, name, 0.0))[0] for name in ("payload", "chunk_header", "header"))
    for number, route in enumerate(routes):
        if not any(min_transit_ns(hop, size) for hop, _ in _counted(route)):
            name = "hops" if len(routes) == 1 else f"paths.{number}.hops"
            raise InputError(f"{name} can take less than 1 ns in total; {NO_TIME}")


def check_outages(routes: list[Route], duration_s: float) -> None:
    """Raise InputError if hops have more outages than rows can store."""
    for hop in every_hop(routes):
        if not isinstance(hop.outages, list) and (most := hop.outages.expected(duration_s)) > MAX_OUTAGES:
            allowed = f"expected 0 to {MAX_OUTAGES}"
            raise InputError(
                f"hops.outages can be up to {most:.0f} on average; {allowed}; raise up, or shorten duration"
            )


def check_traces(routes: list[Route], duration_s: float) -> None:
    """Raise InputError if a run lasts longer than a trace, which does not repeat."""
    for hop in every_hop(routes):
        check_end(hop.trace, hop.repeat, "hops.trace", duration_s)
        check_end(hop.reverse.trace, hop.reverse.repeat, "hops.reverse.trace", duration_s)


def packets(routes: list[Route], run: Run, *, fluid: bool) -> float:
    """Return the approximate number of packets of one replication, cross traffic included; for a fluid,
    steps."""
    duration = mean(run.duration)
    total = 0.0
    for route in routes:
        rtt_s, slowest = 0.0, math.inf
        for hop, count in _counted(route):
            back = hop.delay if hop.reverse.delay is None else hop.reverse.delay
            rtt_s += count * (mean(hop.delay) + mean(back))
            slowest = min(slowest, mean(hop.rate))
            if hop.cross_traffic is not None:
                cross = hop.cross_traffic
                total += count * duration * mean(cross.rate) / (8 * mean(cross.packet))
        if run.transport.datagrams:
            total += datagrams(run.transport, duration)
        else:
            total += of_association(run.transport, duration, rtt_s, slowest, fluid=fluid)
    return total


def _counted(route: Route) -> list[tuple[HopSpec, float]]:
    """Return the hops of a path with their mean number."""
    return [(hop.each, mean(hop.count)) if isinstance(hop, Hops) else (hop, 1.0) for hop in route.hops]
