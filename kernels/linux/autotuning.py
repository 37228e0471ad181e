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

without_autotuning: Any = slot("without_autotuning")

INITIAL_WINDOW_BYTES = 65536
"""[byte]"""
INITIAL_RCVQ_SPACE = 10
"""Packets that the application is thought to have read in a round trip before any."""
EXTRA_PACKETS = 16
"""Packets that there is room for beyond twice what was read."""
WINDOW_STEP = 2
"""Packets by which the window that is told grows with each that arrives."""
ENTRY_WORDS = 3
"""Words by packet or ACK: the window's end that an ACK tells, when it went out, and when the ACK went out
that had come last when a packet was put out [ns]."""


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """As `sender.prepare`."""
    free = without_autotuning.prepare(p, s, g, limit, phase, flow, free)
    window = min(max(INITIAL_WINDOW_BYTES // max(p[P.DATA], 1), 1), p[P.WINDOW])
    s[Tcp.AUTOTUNING_RING] = free
    s[Tcp.SND_WND] = s[Tcp.RCV_WND] = s[Tcp.WINDOW_CLAMP] = window
    s[Tcp.SND_WND_END] = FIRST + window
    s[Tcp.RCVQ_SPACE] = min(window, np.int64(INITIAL_RCVQ_SPACE))
    s[Tcp.RCVQ_SEQ] = FIRST
    s[Tcp.RCV_RTT_LAST_TSECR] = s[Tcp.NEWEST_ACK_AT] = NONE
    return free + ENTRY_WORDS * p[P.RING]


def _at(p: Any, s: Any, number: Any) -> Any:
    return s[Tcp.AUTOTUNING_RING] + ENTRY_WORDS * (number & (p[P.RING] - 1))


# The sender.


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """As `sender.next_segment`; a packet echoes the ACK that came last."""
    packet = without_autotuning.next_segment(p, s, g, now, blocked)
    if packet >= FIRST:
        s[_at(p, s, packet) + 2] = s[Tcp.NEWEST_ACK_AT]
    return packet


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """An acknowledgement arrives at the sender, with a window."""
    at = _at(p, s, ack_id)
    end = s[at]
    s[Tcp.NEWEST_ACK_AT] = max(s[Tcp.NEWEST_ACK_AT], s[at + 1])
    without_autotuning.on_ack(p, s, g, constants, now, ack_id)
    s[Tcp.SND_WND_END] = max(s[Tcp.SND_WND_END], end)
    s[Tcp.SND_WND] = s[Tcp.SND_WND_END] - max(s[Tcp.SND_UNA], FIRST)


# The receiver.


def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """As `receiver.on_data`; the window that is told grows, and the application reads."""
    before = s[Tcp.RCV_NXT]
    if packet >= FIRST:
        _measure_rtt(s, t, s[_at(p, s, packet) + 2])
        if packet >= before and s[Tcp.RCV_WND] < s[Tcp.WINDOW_CLAMP]:
            s[Tcp.RCV_WND] = min(s[Tcp.RCV_WND] + WINDOW_STEP, s[Tcp.WINDOW_CLAMP])
            s[Tcp.QUICK_ACKS] |= 1
    ack_id, fresh = without_autotuning.on_data(p, s, t, packet, more)
    _advertise(p, s, t, ack_id)
    if s[Tcp.RCV_NXT] > max(before, FIRST):
        _adjust_window(p, s, t)
    return ack_id, fresh


def on_delay(p: Any, s: Any) -> Any:
    """As `receiver.on_delay`."""
    t = without_autotuning.due_at_receiver(s)
    ack_id = without_autotuning.on_delay(p, s)
    _advertise(p, s, t, ack_id)
    return ack_id


def _advertise(p: Any, s: Any, t: Any, ack_id: Any) -> None:
    # An ACK goes out at t [ns], or none does.
    if ack_id >= 0:
        at = _at(p, s, ack_id)
        s[at] = s[Tcp.RCV_NXT] + s[Tcp.RCV_WND]
        s[at + 1] = t


def _measure_rtt(s: Any, t: Any, echo: Any) -> None:
    # A packet that echoes an ACK of `echo` [ns] arrives: a round trip, in whole ms, of the first that does.
    if echo == NONE or (
        s[Tcp.RCV_RTT_LAST_TSECR] != NONE and clocks.timestamp_of(s, echo) == s[Tcp.RCV_RTT_LAST_TSECR]
    ):
        return
    s[Tcp.RCV_RTT_LAST_TSECR] = clocks.timestamp_of(s, echo)
    rtt = max(clocks.timestamp_of(s, t) - s[Tcp.RCV_RTT_LAST_TSECR], 1) * MS
    mean = s[Tcp.RCV_RTT_EST]
    s[Tcp.RCV_RTT_EST] = mean + rtt - (mean >> np.int64(3)) if mean > 0 else rtt << np.int64(3)


def _adjust_window(p: Any, s: Any, t: Any) -> None:
    # The application has read all there is: once in a round trip there is room for more than that.
    if s[Tcp.RCV_RTT_EST] == 0 or t - s[Tcp.RCVQ_TIME] < s[Tcp.RCV_RTT_EST] >> np.int64(3):
        return
    read = s[Tcp.RCV_NXT] - s[Tcp.RCVQ_SEQ]
    if read > s[Tcp.RCVQ_SPACE]:
        room = 2 * read + EXTRA_PACKETS
        room += 2 * (room * (read - s[Tcp.RCVQ_SPACE]) // s[Tcp.RCVQ_SPACE])
        s[Tcp.WINDOW_CLAMP] = max(s[Tcp.WINDOW_CLAMP], min(room, p[P.WINDOW]))
        s[Tcp.RCVQ_SPACE] = read
    s[Tcp.RCVQ_SEQ] = s[Tcp.RCV_NXT]
    s[Tcp.RCVQ_TIME] = t
