"""Metrics of the study of sender buffers over 802.11g, and quantities that follow from its averages."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import FlowOut, Radio
from netcarlo.numerics.statistics import Mean
from netcarlo.studies.cells import Cell, Samples, estimate
from netcarlo.studies.claims import ends
from netcarlo.studies.judging import Lookup
from netcarlo.studies.selection import Value

RTTS = (1, 5, 10, 20)
"""RTTs at which the paper searches the smallest sufficient buffer (MBT) [ms]."""

PUBLISHED_MBT = {1: 32, 5: 96, 10: 96, 20: 96}
"""Published MBT by RTT [ms] [KB]."""

DEFAULT = 64
"""Default buffer of the operating system [KB]."""

PLATEAU = 0.01
"""Maximum relative distance of a sufficient buffer's average from the plateau, the mean of the two largest
buffers."""

Numbers = Callable[[int, int], Samples]
"""Function (RTT [ms], buffer [KB]) -> average throughput [Mbit/s], one value per replication or the published
one."""

Buffers = Mapping[int, Sequence[int]]
"""Buffers at each RTT, ascending [KB]."""


def counted_s(cell: Cell) -> float:
    """Return the time over which packets are counted [s]."""
    return (cell.parameter(RowP.END) - cell.parameter(Radio.WARM_UP)) * 1e-9


def average(cell: Cell) -> Samples:
    """Return the rate of payload received in order [Mbit/s]."""
    return cell.flow(FlowOut.IN_ORDER) * cell.parameter(RowP.DATA) * 8e-6 / counted_s(cell)


def best_second(cell: Cell) -> Samples:
    """Return the largest payload received in one second [Mbit/s]."""
    return cell.flow(FlowOut.BEST) * cell.parameter(RowP.DATA) * 8e-6


def in_flight(cell: Cell) -> Samples:
    """Return the mean number of segments in flight to the receiver, including the delay element (Little's
    law)."""
    return cell.flow(FlowOut.DELAY_SUM) * 1e-6 / counted_s(cell)


METRICS: dict[str, Callable[[Cell], Samples]] = {
    "throughput_avg": average,
    "throughput_max": best_second,
}
"""Metrics by name: functions that return the values in a cell, one per replication."""


def at(conditions: Mapping[str, Value]) -> tuple[int, int]:
    """Return RTT [ms] and buffer [KB] of a cell."""
    return int(conditions["rtt_ms"]), int(conditions["buffer_kb"])


def averages(value: Lookup) -> Numbers:
    """Return a lookup of averages by RTT and buffer from a lookup by conditions."""
    return lambda rtt, kb: value("throughput_avg", rtt_ms=float(rtt), buffer_kb=float(kb))


def plateau(numbers: Numbers, rtt: int, buffers: Sequence[int]) -> float:
    """Return the plateau, the mean of the averages of the two largest buffers [Mbit/s]."""
    return float(np.mean([np.mean(numbers(rtt, kb)) for kb in buffers[-2:]]))


def buffer_threshold(numbers: Numbers, rtt: int, buffers: Sequence[int]) -> int:
    """Return the MBT as defined by the paper: the smallest buffer less than `PLATEAU` below the plateau
    [KB]."""
    least = (1 - PLATEAU) * plateau(numbers, rtt, buffers)
    return next(kb for kb in buffers if np.mean(numbers(rtt, kb)) >= least)


def threshold_interval(numbers: Numbers, rtt: int, buffers: Sequence[int]) -> Mean:
    """Return the MBT [KB] with the range of buffers that the replications do not exclude.

    A buffer is excluded as the MBT if its average is significantly (95 %) below the plateau by more than
    `PLATEAU`, or if that of a smaller buffer is significantly above this limit.
    """
    enough = (1 - PLATEAU) * np.mean([numbers(rtt, kb) for kb in buffers[-2:]], axis=0)
    margins = {kb: ends(estimate(numbers(rtt, kb) - enough)) for kb in buffers}
    low = next((kb for kb, (_, high) in margins.items() if high > 0), buffers[-1])
    high = next((kb for kb, (least, _) in margins.items() if least > 0), buffers[-1])
    n = len(enough)
    return Mean(n, float(buffer_threshold(numbers, rtt, buffers)), math.nan, float(low), float(high))


def regression(numbers: Numbers, *, shift: float) -> tuple[Samples, Samples]:
    """Return a [Mbit/s] and b [1/ms] of y = a exp(-b (RTT + shift)) through the averages at the paper's MBTs.

    The fit is by least squares of ln y for each replication. With shift 0 the intercept is at RTT 0; the
    paper prints the intercept for shift 1.
    """
    x = np.array(RTTS, float) + shift
    y = np.log([numbers(rtt, kb) for rtt, kb in PUBLISHED_MBT.items()])
    b = -((x - x.mean()) @ (y - y.mean(axis=0))) / ((x - x.mean()) ** 2).sum()
    return np.exp(y.mean(axis=0) + b * x.mean()), b


def predicted(numbers: Numbers, rtt: float, *, consistent: bool) -> Samples:
    """Return the throughput by the law at another RTT [Mbit/s].

    Unless `consistent`, the intercept is that of RTT + 1 ms, as printed.
    """
    a, b = regression(numbers, shift=0 if consistent else 1)
    return a * np.exp(-b * rtt)


def percent(share: float) -> str:
    """Return a fraction as text."""
    return f"{100 * share:.3g} %" if math.isfinite(share) else "nothing"
