"""TSO bursts: number of new packets that leave together, the last of which is marked PSH.

Source: Linux sizes a burst by the rate, to about what it sends in a millisecond, with at least two packets
(E. Dumazet, "TSO packets automatic sizing", 2013). The receiver's application reads what a PSH ends, and an
ACK is sent, so ACKs of pairs stay in step with the pairs. A smaller burst is deferred if an ACK is due soon
(`tcp_tso_should_defer`; E. Dumazet, "tcp_tso_should_defer() vs large RTT", 2025, in Linux from 6.18 on).
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux import clocks, pacing
from netcarlo.kernels.linux.state import PACED, CaState, Packet, Tcp, in_flight, packet_at, snd_wnd

MIN_TSO_SEGS = 2
"""Minimum packets of a burst (tcp_min_tso_segs)."""
MAX_BYTES = 65536
"""Maximum size of a burst [byte]."""
DEFER_US = 1000
"""Longest time since the previous burst, and until the expected ACK, for which a burst is deferred [us]."""
WIN_DIVISOR = 3
"""Fraction of the window, as its divisor, from which on a burst is not deferred (tcp_tso_win_divisor)."""


def tso_autosize(p: Any, s: Any) -> Any:
    """Return the size of a full burst [packets]: what the rate sends in 1/1024 s, where the rate is 2
    cwnd / RTT in slow start and 1.2 cwnd / RTT in congestion avoidance (`tcp_tso_autosize`)."""
    percent = 200 if s[Tcp.CWND] < s[Tcp.SSTHRESH] >> 1 else 120
    data, rtt = max(p[RowP.DATA], 1), max(s[Tcp.SRTT_US], 1)
    sent = max(s[Tcp.CWND], s[Tcp.SND_NXT] - s[Tcp.SND_UNA]) * p[RowP.DATA] * percent * 80_000
    if sent < ((MIN_TSO_SEGS + 1) * data << 10) * rtt:  # slow links: avoids the divisions
        return np.int64(MIN_TSO_SEGS)
    return max(
        quotient(min(quotient(sent, rtt) >> 10, MAX_BYTES), data), MIN_TSO_SEGS
    )  # of a rate [byte / s]


def available_window(p: Any, s: Any) -> Any:
    """Return the room that congestion and receive window leave [packets]."""
    return min(s[Tcp.CWND] - in_flight(s), s[Tcp.SND_UNA] + snd_wnd(p, s) - s[Tcp.SND_NXT])


def should_defer(p: Any, s: Any, now: Any, room: Any) -> Any:
    """Return True if a burst with so much room waits for the next ACK (`tcp_tso_should_defer`)."""
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
    """Return the time at which packets last left [us]; with pacing, the time at which the next may leave."""
    if PACED:
        return clocks.us_of(s[pacing.Pacing.NEXT_SEND])
    return s[packet_at(p, s, s[Tcp.SND_NXT] - 1) + Packet.SENT]


def next_burst(p: Any, s: Any, now: Any) -> Any:
    """Return the packets of a burst that leaves now; 0 if no window has room or the burst is deferred."""
    room = available_window(p, s)
    return burst_within(p, s, now, room) if room > 0 else np.int64(0)


def burst_within(p: Any, s: Any, now: Any, room: Any) -> Any:
    """Return the packets of a burst that leaves now if the windows have `room` packets; 0 if it is
    deferred."""
    if should_defer(p, s, now, room):
        return np.int64(0)
    room = min(min(room, max(s[Tcp.CWND] >> 1, 1)), s[Tcp.LAST] + 1 - s[Tcp.SND_NXT])
    if PACED:
        return min(room, pacing.tso_autosize(p, s))
    return room if room <= MIN_TSO_SEGS else min(room, tso_autosize(p, s))
