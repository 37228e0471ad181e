"""State of BBR version 1, with the names of `struct bbr` in tcp_bbr.c, and its fixed-point numbers.

Source: Cardwell, Cheng, Gunn, Yeganeh and Jacobson, "BBR: congestion-based congestion control" (ACM Queue
14(5), 2016); draft-cardwell-iccrg-bbr-congestion-control-00. As in Linux, bandwidth is in packets per
microsecond with 24 fraction bits, and gains have 8 fraction bits.
"""

from enum import IntEnum, auto
from typing import Any

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import pacing

BW_SCALE = 24
"""Fraction bits of a bandwidth [packets/us]."""
BBR_SCALE = 8
"""Fraction bits of a gain."""
BBR_UNIT = 1 << BBR_SCALE
"""Gain of 1."""
HIGH_GAIN = BBR_UNIT * 2885 // 1000 + 1
"""Gain of STARTUP, 2 / ln 2: the rate doubles in each round (bbr_high_gain)."""
DRAIN_GAIN = BBR_UNIT * 1000 // 2885
"""Pacing gain of DRAIN, ln 2 / 2 (bbr_drain_gain)."""
CWND_GAIN = 2 * BBR_UNIT
"""Window gain of PROBE_BW, 2 (bbr_cwnd_gain)."""
PACING_MARGIN_PPM = 990_000
"""Pacing rate per estimated bandwidth, in millionths: 1 % below it (bbr_pacing_margin_percent)."""


class Mode(IntEnum):
    """Mode of BBR (`enum bbr_mode`)."""

    STARTUP = 0
    DRAIN = 1
    PROBE_BW = 2
    PROBE_RTT = 3


class State(IntEnum):
    """State words of BBR, following those of pacing."""

    MODE = pacing.FREE
    """Mode (`Mode`)."""
    PACING_GAIN = auto()
    """Gain of the pacing rate."""
    CWND_GAIN = auto()
    """Gain of the window."""
    # Rounds.
    ROUND_COUNT = auto()
    """Packet-timed round trips completed (`rtt_cnt`)."""
    NEXT_ROUND_DELIVERED = auto()
    """Value of DELIVERED that ends the current round (`next_rtt_delivered`) [packets]."""
    ROUND_START = auto()
    """1 while processing the first ACK of a round, else 0."""
    # Minimum RTT.
    MIN_RTT_US = auto()
    """Minimum RTT of the last 10 s [us]; INFINITE if unknown."""
    MIN_RTT_STAMP = auto()
    """Time at which the minimum RTT was measured [jiffies]."""
    # Full pipe.
    FULL_BW_REACHED = auto()
    """1 if the bandwidth has stopped growing, so that the pipe is full."""
    FULL_BW = auto()
    """Maximum bandwidth when it last grew by at least 25 % (`full_bw`)."""
    FULL_BW_CNT = auto()
    """Consecutive rounds in which the bandwidth grew by less than 25 % (`full_bw_cnt`)."""
    # Probing.
    CYCLE_IDX = auto()
    """Phase of the cycle of pacing gains."""
    CYCLE_MSTAMP = auto()
    """Time at which the phase began [us]."""
    PROBE_RTT_DONE_STAMP = auto()
    """Earliest end of PROBE_RTT [jiffies]; NONE while too many packets are in flight."""
    PROBE_RTT_ROUND_DONE = auto()
    """1 if a round has passed in PROBE_RTT."""
    IDLE_RESTART = auto()
    """1 if packets left after an idle time and none has been delivered since."""
    DRAWS = auto()
    """Random numbers drawn."""
    STREAM = auto()
    """Random stream of the flow."""
    # Window.
    PRIOR_CWND = auto()
    """Window before a recovery or before PROBE_RTT [packets]."""
    PACKET_CONSERVATION = auto()
    """1 in the first round of a recovery: one packet is sent for each one delivered."""
    PREV_CA_STATE = auto()
    """Congestion state at the previous ACK (`CaState`)."""
    HAS_SEEN_RTT = auto()
    """1 if the initial pacing rate is based on a measured RTT."""
    # ACK aggregation.
    EXTRA_ACKED_WIN_IDX = auto()
    """Index of the current word of `EXTRA_ACKED`."""
    EXTRA_ACKED_WIN_RTTS = auto()
    """Rounds of the current window of `EXTRA_ACKED`."""
    ACK_EPOCH_MSTAMP = auto()
    """Time at which the current ACK sampling epoch began [us]."""
    ACK_EPOCH_ACKED = auto()
    """Packets acknowledged in the current ACK sampling epoch."""
    # Long-term bandwidth (policers).
    LT_USE_BW = auto()
    """1 if the long-term bandwidth, that of a policer, is used."""
    LT_BW = auto()
    """Long-term bandwidth; 0 if unknown."""
    LT_IS_SAMPLING = auto()
    """1 during a long-term sampling interval."""
    LT_RTT_CNT = auto()
    """Rounds of the sampling interval, or of the use of the long-term bandwidth."""
    LT_LAST_STAMP = auto()
    """Time at which the sampling interval began [ms]."""
    LT_LAST_DELIVERED = auto()
    """Packets delivered when the sampling interval began."""
    LT_LAST_LOST = auto()
    """Packets found lost when the sampling interval began."""


BW = int(State.LT_LAST_LOST) + 1
"""First of six words: the maximum bandwidth of 10 rounds, its round, and the next two candidates with theirs.
"""
EXTRA_ACKED = BW + 6
"""First of two words: the most packets acknowledged beyond the bandwidth in this and the previous five
rounds."""
END = EXTRA_ACKED + 2
"""First word after those of BBR."""


def max_bw(s: Any) -> Any:
    """Return the maximum bandwidth of the last rounds (`bbr_max_bw`)."""
    return s[BW]


def bw(s: Any) -> Any:
    """Return the bandwidth estimate: the long-term one if it is in use, else the maximum (`bbr_bw`)."""
    return s[State.LT_BW] if s[State.LT_USE_BW] != 0 else s[BW]


def bw_to_pacing_rate(p: Any, bandwidth: Any, gain: Any) -> Any:
    """Return the pacing rate for a bandwidth and a gain, 1 % below their product [byte/s]
    (`bbr_bw_to_pacing_rate`)."""
    return (bandwidth * p[RowP.DATA] * gain >> BBR_SCALE) * PACING_MARGIN_PPM >> BW_SCALE
