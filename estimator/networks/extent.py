"""Extents: ranges of the quantities of a scenario, for comparison with the validated range.

The same functions read the scenarios of references, from which the validated ranges are computed, and those
of users.
"""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

from netcarlo.kernels.senders import OWN
from netcarlo.networks.outages import OnOff, Outage, Outages
from netcarlo.networks.rare import RareOutages
from netcarlo.schema import units
from netcarlo.schema.limit import dimension_of
from netcarlo.schema.quantity import Number, bounds
from netcarlo.transport.kinds import sender_of
from netcarlo.transport.quic import Quic
from netcarlo.transport.sctp import Sctp
from netcarlo.transport.tcp import Tcp
from netcarlo.transport.udp import Datagrams


class Extent(NamedTuple):
    """Lowest and highest value of a quantity in SI units, over drawn values and parts of a network."""

    low: float
    high: float


Extents = dict[str, Extent]
"""Extent of each quantity that a scenario has, see `simulation.validated.QUANTITIES`."""


Sender = Tcp | Sctp | Quic | Datagrams


class Compared(NamedTuple):
    """Kind of network in the data of validated ranges, and extents by protocol."""

    network: str
    protocols: dict[str, Extents]


def hull(extents: Iterable[Extent]) -> Extent | None:
    """Return the smallest extent that contains all of these; None if there are none."""
    found = list(extents)
    return Extent(min(e.low for e in found), max(e.high for e in found)) if found else None


def extent_of(*numbers: Number | None) -> Extent | None:
    """Return the extent of numbers of a scenario; numbers that are not given or unlimited are ignored."""
    found = [Extent(*bounds(number)) for number in numbers if number is not None]
    return hull(extent for extent in found if isfinite(extent.high))


def known(**extents: Extent | None) -> Extents:
    """Return the extents that are not None."""
    return {name: extent for name, extent in extents.items() if extent is not None}


def merged(each: Iterable[Extents]) -> Extents:
    """Return the hull of each quantity over several parts of a scenario."""
    parts = list(each)
    names = dict.fromkeys(name for part in parts for name in part)
    return known(**{name: hull(part[name] for part in parts if name in part) for name in names})


def scaled(extent: Extent, least: float, most: float) -> Extent:
    """Return an extent times a factor between `least` and `most`."""
    return Extent(extent.low * least, extent.high * most)


def in_packets(limit: Number, rate: Extent, rtt: Extent, payload: Extent) -> Extent:
    """Return the extent of a queue limit [packets]; one of another unit is converted by rate, round-trip time
    and payload."""
    low, high = bounds(limit)
    dimension = dimension_of(limit)
    if dimension is units.PACKETS:
        return Extent(low, high)
    if dimension is not units.SIZE:
        span = rtt if dimension is units.BDP else Extent(1.0, 1.0)
        low, high = low * rate.low * span.low / 8, high * rate.high * span.high / 8
    return Extent(max(low // payload.high, 1.0), max(high // payload.low, 1.0))


def of_frames(limit: Number, sender: Sender) -> Extent:
    """Return the extent of the queue limit of a node [packets], which may be a size."""
    nowhere = Extent(0.0, 0.0)
    return in_packets(limit, nowhere, nowhere, of_sender(sender)["payload"])


def drop_tail(lines: Iterable[Any], rate: Extent, rtt: Extent, payload: Extent) -> Extent | None:
    """Return the extent of the queues of hops or links [packets], without unlimited queues and those with
    AQM."""
    plain = [each for each in lines if not (each.codel or each.pie or each.fq_codel or each.red)]
    found = (in_packets(each.queue, rate, rtt, payload) for each in plain)
    return hull(extent for extent in found if isfinite(extent.high))


def given(*fields: Any) -> Extent:
    """Return an extent of 1 if any of these fields is given, else 0."""
    there = float(any(field is not None and field != [] for field in fields))
    return Extent(there, there)


def features(lines: Iterable[Any]) -> Extents:
    """Return features of hops or links: a trace, jitter, a policer, framing, a shaper, correlated losses."""
    some = list(lines)
    shapers = [shaper for line in some if (shaper := getattr(line, "shaper", None)) is not None]
    return _as_sold(some, shapers) | {
        "trace": given(*(line.trace for line in some)),
        "jitter": given(
            *(line.jitter for line in some), *(getattr(line, "ack_jitter", None) for line in some)
        ),
        "policer": given(*(line.policer for line in some)),
    }


def _as_sold(lines: Iterable[Any], shapers: Sequence[Any]) -> Extents:
    """Return the extents of framing, shapers and correlated losses, of those that are given."""
    some = list(lines)

    def of(*names: str) -> Extent | None:
        return extent_of(*(getattr(line, name, None) for line in some for name in names))

    return known(
        overhead=of("overhead"), mpu=of("mpu"),
        cells=Extent(1.0, 1.0) if any(getattr(line, "cells", None) for line in some) else None,
        shaper_rate=extent_of(*(one.rate for one in shapers)),
        shaper_burst=extent_of(*(one.burst for one in shapers)),
        shaper_peak=extent_of(*(one.peak_rate for one in shapers)),
        loss_correlation=of("loss_correlation", "ack_loss_correlation"),
    )  # fmt: skip


def outage(outages: Iterable[Outages]) -> Extent | None:
    """Return the extent of the durations of outages; random ones count with their mean."""
    given = [o for each in outages for o in (each if isinstance(each, list) else [each])]
    return extent_of(*(_length(each) for each in given))


def _length(outage: Outage | OnOff | RareOutages) -> Number:
    if isinstance(outage, RareOutages):
        return outage.mttr
    return outage.down if isinstance(outage, OnOff) else outage.duration


def of_sender(sender: Sender, flow: Any = None) -> Extents:
    """Return the extents of a sender, with the own fields of a `flow`: window, payload and transfer size."""
    payload = getattr(flow, "payload", None) or sender.payload
    window = getattr(flow, "window", None) or getattr(sender, "window", None)
    packets = getattr(flow, "packets", None) or sender.packets
    size = getattr(flow, "bytes", None) or sender.bytes
    low, high = bounds(payload)
    windows, transfers = extent_of(window), extent_of(packets)
    if (buffered := sender.buffered(low, high)) is not None:
        windows = Extent(*buffered)
    if size is not None:
        transfers = Extent(max(bounds(size)[0] / high, 1.0), max(bounds(size)[1] / low, 1.0))
    return known(payload=Extent(low, high), window=windows, transfer=transfers)


def path_capacity(rate: Extent, rtt: Extent, queue: Extent, payload: Extent) -> Extent:
    """Return the number of packets that a path holds: its bandwidth-delay product plus its queue."""
    return Extent(
        1 + rate.low * rtt.low // (8 * payload.high) + queue.low,
        1 + rate.high * rtt.high // (8 * payload.low) + queue.high,
    )


def in_flight(extents: Extents, capacity: Extent) -> Extents:
    """Return extents with the window limited to the `capacity` of the network; a larger window has no
    effect."""
    if (window := extents.get("window")) is None:
        return extents
    return extents | {"window": Extent(min(window.low, capacity.low), min(window.high, capacity.high))}


def senders(flows: Iterable[Any], transport: Any) -> list[tuple[str, Sender, Any]]:
    """Return name and record of the sender of each flow, with the flow."""
    known: dict[Any, Any] = {}
    found: list[tuple[str, Sender, Any]] = []
    for flow in flows:
        own = flow.protocol, flow.congestion_control
        if flow.udp is None and own not in known:
            known[own] = sender_of(transport, flow)
        sender = flow.udp or known[own]
        found.append((name_of(sender), sender, flow))
    return found


def name_of(sender: Sender) -> str:
    """Return the name of a protocol in the data of validated ranges; all users' files share one name."""
    name = sender.compared_as
    return "own" if name == OWN or "/" in name or name.endswith(".py") else name
