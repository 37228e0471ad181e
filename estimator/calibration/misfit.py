"""The misfit of a candidate: minus twice the logarithm of its likelihood, noise of both sides included."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.runner import Sample
from netcarlo.numerics.arrays import Floats
from netcarlo.studies.calibrated import Calibration
from netcarlo.studies.study import Published


class Misfit(NamedTuple):
    """What `Noise.misfit` finds for each candidate."""

    total: Floats
    """Sum over the numbers of z^2 + ln(sigma^2 / floor^2), float64[candidates]; never below 0."""
    doubt: Floats
    """Standard error of `total` from the runs of the candidate, float64[candidates]."""
    z: Floats
    """(ours - published) / sigma, float64[candidates, numbers]."""


class Noise:
    """How far a published number and ours may be apart by chance.

    A published number is the mean of a few runs, so that its variance is that of a run of the candidate
    over their number, or nothing where runs are known to be alike; ours is the mean of many; and no model is
    exact, so that there is a floor.  sigma^2 = floor^2 + sd^2 / runs behind the table + sd^2 / runs of the
    candidate.  The logarithm keeps a candidate from being excused by its own spread.
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
        """The standard deviation of ours less published, float64[candidates, numbers]."""
        return np.asarray(np.sqrt(self._floor**2 + sample.sd**2 * (self._share + 1 / sample.n)))

    def misfit(self, sample: Sample) -> Misfit:
        """Of each candidate over the numbers that are there, those that are not NaN."""
        sigma = self.sigma(sample)
        z = (sample.mean - self._published) / sigma
        ours = sample.sd**2 / sample.n / sigma**2
        return Misfit(
            np.nansum(z**2 + 2 * np.log(sigma / self._floor), axis=1),
            np.sqrt(np.nansum(4 * z**2 * ours + 2 * ours**2, axis=1)),
            z,
        )
