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
from netcarlo.kernels.linux.state import PACED, CaState, Packet, Tcp, in_flight, packet_at, snd_wnd

MIN_TSO_SEGS = 2
"""Packets of a burst."""
MAX_BYTES = 65536
"""Most of one."""
DEFER_US = 1000
"""So near, and within half a round trip, an ACK is waited for if packets have left in a time as short,"""
WIN_DIVISOR = 3
"""and there is room for less than such a part of the window (tcp_tso_win_divisor)."""


def tso_autosize(p: Any, s: Any) -> Any:
    """Of a full one [packet]: 1/1024 s of the rate cwnd / RTT, twice that in slow start, 1.2 times beyond."""
    percent = 200 if s[Tcp.CWND] < s[Tcp.SSTHRESH] >> 1 else 120
    data, rtt = max(p[P.DATA], 1), max(s[Tcp.SRTT_US], 1)
    sent = max(s[Tcp.CWND], s[Tcp.SND_NXT] - s[Tcp.SND_UNA]) * p[P.DATA] * percent * 80_000
    if sent < ((MIN_TSO_SEGS + 1) * data << 10) * rtt:  # as on slow links: no need to divide
        return np.int64(MIN_TSO_SEGS)
    return max(
        quotient(min(quotient(sent, rtt) >> 10, MAX_BYTES), data), MIN_TSO_SEGS
    )  # of a rate [byte / s]


def available_window(p: Any, s: Any) -> Any:
    """Room that the windows of sender and receiver have [packet]."""
    return min(s[Tcp.CWND] - in_flight(s), s[Tcp.SND_UNA] + snd_wnd(p, s) - s[Tcp.SND_NXT])


def should_defer(p: Any, s: Any, now: Any, room: Any) -> Any:
    """Whether a burst with so much room waits for more: it is not full, and the first ACK is due soon."""
    now_us = clocks.us_of(now)
    if now_us - _last_sent(p, s) > DEFER_US or s[Tcp.CA_STATE] >= CaState.RECOVERY:
        return False
    if s[Tcp.SND_NXT] == s[Tcp.SND_UNA] or s[Tcp.SND_NXT] >= s[Tcp.LAST]:
        return False
    due_us = s[packet_at(p, s, s[Tcp.SND_UNA]) + Packet.SENT] + (s[Tcp.SRTT_US] >> 3)
    if due_us - now_us > min(s[Tcp.SRTT_US] >> 4, DEFER_US):
        return False
    if WIN_DIVISOR * room >= min(s[Tcp.CWND], snd_wnd(p, s)):
        return False
    return room < (pacing.tso_autosize(p, s) if PACED else tso_autosize(p, s))


def _last_sent(p: Any, s: Any) -> Any:
    """When packets left last [us]; with pacing, when the next may."""
    if PACED:
        return clocks.us_of(s[pacing.Pacing.NEXT_SEND])
    return s[packet_at(p, s, s[Tcp.SND_NXT] - 1) + Packet.SENT]


def next_burst(p: Any, s: Any, now: Any) -> Any:
    """How many packets go out as one now; 0: no window has room, or the burst is put off."""
    room = available_window(p, s)
    return burst_within(p, s, now, room) if room > 0 else np.int64(0)


def burst_within(p: Any, s: Any, now: Any, room: Any) -> Any:
    """The same where the windows have so much room; 0: it is put off."""
    if should_defer(p, s, now, room):
        return np.int64(0)
    room = min(min(room, max(s[Tcp.CWND] >> 1, 1)), s[Tcp.LAST] + 1 - s[Tcp.SND_NXT])
    if PACED:
        return min(room, pacing.tso_autosize(p, s))
    return room if room <= MIN_TSO_SEGS else min(room, tso_autosize(p, s))
