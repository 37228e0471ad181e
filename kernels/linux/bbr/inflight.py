"""How much is in flight, and how much should be.

Source: draft-cardwell-iccrg-bbr-congestion-control-00, 4.2.3: the bandwidth-delay product, and room for
bursts at both ends and for ACKs that come late and then at once.
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
"""What stands for the product before a round trip is known [packet]."""
EXTRA_ACKED_WIN_RTTS = 5
"""Rounds of each of the two windows for packets beyond the bandwidth,"""
EXTRA_ACKED_MAX_US = 100_000
"""which count up to what this time delivers."""
ACK_EPOCH_ACKED_RESET = 1 << 20
"""Packets of an epoch."""


def bdp(s: Any, bandwidth: Any, gain: Any) -> Any:
    """Bandwidth times least round trip times gain, rounded up [packet]."""
    if s[State.MIN_RTT_US] == INFINITE:
        return np.int64(BDP_WITHOUT_RTT)
    return ((bandwidth * s[State.MIN_RTT_US] * gain >> BBR_SCALE) + (1 << BW_SCALE) - 1) >> BW_SCALE


def quantization_budget(p: Any, s: Any, packets: Any) -> Any:
    """So many, and room for three bursts; an even number, and two more where the rate is probed."""
    found = packets + 3 * pacing.tso_segs_goal(p, s)
    found = found + 1 & ~np.int64(1)
    return found + 2 if s[State.MODE] == Mode.PROBE_BW and s[State.CYCLE_IDX] == 0 else found


def inflight_at(p: Any, s: Any, gain: Any) -> Any:
    """What should be in flight at a gain of the largest bandwidth."""
    return quantization_budget(p, s, bdp(s, state.max_bw(s), gain))


def packets_in_net_at_edt(p: Any, s: Any, now: Any, flight: Any) -> Any:
    """What of `flight` is left when the next burst leaves, that burst included where the rate is probed."""
    wait = max(s[Pacing.NEXT_SEND] - now, 0) // 1000
    delivered = state.bw(s) * wait >> BW_SCALE
    if s[State.PACING_GAIN] > BBR_UNIT:
        flight += pacing.tso_segs_goal(p, s)
    return max(flight - delivered, 0)


def start_ack_epoch(s: Any, now_us: Any) -> None:
    """Packets acknowledged are counted from here on."""
    s[State.ACK_EPOCH_MSTAMP] = now_us
    s[State.ACK_EPOCH_ACKED] = 0


def update_ack_aggregation(s: Any, acked: Any, cwnd: Any) -> None:
    """How many packets more were acknowledged than the bandwidth delivers."""
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
    """Room for such packets [packet]."""
    if s[State.FULL_BW_REACHED] == 0:
        return np.int64(0)
    most = state.bw(s) * EXTRA_ACKED_MAX_US >> BW_SCALE
    return min(max(s[EXTRA_ACKED], s[EXTRA_ACKED + 1]), most)
