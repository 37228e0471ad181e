"""Long-term sampling: where much is lost at one rate again and again a policer stands, and that is its rate.

Source: Cardwell et al., "BBR congestion control" (IETF 97, 2016); Flach et al., "An Internet-wide analysis of
traffic policing" (SIGCOMM 2016).  Intervals of 4 to 16 rounds that begin and end with losses, a fifth of the
packets or more; two in a row that agree within an eighth, or 4 kbit/s.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.linux.bbr import words
from netcarlo.kernels.linux.bbr.words import BANDWIDTH_BITS, GAIN_BITS, UNIT, Bbr
from netcarlo.kernels.linux.rate import Rate
from netcarlo.kernels.linux.state import Tcp

LEAST_ROUNDS = 4
"""Of an interval, which is given up after four times as many."""
LOSSES = 50
"""Share of packets lost, in 1 / 256."""
ALIKE_BITS = 3
"""Intervals agree within this power of 1/2,"""
ALIKE_RATE = 4000 // 8
"""or so many byte/s."""
MOST_ROUNDS = 48
"""For which a policer is believed in."""
MS_US = 1000


@noinline
def forget(s: Any) -> None:
    """There is no policer, nor an interval."""
    s[Bbr.POLICED_BANDWIDTH] = 0
    s[Bbr.POLICED] = 0
    s[Bbr.POLICED_SAMPLING] = 0
    _begin(s)


@noinline
def _begin(s: Any) -> None:
    s[Bbr.POLICED_AT] = s[Rate.DELIVERED_AT] // MS_US
    s[Bbr.POLICED_DELIVERED] = s[Tcp.DELIVERED]
    s[Bbr.POLICED_LOST] = s[Tcp.LOSSES]
    s[Bbr.POLICED_ROUNDS] = 0


def believed(s: Any) -> Any:
    """Whether the policer is still believed in as a round begins."""
    s[Bbr.POLICED_ROUNDS] += 1
    return s[Bbr.POLICED_ROUNDS] < MOST_ROUNDS


def sample(p: Any, s: Any, losses: Any, limited: Any) -> None:
    """An ACK told of so many losses, or a timeout; the application `limited` the sample."""
    if s[Bbr.POLICED_SAMPLING] != 0 or losses > 0:
        _sample(p, s, losses, limited)


@noinline
def _sample(p: Any, s: Any, losses: Any, limited: Any) -> None:
    if s[Bbr.POLICED_SAMPLING] == 0:
        _begin(s)
        s[Bbr.POLICED_SAMPLING] = 1
    if limited:
        forget(s)
        return
    if s[Bbr.ROUND_START] != 0:
        s[Bbr.POLICED_ROUNDS] += 1
    if s[Bbr.POLICED_ROUNDS] < LEAST_ROUNDS:
        return
    if s[Bbr.POLICED_ROUNDS] > 4 * LEAST_ROUNDS:
        forget(s)
        return
    lost = s[Tcp.LOSSES] - s[Bbr.POLICED_LOST]
    delivered = s[Tcp.DELIVERED] - s[Bbr.POLICED_DELIVERED]
    if losses == 0 or delivered == 0 or lost << GAIN_BITS < LOSSES * delivered:
        return
    ms = s[Rate.DELIVERED_AT] // MS_US - s[Bbr.POLICED_AT]
    if ms >= 1:
        _end(p, s, (delivered << BANDWIDTH_BITS) // (ms * MS_US))


@noinline
def _end(p: Any, s: Any, bandwidth: Any) -> None:
    """An interval is over, which had this bandwidth."""
    before = s[Bbr.POLICED_BANDWIDTH]
    apart = abs(bandwidth - before)
    if before > 0 and (apart << ALIKE_BITS <= before or words.rate_of(p, apart, UNIT) <= ALIKE_RATE):
        s[Bbr.POLICED_BANDWIDTH] = (bandwidth + before) >> 1
        s[Bbr.POLICED] = 1
        s[Bbr.PACING_GAIN] = UNIT
        s[Bbr.POLICED_ROUNDS] = 0
    else:
        s[Bbr.POLICED_BANDWIDTH] = bandwidth
        _begin(s)
