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
        """Return the mean between two times, and its standard error as a mean of samples.

        The error is estimated from differences of successive samples (Wolter, 1985, section 8.2), because
        samples of a smooth curve are not independent. Both are NaN if the series does not cover the window.
        """
        weight = np.minimum(self.end_s, high) - np.maximum(self.start_s, low)
        known = (weight > 0) & np.isfinite(self.values)
        if not known.any() or weight[known].sum() < 0.5 * (high - low):
            return np.nan, np.nan
        weight, values = weight[known] / weight[known].sum(), self.values[known]
        mean = float((weight * values).sum())
        if len(values) < 2:
            return mean, abs(mean) * 0.1
        return mean, float((np.diff(values) ** 2).mean() / 2 / len(values)) ** 0.5

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
    """Scale of the error of measurement and model that no replication shows, independent of other numbers."""
    common: float = 0.0
    """Scale of such an error that the RTTs of a run, or its counts after the first window, have in common."""


class Scales(NamedTuple):
    """Scales of the errors of the model against a measured run, relative unless stated otherwise.

    `python -m tests.campaigns fit --scales` estimates them by maximum likelihood from runs of a Linux kernel
    whose path is known (docs/results/fit.md); `rtt_packets` is larger than that, see there.
    """

    goodput: float = 0.003
    """Goodput of the whole run."""
    goodput_start: float = 0.01
    """Goodput of the first window."""
    goodput_window: float = 0.005
    """Goodput of a later window."""
    rtt_start: float = 0.02
    """RTT of the first window."""
    rtt: float = 0.01
    """RTT of a later window or the whole run, and the smallest RTT."""
    rtt_shared: float = 0.002
    """Share of the RTT by which all RTTs of a run are off."""
    rtt_packets: float = 1.0
    """Number of transmission times by which all RTTs of a run are off.

    A token bucket, unlike a link, passes a packet without its transmission time.
    """
    count_start: float = 0.32
    """Number of retransmissions in the first window."""
    count_shared: float = 0.22
    """Share by which the numbers of retransmissions of all later windows are off (losses in each event)."""
    count_root: float = 0.4
    """Number of square roots of a number of retransmissions."""


SCALES = Scales()
LOSS_FLOOR, LOSS_LEAST = 0.05, 1e-5
"""Relative and absolute floor of a share of lost packets."""
PACKET_BITS = 12_000.0
"""Size of a packet [bit]; half of one may count in the one or the other of two adjacent windows."""


def targets(run: Observed, scales: Scales = SCALES) -> list[Target]:
    """Return the numbers of a run that are fitted, the bound last."""
    found: list[Target] = []
    if run.goodput_bps:  # iperf3 writes 0 if it did not get the results of the server
        found.append(Target("goodput_bps", None, run.goodput_bps, scales.goodput * run.goodput_bps))
    if run.loss is not None:
        found.append(Target("loss", None, run.loss, LOSS_FLOOR * run.loss + LOSS_LEAST))
    offset_s = scales.rtt_packets * PACKET_BITS / run.goodput_bps if run.goodput_bps else 0.0
    if run.rtt is None and run.rtt_s is not None:
        shared = scales.rtt_shared * run.rtt_s + offset_s
        found.append(Target("rtt_s", None, run.rtt_s, scales.rtt * run.rtt_s, shared))
    if run.retransmitted is not None and run.retransmissions is None:
        found.append(_count(None, run.retransmitted, scales, start=True))
    for k, (low, high) in enumerate(windows(run)):
        start = k == 0 and run.start_s == 0
        if run.goodput is not None:
            value, _ = run.goodput.mean(low, high)
            floor = (scales.goodput_start if start else scales.goodput_window) * value
            found.append(Target("goodput_bps", k, value, floor + PACKET_BITS / 2 / (high - low)))
        if run.rtt is not None:
            value, error = run.rtt.mean(low, high)
            floor = float(np.hypot((scales.rtt_start if start else scales.rtt) * value, error))
            found.append(Target("rtt_s", k, value, floor, scales.rtt_shared * value + offset_s))
        if run.retransmissions is not None:
            found.append(_count(k, run.retransmissions.events(low, high), scales, start=start))
    if run.rtt is not None and (known := run.rtt.values[run.rtt.values > 0]).size:
        least = float(known.min())
        shared = scales.rtt_shared * least + offset_s
        found.append(Target("least_rtt_s", None, least, scales.rtt * least, shared))
    return [one for one in found if np.isfinite(one.value) and np.isfinite(one.floor)]


def _count(window: int | None, value: float, scales: Scales, *, start: bool) -> Target:
    """Return a number of retransmissions; slow start has an error of its own."""
    floor = scales.count_root * max(value, 1.0) ** 0.5
    if start:
        return Target("retransmitted", window, value, float(np.hypot(floor, scales.count_start * value)))
    return Target("retransmitted", window, value, floor, scales.count_shared * value)


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
    """Return the measured values that are fitted.

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
