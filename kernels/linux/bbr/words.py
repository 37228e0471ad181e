"""What BBR remembers, and its fixed-point numbers.

Source: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: congestion-based congestion control" (ACM Queue
14(5), 2016); draft-cardwell-iccrg-bbr-congestion-control-00.  Bandwidth in packets per us with 24 fraction
bits, gains with 8: as in Linux.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import pacing

BANDWIDTH_BITS = 24
GAIN_BITS = 8
UNIT = 1 << GAIN_BITS
"""A gain of 1."""
HIGH_GAIN = UNIT * 2885 // 1000 + 1
"""2 / ln 2: the rate doubles each round."""
DRAIN_GAIN = UNIT * 1000 // 2885
CWND_GAIN = 2 * UNIT
MARGIN = 990_000
"""Bytes paced in a second, of a million that the bandwidth would allow."""


class Mode(IntEnum):
    """What BBR is about."""

    STARTUP = 0
    DRAIN = 1
    PROBE_BW = 2
    PROBE_RTT = 3


class Bbr(IntEnum):
    """Own words, behind those of pacing."""

    MODE = pacing.FREE
    """One of `Mode`."""
    PACING_GAIN = auto()
    CWND_GAIN = auto()
    # Rounds.
    ROUND = auto()
    """Round trips counted,"""
    ROUND_END = auto()
    """the packet put out when so many had been delivered begins the next;"""
    ROUND_START = auto()
    """1: this ACK began one."""
    # The round trip.
    LEAST_RTT = auto()
    """[us], INFINITE: unknown;"""
    LEAST_RTT_AT = auto()
    """when it was measured [jiffy]."""
    # The pipe is full.
    FULL = auto()
    """1: it has been found so,"""
    FULL_BANDWIDTH = auto()
    """because this"""
    FULL_ROUNDS = auto()
    """has not grown by a quarter for so many rounds."""
    # Probing.
    PHASE = auto()
    """Of the cycle of gains,"""
    PHASE_AT = auto()
    """and when it began [us]."""
    PROBE_DONE = auto()
    """When probing for the round trip may end [jiffy], NONE: too much is in flight yet;"""
    PROBE_ROUND = auto()
    """1: a round has passed since."""
    IDLE = auto()
    """1: nothing has been delivered since the sender was idle."""
    DRAWS = auto()
    """Random numbers drawn,"""
    STREAM = auto()
    """and from which stream."""
    # The window.
    PRIOR_CWND = auto()
    """Before a recovery or probing for the round trip [packet]."""
    CONSERVES = auto()
    """1: a packet out for one delivered, in the first round of a recovery."""
    PRIOR_STATE = auto()
    """Of loss recovery, at the ACK before."""
    SEEN_RTT = auto()
    """1: the rate of the start is that of a round trip measured."""
    # Packets acknowledged beyond the bandwidth.
    EXTRA_INDEX = auto()
    """Which word of `EXTRA` is the present one,"""
    EXTRA_ROUNDS = auto()
    """since so many rounds."""
    EPOCH_AT = auto()
    """Since then [us]"""
    EPOCH_ACKED = auto()
    """so many packets were acknowledged."""
    # Policers.
    POLICED = auto()
    """1: the bandwidth is that of a policer."""
    POLICED_BANDWIDTH = auto()
    """0: unknown"""
    POLICED_SAMPLING = auto()
    """1: an interval is under way,"""
    POLICED_ROUNDS = auto()
    """so many rounds long,"""
    POLICED_AT = auto()
    """begun then [ms],"""
    POLICED_DELIVERED = auto()
    """when so many packets had been delivered"""
    POLICED_LOST = auto()
    """and lost."""


BANDWIDTH = int(Bbr.POLICED_LOST) + 1
"""The largest bandwidth of 10 rounds, its round, and the next candidates: six words."""
EXTRA = BANDWIDTH + 6
"""The most packets beyond the bandwidth in these and in the last 5 rounds: two words."""
END = EXTRA + 2


def most_bandwidth(s: Any) -> Any:
    """The largest of the last rounds."""
    return s[BANDWIDTH]


def bandwidth(s: Any) -> Any:
    """What the path can carry."""
    return s[Bbr.POLICED_BANDWIDTH] if s[Bbr.POLICED] != 0 else s[BANDWIDTH]


def rate_of(p: Any, bandwidth: Any, gain: Any) -> Any:
    """The pacing rate for a bandwidth times a gain, a hundredth below [byte / s]."""
    return (bandwidth * p[P.DATA] * gain >> GAIN_BITS) * MARGIN >> BANDWIDTH_BITS
