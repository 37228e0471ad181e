"""HyStart++ (RFC 9406, section 4.2): when round trips grow, slow start continues at a quarter of its pace.

If the round trips stay long for five rounds, slow start ends. Windows are whole packets, so quarters of
packets are counted.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.linux import hystart
from netcarlo.kernels.linux.state import INFINITE, Tcp

MIN_RTT_THRESH, MAX_RTT_THRESH = 4000, 16_000
"""Increase of the RTT that always suffices to start conservative slow start [us]."""
MIN_RTT_DIVISOR_BITS = 3
"""Binary logarithm of MIN_RTT_DIVISOR: the increase is compared with an eighth of the RTT."""
N_RTT_SAMPLE = 8
"""RTT samples of a round before they are evaluated."""
CSS_GROWTH_DIVISOR = 4
"""Divisor of the growth in conservative slow start."""
CSS_ROUNDS = 5
"""Rounds of conservative slow start."""
L = 8
"""Packets acknowledged by one ACK that count; nothing is paced."""


class HystartPlus(IntEnum):
    """State words of HyStart++, following those of HyStart."""

    WINDOW_END = hystart.FREE
    """SND_NXT when the round began; its acknowledgement ends the round (windowEnd)."""
    CURRENT_ROUND_MIN_RTT = hystart.FREE + 1
    """Minimum RTT of this round [us]; INFINITE if unknown."""
    LAST_ROUND_MIN_RTT = hystart.FREE + 2
    """Minimum RTT of the previous round [us]; INFINITE if unknown."""
    RTT_SAMPLE_COUNT = hystart.FREE + 3
    """RTT samples of this round."""
    CSS_ROUND = hystart.FREE + 4
    """Rounds of conservative slow start including the current one; 0 outside of it."""
    CSS_BASELINE_MIN_RTT = hystart.FREE + 5
    """Minimum RTT of the round in which conservative slow start began [us]."""
    CSS_ACKED = hystart.FREE + 6
    """Packets acknowledged in conservative slow start since the window last grew."""


FREE = hystart.FREE + len(HystartPlus)
"""First word after those of HyStart++."""


def reset(s: Any) -> None:
    """Forget everything, and start a round."""
    s[HystartPlus.WINDOW_END] = s[Tcp.SND_NXT]
    s[HystartPlus.CURRENT_ROUND_MIN_RTT] = s[HystartPlus.LAST_ROUND_MIN_RTT] = INFINITE
    s[HystartPlus.RTT_SAMPLE_COUNT] = 0
    s[HystartPlus.CSS_ROUND] = 0


def on_rtt_sample(s: Any, rtt: Any) -> None:
    """Process an RTT sample [us] in slow start; only the first slow start of a connection is observed."""
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
    """Start the next round; end slow start after CSS_ROUNDS rounds of conservative slow start."""
    s[HystartPlus.WINDOW_END] = s[Tcp.SND_NXT]
    s[HystartPlus.LAST_ROUND_MIN_RTT] = s[HystartPlus.CURRENT_ROUND_MIN_RTT]
    s[HystartPlus.CURRENT_ROUND_MIN_RTT] = INFINITE
    s[HystartPlus.RTT_SAMPLE_COUNT] = 0
    if s[HystartPlus.CSS_ROUND] > 0:
        s[HystartPlus.CSS_ROUND] += 1
        if s[HystartPlus.CSS_ROUND] > CSS_ROUNDS:
            s[Tcp.SSTHRESH] = s[Tcp.CWND]


def growth(s: Any, packets: Any) -> Any:
    """Return the increase of the window for so many packets acknowledged by one ACK."""
    packets = min(packets, L)
    if s[HystartPlus.CSS_ROUND] == 0:
        return packets
    s[HystartPlus.CSS_ACKED] += packets
    grown = s[HystartPlus.CSS_ACKED] // CSS_GROWTH_DIVISOR
    s[HystartPlus.CSS_ACKED] -= CSS_GROWTH_DIVISOR * grown
    return grown
