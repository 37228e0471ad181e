"""A receiver whose window grows with what its application reads in a round trip (dynamic right-sizing).

Source: Fisk and Feng, "Dynamic right-sizing in TCP" (LACSI 2001), in the form of Linux: room for twice what
was read in the latest round trip and 16 packets, and more as that grew; a window of 64 KiB at first, and
`P.WINDOW` at most (tcp_rmem).  What is told of it grows by two packets with each that arrives, which is
acknowledged at once.  Round trips are those of timestamps: from an ACK to the first packet that was put out
after it had come.  The application reads at once, after the ACK of what it reads.

The association below this one is driven as by an engine.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import MS, P
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.state import FIRST, NONE, Tcp

untuned: Any = slot("untuned")

FIRST_WINDOW = 65536
"""[byte]"""
FIRST_SPACE = 10
"""Packets that the application is thought to have read in a round trip before any."""
MARGIN = 16
"""Packets that there is room for beyond twice what was read."""
STEP = 2
"""Packets by which the window that is told grows with each that arrives."""
ENTRY = 3
"""Words by packet or ACK: the window's end that an ACK tells, when it went out, and when the ACK went out
that had come last when a packet was put out [ns]."""


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """As `sender.prepare`."""
    free = untuned.prepare(p, s, g, limit, phase, flow, free)
    window = min(max(FIRST_WINDOW // max(p[P.DATA], 1), 1), p[P.WINDOW])
    s[Tcp.TUNING] = free
    s[Tcp.WINDOW] = s[Tcp.RCV_TOLD] = s[Tcp.RCV_ROOM] = window
    s[Tcp.WINDOW_END] = FIRST + window
    s[Tcp.READ_SPACE] = min(window, np.int64(FIRST_SPACE))
    s[Tcp.READ_NXT] = FIRST
    s[Tcp.RCV_ECHO] = s[Tcp.ANSWERED_AT] = NONE
    return free + ENTRY * p[P.RING]


def _at(p: Any, s: Any, number: Any) -> Any:
    return s[Tcp.TUNING] + ENTRY * (number & (p[P.RING] - 1))


# The sender.


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """As `sender.next_segment`; a packet echoes the ACK that came last."""
    packet = untuned.next_segment(p, s, g, now, blocked)
    if packet >= FIRST:
        s[_at(p, s, packet) + 2] = s[Tcp.ANSWERED_AT]
    return packet


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """An acknowledgement arrives at the sender, with a window."""
    at = _at(p, s, ack_id)
    end = s[at]
    s[Tcp.ANSWERED_AT] = max(s[Tcp.ANSWERED_AT], s[at + 1])
    untuned.on_ack(p, s, g, constants, now, ack_id)
    s[Tcp.WINDOW_END] = max(s[Tcp.WINDOW_END], end)
    s[Tcp.WINDOW] = s[Tcp.WINDOW_END] - max(s[Tcp.UNA], FIRST)


# The receiver.


def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """As `receiver.on_data`; the window that is told grows, and the application reads."""
    before = s[Tcp.RCV_NXT]
    if packet >= FIRST:
        _measure(s, t, s[_at(p, s, packet) + 2])
        if packet >= before and s[Tcp.RCV_TOLD] < s[Tcp.RCV_ROOM]:
            s[Tcp.RCV_TOLD] = min(s[Tcp.RCV_TOLD] + STEP, s[Tcp.RCV_ROOM])
            s[Tcp.QUICK] |= 1
    ack_id, fresh = untuned.on_data(p, s, t, packet, more)
    _tell(p, s, t, ack_id)
    if s[Tcp.RCV_NXT] > max(before, FIRST):
        _read(p, s, t)
    return ack_id, fresh


def on_delay(p: Any, s: Any) -> Any:
    """As `receiver.on_delay`."""
    t = untuned.due_at_receiver(s)
    ack_id = untuned.on_delay(p, s)
    _tell(p, s, t, ack_id)
    return ack_id


def _tell(p: Any, s: Any, t: Any, ack_id: Any) -> None:
    # An ACK goes out at t [ns], or none does.
    if ack_id >= 0:
        at = _at(p, s, ack_id)
        s[at] = s[Tcp.RCV_NXT] + s[Tcp.RCV_TOLD]
        s[at + 1] = t


def _measure(s: Any, t: Any, echo: Any) -> None:
    # A packet that echoes an ACK of `echo` [ns] arrives: a round trip, in whole ms, of the first that does.
    if echo == NONE or (s[Tcp.RCV_ECHO] != NONE and clocks.stamp_of(s, echo) == s[Tcp.RCV_ECHO]):
        return
    s[Tcp.RCV_ECHO] = clocks.stamp_of(s, echo)
    rtt = max(clocks.stamp_of(s, t) - s[Tcp.RCV_ECHO], 1) * MS
    mean = s[Tcp.READ_RTT]
    s[Tcp.READ_RTT] = mean + rtt - (mean >> np.int64(3)) if mean > 0 else rtt << np.int64(3)


def _read(p: Any, s: Any, t: Any) -> None:
    # The application has read all there is: once in a round trip there is room for more than that.
    if s[Tcp.READ_RTT] == 0 or t - s[Tcp.READ_AT] < s[Tcp.READ_RTT] >> np.int64(3):
        return
    read = s[Tcp.RCV_NXT] - s[Tcp.READ_NXT]
    if read > s[Tcp.READ_SPACE]:
        room = 2 * read + MARGIN
        room += 2 * (room * (read - s[Tcp.READ_SPACE]) // s[Tcp.READ_SPACE])
        s[Tcp.RCV_ROOM] = max(s[Tcp.RCV_ROOM], min(room, p[P.WINDOW]))
        s[Tcp.READ_SPACE] = read
    s[Tcp.READ_NXT] = s[Tcp.RCV_NXT]
    s[Tcp.READ_AT] = t
