"""What of a hop or link changes from packet to packet: rate, delay and loss by a trace, a jitter, a policer.

A *trace* is piecewise constant: from each of its times on the hop has a rate, a delay and a loss.  A packet
is transmitted at the rates that the hop has meanwhile, not at all while that is 0, and takes delay and loss
of the moment at which its transmission ends.  Or it is a list of *opportunities*, as Mahimahi has them
(Netravali et al., USENIX ATC 2015): at each so many bytes leave, of one packet or several, which came before;
what nobody uses is gone.  A trace ends for good, or begins again.

The *policer* drops, before the queue, what a token bucket has no tokens for; it is the virtual scheduling of
GCRA (ITU-T I.371): the bucket is known by when it will be full.  A *jitter* is added to every delay by the
quantiles of its distribution.  Nothing overtakes: what would arrive before its predecessor arrives with it;
unless the jitter is one that reorders, which every packet meets on its own.

All of it stands in pairs, behind the outages of a hop (`Rows.outages`, from `Hop.VARIES` on) or behind the
columns of a link (`SharedRows.links`, from `Link.VARIES` on), with FOREVER added to the first of each, so
that none is an outage that comes:

    byte time of the policer, 0 without [as `Hop.BYTE_TIME`]     its burst [ns]
    one of the kinds below                                      entries of the trace
    the trace begins again after so long, or 0 [ns]             pairs of the jitter, negative if it reorders
    of each entry: since when, or when [ns]                     byte time, 0: nothing leaves; or bytes
        and, unless it is an opportunity: delay [ns]            P(lost) * 2**32
    of each pair of quantiles of the jitter: the lower [ns]     the upper
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import BYTE_TIME_BITS, FOREVER, STREAM_VARYING, P
from netcarlo.kernels.base.philox import draw

FLAT_TABLE: Any = slot("flat_table")
"""Whether the numbers of a table stand in a line, pair after pair, and not two by two."""
REORDERS: Any = slot("reorders")
"""Whether there may be jitter that reorders."""

STEPS = 1
OPPORTUNITIES = 2

HEAD = 3
"""Pairs before the first entry."""

JITTER_BITS = 8
"""A jitter has two to this many pairs of quantiles."""

STALLED = 1 << 61
"""When a packet leaves that never does [ns]."""

DROPPED = -1

_BITS = np.int64(BYTE_TIME_BITS)
_CEIL = np.int64((1 << BYTE_TIME_BITS) - 1)
_HALF = np.int64(1 << (BYTE_TIME_BITS - 1))
_PART = np.int64(16)  # fraction bits of bytes that are left to transmit
_MASK = np.int64((1 << 16) - 1)
_LOW = np.int64(32 - JITTER_BITS)


class Varying(IntEnum):
    """Words of scratch of such a hop in one direction."""

    TABLE = 0
    """The first pair."""
    BUCKET_FULL_AT = auto()
    """When the bucket of the policer is full again [ns]."""
    PERIOD_START = auto()
    """When the trace began for this time [ns]; -1: not known where in it we are."""
    ENTRY = auto()
    """Where."""
    BYTES_LEFT = auto()
    """Bytes that can still leave at this opportunity."""
    LAST_ARRIVAL = auto()
    """When the latest packet reaches the far end [ns]."""
    PACKETS = auto()
    """So many have left the queue."""


WORDS = len(Varying)


def first(table: Any, pair: Any) -> Any:
    """The first number of a pair."""
    if FLAT_TABLE:
        return table[2 * pair] - FOREVER
    return table[pair, 0] - FOREVER


def second(table: Any, pair: Any) -> Any:
    """The second number of a pair."""
    if FLAT_TABLE:
        return table[2 * pair + 1]
    return table[pair, 1]


@noinline
def prepare(m: Any, v: Any, pair: Any) -> None:
    """Words from `v` on, of a hop whose table begins with this pair."""
    m[v + Varying.TABLE] = pair
    m[v + Varying.BUCKET_FULL_AT] = 0
    m[v + Varying.PACKETS] = 0
    reset(m, v)


@noinline
def reset(m: Any, v: Any) -> None:
    """Queue and wire are empty again: what was reckoned for their packets has not come to pass."""
    m[v + Varying.PERIOD_START] = -1
    m[v + Varying.LAST_ARRIVAL] = 0


@noinline
def conforms(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """Whether a packet of `size` bytes that comes at time t [ns] passes the policer."""
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
    """When the transmission of a packet ends [ns] that comes at time t to a server that is `free` then;
    without a trace it takes `time`."""
    kind = first(table, m[v + Varying.TABLE] + 1)
    if kind == STEPS:
        return _by_steps(table, m, v, max(t, free), size)
    if kind == OPPORTUNITIES:
        return _by_opportunities(table, m, v, t, size)
    return max(t, free) + time


@noinline
def arrival(p: Any, table: Any, m: Any, v: Any, stream: Any, t: Any, delay: Any) -> Any:
    """When a packet whose transmission ends at time t reaches the far end [ns], and whether it is lost.

    The hop's own `delay` is that where the trace has none.
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
        w0, w1, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_VARYING + stream, k)
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
    """Whether packets may overtake each other on the way to the far end."""
    return second(table, m[v + Varying.TABLE] + 2) < 0


def _wide(table: Any, at: Any) -> Any:
    """Pairs of an entry."""
    return 2 if first(table, at + 1) == STEPS else 1


def _pair(m: Any, v: Any, wide: Any) -> Any:
    """The first pair of the present entry."""
    return m[v + Varying.TABLE] + HEAD + wide * m[v + Varying.ENTRY]


def _next(table: Any, m: Any, v: Any) -> None:
    """The next entry; behind the last one of a trace that ends is none."""
    at = m[v + Varying.TABLE]
    m[v + Varying.ENTRY] += 1
    if m[v + Varying.ENTRY] == second(table, at + 1) and first(table, at + 2) > 0:
        m[v + Varying.ENTRY] = 0
        m[v + Varying.PERIOD_START] += first(table, at + 2)


def _begin(table: Any, m: Any, v: Any, t: Any) -> None:
    """Go to the begin of the trace, that at or before time t [ns]."""
    period = first(table, m[v + Varying.TABLE] + 2)
    m[v + Varying.PERIOD_START] = t // period * period if period > 0 else 0
    m[v + Varying.ENTRY] = 0


def _until(table: Any, m: Any, v: Any) -> Any:
    """When the present step ends [ns]."""
    at, entry = m[v + Varying.TABLE], m[v + Varying.ENTRY] + 1
    if entry < second(table, at + 1):
        return m[v + Varying.PERIOD_START] + first(table, at + HEAD + 2 * entry)
    period = first(table, at + 2)
    return m[v + Varying.PERIOD_START] + period if period > 0 else np.int64(FOREVER)


def _seek(table: Any, m: Any, v: Any, t: Any) -> None:
    """Go to the step of time t [ns], which never goes back but after a `reset`."""
    if m[v + Varying.PERIOD_START] < 0:
        _begin(table, m, v, t)
    while _until(table, m, v) <= t:
        _next(table, m, v)


def _by_steps(table: Any, m: Any, v: Any, t: Any, size: Any) -> Any:
    """When a packet has been transmitted whose transmission begins at time t [ns]."""
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
    """When the last byte of a packet leaves that comes at time t [ns]."""
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
