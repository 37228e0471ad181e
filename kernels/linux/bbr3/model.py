"""Model of the path: bandwidth, rounds, ACK aggregation and congestion signals.

Source: draft-ietf-ccwg-bbr, section 5.5 (bandwidth, ACK aggregation, congestion signals) and 5.6.4.
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
"""Minimum window [packets] (BBR.MinPipeCwnd)."""
EXTRA_ROUNDS = 10
"""Rounds of the window of EXTRA_ACKED (BBR.ExtraAckedFilterLen)."""


def delivery_rate(s: Any) -> Any:
    """Return the delivery rate of the sample; 0 if there is none."""
    return (s[Rate.DELIVERED] << BW_SCALE) // s[Rate.INTERVAL_US] if s[Rate.INTERVAL_US] > 0 else np.int64(0)


def max_bw(s: Any) -> Any:
    """Return the maximum bandwidth of this and the previous cycle (BBR.max_bw)."""
    return max(s[State.MAX_BW], s[State.LAST_MAX_BW])


def start_round(s: Any) -> None:
    """Begin a packet-timed round (BBRStartRound)."""
    s[State.NEXT_ROUND_DELIVERED] = s[Tcp.DELIVERED]


def reset_full_bw(s: Any) -> None:
    """Restart the search for the full bandwidth (BBRResetFullBW)."""
    s[State.FULL_BW] = s[State.FULL_BW_COUNT] = s[State.FULL_BW_NOW] = 0


def reset_short_term_model(s: Any) -> None:
    """Remove the short-term bounds (BBRResetShortTermModel)."""
    s[State.BW_SHORTTERM] = s[State.INFLIGHT_SHORTTERM] = UNBOUNDED


def reset_congestion_signals(s: Any) -> None:
    """Clear losses and latest deliveries (BBRResetCongestionSignals)."""
    s[State.LOSS_IN_ROUND] = s[State.BW_LATEST] = s[State.INFLIGHT_LATEST] = 0


def update_latest_delivery_signals(s: Any) -> None:
    """Update the latest delivery signals at the beginning of an ACK (BBRUpdateLatestDeliverySignals)."""
    s[State.LOSS_ROUND_START] = 0
    s[State.BW_LATEST] = max(s[State.BW_LATEST], delivery_rate(s))
    if s[Rate.DELIVERED] != NONE:
        s[State.INFLIGHT_LATEST] = max(s[State.INFLIGHT_LATEST], s[Rate.DELIVERED])
        if s[Rate.PRIOR_DELIVERED] >= s[State.LOSS_ROUND_DELIVERED]:
            s[State.LOSS_ROUND_DELIVERED] = s[Tcp.DELIVERED]
            s[State.LOSS_ROUND_START] = 1


def advance_latest_delivery_signals(s: Any) -> None:
    """Restart the latest delivery signals at the end of an ACK that began a loss round
    (BBRAdvanceLatestDeliverySignals)."""
    if s[State.LOSS_ROUND_START] != 0:
        s[State.BW_LATEST] = delivery_rate(s)
        s[State.INFLIGHT_LATEST] = s[Rate.DELIVERED]


def update_congestion_signals(s: Any) -> None:
    """Update the bandwidth at every ACK, and the short-term bounds once per round with losses
    (BBRUpdateCongestionSignals)."""
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
    """Return True in the states that accelerate (BBRIsProbingBW)."""
    state = s[State.MODE]
    return state == Mode.STARTUP or state == Mode.PROBE_BW_REFILL or state == Mode.PROBE_BW_UP


def _adapt_lower_bounds(s: Any) -> None:
    """Lower the short-term bounds after losses (BBRAdaptLowerBoundsFromCongestion)."""
    if s[State.BW_SHORTTERM] == UNBOUNDED:
        s[State.BW_SHORTTERM] = max_bw(s)
    if s[State.INFLIGHT_SHORTTERM] == UNBOUNDED:
        s[State.INFLIGHT_SHORTTERM] = s[Tcp.CWND]
    s[State.BW_SHORTTERM] = max(s[State.BW_LATEST], s[State.BW_SHORTTERM] * BETA // 100)
    s[State.INFLIGHT_SHORTTERM] = max(s[State.INFLIGHT_LATEST], s[State.INFLIGHT_SHORTTERM] * BETA // 100)


def update_ack_aggregation(s: Any, now_us: Any, acked: Any) -> None:
    """Update the packets acknowledged beyond those that the bandwidth delivers (BBRUpdateACKAggregation)."""
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
    """Check whether the bandwidth has stopped growing (BBRCheckFullBWReached)."""
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


# Volumes [packets].


def bdp(s: Any, bandwidth: Any, gain: Any) -> Any:
    """Return bandwidth times minimum RTT times gain, rounded up [packets] (BBRBDPMultiple)."""
    if s[State.MIN_RTT] == UNBOUNDED:
        return np.int64(10)
    return ((bandwidth * s[State.MIN_RTT] * gain >> BBR_SCALE) + (1 << BW_SCALE) - 1) >> BW_SCALE


def quantization_budget(p: Any, s: Any, packets: Any) -> Any:
    """Return the packets, or the room that bursts need if that is more (BBRQuantizationBudget)."""
    found = max(max(packets, 3 * pacing.tso_segs_goal(p, s)), MIN_PIPE_CWND)
    return found + 2 if s[State.MODE] == Mode.PROBE_BW_UP else found


def target_inflight(s: Any) -> Any:
    """Return the bandwidth-delay product, limited by the window (BBRTargetInflight)."""
    return min(bdp(s, s[State.BW], np.int64(1 << BBR_SCALE)), s[Tcp.CWND])


def inflight_with_headroom(s: Any) -> Any:
    """Return the long-term bound, less the headroom for other flows (BBRInflightWithHeadroom)."""
    bound = s[State.INFLIGHT_LONGTERM]
    if bound == UNBOUNDED:
        return bound
    return max(bound - max(bound * HEADROOM // 100, 1), MIN_PIPE_CWND)


def is_inflight_too_high(lost: Any, tx_in_flight: Any) -> Any:
    """Return True if so many losses indicate that too many packets were in flight (IsInflightTooHigh)."""
    return 100 * lost > LOSS_THRESH * tx_in_flight
