"""HyStart: slow start ends before packets are lost, when ACKs come in a long train or when they come later.

Source: Ha and Rhee, "Hybrid slow start for high-bandwidth and long-distance networks" (PFLDnet 2008), in the
form of Linux.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.state import CONTROL, INFINITE, Tcp

LOW_WINDOW = 16  # below this window slow start goes on [packet]
ACK_DELTA = 2000  # ACKs of a train are no further apart [us]
MAX_ACK_DELAY = 1000  # what a segment of 64 kB may delay a train [us]
MIN_SAMPLES = 8  # round trips that are looked at before delay ends slow start
DELAY_MIN, DELAY_MAX = 4000, 16_000  # by which it must have grown [us]


class Hystart(IntEnum):
    """Own words of scratch."""

    FOUND = CONTROL
    """1: it has ended slow start."""
    DELAY_MIN = CONTROL + 1
    """Least round trip [us], 0: unknown."""
    ROUND_START = CONTROL + 2
    """When the round began [us],"""
    END_SEQ = CONTROL + 3
    """and NXT then."""
    LAST_ACK = CONTROL + 4
    """The latest ACK of the train [us]."""
    CURR_RTT = CONTROL + 5
    """Least round trip of this round [us],"""
    SAMPLE_CNT = CONTROL + 6
    """of so many looked at."""


FREE = CONTROL + 7
"""First word that is left to others."""


def reset(s: Any) -> None:
    """All but the round."""
    s[Hystart.FOUND] = 0
    s[Hystart.DELAY_MIN] = 0


def start_round(s: Any, now_us: Any) -> None:
    """Until what is out now is acknowledged."""
    s[Hystart.ROUND_START] = now_us
    s[Hystart.LAST_ACK] = now_us
    s[Hystart.END_SEQ] = s[Tcp.SND_NXT]
    s[Hystart.CURR_RTT] = INFINITE
    s[Hystart.SAMPLE_CNT] = 0


def delay_min(s: Any) -> Any:
    """[us], 0: unknown."""
    return s[Hystart.DELAY_MIN]


def update_delay_min(s: Any, rtt: Any) -> None:
    """A round trip [us]."""
    if s[Hystart.DELAY_MIN] == 0 or rtt < s[Hystart.DELAY_MIN]:
        s[Hystart.DELAY_MIN] = rtt


def update(s: Any, now: Any, rtt: Any) -> None:
    """An ACK in slow start with a round trip [us], which is noted."""
    if s[Hystart.FOUND] == 0:
        _update(s, clocks.us_of(now), rtt)


@noinline
def _update(s: Any, now_us: Any, rtt: Any) -> None:
    if s[Tcp.SND_UNA] > s[Hystart.END_SEQ]:
        start_round(s, now_us)
    if s[Tcp.CWND] < LOW_WINDOW:
        return
    least = s[Hystart.DELAY_MIN]
    found = False
    if now_us - s[Hystart.LAST_ACK] <= ACK_DELTA:
        s[Hystart.LAST_ACK] = now_us
        found = now_us - s[Hystart.ROUND_START] > (least + MAX_ACK_DELAY) >> 1
    s[Hystart.CURR_RTT] = min(s[Hystart.CURR_RTT], rtt)
    if s[Hystart.SAMPLE_CNT] < MIN_SAMPLES:
        s[Hystart.SAMPLE_CNT] += 1
    elif s[Hystart.CURR_RTT] > least + min(max(least >> 3, DELAY_MIN), DELAY_MAX):
        found = True
    if found:
        s[Hystart.FOUND] = 1
        s[Tcp.SSTHRESH] = s[Tcp.CWND]
