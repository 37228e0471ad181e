"""Simulation of candidates in the cells of a study, with one launch for each model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.calibration.candidates import Grid, Point
from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
from netcarlo.simulation.ensemble import build, build_rows
from netcarlo.simulation.launches import Part
from netcarlo.simulation.targets import resolve_target
from netcarlo.studies.calibrated import Calibration, Target
from netcarlo.studies.cells import Cell, Metric
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value
from netcarlo.studies.study import Study

UNCHANGED: Point = ()
"""Candidate that sets no field: the scenario files without changes."""


class Sample(NamedTuple):
    """Simulated numbers of candidates."""

    mean: Floats
    """Mean over runs, float64[candidates, numbers]."""
    sd: Floats
    """Standard deviation of one run, float64[candidates, numbers]."""
    n: int
    """Number of runs of each candidate."""


class _Source(NamedTuple):
    """Source of a number: a metric of a cell, or its gain over a metric of another cell [%]."""

    cell: int
    """Index of the cell."""
    metric: int
    """Index of the metric among those of the cell."""
    over: tuple[int, int] | None
    """Cell and metric that the gain refers to; None for a plain metric."""

    @property
    def cells(self) -> list[int]:
        """Indices of the cells that the number is computed from."""
        return [self.cell] if self.over is None else [self.cell, self.over[0]]

    def read(self, known: Mapping[int, tuple[Floats, Floats]]) -> tuple[float, float]:
        """Return mean and standard deviation of the number from those of the metrics of each cell."""
        mean, sd = (float(values[self.metric]) for values in known[self.cell])
        if self.over is None:
            return mean, sd
        other, other_sd = (float(values[self.over[1]]) for values in known[self.over[0]])
        ratio = mean / other
        return 100 * (ratio - 1), 100 * abs(ratio) * float(np.hypot(sd / mean, other_sd / other))


class CandidateRunner:
    """Simulation of candidates with common random numbers, and a cache of the results.

    `numbers` are the published numbers of the declared targets.
    """

    def __init__(
        self,
        study: Study,
        grid: Grid,
        declared: Calibration,
        *,
        metrics: Mapping[str, Metric],
        numbers: Sequence[Published],
        target: str = "auto",
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
        searches: int = 1,
    ) -> None:
        """Choose the target for so many `searches`, each of which has the declared effort."""
        self.numbers = list(numbers)
        self.cells: list[dict[str, Value]] = []
        self._needs: dict[int, list[str]] = {}
        self._sources = [self._source(number, declared.targets[number.metric]) for number in numbers]
        self.cell_of = np.array([source.cell for source in self._sources])
        self.runs = 0
        self.packets = 0
        self._grid = grid
        self._metrics = metrics
        self._threads = threads
        self._progress = progress or (lambda runs: None)
        self._scenarios = [study.scenario(one, seed=0, fields=declared.trial) for one in self.cells]
        effort, rounds = declared.effort, searches * (declared.effort.generations + 1)
        runs = effort.population * len(declared.parameters) * effort.replications * rounds
        work = [(scenario, float(runs)) for scenario in self._scenarios]
        self._target = resolve_target(target, work, threads=threads, launches=rounds)
        self._cells = [
            Cell(conditions, scenario, np.zeros((0, 0), np.int64))
            for conditions, scenario in zip(self.cells, self._scenarios, strict=True)
        ]
        self._largest = launches.max_replications(self._scenarios, self._target)
        self._known: dict[tuple[Any, ...], tuple[Floats, Floats]] = {}

    def _source(self, number: Published, target: Target) -> "_Source":
        """Return the source of a number, and add the metrics that its cells need."""

        def place(conditions: dict[str, Value], metric: str) -> tuple[int, int]:
            if conditions not in self.cells:
                self.cells.append(conditions)
            names = self._needs.setdefault(self.cells.index(conditions), [])
            if metric not in names:
                names.append(metric)
            return self.cells.index(conditions), names.index(metric)

        own = place(number.conditions, target.of or number.metric)
        return _Source(*own, place({**number.conditions, **target.over}, target.of) if target.of else None)

    @property
    def candidates(self) -> int:
        """Number of different candidates simulated so far."""
        return len({point for _, _, point, _ in self._known})

    def prepare(self) -> None:
        """Compile the models, and check that every field can differ between runs of one launch."""
        for scenario in self._scenarios:
            for point in (self._grid.first, self._grid.last):
                self._same_rows(scenario, point)
        launches.prepare(self._scenarios, target=self._target)

    def _same_rows(self, scenario: Scenario, point: Point) -> None:
        given = self._grid.given([point], scenario=scenario, replications=2)
        ours: Sequence[Any] = build_rows(scenario, replications=np.arange(2), given=given).rows
        theirs: Sequence[Any] = build(scenario.with_values(self._grid.settings(point)), replications=2).rows
        if not all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
            fields = ", ".join(self._grid.settings(point))
            raise InputError(
                f"calibration.set: not all of {fields} can vary between runs of one launch; "
                "set only fields that are numbers, and remove the others"
            )

    def run(
        self,
        points: Sequence[Point],
        *,
        replications: int,
        seed: int,
        numbers: NDArray[np.bool_] | None = None,
    ) -> Sample:
        """Return the numbers of each candidate; NaN in the columns for which `numbers` [numbers] is False.

        Replications 0 to `replications` - 1 of a seed have the same random numbers for every candidate.
        """
        wanted = np.ones(len(self.numbers), bool) if numbers is None else numbers
        sources = [source for source, counts in zip(self._sources, wanted, strict=True) if counts]
        cells = np.unique([c for source in sources for c in source.cells])
        missing = [
            point for point in dict.fromkeys(points)
            if any((seed, replications, point, int(c)) not in self._known for c in cells)
        ]  # fmt: skip
        size = max(1, self._largest // (replications * len(cells)))
        for lo in range(0, len(missing), size):
            self._launch(missing[lo : lo + size], cells=cells, replications=replications, seed=seed)
        self._progress(replications * len(cells) * (len(points) - len(missing)))
        found = np.full((2, len(points), len(self.numbers)), np.nan)
        for i, point in enumerate(points):
            known = {int(c): self._known[seed, replications, point, int(c)] for c in cells}
            for j in np.flatnonzero(wanted):
                found[:, i, j] = self._sources[j].read(known)
        return Sample(found[0], found[1], replications)

    def _launch(self, points: Sequence[Point], *, cells: Any, replications: int, seed: int) -> None:
        members = [int(c) for c in cells]
        parts = [self._part(c, points, replications=replications, seed=seed) for c in members]
        done = 0

        def report(rows: int) -> None:
            nonlocal done
            self._progress(rows - done)
            done = rows

        found = launches.integers(parts, target=self._target, threads=self._threads, progress=report)
        self.runs += done
        for c, outcomes in zip(members, found, strict=True):
            self._keep(c, outcomes, points, replications=replications, seed=seed)

    def _part(self, c: int, points: Sequence[Point], *, replications: int, seed: int) -> Part:
        scenario = self._scenarios[c].model_copy(update={"seed": seed})
        numbers = np.tile(np.arange(replications), len(points))
        given = (
            self._grid.given(points, scenario=scenario, replications=replications)
            if points != [UNCHANGED]
            else None
        )
        return Part(scenario, *build_rows(scenario, replications=numbers, given=given))

    def _keep(self, c: int, outcomes: Any, points: Sequence[Point], *, replications: int, seed: int) -> None:
        for point, runs in zip(points, np.split(outcomes, len(points)), strict=True):
            # Metrics may use the means over the runs of a cell, so each candidate has its own cell.
            cell = replace(self._cells[c], outcomes=runs)
            self.packets += cell.packets
            values = np.stack([self._metrics[name](cell) for name in self._needs[c]])
            self._known[seed, replications, point, c] = values.mean(axis=1), values.std(axis=1, ddof=1)
