"""Conversion of traces, jitter, policers, shapers, framing and correlated loss to the pairs read by
`kernels.base.varying`."""

from typing import NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, NS
from netcarlo.kernels.base.varying import HEAD, JITTER_BITS, OPPORTUNITIES, STEPS, Head
from netcarlo.kernels.base.wire import on_wire
from netcarlo.networks import shaper as shapers
from netcarlo.networks.framing import Framed, Framing, framing
from netcarlo.networks.jitter import Jitter
from netcarlo.networks.service import Policer, Service
from netcarlo.networks.traces import PACKET, Trace, Traces
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws

ALL = frozenset(("rate", "delay", "loss"))
"""Columns of a trace."""


class Direction(NamedTuple):
    """Time-varying properties of one direction of a hop or cable."""

    trace: Trace | Traces | None
    which: Ints
    """Member of the traces that each row has [n]."""
    repeat: bool
    used: frozenset[str]
    """Columns of the trace that are used."""
    policer: Ints
    """Byte time and burst of the policer for the rows [n, 2]; 0 without one."""
    jitter: Jitter | None
    shaper: Ints
    """Byte times and bursts of the shaper and of its peak rate for the rows [n, 4]; 0 without one."""
    framing: Framing | None
    loss: Ints | None
    """Threshold and correlation of correlated loss for the rows [n, 2]; None without it."""
    name: str


def forward(
    of: Service, name: str, draws: Draws, *, otherwise: Framed | None = None, loss: Ints | None = None
) -> Direction:  # fmt: skip
    """Return the properties of a hop, or of one direction of a cable, whose field is `name`.

    Framing that it does not have is that of `otherwise`. `loss` is as in `Direction`.
    """
    which = chosen(of.trace, f"{name}.trace", draws)
    policer = policed(of.policer, f"{name}.policer", draws)
    shaper = shapers.columns(of.shaper, f"{name}.shaper", draws)
    framed = of.is_framed or (otherwise is not None and otherwise.is_framed)
    frames = framing(of, name, draws, otherwise=otherwise) if framed else None
    return Direction(of.trace, which, bool(of.repeat), ALL, policer, of.jitter, shaper, frames, loss, name)


def correlated(loss: Floats, correlation: Floats) -> Ints:
    """Return threshold and correlation of correlated loss [n, 2] [2**-32], rounded as by `tc` (`set_percent`
    of iproute2)."""
    return np.rint(np.stack([loss, correlation], axis=1) * (2.0**32 - 1)).astype(np.int64)


def chosen(trace: Trace | Traces | None, name: str, draws: Draws) -> Ints:
    """Return the member of the traces that each row has [n]; 0 for a single trace."""
    if not isinstance(trace, Traces):
        return np.zeros(len(draws.replications), np.int64)
    draws.drawn[name] = np.floor(draws.uniform(name) * len(trace.members))
    return draws.drawn[name].astype(np.int64)


def policed(policer: Policer | None, name: str, draws: Draws) -> Ints:
    """Return byte time and burst [ns] of a policer for the rows [n, 2]."""
    found = np.zeros((len(draws.replications), 2), np.int64)
    if policer is not None:
        found[:, 0] = byte_times(draws.floats(f"{name}.rate", policer.rate))
        burst = draws.floats(f"{name}.burst", policer.burst)
        found[:, 1] = np.floor(burst * found[:, 0] / 2**BYTE_TIME_BITS)
    return found


def byte_times(rates: Floats) -> Ints:
    """Return byte times [ns] with BYTE_TIME_BITS fraction bits for rates [bit/s]; 0 for a rate of 0."""
    with np.errstate(divide="ignore"):
        found = np.where(rates > 0, 8e9 * 2**BYTE_TIME_BITS / rates, 0.0)
    return np.rint(found).astype(np.int64)


def most_pairs(trace: Trace | Traces | None, jitter: Jitter | None) -> int:
    """Return the maximum number of pairs of a direction."""
    entries = 0 if trace is None else 2 * max(len(one.times_s) for one in trace.members)
    return entries + (0 if jitter is None else 1 << JITTER_BITS) + HEAD


def pairs(of: Direction, byte_time: Ints, delay: Ints, size: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of a direction [n, k, 2] (k is 0 if nothing varies), and its byte time and delay [n].

    Byte time and delay are the means of the trace where it has these columns. The byte time is that of
    packets of `size` bytes [n] in the long run: with framing, at the rate of the shaper if that is lower.
    Raises InputError if such packets do not fit into the buckets of the shaper.
    """
    n = len(of.policer)
    members = () if of.trace is None else of.trace.members
    columns = [name for name in of.used if of.trace is not None and of.trace.mean(name) is not None]
    buckets = of.policer.any() or of.shaper.any()
    if not columns and of.jitter is None and not buckets and of.framing is None and of.loss is None:
        return np.zeros((n, 0, 2), np.int64), byte_time, delay
    if "rate" in columns:
        byte_time = byte_times(np.array([one.mean("rate") for one in members])[of.which])
    if "delay" in columns:
        delay = np.rint(np.array([one.mean("delay") for one in members])[of.which] * NS).astype(np.int64)
    jitter = np.zeros((0, 2), np.int64)
    if of.jitter is not None:
        points = np.rint(of.jitter.quantiles() * NS).astype(np.int64)
        jitter = np.stack([points[:-1], points[1:]], axis=1)
    longest = max(map(_length, members)) if columns else 0
    found = np.zeros((n, HEAD + longest + len(jitter), 2), np.int64)
    found[:, Head.POLICER] = of.policer
    found[:, Head.LINE, 0], found[:, Head.LINE, 1] = byte_time, of.framing is not None or of.shaper.any()
    if of.framing is not None:
        found[:, Head.FRAMING, 0], found[:, Head.FRAMING, 1] = of.framing.overhead, of.framing.mpu
        found[:, Head.CELLS, 0] = of.framing.cells
    found[:, Head.SHAPER], found[:, Head.PEAK] = of.shaper[:, :2], of.shaper[:, 2:]
    if of.loss is not None:
        found[:, Head.LOSS] = of.loss
    found[:, Head.PERIOD, 1] = -len(jitter) if of.jitter is not None and of.jitter.reorder else len(jitter)
    found[:, HEAD : HEAD + len(jitter)] = jitter
    for number, one in enumerate(members if columns else ()):
        rows, end = np.flatnonzero(of.which == number), HEAD + _length(one)
        found[rows, Head.TRACE] = OPPORTUNITIES if one.packets is not None else STEPS, len(one.times_s)
        found[rows, Head.PERIOD, 0] = round(one.end_s * NS) if of.repeat else 0
        found[rows, HEAD:end] = _entries(one, of.used, byte_time[rows], delay[rows])
        found[rows, end : end + len(jitter)] = jitter
    found[..., 0] += FOREVER
    return found, _in_the_long_run(of, byte_time, size), delay


def _in_the_long_run(of: Direction, byte_time: Ints, size: Ints) -> Ints:
    """Return the byte time of packets of `size` bytes [n] behind the shaper, with framing."""
    on_line = size if of.framing is None else of.framing.on_line(size)
    for field, (rate, burst) in (("burst", of.shaper[:, :2].T), ("mtu", of.shaper[:, 2:].T)):
        if (on_wire(on_line, rate) > burst).any():
            least = f"{int(on_line.max())} B"
            found = f"{of.name}.shaper.{field} can be below a packet of {least} on the line, which is dropped"
            raise InputError(f"{found}; write {least} or more")
    share = 1.0 if of.framing is None else of.framing.share(size)
    return np.rint(np.maximum(byte_time, of.shaper[:, 0]) * share).astype(np.int64)


def _length(one: Trace) -> int:
    """Return the number of pairs of the entries of a trace."""
    return len(one.times_s) * (1 if one.packets is not None else 2)


def _entries(given: Trace, used: frozenset[str], byte_time: Ints, delay: Ints) -> Ints:
    """Return the entries of a trace [n, k, 2]; `byte_time` and `delay` [n] replace columns that it does
    not have."""
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
    return entries.reshape(len(delay), 2 * len(times), 2)
