"""Stratified estimate of a probability: allocation of replications, and its confidence interval."""

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.numerics.statistics import Proportion


class Strata:
    """Successes in strata with known shares."""

    def __init__(self, shares: ArrayLike) -> None:
        """Create strata [K] without replications; `shares` are their probabilities, which sum to 1."""
        self.shares: Floats = np.asarray(shares, np.float64)
        self.n: Ints = np.zeros(len(self.shares), np.int64)
        """Replications of each stratum."""
        self.met: Ints = np.zeros(len(self.shares), np.int64)
        """Successes of each stratum."""

    def add(self, stratum: int, met: ArrayLike) -> None:
        """Add replications of a stratum; `met` [n] is True for successes."""
        held = np.asarray(met, bool)
        self.n[stratum] += len(held)
        self.met[stratum] += held.sum()

    def wanted(self, total: int, *, least: int) -> Ints:
        """Return the replications [K] to add so that there are `total`, at least `least` of each.

        They are proportional to share times standard deviation (Neyman, "On the two different aspects of the
        representative method", Journal of the Royal Statistical Society 97, 1934). Half a success and half a
        failure are added in each stratum, so that none counts as certain.
        """
        p = (self.met + 0.5) / (self.n + 1)
        weight = self.shares * np.sqrt(p * (1 - p))
        ideal = np.maximum(np.ceil(total * weight / weight.sum()), least)
        missing = np.maximum(ideal - self.n, 0)
        room = max(total - int(self.n.sum()), 0)
        scaled = missing if missing.sum() <= room else np.floor(missing * room / missing.sum())
        return np.asarray(np.where(self.n < least, missing, scaled), np.int64)

    def ends(self) -> tuple[Floats, Floats]:
        """Return the ends [K] of the exact 95 % intervals of the probabilities of the strata."""
        return statistics.clopper_pearson(self.met, self.n)

    def missed(self, which: ArrayLike, ends: tuple[Floats, Floats]) -> Proportion:
        """Return the probability of a failure in the strata `which` [K], with its 95 % interval, which has at
        least this coverage; `ends` are those of all strata.

        The interval combines the exact interval of each stratum: the squares of the distances of their ends
        from the estimates, times the squared shares, are added (MOVER). Where normal approximations hold,
        this is the stratified variance. Source: Zou and Donner, "Construction of confidence limits about
        effect measures" (Statistics in Medicine 27, 2008).
        """
        shares = np.where(which, self.shares, 0.0)
        p = 1 - self.met / self.n
        mean = float(np.dot(shares, p))
        above, below = (float(np.sqrt(((shares * (1 - end - p)) ** 2).sum())) for end in ends)
        most = float(shares.sum())
        return Proportion(int(self.n.sum()), mean, max(mean - below, 0.0), min(mean + above, most))
