"""How much is in flight, and how much should be.

Source: draft-cardwell-iccrg-bbr-congestion-control-00, 4.2.3: the bandwidth-delay product, and room for
bursts at both ends and for ACKs that come late and then at once.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux.bbr import words
from netcarlo.kernels.linux.bbr.words import BANDWIDTH_BITS, EXTRA, GAIN_BITS, UNIT, Bbr, Mode
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import INFINITE

WITHOUT_RTT = 10
"""What stands for the product before a round trip is known [packet]."""
EXTRA_ROUNDS = 5
"""Rounds of each of the two windows for packets beyond the bandwidth,"""
EXTRA_US = 100_000
"""which count up to what this time delivers."""
MOST_EPOCH = 1 << 20
"""Packets of an epoch."""


def product(s: Any, bandwidth: Any, gain: Any) -> Any:
    """Bandwidth times least round trip times gain, rounded up [packet]."""
    if s[Bbr.LEAST_RTT] == INFINITE:
        return np.int64(WITHOUT_RTT)
    return ((bandwidth * s[Bbr.LEAST_RTT] * gain >> GAIN_BITS) + (1 << BANDWIDTH_BITS) - 1) >> BANDWIDTH_BITS


def with_bursts(p: Any, s: Any, packets: Any) -> Any:
    """So many, and room for three bursts; an even number, and two more where the rate is probed."""
    found = packets + 3 * pacing.goal(p, s)
    found = found + 1 & ~np.int64(1)
    return found + 2 if s[Bbr.MODE] == Mode.PROBE_BW and s[Bbr.PHASE] == 0 else found


def target(p: Any, s: Any, gain: Any) -> Any:
    """What should be in flight at a gain of the largest bandwidth."""
    return with_bursts(p, s, product(s, words.most_bandwidth(s), gain))


def at_departure(p: Any, s: Any, now: Any, flight: Any) -> Any:
    """What of `flight` is left when the next burst leaves, that burst included where the rate is probed."""
    wait = max(s[Pacing.NEXT] - now, 0) // 1000
    delivered = words.bandwidth(s) * wait >> BANDWIDTH_BITS
    if s[Bbr.PACING_GAIN] > UNIT:
        flight += pacing.goal(p, s)
    return max(flight - delivered, 0)


def begin_epoch(s: Any, now_us: Any) -> None:
    """Packets acknowledged are counted from here on."""
    s[Bbr.EPOCH_AT] = now_us
    s[Bbr.EPOCH_ACKED] = 0


def note_extra(s: Any, acked: Any, cwnd: Any) -> None:
    """How many packets more were acknowledged than the bandwidth delivers."""
    if acked <= 0 or s[Rate.INTERVAL] <= 0:
        return
    if s[Bbr.ROUND_START] != 0:
        s[Bbr.EXTRA_ROUNDS] += 1
        if s[Bbr.EXTRA_ROUNDS] >= EXTRA_ROUNDS:
            s[Bbr.EXTRA_ROUNDS] = 0
            s[Bbr.EXTRA_INDEX] = 1 - s[Bbr.EXTRA_INDEX]
            s[EXTRA + s[Bbr.EXTRA_INDEX]] = 0
    now_us = s[Rate.DELIVERED_AT]
    expected = words.bandwidth(s) * (now_us - s[Bbr.EPOCH_AT]) >> BANDWIDTH_BITS
    if s[Bbr.EPOCH_ACKED] <= expected or s[Bbr.EPOCH_ACKED] + acked >= MOST_EPOCH:
        begin_epoch(s, now_us)
        expected = np.int64(0)
    s[Bbr.EPOCH_ACKED] = min(s[Bbr.EPOCH_ACKED] + acked, MOST_EPOCH - 1)
    extra = min(s[Bbr.EPOCH_ACKED] - expected, cwnd)
    at = EXTRA + s[Bbr.EXTRA_INDEX]
    s[at] = max(s[at], extra)


def extra(s: Any) -> Any:
    """Room for such packets [packet]."""
    if s[Bbr.FULL] == 0:
        return np.int64(0)
    most = words.bandwidth(s) * EXTRA_US >> BANDWIDTH_BITS
    return min(max(s[EXTRA], s[EXTRA + 1]), most)
