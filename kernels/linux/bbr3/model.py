"""The model of the path: bandwidth, rounds, and what losses say of how much it holds.

Source: draft-ietf-ccwg-bbr, 5.5 (bandwidth, ACK aggregation, congestion signals) and 5.6.4.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux.bbr import maximum
from netcarlo.kernels.linux.bbr.words import BANDWIDTH_BITS, GAIN_BITS
from netcarlo.kernels.linux.bbr3.words import BETA, EXTRA_ACKED, HEADROOM, LOSSES, UNBOUNDED, State, Word
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, Tcp

MIN_PIPE_CWND = 4
EXTRA_ROUNDS = 10


def delivery_rate(s: Any) -> Any:
    """Of the sample, 0: none."""
    return (s[Rate.COUNT] << BANDWIDTH_BITS) // s[Rate.INTERVAL] if s[Rate.INTERVAL] > 0 else np.int64(0)


def max_bw(s: Any) -> Any:
    """Of this cycle and the one before."""
    return max(s[Word.MAX_BW], s[Word.LAST_MAX_BW])


def start_round(s: Any) -> None:
    """A round begins."""
    s[Word.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]


def reset_full_bw(s: Any) -> None:
    """The pipe may be larger."""
    s[Word.FULL_BW] = s[Word.FULL_BW_COUNT] = s[Word.FULL_BW_NOW] = 0


def reset_short_term(s: Any) -> None:
    """No bounds by the latest losses."""
    s[Word.BW_SHORTTERM] = s[Word.INFLIGHT_SHORTTERM] = UNBOUNDED


def reset_congestion_signals(s: Any) -> None:
    """Neither losses nor deliveries are known."""
    s[Word.LOSS_IN_ROUND] = s[Word.BW_LATEST] = s[Word.INFLIGHT_LATEST] = 0


def update_latest_delivery_signals(s: Any) -> None:
    """At the beginning of an ACK."""
    s[Word.LOSS_ROUND_START] = 0
    s[Word.BW_LATEST] = max(s[Word.BW_LATEST], delivery_rate(s))
    if s[Rate.COUNT] != NONE:
        s[Word.INFLIGHT_LATEST] = max(s[Word.INFLIGHT_LATEST], s[Rate.COUNT])
        if s[Rate.PRIOR] >= s[Word.LOSS_ROUND_DELIVERED]:
            s[Word.LOSS_ROUND_DELIVERED] = s[Tcp.DELIVERED]
            s[Word.LOSS_ROUND_START] = 1


def advance_latest_delivery_signals(s: Any) -> None:
    """At its end."""
    if s[Word.LOSS_ROUND_START] != 0:
        s[Word.BW_LATEST] = delivery_rate(s)
        s[Word.INFLIGHT_LATEST] = s[Rate.COUNT]


def update_congestion_signals(s: Any) -> None:
    """Bandwidth at every ACK, the bounds of the short term once per round with losses."""
    s[Word.ROUND_START] = 0
    if s[Rate.COUNT] != NONE and s[Rate.PRIOR] >= s[Word.NEXT_ROUND_DELIVERED]:
        start_round(s)
        s[Word.ROUND_COUNT] += 1
        s[Word.ROUNDS_SINCE_PROBE] += 1
        s[Word.ROUND_START] = 1
    rate = delivery_rate(s)
    if rate > 0 and (rate >= max_bw(s) or s[Rate.IS_LIMITED] == 0):
        s[Word.MAX_BW] = max(s[Word.MAX_BW], rate)
    if s[Word.LOSS_ROUND_START] != 0:
        if s[Word.LOSS_IN_ROUND] != 0 and not is_probing(s):
            _lower_bounds(s)
        s[Word.LOSS_IN_ROUND] = 0


def is_probing(s: Any) -> Any:
    """Whether it accelerates."""
    state = s[Word.STATE]
    return state == State.STARTUP or state == State.REFILL or state == State.UP


def _lower_bounds(s: Any) -> None:
    if s[Word.BW_SHORTTERM] == UNBOUNDED:
        s[Word.BW_SHORTTERM] = max_bw(s)
    if s[Word.INFLIGHT_SHORTTERM] == UNBOUNDED:
        s[Word.INFLIGHT_SHORTTERM] = s[Tcp.CWND]
    s[Word.BW_SHORTTERM] = max(s[Word.BW_LATEST], s[Word.BW_SHORTTERM] * BETA // 100)
    s[Word.INFLIGHT_SHORTTERM] = max(s[Word.INFLIGHT_LATEST], s[Word.INFLIGHT_SHORTTERM] * BETA // 100)


def update_ack_aggregation(s: Any, now_us: Any, acked: Any) -> None:
    """Packets acknowledged beyond what the bandwidth delivers."""
    expected = s[Word.BW] * (now_us - s[Word.EXTRA_START]) >> BANDWIDTH_BITS
    if s[Word.EXTRA_DELIVERED] <= expected:
        s[Word.EXTRA_DELIVERED] = 0
        s[Word.EXTRA_START] = now_us
        expected = np.int64(0)
    s[Word.EXTRA_DELIVERED] += acked
    extra = min(s[Word.EXTRA_DELIVERED] - expected, s[Tcp.CWND])
    rounds = EXTRA_ROUNDS if s[Word.FULL_BW_REACHED] != 0 else 1
    maximum.update(s, np.int64(EXTRA_ACKED), rounds, s[Word.ROUND_COUNT], extra)


def check_full_bw(s: Any) -> None:
    """Has the bandwidth stopped growing?"""
    if s[Word.FULL_BW_NOW] != 0 or s[Word.ROUND_START] == 0 or s[Rate.IS_LIMITED] != 0:
        return
    rate = delivery_rate(s)
    if 4 * rate >= 5 * s[Word.FULL_BW]:
        reset_full_bw(s)
        s[Word.FULL_BW] = rate
        return
    s[Word.FULL_BW_COUNT] += 1
    if s[Word.FULL_BW_COUNT] >= 3:
        s[Word.FULL_BW_NOW] = s[Word.FULL_BW_REACHED] = 1


# Volumes [packet].


def product(s: Any, bandwidth: Any, gain: Any) -> Any:
    """Bandwidth times round trip times gain, rounded up."""
    if s[Word.MIN_RTT] == UNBOUNDED:
        return np.int64(10)
    return ((bandwidth * s[Word.MIN_RTT] * gain >> GAIN_BITS) + (1 << BANDWIDTH_BITS) - 1) >> BANDWIDTH_BITS


def with_budget(p: Any, s: Any, packets: Any) -> Any:
    """So many, or what bursts need."""
    found = max(max(packets, 3 * pacing.goal(p, s)), MIN_PIPE_CWND)
    return found + 2 if s[Word.STATE] == State.UP else found


def target_inflight(s: Any) -> Any:
    """The estimated product, unless congestion cut the window."""
    return min(product(s, s[Word.BW], np.int64(1 << GAIN_BITS)), s[Tcp.CWND])


def with_headroom(s: Any) -> Any:
    """The bound of the long term, less what is left to others."""
    bound = s[Word.INFLIGHT_LONGTERM]
    if bound == UNBOUNDED:
        return bound
    return max(bound - max(bound * HEADROOM // 100, 1), MIN_PIPE_CWND)


def is_too_high(lost: Any, tx_in_flight: Any) -> Any:
    """Whether so many losses say that so many packets were too many in flight."""
    return 100 * lost > LOSSES * tx_in_flight
