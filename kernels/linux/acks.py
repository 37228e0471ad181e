"""What an acknowledgement of data does: the scoreboard, round trips, recovery, the window.

Source: those of `sack`, `rtt` and `recovery`; RFC 7661 in the form of Linux (a window that does not limit
does not grow); growth by packets acknowledged (RFC 3465 without a limit).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux import clocks, prr, rack, rate, recovery, rtt, sack, slow_start, timer
from netcarlo.kernels.linux.sack import News
from netcarlo.kernels.linux.state import NONE, PACED, Ack, Packet, Send, State, Tcp, packet_at, reducing

control: Any = slot("control")


def take(p: Any, s: Any, now: Any, at: Any, ack: Any, echo: Any) -> None:
    """An ACK of data."""
    now_us, stamp = clocks.us_of(now), clocks.stamp_of(s, echo)
    before, delivered, losses, highest = s[Tcp.UNA], s[Tcp.DELIVERED], s[Tcp.LOSSES], s[Tcp.HIGHEST]
    acked = ack - before
    reported, original = np.int64(0), np.int64(0)
    first_reported, last_reported = np.int64(NONE), np.int64(NONE)
    duplicate = s[at + Ack.DUPLICATE] != NONE
    if PACED:
        rate.begin(s)
    if acked > 0:
        s[Tcp.RETRIES] = 0
    if s[at + Ack.COUNT] > 0:
        reported, original, first_reported, last_reported, late = sack.take_blocks(p, s, at, ack, now_us)
        if late < s[Tcp.NXT] and (s[Tcp.STATE] != State.LOSS or s[Tcp.UNDO_FROM] != NONE):
            sack.note_late(s, late)
    if duplicate:
        _heard_of_duplicate(s, s[at + Ack.DUPLICATE])
    again, old, first, last, late = sack.take_ack(p, s, ack, now_us, stamp)
    s[Tcp.UNA] = ack
    s[Tcp.HIGHEST] = max(s[Tcp.HIGHEST], ack)
    if duplicate:
        rack.widen(s)
    if acked > 0 and late < highest:
        sack.note_late(s, late)
    if again != 0:
        first = np.int64(NONE)
    if first_reported != NONE:
        last = last_reported
    earliest = first if first != NONE else first_reported
    measured = rtt.measure(p, s, now, echo, acked > 0, earliest, last)
    restarts = acked > 0
    if acked == 0 and first_reported != NONE:  # sent after the first that is missing was sent last
        restarts = now_us - first_reported > now_us - s[packet_at(p, s, ack) + Packet.SENT]
    if acked > 0 or first_reported != NONE:
        control.measured(p, s, now, measured)
    news = News(acked, reported != 0, duplicate, original + old > 0)
    if s[Tcp.PROBED] != NONE:
        recovery.after_probe(p, s, now, news)
    dubious = s[Tcp.STATE] != State.OPEN or reported != 0 or duplicate or acked == 0
    if dubious and recovery.take(p, s, now, stamp, news):
        restarts = False
    if restarts:
        if s[Tcp.STATE] == State.OPEN and s[Tcp.SEND] == Send.NEW:
            s[Tcp.RESTART] = 1
        else:
            timer.restart(p, s, now)
    delivered = s[Tcp.DELIVERED] - delivered
    if PACED:
        rate.finish(s, now_us, delivered)
        control.take(p, s, now, delivered, s[Tcp.LOSSES] - losses, measured)
    elif reducing(s):
        prr.reduce(s, delivered, s[Tcp.LOSSES] - losses, acked > 0)
    elif (acked > 0 or (reported != 0 and s[Tcp.REORDERING] > rack.THRESHOLD)) and is_limited(s):
        grow(p, s, now, delivered)


def is_limited(s: Any) -> Any:
    """Whether it is the window that limits what is out: by half of it in slow start."""
    slow_start = s[Tcp.CWND] < s[Tcp.SSTHRESH]
    return s[Tcp.LIMITED] != 0 or (slow_start and s[Tcp.CWND] < 2 * s[Tcp.MOST_OUT])


def grow(p: Any, s: Any, now: Any, delivered: Any) -> None:
    """The window grows: as `slow_start` says, by a packet per so many delivered beyond."""
    left = delivered
    room = s[Tcp.SSTHRESH] - s[Tcp.CWND]
    if room > 0:
        growth = slow_start.growth(p, s, left)
        left = max(growth - room, 0)
        s[Tcp.CWND] += min(growth, room)
    if left > 0:
        every = control.every(p, s, now, left)
        if s[Tcp.COUNTED] >= every:
            s[Tcp.COUNTED] = 0
            s[Tcp.CWND] += 1
        s[Tcp.COUNTED] += left
        if s[Tcp.COUNTED] >= every:
            more = quotient(s[Tcp.COUNTED], every)
            s[Tcp.COUNTED] -= more * every
            s[Tcp.CWND] += more


@noinline
def _heard_of_duplicate(s: Any, packet: Any) -> None:
    """A packet arrived twice: one retransmission less that may have been needed."""
    if s[Tcp.UNDO_FROM] != NONE and s[Tcp.UNDO_AGAIN] > 0 and packet >= s[Tcp.UNDO_FROM]:
        s[Tcp.UNDO_AGAIN] -= 1
