"""Packets in flight: the bandwidth-delay product, and allowances for bursts and aggregated ACKs.

Source: draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.3; tcp_bbr.c.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux.bbr import state
from netcarlo.kernels.linux.bbr.state import BBR_SCALE, BBR_UNIT, BW_SCALE, EXTRA_ACKED, Mode, State
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import INFINITE

BDP_WITHOUT_RTT = 10
"""Bandwidth-delay product assumed before an RTT is known [packets] (TCP_INIT_CWND)."""
EXTRA_ACKED_WIN_RTTS = 5
"""Rounds of each of the two windows of extra ACKed packets (bbr_extra_acked_win_rtts)."""
EXTRA_ACKED_MAX_US = 100_000
"""Limit of the allowance for aggregated ACKs: packets delivered in this time [us] (bbr_extra_acked_max_us).
"""
ACK_EPOCH_ACKED_RESET = 1 << 20
"""Packets acknowledged after which an ACK sampling epoch ends (bbr_ack_epoch_acked_reset_thresh)."""


def bdp(s: Any, bandwidth: Any, gain: Any) -> Any:
    """Return bandwidth times minimum RTT times gain, rounded up [packets] (`bbr_bdp`)."""
    if s[State.MIN_RTT_US] == INFINITE:
        return np.int64(BDP_WITHOUT_RTT)
    return ((bandwidth * s[State.MIN_RTT_US] * gain >> BBR_SCALE) + (1 << BW_SCALE) - 1) >> BW_SCALE


def quantization_budget(p: Any, s: Any, packets: Any) -> Any:
    """Return the packets plus room for three bursts, made even, and two more while the rate is probed
    (`bbr_quantization_budget`)."""
    found = packets + 3 * pacing.tso_segs_goal(p, s)
    found = found + 1 & ~np.int64(1)
    return found + 2 if s[State.MODE] == Mode.PROBE_BW and s[State.CYCLE_IDX] == 0 else found


def inflight_at(p: Any, s: Any, gain: Any) -> Any:
    """Return the target of packets in flight for a gain of the maximum bandwidth (`bbr_inflight`)."""
    return quantization_budget(p, s, bdp(s, state.max_bw(s), gain))


def packets_in_net_at_edt(p: Any, s: Any, now: Any, flight: Any) -> Any:
    """Return the packets still in flight when the next burst leaves, including it if the rate is probed
    (`bbr_packets_in_net_at_edt`)."""
    wait = max(s[Pacing.NEXT_SEND] - now, 0) // 1000
    delivered = state.bw(s) * wait >> BW_SCALE
    if s[State.PACING_GAIN] > BBR_UNIT:
        flight += pacing.tso_segs_goal(p, s)
    return max(flight - delivered, 0)


def start_ack_epoch(s: Any, now_us: Any) -> None:
    """Start an ACK sampling epoch."""
    s[State.ACK_EPOCH_MSTAMP] = now_us
    s[State.ACK_EPOCH_ACKED] = 0


def update_ack_aggregation(s: Any, acked: Any, cwnd: Any) -> None:
    """Update the packets acknowledged beyond those that the bandwidth delivers
    (`bbr_update_ack_aggregation`)."""
    if acked <= 0 or s[Rate.INTERVAL_US] <= 0:
        return
    if s[State.ROUND_START] != 0:
        s[State.EXTRA_ACKED_WIN_RTTS] += 1
        if s[State.EXTRA_ACKED_WIN_RTTS] >= EXTRA_ACKED_WIN_RTTS:
            s[State.EXTRA_ACKED_WIN_RTTS] = 0
            s[State.EXTRA_ACKED_WIN_IDX] = 1 - s[State.EXTRA_ACKED_WIN_IDX]
            s[EXTRA_ACKED + s[State.EXTRA_ACKED_WIN_IDX]] = 0
    now_us = s[Rate.DELIVERED_MSTAMP]
    expected = state.bw(s) * (now_us - s[State.ACK_EPOCH_MSTAMP]) >> BW_SCALE
    if s[State.ACK_EPOCH_ACKED] <= expected or s[State.ACK_EPOCH_ACKED] + acked >= ACK_EPOCH_ACKED_RESET:
        start_ack_epoch(s, now_us)
        expected = np.int64(0)
    s[State.ACK_EPOCH_ACKED] = min(s[State.ACK_EPOCH_ACKED] + acked, ACK_EPOCH_ACKED_RESET - 1)
    extra = min(s[State.ACK_EPOCH_ACKED] - expected, cwnd)
    at = EXTRA_ACKED + s[State.EXTRA_ACKED_WIN_IDX]
    s[at] = max(s[at], extra)


def ack_aggregation_cwnd(s: Any) -> Any:
    """Return the allowance for aggregated ACKs [packets] (`bbr_ack_aggregation_cwnd`)."""
    if s[State.FULL_BW_REACHED] == 0:
        return np.int64(0)
    limit = state.bw(s) * EXTRA_ACKED_MAX_US >> BW_SCALE
    return min(max(s[EXTRA_ACKED], s[EXTRA_ACKED + 1]), limit)
