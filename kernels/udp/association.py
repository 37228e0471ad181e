"""A stream of datagrams at a constant mean rate as a one-way association (`endpoints.contract`).

The sender's only timer expires when the next datagram is due.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_DATAGRAM
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.endpoints.defaults import FULL as FULL
from netcarlo.kernels.endpoints.defaults import NONE as NONE
from netcarlo.kernels.udp import sink
from netcarlo.kernels.udp.source import Known, gap, offset_of

OVERTAKES: Any = slot("overtakes")
"""True if datagrams may overtake each other or arrive twice; else the sink keeps no record of them."""

FLOATS = 0
"""Words of float64 memory."""


class Udp(IntEnum):
    """Words of a stream; the record of the sink follows (`sink`)."""

    START = 0
    """Sending time of the first datagram [ns]."""
    STOP = 1
    """Time from which on nothing is sent [ns]."""
    INTERVAL = 2
    """Mean gap between datagrams [ns]."""
    SPREAD = 3
    """Width of the uniform distribution of gaps around INTERVAL [ns]; 0: all gaps are equal; -1: they are
    exponential."""
    LIMIT = 4
    """Datagrams to send [n]."""
    STREAM = 5
    """Random stream of the gaps."""
    SENT = 6
    """Datagrams sent [n], which is also the number of the next one."""
    READY = 7
    """1 if a datagram is to be sent now, else 0."""
    DUE = 8
    """Sending time of the next datagram [ns], or FOREVER."""
    DELIVERED = 9
    """Distinct datagrams that have arrived [n]."""
    KNOWN = 10
    """First of the words of a datagram whose sending time is known, see `source.Known`."""
    WORDS = 10 + Known.SIZE


WORDS = int(Udp.WORDS)
"""Words of scratch of a stream without the record of the sink."""


class Counter(IntEnum):
    """Words of scratch that an engine may read."""

    SENT = Udp.SENT


@noinline
def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Set up a stream of `limit` datagrams before the start; returns the next free word of `s`."""
    for word in range(WORDS):
        s[word] = 0
    s[Udp.LIMIT] = limit
    s[Udp.STREAM] = STREAM_DATAGRAM + flow
    s[Udp.DUE] = FOREVER
    describe(s, p[RowP.START], p[UdpP.STOP], p[UdpP.INTERVAL], p[UdpP.SPREAD])
    if OVERTAKES:
        return sink.prepare(s, p, free)
    return free


def describe(s: Any, start: Any, stop: Any, interval: Any, spread: Any) -> None:
    """Set when datagrams are sent [ns], where the columns of `P` do not say so."""
    s[Udp.START] = start
    s[Udp.STOP] = stop
    s[Udp.INTERVAL] = interval
    s[Udp.SPREAD] = spread


@noinline
def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Make the first datagram ready, if there is one."""
    if s[Udp.LIMIT] > 0 and now < s[Udp.STOP]:
        s[Udp.READY] = 1


def due(s: Any) -> Any:
    """Return when the next datagram is to be sent [ns]."""
    return s[Udp.DUE]


@noinline
def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Make the next datagram ready."""
    s[Udp.READY] = 1
    s[Udp.DUE] = FOREVER


def may_send(p: Any, s: Any) -> Any:
    """Return whether a datagram is ready."""
    return s[Udp.READY] != 0


@noinline
def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the number of the datagram that is sent now; a full queue does not stop it."""
    number = s[Udp.SENT]
    s[Udp.SENT] = number + 1
    s[Udp.READY] = 0
    following = now + gap(p, s[Udp.STREAM], number, s[Udp.INTERVAL], s[Udp.SPREAD])
    if number + 1 < s[Udp.LIMIT] and following < s[Udp.STOP]:
        s[Udp.DUE] = following
    return number


def all_sent(s: Any) -> Any:
    """Return whether the last datagram has been sent."""
    return s[Udp.SENT] > 0 and s[Udp.SENT] >= s[Udp.LIMIT]


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a datagram is the last one, which may be shorter than the others."""
    return packet + 1 == s[Udp.LIMIT]


@noinline
def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Receive a datagram at time t [ns].

    Returns NONE, or FULL if it is too late to tell whether it has arrived before; and whether it is new.
    """
    what = np.int64(sink.NEW)
    if OVERTAKES:
        what = sink.arrive(s, p, np.int64(WORDS), packet)
    fresh = what == sink.NEW
    if fresh:
        s[Udp.DELIVERED] += 1
    return np.int64(FULL) if what == sink.OLD else np.int64(NONE), fresh


def complete(p: Any, s: Any) -> Any:
    """Return whether all datagrams have arrived."""
    return s[Udp.DELIVERED] == s[Udp.LIMIT]


@noinline
def delay_of(p: Any, s: Any, t: Any, packet: Any) -> Any:
    """Return the time since a datagram was sent [ns]."""
    offset = offset_of(
        p, s, np.int64(Udp.KNOWN), s[Udp.STREAM], packet, s[Udp.INTERVAL], s[Udp.SPREAD]
    )  # fmt: skip
    return t - s[Udp.START] - offset


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of a stream with a record of `ring` datagrams, or of many."""
    return WORDS + sink.scratch_words(ring)
