"""Measured runs as they are fitted: totals, and means over the windows of a run."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from netcarlo.measurements.record import Measurement
from netcarlo.numerics.arrays import Floats

EDGES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Ends of the windows, as fractions of the duration of a run. The first windows show the slow start."""
PARTS = 4
"""Number of equal parts of a single run for cross-validation."""

Kind = Literal["goodput_bps", "rtt_s", "retransmitted", "loss", "least_rtt_s"]
"""Quantity of a target. `least_rtt_s` is an upper bound of the round-trip time without queueing."""


class Series(NamedTuple):
    """Measured values over time: means over intervals, or numbers of events in them."""

    start_s: Floats
    """Start of each interval [s], float64[n]."""
    end_s: Floats
    """End of each interval [s], float64[n]."""
    values: Floats
    """Value of each interval in its SI unit, float64[n]."""

    def mean(self, low: float, high: float) -> tuple[float, float]:
        """Return the mean between two times, and its standard error from the scatter of the intervals.

        Both are NaN if the series does not cover the window.
        """
        weight = np.minimum(self.end_s, high) - np.maximum(self.start_s, low)
        known = (weight > 0) & np.isfinite(self.values)
        if not known.any() or weight[known].sum() < 0.5 * (high - low):
            return np.nan, np.nan
        weight, values = weight[known] / weight[known].sum(), self.values[known]
        mean = float((weight * values).sum())
        spread = float((weight * (values - mean) ** 2).sum())
        count = 1 / float((weight**2).sum())
        error = (spread / max(count - 1, 1)) ** 0.5 if count > 1.5 else abs(mean) * 0.1
        return mean, error

    def events(self, low: float, high: float) -> float:
        """Return the number of events between two times; NaN if the series does not cover them."""
        weight = np.minimum(self.end_s, high) - np.maximum(self.start_s, low)
        known = weight > 1e-9
        if not known.any() or weight[known].sum() < 0.5 * (high - low):
            return np.nan
        length = np.maximum(self.end_s - self.start_s, 1e-9)[known]
        return float((self.values[known] * weight[known] / length).sum())


class Observed(NamedTuple):
    """A measured run. Missing quantities are None. Times count from the start of the first flow."""

    name: str
    """Name of the file."""
    duration_s: float
    """Length of the measured time [s]."""
    start_s: float = 0.0
    """Start of the measured time [s]."""
    goodput_bps: float | None = None
    """Mean goodput at the receiver."""
    goodput: Series | None = None
    """Goodput at the receiver over time [bit/s]."""
    rtt: Series | None = None
    """Round-trip time over time [s]."""
    rtt_s: float | None = None
    """Mean round-trip time; used if there is no series."""
    retransmitted: float | None = None
    """Number of retransmitted packets."""
    retransmissions: Series | None = None
    """Numbers of retransmitted packets over time."""
    loss: float | None = None
    """Share of packets lost, for UDP."""


class Target(NamedTuple):
    """A measured number to fit."""

    kind: Kind
    """Quantity."""
    window: int | None
    """Index of the window; None for the whole run."""
    value: float
    """Measured value in the SI unit."""
    floor: float
    """Standard deviation of measurement and model that no replication shows."""


GOODPUT_FLOOR, WINDOW_FLOOR = 0.0075, 0.02
"""Relative floor of the goodput of the whole run, and of a window."""
RTT_FLOOR = 0.015
"""Relative floor of a mean round-trip time."""
COUNT_FLOOR, COUNT_LEAST = 0.1, 1.0
"""Relative and absolute floor of a number of retransmissions."""
LEAST_FLOOR = 0.02
"""Relative standard deviation by which the RTT without queueing may exceed the smallest measured RTT."""
LOSS_FLOOR, LOSS_LEAST = 0.05, 1e-5
"""Relative and absolute floor of a share of lost packets."""
SLACK_BITS = 3 * 12_000.0
"""Data that may count in the one or the other of two adjacent windows [bit]."""


def targets(run: Observed) -> list[Target]:
    """Return the numbers of a run that are fitted."""
    found: list[Target] = []
    if run.goodput_bps is not None:
        found.append(Target("goodput_bps", None, run.goodput_bps, GOODPUT_FLOOR * run.goodput_bps))
    if run.loss is not None:
        found.append(Target("loss", None, run.loss, LOSS_FLOOR * run.loss + LOSS_LEAST))
    if run.rtt is None and run.rtt_s is not None:
        found.append(Target("rtt_s", None, run.rtt_s, RTT_FLOOR * run.rtt_s))
    if run.retransmitted is not None:
        floor = COUNT_LEAST + COUNT_FLOOR * run.retransmitted
        found.append(Target("retransmitted", None, run.retransmitted, floor))
    if (
        run.rtt is not None
        and (known := run.rtt.values[np.isfinite(run.rtt.values) & (run.rtt.values > 0)]).size
    ):
        found.append(Target("least_rtt_s", None, float(known.min()), LEAST_FLOOR * float(known.min())))
    for k, (low, high) in enumerate(windows(run)):
        if run.goodput is not None:
            value, _ = run.goodput.mean(low, high)
            slack = SLACK_BITS / (high - low)
            found.append(Target("goodput_bps", k, value, WINDOW_FLOOR * value + slack))
        if run.rtt is not None:
            value, error = run.rtt.mean(low, high)
            found.append(Target("rtt_s", k, value, float(np.hypot(RTT_FLOOR * value, error))))
        if run.retransmissions is not None:
            value = run.retransmissions.events(low, high)
            found.append(Target("retransmitted", k, value, 2 * COUNT_LEAST + COUNT_FLOOR * value))
    return [one for one in found if np.isfinite(one.value) and np.isfinite(one.floor)]


def windows(run: Observed) -> list[tuple[float, float]]:
    """Return the start and end of each window [s]."""
    ends = [run.start_s + edge * run.duration_s for edge in EDGES]
    return list(pairwise(ends))


def part_of(window: int) -> int:
    """Return the index of the part of a run, 0 to `PARTS` - 1, that contains a window."""
    return min(int((EDGES[window] + EDGES[window + 1]) / 2 * PARTS), PARTS - 1)


Span = tuple[float, float]
"""Start and length of the measured time [s], as they are simulated."""


def span(run: Observed) -> Span:
    """Return the time of a run that is simulated, to a tenth of a second."""
    return round(run.start_s, 1), max(round(run.duration_s, 1), 0.1)


def spans(runs: Sequence[Observed]) -> list[Span]:
    """Return the distinct spans of runs."""
    return list(dict.fromkeys(map(span, runs)))


def observed(run: Measurement) -> Observed:
    """Return what a measurement contributes to a fit.

    A curve of what the sender wrote is left out, because a socket buffer hides when data were sent.
    """
    curves = {name: Series(*curve) for name, curve in run.curves.items()}
    return Observed(
        run.source,
        run.length_s,
        run.start_s,
        goodput_bps=run.values.get("goodput_bps"),
        goodput=None if run.written else curves.get("goodput_bps"),
        rtt=curves.get("mean_rtt_s"),
        rtt_s=run.values.get("mean_rtt_s"),
        retransmitted=run.values.get("retransmitted"),
        retransmissions=curves.get("retransmitted"),
        loss=run.values.get("loss_ratio"),
    )
