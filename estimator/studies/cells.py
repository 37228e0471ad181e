"""Simulated cells of a study: a scenario for each set of conditions, and the values of its metrics."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.errors import InputError, suggest
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.rows import split
from netcarlo.numerics.statistics import Mean, mean, proportion
from netcarlo.scenario import Scenario
from netcarlo.simulation import launches
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.launches import Job
from netcarlo.simulation.progress import Progress
from netcarlo.simulation.simulate import simulate_all
from netcarlo.studies.selection import Value, matches
from netcarlo.studies.study import Study

Samples = NDArray[Any]
"""Values of a metric in a cell, one per replication: float64, or bool if the metric is the fraction of True
[%]."""

NS = 1e-9
"""One nanosecond [s]."""


def estimate(samples: Samples) -> Mean:
    """Return the mean of a metric with its 95 % interval; for bool the fraction of True [%] with Wilson's
    interval."""
    if samples.dtype != bool:
        return mean(samples)
    n, share, low, high = proportion(samples)
    return Mean(n, 100 * share, 100 * math.sqrt(share * (1 - share)), 100 * low, 100 * high)


@dataclass(frozen=True)
class Cell:
    """Cell of a study: one set of conditions with `n` replications."""

    conditions: Mapping[str, Value]
    """Value of each condition."""
    scenario: Scenario
    """Scenario of the cell."""
    outcomes: NDArray[np.int64]
    """Output of the kernel, [n, ...]."""
    variation: str = ""
    """Name of the variation; empty for cells of the study itself."""
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Outcomes by name, a row for each replication."""
    _traces: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    _rows: list[Any] = field(default_factory=list)

    def __getitem__(self, condition: str) -> Any:
        return self.conditions[condition]

    def outcome(self, name: str) -> Samples:
        """Return an outcome by its name in `netcarlo.simulation.outcomes.MEANING`, float64[n]."""
        return self.frame[name].to_numpy(np.float64)

    def part(self, name: str, part: str, which: str) -> Samples:
        """Return an outcome of one part, float64[n].

        `part` is `flows` or `links`, `which` its number from 0 or its name. Raises InputError.
        """
        rows = build(self.scenario, replications=len(self.outcomes)).rows
        network = self.scenario.network
        found = network.by_part(part, self.outcomes, rows)
        if name not in found:
            raise InputError(f"'{name}' is not an outcome of {part}; {suggest(name, found)}")
        names = network.part_names(rows).get(part, [])
        values = np.asarray(found[name], np.float64)
        short = {text.partition(" ")[0]: k for k, text in enumerate(names)}
        at = (
            int(which)
            if which.isdecimal()
            else {**short, **{t: k for k, t in enumerate(names)}}.get(which, -1)
        )
        if not 0 <= at < values.shape[1]:
            listed = f", or one of {', '.join(names)}" if names else ""
            raise InputError(f"'{which}' is none of the {part}; write 0 to {values.shape[1] - 1}{listed}")
        return values[:, at]

    def out(self, column: Out) -> Samples:
        """Return a column of the kernel's output, float64[n]."""
        return self.outcomes[:, column].astype(np.float64)

    def time(self, column: Out) -> Samples:
        """Return a time of the kernel's output, float64[n] [s]; NaN if the event did not occur."""
        times = self.outcomes[:, column]
        return np.where(times >= 0, times * NS, np.nan)

    @property
    def tables(self) -> dict[str, NDArray[np.int64]]:
        """Outcomes of flows, nodes or links, by kind, [n, k, columns] each."""
        return split(self.outcomes, self._first)

    def flow(self, column: int) -> Samples:
        """Return an outcome of the first flow, float64[n]."""
        return self.tables["flows"][:, 0, column].astype(np.float64)

    def node(self, column: int) -> Samples:
        """Return an outcome of each node, float64[n, nodes]."""
        return self.tables["nodes"][:, :, column].astype(np.float64)

    @property
    def packets(self) -> int:
        """Number of data packets sent in all replications."""
        return self.scenario.network.sent(self.outcomes, self._first)

    def parameter(self, column: int) -> int:
        """Return a kernel parameter of the first replication."""
        return int(self._first.parameters[0, column])

    @property
    def _first(self) -> Any:
        # A list instead of a cached property, so that copies of the cell share it.
        if not self._rows:
            self._rows.append(build(self.scenario, replications=1).rows)
        return self._rows[0]

    def trace(self, replication: int = 0) -> NDArray[np.float64]:
        """Return the events of one replication, float64[events, len(Trace)]."""
        if replication not in self._traces:
            # Copy the events, because the array of the launcher is much larger.
            self._traces[replication] = launches.trace(self.scenario, replication=replication)[0].copy()
        return self._traces[replication]

    def events(self) -> pd.DataFrame:
        """Return the trace of the first replication as a table."""
        return self.scenario.network.events(self.scenario, self._first, self.trace())

    def per_trace(self, metric: Callable[[NDArray[np.float64]], Any], *, replications: int = 10) -> Samples:
        """Return a metric of the trace for the first replications, float64[min(n, replications), ...]."""
        n = min(len(self.outcomes), replications)
        return np.array([metric(self.trace(k)) for k in range(n)], np.float64)


Metric = Callable[[Cell], Samples]
"""Function that returns the values of a metric in a cell."""


@dataclass(frozen=True)
class Derived:
    """Metric that depends on several cells."""

    of: "Callable[[Cells, Mapping[str, Value]], Samples]"
    """Function that returns its values for a set of conditions."""


class Cells:
    """All cells of a study, or of one of its variations, selected by their conditions."""

    def __init__(
        self,
        study: Study,
        cells: list[Cell],
        metrics: Mapping[str, Metric | Derived],
        variation: str = "",
    ) -> None:
        self.study = study
        self.all = [cell for cell in cells if cell.variation == variation]
        self._every = cells
        self._metrics = metrics
        self._samples: dict[tuple[str, int], Samples] = {}

    def varied(self, variation: str) -> "Cells":
        """Return the cells of a variation of the study."""
        return Cells(self.study, self._every, self._metrics, variation)

    def has(self, metric: str) -> bool:
        """Return True if the study defines this metric."""
        return metric in self._metrics

    def where(self, **conditions: Value | Sequence[Value]) -> list[Cell]:
        """Return the cells whose conditions equal the given value, or one of the given values."""
        where = {k: v if isinstance(v, str | float) else list(v) for k, v in conditions.items()}
        return [cell for cell in self.all if matches(cell.conditions, where)]

    def one(self, **conditions: Value) -> Cell:
        """Return the only cell with these conditions. Raises KeyError if there is none or more than one."""
        found = self.where(**conditions)
        if len(found) != 1:
            raise KeyError(f"{len(found)} cells with {conditions}")
        return found[0]

    def samples(self, metric: str, cell: Cell) -> Samples:
        """Return the values of a metric in a cell, one per replication."""
        key = (metric, id(cell))
        if key not in self._samples:
            found = self._metrics[metric]
            values = found.of(self, cell.conditions) if isinstance(found, Derived) else found(cell)
            self._samples[key] = np.asarray(values)
        return self._samples[key]

    def estimate(self, metric: str, cell: Cell) -> Mean:
        """Return the mean of a metric in a cell, with its interval."""
        return estimate(self.samples(metric, cell))

    def value(self, metric: str, **conditions: Value) -> Samples:
        """Return the values of a metric in the only cell with these conditions."""
        return self.samples(metric, self.one(**conditions))


def simulate_cells(
    study: Study,
    *,
    replications: int,
    seed: int,
    target: str = "auto",
    progress: Progress | None = None,
    large: bool = False,
) -> list[Cell]:
    """Simulate every cell of a study and of its variations, with one launch for each model.

    `large` is as in `estimate`. Raises InputError.
    """
    cells = [(cell, cell.make()) for cell in planned(study, seed)]
    jobs = [Job(scenario, 0, cell.replications(replications)) for cell, scenario in cells]
    results = simulate_all(jobs, target=target, progress=progress, large=large)
    return [
        Cell(cell.conditions, scenario, result.integers, cell.variation, result.frame)
        for (cell, scenario), result in zip(cells, results, strict=True)
    ]


def work(study: Study, *, replications: int, seed: int) -> Iterator[tuple[Scenario, float]]:
    """Yield the scenario of each cell that `simulate_cells` simulates, and its number of replications."""
    for cell in planned(study, seed):
        yield cell.make(), cell.replications(replications)


def scenarios(study: Study) -> list[Scenario]:
    """Return the scenarios of all cells of a study and of its variations."""
    return [cell.make() for cell in planned(study, study.description.seed)]


class Planned(NamedTuple):
    """Cell before its simulation."""

    variation: str
    """Name of the variation; empty for cells of the study itself."""
    conditions: dict[str, Value]
    """Value of each condition."""
    make: Callable[[], Scenario]
    """Function that returns the scenario. Raises InputError."""
    most: int
    """Maximum number of replications; 0 for no limit."""

    def replications(self, wanted: int) -> int:
        """Return the number of replications where `wanted` are requested."""
        return min(wanted, self.most or wanted)


def planned(study: Study, seed: int) -> Iterator[Planned]:
    """Yield every cell of a study and of its variations."""
    cells = list(study.cells())
    for conditions in cells:
        yield Planned("", conditions, partial(study.scenario, conditions, seed=seed), 0)
    for name, variation in study.description.variations.items():
        for conditions in cells:
            if matches(conditions, variation.where):
                for varied in variation.cells(name, conditions):
                    fields = variation.fields(name, varied)
                    make = partial(study.scenario, conditions, seed=seed, fields=fields)
                    yield Planned(name, varied, make, variation.replications)
