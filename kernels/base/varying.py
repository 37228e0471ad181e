"""Time-varying hops and links: rate, delay and loss by a trace, jitter, and a policer.

A *trace* is piecewise constant: from each of its times on, the hop has a rate, a delay and a loss. A packet
is transmitted at the rates during its transmission (not at all while the rate is 0), and has the delay and
loss of the moment at which its transmission ends. Or a trace is a list of *opportunities*, as in Mahimahi
(Netravali et al., USENIX ATC 2015): at each of them a number of bytes of waiting packets can leave; unused
bytes are lost. A trace ends for good, or repeats.

The *policer* drops, before the queue, packets for which a token bucket has no tokens. It is the virtual
scheduling algorithm of GCRA (ITU-T I.371): the state is the time at which the bucket will be full. A *jitter*
is added to every delay by the quantiles of its distribution. Packets stay in order: one that would arrive
before its predecessor arrives with it. The exception is a jitter that reorders, which applies to each packet
independently.

All of it is stored in pairs, after the outages of a hop (`Rows.outages`, from `Hop.VARIES` on) or after the
columns of a link (`SharedRows.links`, from `Link.VARIES` on):

    byte time of the policer, 0 without [as `Hop.BYTE_TIME`]     its burst [ns]
    STEPS, OPPORTUNITIES or 0                                    entries of the trace
    period of the trace, or 0 if it does not repeat [ns]         pairs of the jitter, negative if it reorders
    of each entry: its start, or time [ns]                       byte time (0: nothing leaves), or bytes
        and, unless it is an opportunity: delay [ns]             P(lost) * 2**32
    of each pair of quantiles of the jitter: the lower [ns]      the upper

FOREVER is added to the first number of each pair, so that none is taken for an outage.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, STREAM_VARYING
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw

FLAT_TABLE: Any = slot("flat_table")
"""True if the table is one-dimensional, False if it has one row per pair."""
REORDERS: Any = slot("reorders")
"""True if jitter may reorder packets."""

STEPS = 1
OPPORTUNITIES = 2

HEAD = 3
"""Number of pairs before the first entry."""

JITTER_BITS = 8
"""Binary logarithm of the number of pairs of quantiles of a jitter."""

STALLED = 1 << 61
"""Departure time of a packet that never leaves [ns]."""

DROPPED = -1

_BITS = np.int64(BYTE_TIME_BITS)
_CEIL = np.int64((1 << BYTE_TIME_BITS) - 1)
_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_PART = np.int64(16)  # fraction bits of the bytes left to transmit
_MASK = np.int64((1 << 16) - 1)
_LOW = np.int64(32 - JITTER_BITS)


class Varying(IntEnum):
    """Words of scratch of a time-varying hop in one direction."""

    TABLE = 0
    """Number of the first pair of its table."""
    BUCKET_FULL_AT = auto()
    """Time at which the policer's bucket is full again [ns]."""
    PERIOD_START = auto()
    """Start of the current repetition of the trace [ns]; -1: the position in the trace is unknown."""
    ENTRY = auto()
    """Current entry of the trace."""
    BYTES_LEFT = auto()
    """Bytes that can still leave at this opportunity."""
    LAST_ARRIVAL = auto()
    """Arrival time of the latest packet at the far end [ns]."""
    PACKETS = auto()
    """Number of packets that have left the queue."""


WORDS = len(Varying)


def first(table: Any, pair: Any) -> Any:
    """Return the first number of a pair."""
    if FLAT_TABLE:
        return table[2 * pair] - FOREVER
    return table[pair, 0] - FOREVER


def second(table: Any, pair: Any) -> Any:
    """Return the second number of a pair."""
    if FLAT_TABLE:
        return table[2 * pair + 1]
    return table[pair, 1]


@noinline
def prepare(m: Any, v: Any, pair: Any) -> None:
    """Initialise the words from `v` on, of a hop whose table begins with this pair."""
    m[v + Varying.TABLE] = pair
    m[v + Varying.BUCKET_FULL_AT] = 0
    m[v + Varying.PACKETS] = 0
    reset(m, v)


@noinline
def reset(m: Any, v: Any) -> None:
    """Empty queue and wire: discard the state of packets in transit."""
    m[v + Varying.PERIOD_START] = -1
    m[v + Varying.LAST_ARRIVAL] = 0


@noinline
def conforms(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return True if a packet of `size` bytes that arrives at time t [ns] conforms to the policer."""
    at = m[v + Varying.TABLE]
    byte_time = first(table, at)
    if byte_time == 0:
        return True
    full = max(m[v + Varying.BUCKET_FULL_AT], t) + ((size * byte_time + _CEIL) >> _BITS)
    if full - t > second(table, at):
        return False
    m[v + Varying.BUCKET_FULL_AT] = full
    return True


@noinline
def transmission_end(table: Any, m: Any, v: Any, t: Any, free: Any, size: Any, time: Any) -> Any:
    """Return the end of the transmission [ns] of a packet that arrives at time t.

    The server is `free` at that time [ns]. Without a trace the transmission takes `time` [ns].
    """
    kind = first(table, m[v + Varying.TABLE] + 1)
    if kind == STEPS:
        return _by_steps(table, m, v, max(t, free), size)
    if kind == OPPORTUNITIES:
        return _by_opportunities(table, m, v, t, size)
    return max(t, free) + time


@noinline
def arrival(p: Any, table: Any, m: Any, v: Any, stream: Any, t: Any, delay: Any) -> Any:
    """Return the arrival time [ns] of a packet whose transmission ends at time t, and True if it is lost.

    `delay` is the hop's own delay, used if the trace has none.
    """
    at, k, chance = m[v + Varying.TABLE], m[v + Varying.PACKETS], np.int64(0)
    if first(table, at + 1) == STEPS:
        _seek(table, m, v, t)
        pair = _pair(m, v, 2) + 1
        delay, chance = first(table, pair), second(table, pair)
    m[v + Varying.PACKETS] = k + 1
    lost: Any = False
    jitters = second(table, at + 2)
    if REORDERS:
        jitters = abs(jitters)
    if jitters + chance > 0:
        w0, w1, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_VARYING + stream, k)
        lost = np.int64(w1) < chance
        if jitters > 0:
            word = np.int64(w0)
            pair = at + HEAD + second(table, at + 1) * _wide(table, at) + (word >> _LOW)
            low = first(table, pair)
            delay += low + ((second(table, pair) - low) * (word & ((np.int64(1) << _LOW) - 1)) >> _LOW)
    if REORDERS and reorders(table, m, v):
        return t + delay, lost
    m[v + Varying.LAST_ARRIVAL] = max(m[v + Varying.LAST_ARRIVAL], t + delay)
    return m[v + Varying.LAST_ARRIVAL], lost


def reorders(table: Any, m: Any, v: Any) -> Any:
    """Return True if packets may overtake each other before the far end."""
    return second(table, m[v + Varying.TABLE] + 2) < 0


def _wide(table: Any, at: Any) -> Any:
    """Return the number of pairs of an entry."""
    return 2 if first(table, at + 1) == STEPS else 1


def _pair(m: Any, v: Any, wide: Any) -> Any:
    """Return the first pair of the current entry."""
    return m[v + Varying.TABLE] + HEAD + wide * m[v + Varying.ENTRY]


def _next(table: Any, m: Any, v: Any) -> None:
    """Move to the next entry; after the last one of a trace that does not repeat there is none."""
    at = m[v + Varying.TABLE]
    m[v + Varying.ENTRY] += 1
    if m[v + Varying.ENTRY] == second(table, at + 1) and first(table, at + 2) > 0:
        m[v + Varying.ENTRY] = 0
        m[v + Varying.PERIOD_START] += first(table, at + 2)


def _begin(table: Any, m: Any, v: Any, t: Any) -> None:
    """Move to the start of the trace, at or before time t [ns]."""
    period = first(table, m[v + Varying.TABLE] + 2)
    m[v + Varying.PERIOD_START] = t // period * period if period > 0 else 0
    m[v + Varying.ENTRY] = 0


def _until(table: Any, m: Any, v: Any) -> Any:
    """Return the end of the current step [ns]."""
    at, entry = m[v + Varying.TABLE], m[v + Varying.ENTRY] + 1
    if entry < second(table, at + 1):
        return m[v + Varying.PERIOD_START] + first(table, at + HEAD + 2 * entry)
    period = first(table, at + 2)
    return m[v + Varying.PERIOD_START] + period if period > 0 else np.int64(FOREVER)


def _seek(table: Any, m: Any, v: Any, t: Any) -> None:
    """Move to the step of time t [ns], which never decreases except after a `reset`."""
    if m[v + Varying.PERIOD_START] < 0:
        _begin(table, m, v, t)
    while _until(table, m, v) <= t:
        _next(table, m, v)


def _by_steps(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return the end of a transmission that begins at time t [ns]."""
    _seek(table, m, v, t)
    left = size << _PART
    while True:
        until, byte_time = _until(table, m, v), second(table, _pair(m, v, 2))
        if byte_time > 0:
            need = (((left >> _PART) * byte_time + ((left & _MASK) * byte_time >> _PART)) + _HALF) >> _BITS
            if t + need <= until:
                return t + need
            whole = ((until - t) << _BITS) // byte_time
            part = ((((until - t) << _BITS) - whole * byte_time) << _PART) // byte_time
            left -= (whole << _PART) + part
        if until == FOREVER:
            return np.int64(STALLED)
        t = until
        _next(table, m, v)


def _by_opportunities(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Return the time at which the last byte of a packet leaves that arrives at time t [ns]."""
    at = m[v + Varying.TABLE]
    if m[v + Varying.PERIOD_START] < 0:
        _begin(table, m, v, t)
        m[v + Varying.BYTES_LEFT] = second(table, at + HEAD)
    while m[v + Varying.ENTRY] < second(table, at + 1):
        when = m[v + Varying.PERIOD_START] + first(table, _pair(m, v, 1))
        if when > t:
            if size <= m[v + Varying.BYTES_LEFT]:
                m[v + Varying.BYTES_LEFT] -= size
                return when
            size -= m[v + Varying.BYTES_LEFT]
        _next(table, m, v)
        if m[v + Varying.ENTRY] < second(table, at + 1):
            m[v + Varying.BYTES_LEFT] = second(table, _pair(m, v, 1))
    return np.int64(STALLED)
