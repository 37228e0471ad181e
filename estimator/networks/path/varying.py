"""What varies on hops, from the records of a scenario to the pairs that `kernels.path.varying` reads."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, NS, Hop
from netcarlo.kernels.path.varying import HEAD, JITTER_BITS, OPPORTUNITIES, STEPS
from netcarlo.networks.path.description import HopSpec
from netcarlo.networks.path.jitter import Jitter
from netcarlo.networks.path.traces import PACKET, Trace
from netcarlo.networks.traffic import whole_ns, wire_ns
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws

Tables = tuple[Ints, Ints]
"""Pairs of a hop over the rows [n, k, 2], of data and of acknowledgements; k is 0 where nothing varies."""


def varying(hop: HopSpec) -> str:
    """The first field of a hop with what varies; empty without."""
    names = ("trace", "jitter", "ack_jitter", "policer")
    found = next((name for name in names if getattr(hop, name) is not None), "")
    return found or ("reverse.trace" if hop.reverse.trace is not None else "")


def most_pairs(hop: HopSpec) -> int:
    """The most pairs of a hop, of both directions."""
    traces = [hop.trace, hop.reverse.trace or hop.trace]
    entries = sum(2 * len(each.times_s) for each in traces if each is not None)
    jitters = sum(1 << JITTER_BITS for each in (hop.jitter, hop.ack_jitter) if each is not None)
    return entries + jitters + 2 * HEAD if varying(hop) else 0


def quickest_ns(hop: HopSpec, size: float) -> int:
    """The least time of a packet of `size` bytes on a hop, as kernels round it [ns]."""
    given = hop.trace
    if given is not None and given.packets is not None:
        return 1 + whole_ns(hop.delay)
    columns = {} if given is None else given.columns
    on_wire = wire_ns(max(columns["rate"]) if "rate" in columns else hop.rate, size)
    return on_wire + whole_ns(min(columns["delay"]) if "delay" in columns else hop.delay)


def byte_times(rates: Floats) -> Ints:
    """As `Hop.BYTE_TIME`, 0 for a rate of 0 [bit/s]."""
    with np.errstate(divide="ignore"):
        found = np.where(rates > 0, 8e9 * 2**BYTE_TIME_BITS / rates, 0.0)
    return np.rint(found).astype(np.int64)


def tables(hop: HopSpec, name: str, draws: Draws, columns: dict[Hop, Ints]) -> Tables:
    """The pairs of a hop whose field is `name`; its `columns` get the means of its traces."""
    reverse, none = hop.reverse, np.zeros((len(draws.replications), 2), np.int64)
    policer = none.copy()
    if hop.policer is not None:
        policer[:, 0] = byte_times(draws.floats(f"{name}.policer.rate", hop.policer.rate))
        burst = draws.floats(f"{name}.policer.burst", hop.policer.burst)
        policer[:, 1] = np.floor(burst * policer[:, 0] / 2**BYTE_TIME_BITS)
    forth = _Direction(hop.trace, bool(hop.repeat), _ALL, policer, hop.jitter)
    used = {column for column in ("rate", "delay") if getattr(reverse, column) is None}
    back = _Direction(hop.trace, bool(hop.repeat), used, none, hop.ack_jitter)
    if reverse.trace is not None:
        back = back._replace(trace=reverse.trace, repeat=bool(reverse.repeat), used=_ALL)
    return (
        _pairs(forth, columns, Hop.BYTE_TIME, Hop.DELAY),
        _pairs(back, columns, Hop.R_BYTE_TIME, Hop.R_DELAY),
    )


_ALL = {"rate", "delay", "loss"}


class _Direction(NamedTuple):
    """What varies in a direction of a hop."""

    trace: Trace | None
    repeat: bool
    used: set[str]
    """Columns of the trace that count."""
    policer: Ints
    """Byte time and burst over the rows [n, 2]."""
    jitter: Jitter | None


def _pairs(of: _Direction, columns: dict[Hop, Ints], byte_time: Hop, delay: Hop) -> Ints:
    """The pairs of a direction [n, k, 2], whose two columns get the means."""
    n = len(of.policer)
    head = np.zeros((n, HEAD, 2), np.int64)
    head[:, 0] = of.policer
    parts = [head]
    given = {name: mean for name in of.used if of.trace and (mean := of.trace.mean(name)) is not None}
    if of.trace is not None and given:
        if "rate" in given:
            columns[byte_time] = byte_times(np.full(n, given["rate"]))
        if "delay" in given:
            columns[delay] = np.full(n, round(given["delay"] * NS))
        parts.append(_entries(of.trace, of.used, columns[byte_time], columns[delay]))
        head[:, 1] = OPPORTUNITIES if of.trace.packets is not None else STEPS, len(of.trace.times_s)
        head[:, 2, 0] = round(of.trace.end_s * NS) if of.repeat else 0
    if of.jitter is not None:
        points = np.rint(of.jitter.quantiles() * NS).astype(np.int64)
        jitter = np.stack([points[:-1], points[1:]], axis=1)
        parts.append(np.broadcast_to(jitter, (n, *jitter.shape)))
        head[:, 2, 1] = len(jitter)
    if len(parts) == 1 and not of.policer.any():
        return head[:, :0]
    found = np.concatenate(parts, axis=1)
    found[..., 0] += FOREVER
    return found


def _entries(given: Trace, used: set[str], byte_time: Ints, delay: Ints) -> Ints:
    """The entries of a trace [n, k, 2]; the byte time and the delay [n] are those where it has none."""
    times = np.rint(np.array(given.times_s) * NS).astype(np.int64)
    if given.packets is not None:
        entries = np.stack([times, given.packets * PACKET], axis=1)
        return np.broadcast_to(entries, (len(delay), *entries.shape))
    columns = {name: np.array(given.columns[name]) for name in used if name in given.columns}
    entries = np.zeros((len(delay), len(times), 2, 2), np.int64)
    entries[:, :, 0, 0] = times
    entries[:, :, 0, 1] = byte_times(columns["rate"]) if "rate" in columns else byte_time[:, None]
    entries[:, :, 1, 0] = np.rint(columns["delay"] * NS) if "delay" in columns else delay[:, None]
    entries[:, :, 1, 1] = np.rint(columns.get("loss", np.zeros(1)) * 2.0**32)
    return entries.reshape(len(delay), -1, 2)


def placed(hops: Ints, outages: Ints, places: Sequence[tuple[Ints, int, Ints, Tables]]) -> Ints:
    """The outages with the pairs of hops behind them, which their columns name.

    `places` are, of each slot, the rows that have it, the path, the hop on it by row, and its tables.
    """
    first = outages.shape[3]
    longest = max(sum(table.shape[1] for table in of) for *_, of in places)
    if longest:
        missing = [(0, 0)] * 3 + [(0, longest), (0, 0)]
        outages = np.pad(outages, missing, constant_values=FOREVER)
    for who, number, at, of in places:
        begin = first
        for direction, table in enumerate(of):
            end = begin + table.shape[1]
            if end > begin:
                hops[who, number, at, Hop.VARIES + direction] = begin
                outages[who, number, at, begin:end] = table[who]
            begin = end
    return outages
