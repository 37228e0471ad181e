"""Search for the best candidate: differential evolution on a grid, then a retest on fresh random numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.calibration.candidates import Grid, Point
from netcarlo.calibration.misfit import Misfit, Noise
from netcarlo.calibration.runner import CandidateRunner
from netcarlo.studies.calibrated import Effort

Numbers = NDArray[np.bool_]
"""True for each published number that is used, bool[numbers]."""


class Search(NamedTuple):
    """Settings that all searches of a calibration share."""

    runner: CandidateRunner
    noise: Noise
    grid: Grid
    effort: Effort
    seed: int
    rise: float

    def fast(self, points: Sequence[Point], numbers: Numbers) -> Misfit:
        """Return the misfit on the few runs of the evolution."""
        return self._misfit(points, numbers, self.effort.replications, self.seed)

    def again(self, points: Sequence[Point], numbers: Numbers) -> Misfit:
        """Return the misfit on more runs, with random numbers that the evolution has not used."""
        return self._misfit(points, numbers, self.effort.again, self.seed + 1)

    def final(self, points: Sequence[Point], numbers: Numbers) -> Misfit:
        """Return the misfit on many runs."""
        return self._misfit(points, numbers, self.effort.final, self.seed + 1)

    def last(self, points: Sequence[Point], numbers: Numbers) -> Misfit:
        """Return the misfit on as many runs as the final errors, but with other random numbers."""
        return self._misfit(points, numbers, self.effort.evaluation, self.seed + 1)

    def _misfit(self, points: Sequence[Point], numbers: Numbers, replications: int, seed: int) -> Misfit:
        return self.noise.misfit(
            self.runner.run(points, replications=replications, seed=seed, numbers=numbers)
        )

    def best(self, numbers: Numbers, free: Sequence[int]) -> list[Point]:
        """Return the best candidates for some numbers, best first. Parameters not in `free` have middle
        values."""
        if not free:
            return [self.grid.middle]
        seen = self._evolve(numbers, free)
        ranked = sorted(seen, key=lambda point: (seen[point], point))[: self.effort.finalists]
        again = self.again(ranked, numbers).total
        ranked = [ranked[i] for i in np.argsort(again, kind="stable")]
        return [*self.order(ranked[: self.n_final], numbers), *ranked[self.n_final :]]

    def order(self, points: Sequence[Point], numbers: Numbers) -> list[Point]:
        """Return the distinct candidates from best to worst, by many runs."""
        different = list(dict.fromkeys(points))
        return [different[i] for i in np.argsort(self.final(different, numbers).total, kind="stable")]

    @property
    def n_final(self) -> int:
        """Number of candidates that are retested on many runs."""
        return max(1, self.effort.finalists // 4)

    def _evolve(self, numbers: Numbers, free: Sequence[int]) -> dict[Point, float]:
        """Return the misfit of every candidate that differential evolution (Storn and Price, 1997) has
        tried."""
        from scipy.optimize import differential_evolution

        seen: dict[Point, float] = {}

        def objective(x: NDArray[np.float64]) -> NDArray[np.float64]:
            points = []
            for column in x.reshape(len(free), -1).T:
                point = list(self.grid.middle)
                for at, value in zip(free, column, strict=True):
                    point[at] = round(value)
                points.append(tuple(point))
            total = self.fast(points, numbers).total
            seen.update(zip(points, total.tolist(), strict=True))
            return total

        differential_evolution(
            objective,
            [(0, self.grid.last[at]) for at in free],
            popsize=self.effort.population,
            maxiter=self.effort.generations,
            tol=0,
            polish=False,
            integrality=[True] * len(free),
            vectorized=True,
            updating="deferred",
            seed=np.random.default_rng(self.seed),
        )
        return seen
