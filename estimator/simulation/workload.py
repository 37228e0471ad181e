"""What a run will ask for, forecast before it starts: that time passes in it at all, packets, and memory.

The forecast takes the mean of what is drawn, and senders that are limited by nothing but windows, rates and
the lengths of transfers; loss and queues make it less.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, Out, Trace
from netcarlo.networks.shared.description import Cable, Shared, tcp_like
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import Number, bounds
from netcarlo.transport.tcp import NS, Sctp, Tcp
from netcarlo.transport.udp import Datagrams, Udp

MOST_PACKETS = 1e12
"""Of a run that nobody has confirmed: a day of one core."""

MOST_BYTES = 8 * 2**30
"""Memory of the tables of such a run,"""

MOST_SCRATCH = 2**30
"""and of its packets in flight, on all cores."""

PACKETS_PER_S = 1e7
"""What a core simulates, about."""

REMEDY = "shorten duration, lower rates or replications, or confirm it with --yes (in Python: large=True)"

OUTCOMES = 160
"""Columns of a table of outcomes, about."""

TRACED = 4
"""Events of a packet in a trace, about."""

AGAIN = 10
"""A transfer is sent so often at most, about."""

EXCHANGE_S = {"802.11a": 60e-6, "802.11b": 250e-6, "802.11g": 50e-6}
"""What an exchange of frames takes at least beside its data: two short preambles, and spaces."""


@dataclass(frozen=True)
class Forecast:
    """What replications of a scenario ask for, about."""

    packets: float
    """And what takes as long: frames, datagrams of others, steps of a fluid, samples, legs of nodes."""
    bytes: float

    def __add__(self, other: "Forecast") -> "Forecast":
        return Forecast(self.packets + other.packets, self.bytes + other.bytes)


def forecast(scenario: Any, replications: int, *, traced: bool = False) -> Forecast:
    """The forecast of so many replications of a scenario, or of a trace of each."""
    packets = 0.0 if scenario.fidelity == "formula" else _packets(scenario) * replications
    each = TRACED * len(Trace) * 8.0 * packets if traced else 0.0
    return Forecast(packets, 2 * 8.0 * (OUTCOMES + len(Out)) * replications + each)


def check(found: Iterable[Forecast], *, what: str = "this run") -> None:
    """Raises InputError where runs together are too large to be started unasked."""
    total = sum(found, Forecast(0.0, 0.0))
    if total.packets > MOST_PACKETS:
        time = _long(total.packets / PACKETS_PER_S)
        raise InputError(
            f"{what} is about {total.packets:.1e} packets, {time} of one core; allowed unasked is "
            f"{MOST_PACKETS:.0e} packets; {REMEDY}"
        )
    if total.bytes > MOST_BYTES:
        raise InputError(
            f"{what} needs about {total.bytes / 2**30:.0f} GiB of memory; allowed unasked is "
            f"{MOST_BYTES / 2**30:.0f} GiB; {REMEDY}"
        )


def check_time_passes(scenario: Any) -> None:
    """Raises InputError where a packet can be at its receiver in the nanosecond in which it was sent: such a
    run could go round without an end.
    """
    if scenario.shared is not None:
        _check_shared(scenario.shared, scenario.transport)
    size = _least_size(scenario.transport)
    for number, path in enumerate(scenario.paths):
        hops = [getattr(hop, "each", hop) for hop in path.hops]
        if not any(_least_ns(hop, size) for hop in hops):
            name = "hops" if len(scenario.paths) == 1 else f"paths.{number}.hops"
            raise InputError(f"{name} can take no time at all, in whole nanoseconds; {_REMEDY}")


_REMEDY = "raise a delay to 1 ns or more, or give a rate or a lower one"


def _check_shared(shared: Shared, transport: Any) -> None:
    for name, flow in shared.each_flow():
        if flow.udp is not None or isinstance(transport, Udp):
            continue
        tcp = tcp_like(transport, flow.protocol)
        size = (bounds(flow.payload or tcp.payload)[0]) + bounds(tcp.header)[0]
        access = flow.access or shared.access
        ends = (
            (access.source_rate or access.rate, access.source_delay),
            (access.sink_rate or access.rate, access.sink_delay),
        )
        hosts = sum(_wire_ns(rate, size) + _whole_ns(delay) for rate, delay in ends)
        if hosts:
            continue
        lines: list[Any] = shared.links or [shared.cable(k) for k in range(shared.least_cables)]
        times = [_least_ns(line, size) for line in lines]
        if flow.route is not None:
            links = flow.route if shared.links else [link // 2 for link in flow.route]
            times = [sum(times[link] for link in links)]
        elif not (shared.links or shared.random_cables) and shared.way(flow) == "ends":
            times = [sum(times)]
        if not min(times):
            raise InputError(
                f"shared.{name} can reach its sink in no time at all, in whole nanoseconds; {_REMEDY}, of "
                "its links or its access"
            )


def _least_ns(line: Any, size: float) -> int:
    """The least time of a packet on a hop or link, in the direction in which it is shorter, as kernels round
    it."""
    forth = _wire_ns(line.rate, size) + _whole_ns(line.delay)
    if not isinstance(line, Cable):
        return forth
    back = line.reverse
    return min(forth, _wire_ns(back.rate or line.rate, size) + _whole_ns(_or(back.delay, line.delay)))


def _or(value: Number | None, otherwise: Number) -> Number:
    return otherwise if value is None else value


def _whole_ns(time: Number) -> int:
    return round(bounds(time)[0] * NS)


def _wire_ns(rate: Number, size: float) -> int:
    byte_time = round(8 * NS * 2**BYTE_TIME_BITS / bounds(rate)[1])
    return int(int(size) * byte_time + (1 << (BYTE_TIME_BITS - 1))) >> BYTE_TIME_BITS


def _least_size(transport: Any) -> float:
    return sum(bounds(getattr(transport, name, 0.0))[0] for name in ("payload", "chunk_header", "header"))


# How many packets.


def mean(value: Number) -> float:
    """The mean of what is drawn, about: that of a normal distribution is taken as if it were not cut off."""
    if not isinstance(value, Distribution):
        return value
    values = value.values
    if value.kind == "normal":
        return min(max(values[0], values[2]), values[3])
    if value.kind == "log_uniform" and values[1] > values[0]:
        return (values[1] - values[0]) / math.log(values[1] / values[0])
    return math.fsum(values) / len(values)


def _packets(scenario: Any) -> float:
    """Of one replication."""
    duration = mean(scenario.duration)
    samples = duration / mean(scenario.sample_interval) / 10  # far less work than a packet
    transport = scenario.transport
    if scenario.wireless is not None:
        wireless = scenario.wireless
        stations = mean(wireless.stations)
        flows = wireless.flows if isinstance(wireless.flows, list) else []
        streams = [flow.udp or transport for flow in flows] or [transport] * math.ceil(2 * stations)
        offered = sum(_datagrams(udp, duration) for udp in streams if isinstance(udp, Datagrams))
        data = 8 * mean(transport.payload) / mean(wireless.rate)
        exchange = EXCHANGE_S[wireless.standard] + (data if isinstance(transport, Udp) else data / 2)
        return samples + offered + duration / exchange * max(1.0, stations / 4)
    if scenario.adhoc is not None:
        radio = scenario.adhoc.radio
        data = 8 * (mean(transport.payload) + mean(radio.overhead)) / mean(radio.rate)
        exchange = 4 * mean(radio.preamble) + 3 * mean(radio.sifs) + 2 * mean(radio.slot) + data
        ways = scenario.adhoc.most_nodes + scenario.adhoc.redrawn
        steps = _steps(scenario.adhoc.mobility, duration) * ways
        return float(samples + steps + duration / exchange * max(1.0, scenario.adhoc.most_nodes / 4))
    if scenario.shared is not None:
        return samples + _of_flows(scenario, duration)
    total = samples
    for path in scenario.paths:
        hops = [getattr(hop, "each", hop) for hop in path.hops]
        counts = [mean(getattr(hop, "count", 1.0)) for hop in path.hops]
        rtt_s, slowest = 0.0, math.inf
        for hop, count in zip(hops, counts, strict=True):
            back = hop.delay if hop.reverse.delay is None else hop.reverse.delay
            rtt_s += count * (mean(hop.delay) + mean(back))
            slowest = min(slowest, mean(hop.rate))
            if hop.cross_traffic is not None:
                cross = hop.cross_traffic
                total += count * duration * mean(cross.rate) / (8 * mean(cross.packet))
        total += _of_tcp(transport, duration, rtt_s, slowest, fluid=scenario.fidelity == "fluid")
    return total


def _of_flows(scenario: Any, duration: float) -> float:
    shared: Shared = scenario.shared
    lines: list[Any] = shared.links or [shared.cable(k) for k in range(shared.least_cables)]
    delay = min(mean(line.delay) for line in lines)
    rate = max(mean(line.rate) for line in lines)
    total = 0.0
    for item in shared.flows:
        count = mean(getattr(item, "count", 1.0))
        flow: Any = getattr(item, "each", item)
        flow = flow[0] if isinstance(flow, list) and flow else flow
        udp = flow.udp or (scenario.transport if isinstance(scenario.transport, Udp) else None)
        if udp is not None:
            total += count * _datagrams(udp, duration)
            continue
        tcp = tcp_like(scenario.transport, flow.protocol)
        access = flow.access or shared.access
        rtt_s = 2 * (delay + mean(access.source_delay) + mean(access.sink_delay))
        edge = min(rate, mean(access.source_rate or access.rate))
        part = _of_tcp(tcp, duration, rtt_s, edge, fluid=scenario.fidelity == "fluid", flow=flow)
        total += count * part
    return total


def _of_tcp(
    transport: Any, duration: float, rtt_s: float, rate: float, *, fluid: bool, flow: Any = None
) -> float:
    """Packets of an association over a path of this round-trip time and lowest rate; steps, of a fluid."""
    size = mean(transport.payload) + mean(transport.header)
    rtt_s = max(rtt_s + 8 * size / rate, 1 / NS)
    if fluid:
        return 2 * duration / rtt_s
    window = 1.0
    if isinstance(transport, Tcp):
        window = mean(_or(getattr(flow, "window", None), transport.window))
        if transport.receive_buffer is not None:
            window = transport.receive_buffer.largest_window() / mean(transport.payload)
    elif isinstance(transport, Sctp):
        window = mean(transport.receiver_window) / mean(transport.payload)
    found = duration * min(window / rtt_s, rate / (8 * size))
    for record in (flow, transport):
        if getattr(record, "packets", None) is not None:
            return min(found, AGAIN * mean(record.packets))
        if getattr(record, "bytes", None) is not None:
            return min(found, AGAIN * (mean(record.bytes) / mean(transport.payload) + 1))
    return found


def _datagrams(udp: Any, duration: float) -> float:
    found = duration * mean(udp.rate) / (8 * mean(udp.payload))
    if udp.packets is not None:
        return min(found, mean(udp.packets))
    if udp.bytes is not None:
        return min(found, mean(udp.bytes) / mean(udp.payload) + 1)
    return found


def _steps(mobility: Any, duration: float) -> float:
    """Legs of a node's way, about."""
    before = mean(getattr(mobility, "warm_up", 0.0))
    return (duration + before) / max(mean(getattr(mobility, "step", getattr(mobility, "leg", 1.0))), 1e-3)


def _long(seconds: float) -> str:
    for one, unit in ((365.25 * 86400, "years"), (86400.0, "days"), (3600.0, "hours")):
        if seconds >= 2 * one:
            return f"{seconds / one:.3g} {unit}"
    return f"{seconds:.3g} s"
