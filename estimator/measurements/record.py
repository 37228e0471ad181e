"""Records of what a run measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from netcarlo.numerics.arrays import Floats

QUANTITIES: Mapping[str, str] = {
    "goodput_bps": "payload that arrived at the receiver, over the measured time",
    "mean_rtt_s": "mean round-trip time",
    "retransmitted": "retransmitted packets",
    "loss_ratio": "share of the packets sent that were lost",
    "mean_delay_s": "mean one-way delay",
    "jitter_s": "mean difference between the delays of consecutive packets",
}
"""Quantities that measurements may have, by outcome, in the order in which they are shown; other outcomes
come from tables."""

SUMS = frozenset(("retransmitted",))
"""Quantities whose value in a long interval is the sum of those of its parts; the others are means."""


class Curve(NamedTuple):
    """Quantity over time: an interval for each value. Times count as in `Measurement.start_s`."""

    start_s: Floats
    """Start of each interval [s]."""
    end_s: Floats
    """End of each interval [s]."""
    values: Floats
    """Value of each interval in the SI unit of the quantity; NaN where it was not measured."""

    def mean(self) -> float:
        """Return the mean, weighted by the length of the intervals; NaN without a value."""
        known = np.isfinite(self.values)
        length = (self.end_s - self.start_s)[known]
        return float(np.average(self.values[known], weights=length)) if length.sum() > 0 else float("nan")


class Flow(NamedTuple):
    """Measured values of one flow."""

    name: str
    values: Mapping[str, float]
    """Values by outcome in SI units."""
    curves: Mapping[str, Curve] = {}
    """Values over time by outcome."""


@dataclass(frozen=True)
class Measurement:
    """One run as a program measured it.

    Only what the file states is present; `missing` says why a quantity that this format often has is not.
    """

    source: str
    """Name of the file, with the number of the run if the file has several."""
    program: str
    """Program that wrote the file, with its version if the file states it."""
    start_s: float
    """Start of the measured time, from the start of the first flow [s]; 3 after `iperf3 --omit 3`."""
    end_s: float
    """End of the measured time, from the start of the first flow [s]."""
    values: Mapping[str, float]
    """Values of all flows together by outcome in SI units: sums of rates and counts, means of times."""
    curves: Mapping[str, Curve] = field(default_factory=dict)
    """Values of all flows together over time by outcome."""
    flows: tuple[Flow, ...] = ()
    """Flows of the run; empty if the file does not tell them apart."""
    setting: Mapping[str, str] = field(default_factory=dict)
    """Description of the run in the file: `protocol`, `congestion control`, `flows`, `direction`, `title`."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Reasons why quantities are not measured, by outcome."""
    written: bool = False
    """True if the curve of the goodput is what the sender wrote into its socket, not what arrived."""
    notes: tuple[str, ...] = ()
    """Sentences about how values were derived, and about what was left out."""

    @property
    def length_s(self) -> float:
        """Length of the measured time [s]."""
        return self.end_s - self.start_s


def added(curves: list[Curve]) -> Curve:
    """Return the sum of curves with the same intervals, up to rounding; NaN where one has no value."""
    first = curves[0]
    return first._replace(values=np.sum([curve.values for curve in curves], axis=0))


def averaged(curves: list[Curve]) -> Curve:
    """Return the mean of curves with the same intervals, up to rounding; values that are NaN are left out."""
    stacked = np.array([curve.values for curve in curves])
    known = np.isfinite(stacked)
    with np.errstate(invalid="ignore"):
        values = np.where(known, stacked, 0).sum(axis=0) / known.sum(axis=0)
    return curves[0]._replace(values=values)
