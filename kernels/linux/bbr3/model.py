"""The model of the path: bandwidth, rounds, and what losses say of how much it holds.

Source: draft-ietf-ccwg-bbr, 5.5 (bandwidth, ACK aggregation, congestion signals) and 5.6.4.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux.bbr import windowed_max
from netcarlo.kernels.linux.bbr.state import BBR_SCALE, BW_SCALE
from netcarlo.kernels.linux.bbr3.state import BETA, EXTRA_ACKED, HEADROOM, LOSS_THRESH, UNBOUNDED, Mode, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import NONE, Tcp

MIN_PIPE_CWND = 4
EXTRA_ROUNDS = 10


def delivery_rate(s: Any) -> Any:
    """Of the sample, 0: none."""
    return (s[Rate.DELIVERED] << BW_SCALE) // s[Rate.INTERVAL_US] if s[Rate.INTERVAL_US] > 0 else np.int64(0)


def max_bw(s: Any) -> Any:
    """Of this cycle and the one before."""
    return max(s[State.MAX_BW], s[State.LAST_MAX_BW])


def start_round(s: Any) -> None:
    """A round begins."""
    s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]


def reset_full_bw(s: Any) -> None:
    """The pipe may be larger."""
    s[State.FULL_BW] = s[State.FULL_BW_COUNT] = s[State.FULL_BW_NOW] = 0


def reset_short_term_model(s: Any) -> None:
    """No bounds by the latest losses."""
    s[State.BW_SHORTTERM] = s[State.INFLIGHT_SHORTTERM] = UNBOUNDED


def reset_congestion_signals(s: Any) -> None:
    """Neither losses nor deliveries are known."""
    s[State.LOSS_IN_ROUND] = s[State.BW_LATEST] = s[State.INFLIGHT_LATEST] = 0


def update_latest_delivery_signals(s: Any) -> None:
    """At the beginning of an ACK."""
    s[State.LOSS_ROUND_START] = 0
    s[State.BW_LATEST] = max(s[State.BW_LATEST], delivery_rate(s))
    if s[Rate.DELIVERED] != NONE:
        s[State.INFLIGHT_LATEST] = max(s[State.INFLIGHT_LATEST], s[Rate.DELIVERED])
        if s[Rate.PRIOR_DELIVERED] >= s[State.LOSS_ROUND_DELIVERED]:
            s[State.LOSS_ROUND_DELIVERED] = s[Tcp.DELIVERED]
            s[State.LOSS_ROUND_START] = 1


def advance_latest_delivery_signals(s: Any) -> None:
    """At its end."""
    if s[State.LOSS_ROUND_START] != 0:
        s[State.BW_LATEST] = delivery_rate(s)
        s[State.INFLIGHT_LATEST] = s[Rate.DELIVERED]


def update_congestion_signals(s: Any) -> None:
    """Bandwidth at every ACK, the bounds of the short term once per round with losses."""
    s[State.ROUND_START] = 0
    if s[Rate.DELIVERED] != NONE and s[Rate.PRIOR_DELIVERED] >= s[State.NEXT_ROUND_DELIVERED]:
        start_round(s)
        s[State.ROUND_COUNT] += 1
        s[State.ROUNDS_SINCE_PROBE] += 1
        s[State.ROUND_START] = 1
    rate = delivery_rate(s)
    if rate > 0 and (rate >= max_bw(s) or s[Rate.IS_APP_LIMITED] == 0):
        s[State.MAX_BW] = max(s[State.MAX_BW], rate)
    if s[State.LOSS_ROUND_START] != 0:
        if s[State.LOSS_IN_ROUND] != 0 and not is_probing_bw(s):
            _adapt_lower_bounds(s)
        s[State.LOSS_IN_ROUND] = 0


def is_probing_bw(s: Any) -> Any:
    """Whether it accelerates."""
    state = s[State.MODE]
    return state == Mode.STARTUP or state == Mode.PROBE_BW_REFILL or state == Mode.PROBE_BW_UP


def _adapt_lower_bounds(s: Any) -> None:
    if s[State.BW_SHORTTERM] == UNBOUNDED:
        s[State.BW_SHORTTERM] = max_bw(s)
    if s[State.INFLIGHT_SHORTTERM] == UNBOUNDED:
        s[State.INFLIGHT_SHORTTERM] = s[Tcp.CWND]
    s[State.BW_SHORTTERM] = max(s[State.BW_LATEST], s[State.BW_SHORTTERM] * BETA // 100)
    s[State.INFLIGHT_SHORTTERM] = max(s[State.INFLIGHT_LATEST], s[State.INFLIGHT_SHORTTERM] * BETA // 100)


def update_ack_aggregation(s: Any, now_us: Any, acked: Any) -> None:
    """Packets acknowledged beyond what the bandwidth delivers."""
    expected = s[State.BW] * (now_us - s[State.EXTRA_ACKED_INTERVAL_START]) >> BW_SCALE
    if s[State.EXTRA_ACKED_DELIVERED] <= expected:
        s[State.EXTRA_ACKED_DELIVERED] = 0
        s[State.EXTRA_ACKED_INTERVAL_START] = now_us
        expected = np.int64(0)
    s[State.EXTRA_ACKED_DELIVERED] += acked
    extra = min(s[State.EXTRA_ACKED_DELIVERED] - expected, s[Tcp.CWND])
    rounds = EXTRA_ROUNDS if s[State.FULL_BW_REACHED] != 0 else 1
    windowed_max.running_max(s, np.int64(EXTRA_ACKED), rounds, s[State.ROUND_COUNT], extra)


def check_full_bw_reached(s: Any) -> None:
    """Has the bandwidth stopped growing?"""
    if s[State.FULL_BW_NOW] != 0 or s[State.ROUND_START] == 0 or s[Rate.IS_APP_LIMITED] != 0:
        return
    rate = delivery_rate(s)
    if 4 * rate >= 5 * s[State.FULL_BW]:
        reset_full_bw(s)
        s[State.FULL_BW] = rate
        return
    s[State.FULL_BW_COUNT] += 1
    if s[State.FULL_BW_COUNT] >= 3:
        s[State.FULL_BW_NOW] = s[State.FULL_BW_REACHED] = 1


# Volumes [packet].


def bdp(s: Any, bandwidth: Any, gain: Any) -> Any:
    """Bandwidth times round trip times gain, rounded up."""
    if s[State.MIN_RTT] == UNBOUNDED:
        return np.int64(10)
    return ((bandwidth * s[State.MIN_RTT] * gain >> BBR_SCALE) + (1 << BW_SCALE) - 1) >> BW_SCALE


def quantization_budget(p: Any, s: Any, packets: Any) -> Any:
    """So many, or what bursts need."""
    found = max(max(packets, 3 * pacing.tso_segs_goal(p, s)), MIN_PIPE_CWND)
    return found + 2 if s[State.MODE] == Mode.PROBE_BW_UP else found


def target_inflight(s: Any) -> Any:
    """The estimated product, unless congestion cut the window."""
    return min(bdp(s, s[State.BW], np.int64(1 << BBR_SCALE)), s[Tcp.CWND])


def inflight_with_headroom(s: Any) -> Any:
    """The bound of the long term, less what is left to others."""
    bound = s[State.INFLIGHT_LONGTERM]
    if bound == UNBOUNDED:
        return bound
    return max(bound - max(bound * HEADROOM // 100, 1), MIN_PIPE_CWND)


def is_inflight_too_high(lost: Any, tx_in_flight: Any) -> Any:
    """Whether so many losses say that so many packets were too many in flight."""
    return 100 * lost > LOSS_THRESH * tx_in_flight
