"""Receive-window autotuning (dynamic right-sizing): the window grows with what the application reads per RTT.

Source: Fisk and Feng, "Dynamic right-sizing in TCP" (LACSI 2001), in the form of Linux
(`tcp_rcv_space_adjust`): the buffer has room for twice the packets read in the latest round trip plus 16, and
for more if that number grew. The window begins with 64 KiB and is limited by `RowP.WINDOW` (tcp_rmem). The
advertised window grows by two packets with each packet that arrives, which is acknowledged at once.
Round-trip times are measured by timestamps: from an ACK to the first packet that was sent after the ACK had
arrived. The application reads immediately after the ACK of the data that it reads.

The association without autotuning is driven as by an engine.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.state import FIRST, NONE, Tcp

without_autotuning: Any = slot("without_autotuning")
"""Association without autotuning."""

INITIAL_WINDOW_BYTES = 65536
"""Initial receive window [byte]."""
INITIAL_RCVQ_SPACE = 10
"""Packets assumed to be read in a round trip before the first measurement (TCP_INIT_CWND)."""
EXTRA_PACKETS = 16
"""Packets of room beyond twice the packets read."""
WINDOW_STEP = 2
"""Packets by which the advertised window grows with each packet that arrives."""
ENTRY_WORDS = 3
"""Words per packet or ACK: the end of the advertised window and the sending time of an ACK [ns], and for a
packet the time at which the newest ACK received before it was sent [ns]."""


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association, as `sender.prepare` does, and the ring of windows and timestamps."""
    free = without_autotuning.prepare(p, s, g, limit, phase, flow, free)
    window = min(max(INITIAL_WINDOW_BYTES // max(p[RowP.DATA], 1), 1), p[RowP.WINDOW])
    s[Tcp.AUTOTUNING_RING] = free
    s[Tcp.SND_WND] = s[Tcp.RCV_WND] = s[Tcp.WINDOW_CLAMP] = window
    s[Tcp.SND_WND_END] = FIRST + window
    s[Tcp.RCVQ_SPACE] = min(window, np.int64(INITIAL_RCVQ_SPACE))
    s[Tcp.RCVQ_SEQ] = FIRST
    s[Tcp.RCV_RTT_LAST_TSECR] = s[Tcp.NEWEST_ACK_AT] = NONE
    return free + ENTRY_WORDS * p[RowP.RING]


def _at(p: Any, s: Any, number: Any) -> Any:
    """Return the word of an entry of the ring."""
    return s[Tcp.AUTOTUNING_RING] + ENTRY_WORDS * (number & (p[RowP.RING] - 1))


# Sender.


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the next packet, as `sender.next_segment` does; it echoes the newest ACK received."""
    packet = without_autotuning.next_segment(p, s, g, now, blocked)
    if packet >= FIRST:
        s[_at(p, s, packet) + 2] = s[Tcp.NEWEST_ACK_AT]
    return packet


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process an acknowledgement that arrives at the sender, and its advertised window."""
    at = _at(p, s, ack_id)
    end = s[at]
    s[Tcp.NEWEST_ACK_AT] = max(s[Tcp.NEWEST_ACK_AT], s[at + 1])
    without_autotuning.on_ack(p, s, g, constants, now, ack_id)
    s[Tcp.SND_WND_END] = max(s[Tcp.SND_WND_END], end)
    s[Tcp.SND_WND] = s[Tcp.SND_WND_END] - max(s[Tcp.SND_UNA], FIRST)


# Receiver.


def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process a packet, as `receiver.on_data` does; the advertised window grows, and the application
    reads."""
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
    """Send the delayed ACK, as `receiver.on_delay` does, with an advertised window."""
    t = without_autotuning.due_at_receiver(s)
    ack_id = without_autotuning.on_delay(p, s)
    _advertise(p, s, t, ack_id)
    return ack_id


def _advertise(p: Any, s: Any, t: Any, ack_id: Any) -> None:
    """Note the window and the sending time [ns] of an ACK, unless none was sent."""
    if ack_id >= 0:
        at = _at(p, s, ack_id)
        s[at] = s[Tcp.RCV_NXT] + s[Tcp.RCV_WND]
        s[at + 1] = t


def _measure_rtt(s: Any, t: Any, echo: Any) -> None:
    """Measure the RTT in whole ms by the first packet that echoes an ACK sent at `echo` [ns]
    (`tcp_rcv_rtt_measure_ts`)."""
    if echo == NONE or (
        s[Tcp.RCV_RTT_LAST_TSECR] != NONE and clocks.timestamp_of(s, echo) == s[Tcp.RCV_RTT_LAST_TSECR]
    ):
        return
    s[Tcp.RCV_RTT_LAST_TSECR] = clocks.timestamp_of(s, echo)
    rtt = max(clocks.timestamp_of(s, t) - s[Tcp.RCV_RTT_LAST_TSECR], 1) * MS
    mean = s[Tcp.RCV_RTT_EST]
    s[Tcp.RCV_RTT_EST] = mean + rtt - (mean >> np.int64(3)) if mean > 0 else rtt << np.int64(3)


def _adjust_window(p: Any, s: Any, t: Any) -> None:
    """Raise the limit of the window once per round trip if the application read more than before
    (`tcp_rcv_space_adjust`)."""
    if s[Tcp.RCV_RTT_EST] == 0 or t - s[Tcp.RCVQ_TIME] < s[Tcp.RCV_RTT_EST] >> np.int64(3):
        return
    read = s[Tcp.RCV_NXT] - s[Tcp.RCVQ_SEQ]
    if read > s[Tcp.RCVQ_SPACE]:
        window = 2 * read + EXTRA_PACKETS
        window += 2 * (window * (read - s[Tcp.RCVQ_SPACE]) // s[Tcp.RCVQ_SPACE])
        s[Tcp.WINDOW_CLAMP] = max(s[Tcp.WINDOW_CLAMP], min(window, p[RowP.WINDOW]))
        s[Tcp.RCVQ_SPACE] = read
    s[Tcp.RCVQ_SEQ] = s[Tcp.RCV_NXT]
    s[Tcp.RCVQ_TIME] = t
