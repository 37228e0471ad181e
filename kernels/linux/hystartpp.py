"""HyStart++: when round trips grow, slow start goes on at a quarter of its pace, and ends if they stay so.

Source: RFC 9406, section 4.2; windows in whole packets, of which the quarters are counted.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.linux import hystart
from netcarlo.kernels.linux.state import INFINITE, Tcp

LEAST_RISE, MOST_RISE = 4000, 16_000  # by which the least round trip must have grown [us]
RISE_BITS = 3  # and by this power of 1/2 of it
SAMPLES = 8  # of a round before it says anything
DIVISOR = 4  # conservative slow start grows so much more slowly
ROUNDS = 5  # and lasts so long
LIMIT = 8  # packets of an ACK that count: nothing is paced


class Plus(IntEnum):
    """Own words, behind those of HyStart."""

    ROUND_END = hystart.FREE
    """NXT when the round began."""
    RTT = hystart.FREE + 1
    """Least round trip of this round,"""
    LAST_RTT = hystart.FREE + 2
    """and of the one before [us], INFINITE: unknown."""
    COUNT = hystart.FREE + 3
    """Round trips looked at in this round."""
    CONSERVATIVE = hystart.FREE + 4
    """Rounds of conservative slow start, the present one included; 0: it has not begun."""
    BASELINE = hystart.FREE + 5
    """Least round trip of the round in which that began [us]."""
    QUARTERS = hystart.FREE + 6
    """Packets acknowledged in it since the window grew."""


FREE = hystart.FREE + len(Plus)
"""First word that is left to others."""


def begin(s: Any) -> None:
    """Nothing is known."""
    s[Plus.ROUND_END] = s[Tcp.NXT]
    s[Plus.RTT] = s[Plus.LAST_RTT] = INFINITE
    s[Plus.COUNT] = 0
    s[Plus.CONSERVATIVE] = 0


def look(s: Any, rtt: Any) -> None:
    """A round trip [us] in slow start; only the first of a connection is watched."""
    if s[Tcp.SSTHRESH] < INFINITE:
        return
    if s[Tcp.UNA] > s[Plus.ROUND_END]:
        _end_round(s)
    s[Plus.RTT] = min(s[Plus.RTT], rtt)
    s[Plus.COUNT] += 1
    if s[Plus.COUNT] < SAMPLES:
        return
    if s[Plus.CONSERVATIVE] > 0:
        if s[Plus.RTT] < s[Plus.BASELINE]:
            s[Plus.CONSERVATIVE] = 0
    elif s[Plus.LAST_RTT] < INFINITE:
        rise = min(max(s[Plus.LAST_RTT] >> RISE_BITS, LEAST_RISE), MOST_RISE)
        if s[Plus.RTT] >= s[Plus.LAST_RTT] + rise:
            s[Plus.BASELINE] = s[Plus.RTT]
            s[Plus.CONSERVATIVE] = 1
            s[Plus.QUARTERS] = 0


def _end_round(s: Any) -> None:
    s[Plus.ROUND_END] = s[Tcp.NXT]
    s[Plus.LAST_RTT] = s[Plus.RTT]
    s[Plus.RTT] = INFINITE
    s[Plus.COUNT] = 0
    if s[Plus.CONSERVATIVE] > 0:
        s[Plus.CONSERVATIVE] += 1
        if s[Plus.CONSERVATIVE] > ROUNDS:
            s[Tcp.SSTHRESH] = s[Tcp.CWND]


def growth(s: Any, packets: Any) -> Any:
    """By how much the window grows for so many packets acknowledged by one ACK."""
    packets = min(packets, LIMIT)
    if s[Plus.CONSERVATIVE] == 0:
        return packets
    s[Plus.QUARTERS] += packets
    grown = s[Plus.QUARTERS] // DIVISOR
    s[Plus.QUARTERS] -= DIVISOR * grown
    return grown
