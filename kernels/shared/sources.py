"""UDP sources: constant bit rate with jitter, or Poisson arrivals; always on or with exponential on and off
periods.

`b` is where the block of flow `i` begins in scratch `m`, `p` are the columns of the row.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.shared.layout import STREAM_DATAGRAM, STREAM_PERIOD, Flow
from netcarlo.kernels.shared.state import FlowWord
from netcarlo.kernels.udp.source import gap as gap_behind

_PERIOD_BITS = np.int64(10)
"""Fraction bits of the mean in which lengths of periods are drawn."""


def prepare_source(p: Any, m: Any, b: Any, losses: Any, i: Any) -> None:
    """Prepare a source before the start; its first datagram is sent at START."""
    m[b + FlowWord.ON_UNTIL] = FOREVER
    if m[b + Flow.ON] > 0:
        m[b + FlowWord.ON_UNTIL] = m[b + RowP.START] + _draw_period(p, m, b, losses, i, m[b + Flow.ON])
    if m[b + RowP.START] >= m[b + UdpP.STOP] or m[b + RowP.LIMIT] <= 0:
        m[b + FlowWord.NEXT] = FOREVER


def next_datagram(p: Any, m: Any, b: Any, losses: Any, i: Any, t: Any) -> Any:
    """Return the number of the datagram sent at `t`, and set the time of the next."""
    number = m[b + FlowWord.NEXT_DATAGRAM]
    m[b + FlowWord.NEXT_DATAGRAM] = number + 1
    next_time = t + gap_behind(p, STREAM_DATAGRAM + i, number, m[b + UdpP.INTERVAL], m[b + UdpP.SPREAD])
    while next_time > m[b + FlowWord.ON_UNTIL]:
        next_time = m[b + FlowWord.ON_UNTIL] + _draw_period(p, m, b, losses, i, m[b + Flow.OFF])
        m[b + FlowWord.ON_UNTIL] = next_time + _draw_period(p, m, b, losses, i, m[b + Flow.ON])
    if next_time >= m[b + UdpP.STOP] or number + 1 >= m[b + RowP.LIMIT]:
        next_time = np.int64(FOREVER)
    m[b + FlowWord.NEXT] = next_time
    return number


@noinline
def _draw_period(p: Any, m: Any, b: Any, losses: Any, i: Any, mean: Any) -> Any:
    """Return the length of the next on or off period [ns]."""
    k = m[b + FlowWord.PERIODS]
    m[b + FlowWord.PERIODS] = k + 1
    slots = gap(
        losses, m[b + Flow.PERIODS], p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_PERIOD + i, k
    )
    return ((slots + 1) * mean) >> _PERIOD_BITS
