"""Extents of scenarios over paths, for comparison with the validated range."""

from collections.abc import Iterable
from math import isfinite, prod

from netcarlo.networks.extent import (
    Compared,
    Extent,
    Extents,
    drop_tail,
    extent_of,
    features,
    given,
    in_flight,
    in_packets,
    known,
    merged,
    name_of,
    of_sender,
    outage,
    path_capacity,
)
from netcarlo.networks.path.description import Hops, HopSpec, Route
from netcarlo.networks.path.phrase import count_of
from netcarlo.networks.run import Run
from netcarlo.schema.quantity import Number, bounds

Counted = list[tuple[HopSpec, tuple[float, float]]]
"""Hops with the minimum and maximum number of hops that each stands for."""


def compared(run: Run, routes: list[Route], *, mobile: bool) -> Compared:
    """Return kind of network and extents of a scenario over these paths."""
    network = "mobile hosts" if mobile else f"{count_of(len(routes))} paths" if len(routes) > 1 else "paths"
    own = of_sender(run.transport)
    return Compared(network, {name_of(run.transport): merged(_of_route(route, own) for route in routes)})


def _of_route(route: Route, own: Extents) -> Extents:
    """Return the extents of a path and of its sender."""
    counted: Counted = [
        (hop.each, bounds(hop.count)) if isinstance(hop, Hops) else (hop, (1.0, 1.0)) for hop in route.hops
    ]
    hops = [hop for hop, _ in counted]
    slowest = [bounds(rate) for hop in hops for rate in (hop.rate, hop.shaper and hop.shaper.rate) if rate]
    low, high = (min(rate[k] for rate in slowest) for k in (0, 1))
    rtt = _sum((_round_trip(hop), many) for hop, many in counted)
    of = Extent(low, high), rtt, own["payload"]
    waiting = in_packets(min(hops, key=lambda hop: bounds(hop.rate)[1]).queue, *of)
    special = features(hops) | {
        "bursts": given(*(hop.bursts for hop in hops), *(hop.ack_bursts for hop in hops)),
        "cross_traffic": given(*(hop.cross_traffic for hop in hops)),
    }
    senders = in_flight(own, path_capacity(Extent(low, high), rtt, waiting, own["payload"]))
    return (
        senders
        | special
        | known(
            hops=_sum((Extent(1, 1), many) for _, many in counted),
            queue=drop_tail(hops, *of),
            rate=Extent(low, high) if isfinite(high) else None,
            rtt=rtt,
            loss=_lost((hop.loss, many) for hop, many in counted),
            ack_loss=_lost((hop.ack_loss, many) for hop, many in counted),
            outage=outage(hop.outages for hop in hops if hop.outages) or extent_of(0.0),
        )
    )


def _round_trip(hop: HopSpec) -> Extent:
    """Return the round-trip propagation delay of a hop."""
    there = bounds(hop.delay)
    back = there if hop.reverse.delay is None else bounds(hop.reverse.delay)
    return Extent(there[0] + back[0], there[1] + back[1])


def _sum(each: Iterable[tuple[Extent, tuple[float, float]]]) -> Extent:
    found = list(each)
    return Extent(sum(e.low * many[0] for e, many in found), sum(e.high * many[1] for e, many in found))


def _lost(each: Iterable[tuple[Number, tuple[float, float]]]) -> Extent:
    """Return the probability that a packet is lost at random on at least one hop."""
    found = [(bounds(loss), many) for loss, many in each]
    return Extent(*(1 - prod((1 - loss[k]) ** many[k] for loss, many in found) for k in (0, 1)))
