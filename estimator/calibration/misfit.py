"""Misfit of a candidate: -2 times the logarithm of its likelihood, with noise of both published and simulated
numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.runner import Sample
from netcarlo.numerics.arrays import Floats
from netcarlo.studies.calibrated import Calibration
from netcarlo.studies.published import Published


class Misfit(NamedTuple):
    """Misfit of candidates."""

    total: Floats
    """Sum over the numbers of z^2 + ln(sigma^2 / floor^2), float64[candidates]; never below 0."""
    doubt: Floats
    """Standard error of `total` from the runs of the candidate, float64[candidates]."""
    z: Floats
    """Standardised residuals (simulated - published) / sigma, float64[candidates, numbers]."""


class Noise:
    """Standard deviation of the difference between simulated and published numbers.

    A published number is the mean of a few runs: its variance is that of one run of the candidate divided by
    the number of runs, or 0 if the runs are known to be identical. A simulated number is the mean of many
    runs. A floor accounts for model errors. sigma^2 = floor^2 + sd^2 / published runs + sd^2 / runs of the
    candidate. The term ln(sigma^2) of the likelihood penalises candidates with a large spread.
    """

    def __init__(self, calibration: Calibration, numbers: Sequence[Published]) -> None:
        where = calibration.repeatable
        repeatable = [where is not None and number.matches({**where}) for number in numbers]
        self._share = np.where(repeatable, 0.0, 1 / calibration.runs_behind_the_table)
        self._published = np.array([number.value for number in numbers])
        targets = [calibration.targets[number.metric] for number in numbers]
        relative = np.array([target.relative for target in targets]) * self._published
        self._floor = np.hypot(relative, [target.absolute for target in targets])

    def sigma(self, sample: Sample) -> Floats:
        """Return the standard deviation of simulated minus published numbers, float64[candidates,
        numbers]."""
        return np.asarray(np.sqrt(self._floor**2 + sample.sd**2 * (self._share + 1 / sample.n)))

    def misfit(self, sample: Sample) -> Misfit:
        """Return the misfit of each candidate over the numbers that are not NaN."""
        sigma = self.sigma(sample)
        z = (sample.mean - self._published) / sigma
        ours = sample.sd**2 / sample.n / sigma**2
        return Misfit(
            np.nansum(z**2 + 2 * np.log(sigma / self._floor), axis=1),
            np.sqrt(np.nansum(4 * z**2 * ours + 2 * ours**2, axis=1)),
            z,
        )
