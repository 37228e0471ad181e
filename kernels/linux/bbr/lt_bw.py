"""Long-term bandwidth sampling: repeated heavy losses at one rate indicate a policer, which sets the
bandwidth.

Source: Cardwell et al., "BBR congestion control" (IETF 97, 2016); Flach et al., "An Internet-wide analysis of
traffic policing" (SIGCOMM 2016); `bbr_lt_bw_sampling` in tcp_bbr.c. Sampling intervals of 4 to 16 rounds
begin and end with losses of a fifth of the packets or more. Two consecutive intervals whose bandwidths differ
by an eighth at most, or by 4 kbit/s, indicate a policer.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux.bbr import state
from netcarlo.kernels.linux.bbr.state import BBR_SCALE, BBR_UNIT, BW_SCALE, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import Tcp

INTVL_MIN_RTTS = 4
"""Minimum rounds of an interval, which is abandoned after four times as many (bbr_lt_intvl_min_rtts)."""
LOSS_THRESH = 50
"""Share of packets lost, in 1/256 (bbr_lt_loss_thresh)."""
BW_RATIO_BITS = 3
"""Binary logarithm of the ratio of a bandwidth to the largest difference between two intervals
(bbr_lt_bw_ratio)."""
BW_DIFF = 4000 // 8
"""Difference of bandwidths that is always accepted [byte/s] (bbr_lt_bw_diff)."""
BW_MAX_RTTS = 48
"""Rounds for which the long-term bandwidth is used (bbr_lt_bw_max_rtts)."""
MS_US = 1000
"""Microseconds of a millisecond."""


@noinline
def reset_sampling(s: Any) -> None:
    """Forget the policer and the sampling interval (`bbr_reset_lt_bw_sampling`)."""
    s[State.LT_BW] = 0
    s[State.LT_USE_BW] = 0
    s[State.LT_IS_SAMPLING] = 0
    _reset_interval(s)


@noinline
def _reset_interval(s: Any) -> None:
    """Start a sampling interval (`bbr_reset_lt_bw_sampling_interval`)."""
    s[State.LT_LAST_STAMP] = s[Rate.DELIVERED_MSTAMP] // MS_US
    s[State.LT_LAST_DELIVERED] = s[Tcp.DELIVERED]
    s[State.LT_LAST_LOST] = s[Tcp.LOST_TOTAL]
    s[State.LT_RTT_CNT] = 0


def keeps_using_bw(s: Any) -> Any:
    """Count a round, and return True if the long-term bandwidth remains in use."""
    s[State.LT_RTT_CNT] += 1
    return s[State.LT_RTT_CNT] < BW_MAX_RTTS


def sampling(p: Any, s: Any, losses: Any, limited: Any) -> None:
    """Process an ACK with losses, or a timeout; `limited` means that the application limited the sample."""
    if s[State.LT_IS_SAMPLING] != 0 or losses > 0:
        _sampling(p, s, losses, limited)


@noinline
def _sampling(p: Any, s: Any, losses: Any, limited: Any) -> None:
    """Start, continue, abandon or end the sampling interval (`bbr_lt_bw_sampling`)."""
    if s[State.LT_IS_SAMPLING] == 0:
        _reset_interval(s)
        s[State.LT_IS_SAMPLING] = 1
    if limited:
        reset_sampling(s)
        return
    if s[State.ROUND_START] != 0:
        s[State.LT_RTT_CNT] += 1
    if s[State.LT_RTT_CNT] < INTVL_MIN_RTTS:
        return
    if s[State.LT_RTT_CNT] > 4 * INTVL_MIN_RTTS:
        reset_sampling(s)
        return
    lost = s[Tcp.LOST_TOTAL] - s[State.LT_LAST_LOST]
    delivered = s[Tcp.DELIVERED] - s[State.LT_LAST_DELIVERED]
    if losses == 0 or delivered == 0 or lost << BBR_SCALE < LOSS_THRESH * delivered:
        return
    ms = s[Rate.DELIVERED_MSTAMP] // MS_US - s[State.LT_LAST_STAMP]
    if ms >= 1:
        _interval_done(p, s, (delivered << BW_SCALE) // (ms * MS_US))


@noinline
def _interval_done(p: Any, s: Any, bandwidth: Any) -> None:
    """Evaluate the bandwidth of a finished interval (`bbr_lt_bw_interval_done`)."""
    before = s[State.LT_BW]
    apart = abs(bandwidth - before)
    if before > 0 and (
        apart << BW_RATIO_BITS <= before or state.bw_to_pacing_rate(p, apart, BBR_UNIT) <= BW_DIFF
    ):
        s[State.LT_BW] = (bandwidth + before) >> 1
        s[State.LT_USE_BW] = 1
        s[State.PACING_GAIN] = BBR_UNIT
        s[State.LT_RTT_CNT] = 0
    else:
        s[State.LT_BW] = bandwidth
        _reset_interval(s)
