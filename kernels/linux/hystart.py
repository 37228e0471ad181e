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
ACK_GAP = 2000  # ACKs of a train are no further apart [us]
BURST = 1000  # what a segment of 64 kB may delay a train [us]
SAMPLES = 8  # round trips that are looked at before delay ends slow start
LEAST_DELAY, MOST_DELAY = 4000, 16_000  # by which it must have grown [us]


class Hystart(IntEnum):
    """Own words of scratch."""

    FOUND = CONTROL
    """1: it has ended slow start."""
    LEAST = CONTROL + 1
    """Least round trip [us], 0: unknown."""
    ROUND = CONTROL + 2
    """When the round began [us],"""
    ROUND_END = CONTROL + 3
    """and NXT then."""
    LAST_ACK = CONTROL + 4
    """The latest ACK of the train [us]."""
    RTT = CONTROL + 5
    """Least round trip of this round [us],"""
    COUNT = CONTROL + 6
    """of so many looked at."""


FREE = CONTROL + 7
"""First word that is left to others."""


def forget(s: Any) -> None:
    """All but the round."""
    s[Hystart.FOUND] = 0
    s[Hystart.LEAST] = 0


def begin_round(s: Any, now_us: Any) -> None:
    """Until what is out now is acknowledged."""
    s[Hystart.ROUND] = now_us
    s[Hystart.LAST_ACK] = now_us
    s[Hystart.ROUND_END] = s[Tcp.NXT]
    s[Hystart.RTT] = INFINITE
    s[Hystart.COUNT] = 0


def least_rtt(s: Any) -> Any:
    """[us], 0: unknown."""
    return s[Hystart.LEAST]


def note_least(s: Any, rtt: Any) -> None:
    """A round trip [us]."""
    if s[Hystart.LEAST] == 0 or rtt < s[Hystart.LEAST]:
        s[Hystart.LEAST] = rtt


def look(s: Any, now: Any, rtt: Any) -> None:
    """An ACK in slow start with a round trip [us], which is noted."""
    if s[Hystart.FOUND] == 0:
        _look(s, clocks.us_of(now), rtt)


@noinline
def _look(s: Any, now_us: Any, rtt: Any) -> None:
    if s[Tcp.UNA] > s[Hystart.ROUND_END]:
        begin_round(s, now_us)
    if s[Tcp.CWND] < LOW_WINDOW:
        return
    least = s[Hystart.LEAST]
    found = False
    if now_us - s[Hystart.LAST_ACK] <= ACK_GAP:
        s[Hystart.LAST_ACK] = now_us
        found = now_us - s[Hystart.ROUND] > (least + BURST) >> 1
    s[Hystart.RTT] = min(s[Hystart.RTT], rtt)
    if s[Hystart.COUNT] < SAMPLES:
        s[Hystart.COUNT] += 1
    elif s[Hystart.RTT] > least + min(max(least >> 3, LEAST_DELAY), MOST_DELAY):
        found = True
    if found:
        s[Hystart.FOUND] = 1
        s[Tcp.SSTHRESH] = s[Tcp.CWND]
