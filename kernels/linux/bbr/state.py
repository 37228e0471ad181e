"""What BBR remembers, and its fixed-point numbers.

Source: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: congestion-based congestion control" (ACM Queue
14(5), 2016); draft-cardwell-iccrg-bbr-congestion-control-00.  Bandwidth in packets per us with 24 fraction
bits, gains with 8: as in Linux.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import pacing

BW_SCALE = 24
BBR_SCALE = 8
BBR_UNIT = 1 << BBR_SCALE
"""A gain of 1."""
HIGH_GAIN = BBR_UNIT * 2885 // 1000 + 1
"""2 / ln 2: the rate doubles each round."""
DRAIN_GAIN = BBR_UNIT * 1000 // 2885
CWND_GAIN = 2 * BBR_UNIT
PACING_MARGIN_PPM = 990_000
"""Bytes paced in a second, of a million that the bandwidth would allow."""


class Mode(IntEnum):
    """What BBR is about."""

    STARTUP = 0
    DRAIN = 1
    PROBE_BW = 2
    PROBE_RTT = 3


class State(IntEnum):
    """Own words, behind those of pacing."""

    MODE = pacing.FREE
    """One of `Mode`."""
    PACING_GAIN = auto()
    CWND_GAIN = auto()
    # Rounds.
    ROUND_COUNT = auto()
    """Round trips counted,"""
    NEXT_ROUND_DELIVERED = auto()
    """the packet put out when so many had been delivered begins the next;"""
    ROUND_START = auto()
    """1: this ACK began one."""
    # The round trip.
    MIN_RTT_US = auto()
    """[us], INFINITE: unknown;"""
    MIN_RTT_STAMP = auto()
    """when it was measured [jiffy]."""
    # The pipe is full.
    FULL_BW_REACHED = auto()
    """1: it has been found so,"""
    FULL_BW = auto()
    """because this"""
    FULL_BW_CNT = auto()
    """has not grown by a quarter for so many rounds."""
    # Probing.
    CYCLE_IDX = auto()
    """Of the cycle of gains,"""
    CYCLE_MSTAMP = auto()
    """and when it began [us]."""
    PROBE_RTT_DONE_STAMP = auto()
    """When probing for the round trip may end [jiffy], NONE: too much is in flight yet;"""
    PROBE_RTT_ROUND_DONE = auto()
    """1: a round has passed since."""
    IDLE_RESTART = auto()
    """1: nothing has been delivered since the sender was idle."""
    DRAWS = auto()
    """Random numbers drawn,"""
    STREAM = auto()
    """and from which stream."""
    # The window.
    PRIOR_CWND = auto()
    """Before a recovery or probing for the round trip [packet]."""
    PACKET_CONSERVATION = auto()
    """1: a packet out for one delivered, in the first round of a recovery."""
    PREV_CA_STATE = auto()
    """Of loss recovery, at the ACK before."""
    HAS_SEEN_RTT = auto()
    """1: the rate of the start is that of a round trip measured."""
    # Packets acknowledged beyond the bandwidth.
    EXTRA_ACKED_WIN_IDX = auto()
    """Which word of `EXTRA` is the present one,"""
    EXTRA_ACKED_WIN_RTTS = auto()
    """since so many rounds."""
    ACK_EPOCH_MSTAMP = auto()
    """Since then [us]"""
    ACK_EPOCH_ACKED = auto()
    """so many packets were acknowledged."""
    # Policers.
    LT_USE_BW = auto()
    """1: the bandwidth is that of a policer."""
    LT_BW = auto()
    """0: unknown"""
    LT_IS_SAMPLING = auto()
    """1: an interval is under way,"""
    LT_RTT_CNT = auto()
    """so many rounds long,"""
    LT_LAST_STAMP = auto()
    """begun then [ms],"""
    LT_LAST_DELIVERED = auto()
    """when so many packets had been delivered"""
    LT_LAST_LOST = auto()
    """and lost."""


BW = int(State.LT_LAST_LOST) + 1
"""The largest bandwidth of 10 rounds, its round, and the next candidates: six words."""
EXTRA_ACKED = BW + 6
"""The most packets beyond the bandwidth in these and in the last 5 rounds: two words."""
END = EXTRA_ACKED + 2


def max_bw(s: Any) -> Any:
    """The largest of the last rounds."""
    return s[BW]


def bw(s: Any) -> Any:
    """What the path can carry."""
    return s[State.LT_BW] if s[State.LT_USE_BW] != 0 else s[BW]


def bw_to_pacing_rate(p: Any, bandwidth: Any, gain: Any) -> Any:
    """The pacing rate for a bandwidth times a gain, a hundredth below [byte / s]."""
    return (bandwidth * p[P.DATA] * gain >> BBR_SCALE) * PACING_MARGIN_PPM >> BW_SCALE
