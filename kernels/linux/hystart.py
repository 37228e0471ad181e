"""HyStart: ends slow start before packets are lost, when a train of ACKs lasts long or round trips grow.

Source: Ha and Rhee, "Hybrid slow start for high-bandwidth and long-distance networks" (PFLDnet 2008), in the
form of tcp_cubic.c (`hystart_update`).
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.state import CONTROL, INFINITE, Tcp

LOW_WINDOW = 16
"""Window below which HyStart does not act [packets] (hystart_low_window)."""
ACK_DELTA = 2000
"""Longest time between ACKs of a train [us] (hystart_ack_delta_us)."""
MAX_ACK_DELAY = 1000
"""Delay that a segment of 64 kB may add to a train [us] (`hystart_ack_delay`)."""
MIN_SAMPLES = 8
"""RTT samples of a round before an increase of delay ends slow start (HYSTART_MIN_SAMPLES)."""
DELAY_MIN, DELAY_MAX = 4000, 16_000
"""Increase of the RTT that always suffices to end slow start [us] (HYSTART_DELAY_MAX)."""


class Hystart(IntEnum):
    """State words of HyStart."""

    FOUND = CONTROL
    """1 if HyStart has ended slow start."""
    DELAY_MIN = CONTROL + 1
    """Minimum RTT [us]; 0 if unknown."""
    ROUND_START = CONTROL + 2
    """Time at which the round began [us]."""
    END_SEQ = CONTROL + 3
    """SND_NXT when the round began; its acknowledgement ends the round."""
    LAST_ACK = CONTROL + 4
    """Time of the latest ACK of the train [us]."""
    CURR_RTT = CONTROL + 5
    """Minimum RTT of this round [us]."""
    SAMPLE_CNT = CONTROL + 6
    """RTT samples of this round."""


FREE = CONTROL + 7
"""First word after those of HyStart."""


def reset(s: Any) -> None:
    """Forget everything except the round."""
    s[Hystart.FOUND] = 0
    s[Hystart.DELAY_MIN] = 0


def start_round(s: Any, now_us: Any) -> None:
    """Start a round, which ends when the packets now in flight are acknowledged (`bictcp_hystart_reset`)."""
    s[Hystart.ROUND_START] = now_us
    s[Hystart.LAST_ACK] = now_us
    s[Hystart.END_SEQ] = s[Tcp.SND_NXT]
    s[Hystart.CURR_RTT] = INFINITE
    s[Hystart.SAMPLE_CNT] = 0


def delay_min(s: Any) -> Any:
    """Return the minimum RTT [us]; 0 if unknown."""
    return s[Hystart.DELAY_MIN]


def update_delay_min(s: Any, rtt: Any) -> None:
    """Update the minimum RTT with a sample [us]."""
    if s[Hystart.DELAY_MIN] == 0 or rtt < s[Hystart.DELAY_MIN]:
        s[Hystart.DELAY_MIN] = rtt


def update(s: Any, now: Any, rtt: Any) -> None:
    """Process an ACK in slow start with an RTT sample [us], unless HyStart has already ended slow start."""
    if s[Hystart.FOUND] == 0:
        _update(s, clocks.us_of(now), rtt)


@noinline
def _update(s: Any, now_us: Any, rtt: Any) -> None:
    if s[Tcp.SND_UNA] > s[Hystart.END_SEQ]:
        start_round(s, now_us)
    if s[Tcp.CWND] < LOW_WINDOW:
        return
    base_rtt = s[Hystart.DELAY_MIN]
    found = False
    if now_us - s[Hystart.LAST_ACK] <= ACK_DELTA:
        s[Hystart.LAST_ACK] = now_us
        found = now_us - s[Hystart.ROUND_START] > (base_rtt + MAX_ACK_DELAY) >> 1
    s[Hystart.CURR_RTT] = min(s[Hystart.CURR_RTT], rtt)
    if s[Hystart.SAMPLE_CNT] < MIN_SAMPLES:
        s[Hystart.SAMPLE_CNT] += 1
    elif s[Hystart.CURR_RTT] > base_rtt + min(max(base_rtt >> 3, DELAY_MIN), DELAY_MAX):
        found = True
    if found:
        s[Hystart.FOUND] = 1
        s[Tcp.SSTHRESH] = s[Tcp.CWND]
