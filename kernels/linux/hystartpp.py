"""HyStart++: when round trips grow, slow start goes on at a quarter of its pace, and ends if they stay so.

Source: RFC 9406, section 4.2; windows in whole packets, of which the quarters are counted.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.linux import hystart
from netcarlo.kernels.linux.state import INFINITE, Tcp

MIN_RTT_THRESH, MAX_RTT_THRESH = 4000, 16_000  # by which the least round trip must have grown [us]
MIN_RTT_DIVISOR_BITS = 3  # and by this power of 1/2 of it
N_RTT_SAMPLE = 8  # of a round before it says anything
CSS_GROWTH_DIVISOR = 4  # conservative slow start grows so much more slowly
CSS_ROUNDS = 5  # and lasts so long
L = 8  # packets of an ACK that count: nothing is paced


class HystartPlus(IntEnum):
    """Own words, behind those of HyStart."""

    WINDOW_END = hystart.FREE
    """NXT when the round began."""
    CURRENT_ROUND_MIN_RTT = hystart.FREE + 1
    """Least round trip of this round,"""
    LAST_ROUND_MIN_RTT = hystart.FREE + 2
    """and of the one before [us], INFINITE: unknown."""
    RTT_SAMPLE_COUNT = hystart.FREE + 3
    """Round trips looked at in this round."""
    CSS_ROUND = hystart.FREE + 4
    """Rounds of conservative slow start, the present one included; 0: it has not begun."""
    CSS_BASELINE_MIN_RTT = hystart.FREE + 5
    """Least round trip of the round in which that began [us]."""
    CSS_ACKED = hystart.FREE + 6
    """Packets acknowledged in it since the window grew."""


FREE = hystart.FREE + len(HystartPlus)
"""First word that is left to others."""


def reset(s: Any) -> None:
    """Nothing is known."""
    s[HystartPlus.WINDOW_END] = s[Tcp.SND_NXT]
    s[HystartPlus.CURRENT_ROUND_MIN_RTT] = s[HystartPlus.LAST_ROUND_MIN_RTT] = INFINITE
    s[HystartPlus.RTT_SAMPLE_COUNT] = 0
    s[HystartPlus.CSS_ROUND] = 0


def on_rtt_sample(s: Any, rtt: Any) -> None:
    """A round trip [us] in slow start; only the first of a connection is watched."""
    if s[Tcp.SSTHRESH] < INFINITE:
        return
    if s[Tcp.SND_UNA] > s[HystartPlus.WINDOW_END]:
        _end_round(s)
    s[HystartPlus.CURRENT_ROUND_MIN_RTT] = min(s[HystartPlus.CURRENT_ROUND_MIN_RTT], rtt)
    s[HystartPlus.RTT_SAMPLE_COUNT] += 1
    if s[HystartPlus.RTT_SAMPLE_COUNT] < N_RTT_SAMPLE:
        return
    if s[HystartPlus.CSS_ROUND] > 0:
        if s[HystartPlus.CURRENT_ROUND_MIN_RTT] < s[HystartPlus.CSS_BASELINE_MIN_RTT]:
            s[HystartPlus.CSS_ROUND] = 0
    elif s[HystartPlus.LAST_ROUND_MIN_RTT] < INFINITE:
        rise = min(
            max(s[HystartPlus.LAST_ROUND_MIN_RTT] >> MIN_RTT_DIVISOR_BITS, MIN_RTT_THRESH), MAX_RTT_THRESH
        )
        if s[HystartPlus.CURRENT_ROUND_MIN_RTT] >= s[HystartPlus.LAST_ROUND_MIN_RTT] + rise:
            s[HystartPlus.CSS_BASELINE_MIN_RTT] = s[HystartPlus.CURRENT_ROUND_MIN_RTT]
            s[HystartPlus.CSS_ROUND] = 1
            s[HystartPlus.CSS_ACKED] = 0


def _end_round(s: Any) -> None:
    s[HystartPlus.WINDOW_END] = s[Tcp.SND_NXT]
    s[HystartPlus.LAST_ROUND_MIN_RTT] = s[HystartPlus.CURRENT_ROUND_MIN_RTT]
    s[HystartPlus.CURRENT_ROUND_MIN_RTT] = INFINITE
    s[HystartPlus.RTT_SAMPLE_COUNT] = 0
    if s[HystartPlus.CSS_ROUND] > 0:
        s[HystartPlus.CSS_ROUND] += 1
        if s[HystartPlus.CSS_ROUND] > CSS_ROUNDS:
            s[Tcp.SSTHRESH] = s[Tcp.CWND]


def growth(s: Any, packets: Any) -> Any:
    """By how much the window grows for so many packets acknowledged by one ACK."""
    packets = min(packets, L)
    if s[HystartPlus.CSS_ROUND] == 0:
        return packets
    s[HystartPlus.CSS_ACKED] += packets
    grown = s[HystartPlus.CSS_ACKED] // CSS_GROWTH_DIVISOR
    s[HystartPlus.CSS_ACKED] -= CSS_GROWTH_DIVISOR * grown
    return grown
