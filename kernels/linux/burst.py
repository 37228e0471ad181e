"""How many new packets leave at once: large segments are cut into packets, the last of which is marked PSH.

Source: Linux sizes a burst by the rate: what it would send in about a millisecond, two packets at least (E.
Dumazet, "TSO packets automatic sizing", 2013).  The receiver's application reads what a PSH ends, and an ACK
goes out: so ACKs of pairs stay in step with the pairs.  A burst that is less waits for the next ACK if that
is due at once (E. Dumazet, "tcp_tso_should_defer() vs large RTT", 2025: in Linux from 6.18 on).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux import clocks, pacing
from netcarlo.kernels.linux.state import PACED, Packet, State, Tcp, in_flight, packet_at, window_of

LEAST = 2
"""Packets of a burst."""
BYTES = 65536
"""Most of one."""
SOON_US = 1000
"""So near, and within half a round trip, an ACK is waited for if packets have left in a time as short,"""
PART = 3
"""and there is room for less than such a part of the window (tcp_tso_win_divisor)."""


def size(p: Any, s: Any) -> Any:
    """Of a full one [packet]: 1/1024 s of the rate cwnd / RTT, twice that in slow start, 1.2 times beyond."""
    percent = 200 if s[Tcp.CWND] < s[Tcp.SSTHRESH] >> 1 else 120
    data, rtt = max(p[P.DATA], 1), max(s[Tcp.SRTT], 1)
    sent = max(s[Tcp.CWND], s[Tcp.NXT] - s[Tcp.UNA]) * p[P.DATA] * percent * 80_000
    if sent < ((LEAST + 1) * data << 10) * rtt:  # as on slow links: no need to divide
        return np.int64(LEAST)
    return max(quotient(min(quotient(sent, rtt) >> 10, BYTES), data), LEAST)  # of a rate [byte / s]


def room_of(p: Any, s: Any) -> Any:
    """Room that the windows of sender and receiver have [packet]."""
    return min(s[Tcp.CWND] - in_flight(s), s[Tcp.UNA] + window_of(p, s) - s[Tcp.NXT])


def is_put_off(p: Any, s: Any, now: Any, room: Any) -> Any:
    """Whether a burst with so much room waits for more: it is not full, and the first ACK is due soon."""
    now_us = clocks.us_of(now)
    if now_us - _latest(p, s) > SOON_US or s[Tcp.STATE] >= State.RECOVERY:
        return False
    if s[Tcp.NXT] == s[Tcp.UNA] or s[Tcp.NXT] >= s[Tcp.LAST]:
        return False
    due_us = s[packet_at(p, s, s[Tcp.UNA]) + Packet.SENT] + (s[Tcp.SRTT] >> 3)
    if due_us - now_us > min(s[Tcp.SRTT] >> 4, SOON_US):
        return False
    if PART * room >= min(s[Tcp.CWND], window_of(p, s)):
        return False
    return room < (pacing.size(p, s) if PACED else size(p, s))


def _latest(p: Any, s: Any) -> Any:
    """When packets left last [us]; with pacing, when the next may."""
    if PACED:
        return clocks.us_of(s[pacing.Pacing.NEXT])
    return s[packet_at(p, s, s[Tcp.NXT] - 1) + Packet.SENT]


def next_burst(p: Any, s: Any, now: Any) -> Any:
    """How many packets go out as one now; 0: no window has room, or the burst is put off."""
    room = room_of(p, s)
    return fitting(p, s, now, room) if room > 0 else np.int64(0)


def fitting(p: Any, s: Any, now: Any, room: Any) -> Any:
    """The same where the windows have so much room; 0: it is put off."""
    if is_put_off(p, s, now, room):
        return np.int64(0)
    room = min(min(room, max(s[Tcp.CWND] >> 1, 1)), s[Tcp.LAST] + 1 - s[Tcp.NXT])
    if PACED:
        return min(room, pacing.size(p, s))
    return room if room <= LEAST else min(room, size(p, s))
