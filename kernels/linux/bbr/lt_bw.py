"""Long-term sampling: where much is lost at one rate again and again a policer stands, and that is its rate.

Source: Cardwell et al., "BBR congestion control" (IETF 97, 2016); Flach et al., "An Internet-wide analysis of
traffic policing" (SIGCOMM 2016).  Intervals of 4 to 16 rounds that begin and end with losses, a fifth of the
packets or more; two in a row that agree within an eighth, or 4 kbit/s.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux.bbr import state
from netcarlo.kernels.linux.bbr.state import BBR_SCALE, BBR_UNIT, BW_SCALE, State
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import Tcp

INTVL_MIN_RTTS = 4
"""Of an interval, which is given up after four times as many."""
LOSS_THRESH = 50
"""Share of packets lost, in 1 / 256."""
BW_RATIO_BITS = 3
"""Intervals agree within this power of 1/2,"""
BW_DIFF = 4000 // 8
"""or so many byte/s."""
BW_MAX_RTTS = 48
"""For which a policer is believed in."""
MS_US = 1000


@noinline
def reset_sampling(s: Any) -> None:
    """There is no policer, nor an interval."""
    s[State.LT_BW] = 0
    s[State.LT_USE_BW] = 0
    s[State.LT_IS_SAMPLING] = 0
    _reset_interval(s)


@noinline
def _reset_interval(s: Any) -> None:
    s[State.LT_LAST_STAMP] = s[Rate.DELIVERED_MSTAMP] // MS_US
    s[State.LT_LAST_DELIVERED] = s[Tcp.DELIVERED]
    s[State.LT_LAST_LOST] = s[Tcp.LOST_TOTAL]
    s[State.LT_RTT_CNT] = 0


def keeps_using_bw(s: Any) -> Any:
    """Whether the policer is still believed in as a round begins."""
    s[State.LT_RTT_CNT] += 1
    return s[State.LT_RTT_CNT] < BW_MAX_RTTS


def sampling(p: Any, s: Any, losses: Any, limited: Any) -> None:
    """An ACK told of so many losses, or a timeout; the application `limited` the sample."""
    if s[State.LT_IS_SAMPLING] != 0 or losses > 0:
        _sampling(p, s, losses, limited)


@noinline
def _sampling(p: Any, s: Any, losses: Any, limited: Any) -> None:
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
    """An interval is over, which had this bandwidth."""
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
