"""Application that sends messages: it writes one, waits until all of it is acknowledged, and then pauses.

A restart after idle (RFC 2861, section 3, in the form of Linux): the window says little about the path after
a pause, so it is halved for every retransmission timeout without transmission, down to the initial window,
and the threshold remembers it. A congestion control that sets a pacing rate keeps its window, and is told
that its samples are limited by the application.

The association below is driven as by an engine; its packets end with the latest message.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base import histogram, points
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, MESSAGES_EVERY, STREAM_MESSAGE, Messages
from netcarlo.kernels.base.parameters import LinuxP, RowP, TcpP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.linux import clocks, prr, rate, state
from netcarlo.kernels.linux.sender import WAKE_UP_TIME
from netcarlo.kernels.linux.state import FIRST, PACED, Flag, Packet, Tcp, packet_at

below: Any = slot("below")
"""Association below the one with messages."""
control: Any = slot("control")

TIME_BINS = int(Messages.COLUMNS - Messages.TIMES)
"""Bins of the histogram of completion times."""
TIME_SHIFT = 10
"""Binary logarithm of the unit of completion times in the histogram [ns]."""


class Word(IntEnum):
    """State words of the application, following those of the association."""

    WRITE_AT = state.END
    """Time at which the next message is written [ns]; FOREVER while the current one is not acknowledged."""
    WRITTEN = auto()
    """Messages written."""
    WRITTEN_AT = auto()
    """Time at which the latest message was written [ns]."""
    WAIT = auto()
    """Time that the application waits after the latest message, or since it was written [ns]."""
    IN_TRANSIT = auto()
    """1 until the latest message has arrived completely."""
    LAST_SENT_AT = auto()
    """Time at which data was last sent [ns]."""
    SHORT = auto()
    """Bytes by which the last packet of the latest message is shorter than a full one."""
    COUNTS = auto()
    """First word of the outcomes (`Messages`), which a table of RING words follows, see `_short_at`."""


WORDS = int(Word.COUNTS) + 1
"""Words of an association with messages, without its rings."""


def more_words(ring: int) -> int:
    """Return the words of scratch, besides those of the association, for `ring` packets in flight."""
    return WORDS - state.END + int(Messages.COLUMNS) + ring


def prepare(p: Any, s: Any, g: Any, limit: Any, phase: Any, flow: Any, free: Any) -> Any:
    """Prepare the association, as `sender.prepare` does, with no message written."""
    free = below.prepare(p, s, g, np.int64(0), phase, flow, free)
    for word in range(Word.WRITE_AT, WORDS):
        s[word] = 0
    end = free + Messages.COLUMNS + p[RowP.RING]
    for word in range(free, end):
        s[word] = 0
    s[Word.WRITE_AT] = FOREVER
    s[Word.COUNTS] = free
    return end


def start(p: Any, s: Any, g: Any, now: Any) -> None:
    """Start the connection."""
    below.start(p, s, g, now)
    if s[Tcp.ESTABLISHED] != 0:
        s[Word.WRITE_AT] = now


def due(s: Any) -> Any:
    """Return the time at which a timer of the sender expires or the application writes [ns]."""
    return min(below.due(s), s[Word.WRITE_AT])


def on_timeout(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Process the timer of the sender; if none is due, write a message."""
    if below.due(s) <= now:
        below.on_timeout(p, s, g, constants, now)
    else:
        _write(p, s, constants, now)


@noinline
def _write(p: Any, s: Any, constants: Any, now: Any) -> None:
    """Write the next message, which consists of full packets except for the last one."""
    k = s[Word.WRITTEN]
    w0, w1, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_MESSAGE, k)
    size = max(points.value(constants, p[LinuxP.MESSAGE_SIZES], np.int64(w0)), np.int64(1))
    if k > 0:
        _restart_after_idle(p, s, now)
    if PACED:
        rate.mark_app_limited(s)
    s[Word.WAIT] = points.value(constants, p[LinuxP.MESSAGE_WAITS], np.int64(w1))
    s[Word.WRITE_AT] = FOREVER
    s[Word.WRITTEN] = k + 1
    s[Word.WRITTEN_AT] = now
    s[Word.IN_TRANSIT] = 1
    packets = (size + p[RowP.DATA] - 1) // p[RowP.DATA]
    s[Tcp.LAST] += packets
    s[Word.SHORT] = packets * p[RowP.DATA] - size
    s[Tcp.TRY_SEND] = 1


def _restart_after_idle(p: Any, s: Any, now: Any) -> None:
    """Reduce the window after an idle time (`tcp_cwnd_restart`), and notify the congestion control."""
    if PACED:
        return
    idle = clocks.jiffies_of(p, s, now) - clocks.jiffies_of(p, s, s[Word.LAST_SENT_AT])
    if p[LinuxP.IDLE_RESTART] != 0 and idle > s[Tcp.RTO]:
        cwnd, restart_cwnd = s[Tcp.CWND], min(p[TcpP.INITIAL_WINDOW], s[Tcp.CWND])
        s[Tcp.SSTHRESH] = prr.current_ssthresh(s)
        left = idle - s[Tcp.RTO]
        while left > 0 and cwnd > restart_cwnd:
            cwnd >>= np.int64(1)
            left -= s[Tcp.RTO]
        s[Tcp.CWND] = max(cwnd, restart_cwnd)
    control.on_idle_restart(p, s, now, idle)


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Process an acknowledgement; begin the pause when everything written is acknowledged."""
    below.on_ack(p, s, g, constants, now, ack_id)
    if s[Word.WRITE_AT] == FOREVER and s[Tcp.ESTABLISHED] != 0 and s[Tcp.SND_UNA] > s[Tcp.LAST]:
        _pause(p, s, now)


@noinline
def _pause(p: Any, s: Any, now: Any) -> None:
    """Set the time of the next message."""
    if s[Word.WRITTEN] == 0:
        s[Word.WRITE_AT] = now + WAKE_UP_TIME
        return
    since = s[Word.WRITTEN_AT] if p[LinuxP.MESSAGES] == MESSAGES_EVERY else now
    s[Word.WRITE_AT] = max(since + s[Word.WAIT], now)
    s[s[Word.COUNTS] + Messages.IDLE] += max(min(s[Word.WRITE_AT], p[RowP.END]) - now, 0)


def next_segment(p: Any, s: Any, g: Any, now: Any, blocked: Any) -> Any:
    """Return the next packet, as `sender.next_segment` does; the last packet of a message is marked PSH."""
    packet = below.next_segment(p, s, g, now, blocked)
    if packet >= FIRST:
        s[Word.LAST_SENT_AT] = now
        s[_short_at(p, s, packet)] = s[Word.SHORT] if packet == s[Tcp.LAST] else np.int64(0)
        if packet == s[Tcp.LAST]:
            s[packet_at(p, s, packet) + Packet.FLAGS] |= Flag.PSH
    return packet


def _short_at(p: Any, s: Any, packet: Any) -> Any:
    """Return the word that holds the bytes by which a sent packet falls short of a whole one.

    The word belongs to the packet, because a copy may still be in flight when later messages are written.
    """
    return s[Word.COUNTS] + Messages.COLUMNS + (packet & (p[RowP.RING] - 1))


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender [byte]; the last one of a message may be shorter."""
    size = below.size_of(p, s, packet)
    return size - s[_short_at(p, s, packet)] if packet >= FIRST else size


def on_data(p: Any, s: Any, t: Any, packet: Any, more: Any) -> Any:
    """Process a packet, as `receiver.on_data` does; a message is complete when none of its packets is
    missing."""
    found = below.on_data(p, s, t, packet, more)
    if s[Word.IN_TRANSIT] != 0 and below.complete(p, s):
        s[Word.IN_TRANSIT] = 0
        s[s[Word.COUNTS] + Messages.SHORT] += s[Word.SHORT]
        _count(s, t - s[Word.WRITTEN_AT])
    return found


@noinline
def _count(s: Any, time: Any) -> None:
    """Count a completed message with its completion time [ns]."""
    at = s[Word.COUNTS]
    s[at + Messages.COMPLETED] += 1
    s[at + Messages.TIME] += time
    histogram.count(s, at + Messages.TIMES, TIME_BINS, time >> np.int64(TIME_SHIFT))


def complete(p: Any, s: Any) -> Any:
    """Return False: there is always another message."""
    return False


def report(s: Any, out: Any, at: Any) -> None:
    """Write the outcomes from column `at` on."""
    for column in range(Messages.COLUMNS):
        out[at + column] = s[s[Word.COUNTS] + column]
