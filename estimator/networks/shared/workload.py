"""Checks and forecast of shared links before a run: minimum delay, and number of packets."""

from typing import Any

from netcarlo.errors import InputError
from netcarlo.networks import arrivals
from netcarlo.networks.run import Run
from netcarlo.networks.service import min_transit_ns
from netcarlo.networks.shared.description import Cable, Flows, SharedSpec
from netcarlo.networks.traffic import (
    NO_TIME,
    datagrams,
    either,
    mean,
    of_association,
    whole_ns,
    wire_ns,
)
from netcarlo.schema.quantity import bounds
from netcarlo.transport.kinds import sender_of


def check_time_passes(shared: SharedSpec, transport: Any) -> None:
    """Raise InputError if a TCP packet could arrive in the nanosecond in which it was sent; such a run
    might not end."""
    for name, flow in shared.each_flow():
        tcp = sender_of(transport, flow)
        if tcp.datagrams:
            continue
        size = (bounds(flow.payload or tcp.payload)[0]) + bounds(tcp.header)[0]
        access = flow.access or shared.access
        ends = (
            (access.source_rate or access.rate, access.source_delay),
            (access.sink_rate or access.rate, access.sink_delay),
        )
        hosts = sum(wire_ns(rate, size) + whole_ns(delay) for rate, delay in ends)
        if hosts:
            continue
        lines: list[Any] = shared.links or [shared.cable(k) for k in range(shared.least_cables)]
        times = [_least_ns(line, size) for line in lines]
        if flow.route is not None:
            links = flow.route if shared.links else [link // 2 for link in flow.route]
            times = [sum(times[link] for link in links)]
        elif not (shared.links or shared.random_cables) and shared.placement(flow) == "ends":
            times = [sum(times)]
        if not min(times):
            raise InputError(
                f"shared.{name} can reach its sink in less than 1 ns; {NO_TIME}, of its links or its access"
            )


def _least_ns(line: Any, size: float) -> int:
    """Return the minimum time of a packet on a link, or in the faster direction of a cable [ns]."""
    forth = min_transit_ns(line, size)
    if not isinstance(line, Cable):
        return forth
    back = line.reverse
    back_again = line.model_copy(
        update={
            "rate": back.rate or line.rate, "delay": either(back.delay, line.delay),
            "trace": back.trace or (None if back.rate else line.trace),
        }
    )  # fmt: skip
    return min(forth, min_transit_ns(back_again, size))


def packets(shared: SharedSpec, run: Run, *, fluid: bool) -> float:
    """Return the approximate number of packets of one replication; for a fluid, steps."""
    duration, transport = mean(run.duration), run.transport
    lines: list[Any] = shared.links or [shared.cable(k) for k in range(shared.least_cables)]
    delay = min(mean(line.delay) for line in lines)
    rate = max(mean(line.rate) for line in lines)
    total = 0.0
    for item in shared.flows:
        count = mean(getattr(item, "count", 1.0))
        flow: Any = getattr(item, "each", item)
        flow = flow[0] if isinstance(flow, list) and flow else flow
        tcp = sender_of(transport, flow)
        if tcp.datagrams:
            total += count * datagrams(tcp, duration)
            continue
        access = flow.access or shared.access
        rtt_s = 2 * (delay + mean(access.source_delay) + mean(access.sink_delay))
        edge = min(rate, mean(access.source_rate or access.rate))
        part = count * of_association(tcp, duration, rtt_s, edge, fluid=fluid, flow=flow)
        if isinstance(item, Flows) and item.size is not None:
            payload = mean(flow.payload or tcp.payload)
            part = min(part, arrivals.files(item, duration) * (mean(item.size) / payload + 1))
        total += part
    return total
