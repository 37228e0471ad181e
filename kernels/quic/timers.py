"""Timers of the sender: handshake, probe timeout and time threshold, and pacing.

Source: RFC 9002, sections 6.1.2, 6.2 and 7.7. One timer serves the handshake and loss detection. Times that
have passed already become the next nanosecond.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, MS
from netcarlo.kernels.base.parameters import QuicP, ReliableP, RowP
from netcarlo.kernels.quic.state import NONE, Phase, Word

GRANULARITY = np.int64(MS)
"""Granularity of timers (`kGranularity`) [ns]."""
MAX_DOUBLINGS = 16
"""Doublings of the probe timeout at most, so that it fits a word."""
ONE = 1024
"""Unit of `QuicP.PACING`."""


def probe_timeout(p: Any, s: Any) -> Any:
    """Return the probe timeout with its back-off, without max_ack_delay [ns] (RFC 9002, section 6.2.1)."""
    timeout = s[Word.SMOOTHED_RTT] + max(4 * s[Word.RTT_VARIATION], GRANULARITY)
    if s[Word.PHASE] == Phase.ESTABLISHED:
        timeout += p[ReliableP.ACK_DELAY]
    return min(timeout << min(s[Word.PTO_COUNT], np.int64(MAX_DOUBLINGS)), p[ReliableP.MAX_RTO])


@noinline
def start_handshake(p: Any, s: Any) -> None:
    """Start the timer of the handshake packet that is sent now."""
    s[Word.TIMER] = s[Word.NOW] + max(probe_timeout(p, s), np.int64(1))


@noinline
def start(p: Any, s: Any) -> None:
    """Set the loss detection timer (`SetLossDetectionTimer`, RFC 9002, appendix A.8)."""
    if s[Word.PHASE] != Phase.ESTABLISHED:
        return
    if s[Word.IN_FLIGHT] == 0 or s[Word.UNACKED_CHUNK] == s[Word.LIMIT]:
        s[Word.TIMER] = FOREVER
    elif s[Word.LOSS_TIME] != FOREVER:
        s[Word.TIMER] = s[Word.LOSS_TIME]
    else:
        s[Word.TIMER] = max(s[Word.LAST_SENT] + probe_timeout(p, s), s[Word.NOW] + 1)


def is_open(p: Any, s: Any) -> Any:
    """Return whether data may be sent: after the handshake, or before it ends with 0-RTT."""
    return s[Word.PHASE] + p[QuicP.ZERO_RTT] >= Phase.ESTABLISHED


def has_room(p: Any, s: Any) -> Any:
    """Return whether the congestion window has room for a full packet (RFC 9002, section 7)."""
    return s[Word.IN_FLIGHT] + s[Word.DATAGRAM] <= s[Word.CWND]


def has_new(p: Any, s: Any) -> Any:
    """Return whether flow control allows a chunk that was never sent (RFC 9000, section 4.1)."""
    return s[Word.NEXT_CHUNK] < min(s[Word.LIMIT], s[Word.UNACKED_CHUNK] + p[RowP.WINDOW])


def wants_to_send(p: Any, s: Any) -> Any:
    """Return whether there are data that the congestion window allows, whatever pacing says."""
    waiting = s[Word.LOST_FIRST] < s[Word.LOST_END] or has_new(p, s)
    return waiting and is_open(p, s) and has_room(p, s)


def pace(p: Any, s: Any, now: Any) -> None:
    """Record that a packet was sent (RFC 9002, section 7.7).

    Before the first RTT sample packets are not paced.
    """
    if p[QuicP.PACING] == 0 or s[Word.FIRST_SAMPLE] == NONE:
        return
    interval = s[Word.SMOOTHED_RTT] * s[Word.DATAGRAM] * ONE // (p[QuicP.PACING] * s[Word.CWND])
    s[Word.PACE_AT] = max(s[Word.PACE_AT], now) + interval
    s[Word.RELEASE] = s[Word.PACE_AT] - (p[QuicP.BURST] - 1) * interval


def start_pacing(p: Any, s: Any) -> None:
    """Start the pacing timer if pacing is all that holds the next packet, else stop it."""
    held = s[Word.RELEASE] > s[Word.NOW] and wants_to_send(p, s)
    s[Word.PACE_TIMER] = s[Word.RELEASE] if held else FOREVER
