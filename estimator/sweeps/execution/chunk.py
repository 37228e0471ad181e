"""Chunk of a sweep: a pure function that simulates some cells and returns their statistics."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netcarlo.estimation.goals import Goal
from netcarlo.estimation.sample import Aim, Sample
from netcarlo.kernels.runtime.device_errors import DeviceError
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.simulation import launches, workload
from netcarlo.simulation.ensemble import FEATURES, build_rows
from netcarlo.simulation.executors import check_version
from netcarlo.simulation.launches import Part
from netcarlo.simulation.outcomes import BY_NAME, MEANING, of_classes, values_of
from netcarlo.simulation.targets import resolve_target
from netcarlo.sweeps.analysis.decisions import MARGIN
from netcarlo.sweeps.space.columns import ANSWERED, GAINS, STATISTICS
from netcarlo.sweeps.space.identity import keys
from netcarlo.sweeps.space.space import Batch, Sweep, sweep_of

if TYPE_CHECKING:
    import pyarrow as pa

PRECISE = "goodput_bps"
"""Outcome to which a sweep's precision refers."""


@dataclass(frozen=True)
class Chunk:
    """Results of some cells."""

    cells: "pa.Table"
    """Statistics, a row for each cell; docs/reference/store.md has the columns."""
    replications: "pa.Table | None"
    """Outcomes of all replications, if the sweep keeps them."""
    networks: int
    """Number of simulated replications."""
    packets: int
    """Number of data packets that were sent in them."""
    kernel_s: float
    """CPU time of the kernels [core-seconds]."""
    wall_s: float
    """Elapsed time [s]."""


def run_chunk(
    definition: str, cells: Ints, *, target: str = "cpu", threads: int = 1, version: str,
    begun: "pa.Table | None" = None,
) -> Chunk:  # fmt: skip
    """Simulate cells [n] of a sweep, whose definition is JSON.

    `begun` has stored replications of some cells, which are not simulated again. The tables depend only on
    the definition and the cells. A cell that cannot be simulated is marked as failed, with its error. Raises
    WrongVersion if the models do not have the `version` of the client, and DeviceError if a fault of a kernel
    has made the device unusable in this process.
    """
    check_version(version)
    started = time.perf_counter()
    sweep = sweep_of(definition)
    cells = np.unique(np.asarray(cells, np.int64))
    simulated = np.union1d(cells, sweep.baseline(cells)) if sweep.compare else cells
    run = _ChunkRun(sweep, simulated, resolve_target(target), threads, begun=_by_cell(begun))
    for batch in sweep.batches(simulated):
        run.simulate(batch)
    wanted = np.isin(simulated, cells)
    table = run.table(wanted)
    each = run.replications(wanted) if sweep.keep_replications else None
    seconds = time.perf_counter() - started
    return Chunk(table, each, run.networks, run.packets, run.kernel_s, seconds)


def _by_cell(begun: "pa.Table | None") -> dict[int, dict[str, Floats]]:
    """Return the values of each outcome by cell, in the order of the replications."""
    if begun is None:
        return {}
    values = {name: begun.column(name).to_numpy() for name in MEANING}
    cell, number = (begun.column(name).to_numpy() for name in ("cell", "replication"))
    order = np.lexsort((number, cell))
    cells, first = np.unique(cell[order], return_index=True)
    ends = np.append(first[1:], len(order))
    return {
        int(one): {name: column[order[a:b]] for name, column in values.items()}
        for one, a, b in zip(cells, first, ends, strict=True)
    }


def failed(sweep: Sweep, cells: Ints, error: str) -> "pa.Table":
    """Return the table of cells that could not be simulated because of `error`."""
    run = _ChunkRun(sweep, np.unique(np.asarray(cells, np.int64)), "cpu", 1)
    for batch in sweep.batches(run.cells):
        run.describe(batch)
    run.errors = dict.fromkeys(range(len(run.cells)), error)
    return run.table(np.ones(len(run.cells), bool))


class _Part(NamedTuple):
    """Outcomes of cells with the same number of replications."""

    at: Ints
    """Positions of the cells in the chunk, [cells]."""
    values: dict[str, Floats]
    """Outcomes by name, [cells, n] each."""


class _Cell(Sample):
    """Replications of a cell, which are simulated together with those of other cells."""

    def __init__(self, fidelity: str) -> None:
        """Start without replications."""
        super().__init__(fidelity)
        self.columns: dict[str, Floats] = {}

    def add(self, values: Mapping[str, Floats]) -> None:
        """Add the outcomes of the next replications, [n] by name."""
        before = self.columns
        self.columns = {name: np.append(before.get(name, np.zeros(0)), new) for name, new in values.items()}

    def done(self, fidelity: str | None = None) -> int:
        """Return the number of replications."""
        return _length(self.columns)

    def values(self, of: str, fidelity: str | None = None) -> Floats:
        """Return an outcome of the replications, [n]."""
        return self.columns[of]


@dataclass
class _ChunkRun:
    sweep: Sweep
    cells: Ints
    target: str
    threads: int
    begun: dict[int, dict[str, Floats]] = field(default_factory=dict)
    """Stored replications by cell."""
    networks: int = 0
    packets: int = 0
    kernel_s: float = 0.0
    parts: list[_Part] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def recorded(self) -> Sequence[str]:
        """Outcomes whose values are needed."""
        asked = dict.fromkeys([*self.sweep.outcomes, *(goal.outcome for goal in self.sweep.goals.values())])
        if self.sweep.keep_replications:
            return (*MEANING, *of_classes(asked))
        return tuple(asked | {PRECISE: None})

    def simulate(self, batch: Batch) -> None:
        """Simulate the cells of a batch, in launches of bounded size."""
        self.describe(batch)
        n = self.sweep.base.replications
        precision = self.sweep.base.precision
        rule = None if precision is None else statistics.StoppingRule(precision)
        most = launches.max_replications([self.sweep.variants[batch.variant]], self.target)
        step = max(1, most // (rule.first if rule else n))
        known = np.array([_length(self.begun.get(int(cell), {})) for cell in self.cells[batch.at]])
        for first in np.unique(known):
            members = np.flatnonzero(known == first)
            simulate = self._fixed(int(first)) if rule is None or first else self._until_precise(rule)
            for lo in range(0, len(members), step):
                self._isolate(batch, members[lo : lo + step], simulate)

    def _isolate(
        self, batch: Batch, chosen: Ints, simulate: Callable[[Batch, Ints], Iterator[_Part]]
    ) -> None:
        """Simulate cells. If this raises, halve them until the failing ones are found."""
        try:
            self.parts += list(simulate(batch, chosen))
        except DeviceError:  # the device is unusable for all further cells
            raise
        except Exception as error:  # any error of a model becomes the error of the cell
            if len(chosen) == 1:
                self.errors[int(batch.at[chosen[0]])] = f"{type(error).__name__}: {error}"
                return
            for half in np.array_split(chosen, 2):
                self._isolate(batch, half, simulate)

    def _fixed(self, first: int) -> Callable[[Batch, Ints], Iterator[_Part]]:
        """Return a function that extends cells with `first` stored replications; with a precision to no
        more."""
        n = self.sweep.base.replications if self.sweep.base.precision is None else first

        def simulate(batch: Batch, chosen: Ints) -> Iterator[_Part]:
            if not first:
                yield self._replicate(batch, chosen, 0, n)
                return
            at = batch.at[chosen]
            before = [self.begun[int(cell)] for cell in self.cells[at]]
            values = {name: np.array([each[name] for each in before]) for name in self.recorded}
            if n > first:
                more = self._replicate(batch, chosen, first, n - first).values
                values = {name: np.concatenate([values[name], more[name]], axis=1) for name in values}
            yield _Part(at, values)

        return simulate

    def _until_precise(self, rule: statistics.StoppingRule) -> Callable[[Batch, Ints], Iterator[_Part]]:
        """Return a function that replicates every cell until `rule` stops it."""
        aim = Aim(PRECISE, rule)

        def simulate(batch: Batch, chosen: Ints) -> Iterator[_Part]:
            variant = self.sweep.variants[batch.variant]
            most = launches.max_replications([variant], self.target)
            cells = {int(i): _Cell(variant.fidelity) for i in chosen}
            while wanted := {i: step for i, cell in cells.items() if (step := cell.wanted(aim))}:
                groups: dict[tuple[int, int], list[int]] = {}
                for i, step in wanted.items():
                    groups.setdefault((cells[i].done(), step.until), []).append(i)
                for (first, until), same in groups.items():
                    size = max(1, most // (until - first))
                    for lo in range(0, len(same), size):
                        some = same[lo : lo + size]
                        part = self._replicate(batch, np.array(some), first, until - first)
                        for row, i in enumerate(some):
                            cells[i].add({name: values[row] for name, values in part.values.items()})
            for i, cell in cells.items():
                yield _Part(batch.at[[i]], {name: values[None] for name, values in cell.columns.items()})

        return simulate

    def _replicate(self, batch: Batch, chosen: Ints, first: int, n: int) -> _Part:
        """Simulate replications `first` to `first + n` - 1 of the chosen cells of a batch."""
        variant = self.sweep.variants[batch.variant]
        row = np.repeat(chosen, n)
        rows, drawn = build_rows(
            variant,
            replications=np.tile(np.arange(first, first + n), len(chosen)),
            given={name: values[row] for name, values in batch.given.items()},
        )
        started = time.perf_counter()
        found = launches.run(
            [Part(variant, rows, drawn)], target=self.target, threads=self.threads,
            most_bytes=workload.MAX_BYTES,
        )[0].frame  # fmt: skip
        self.kernel_s += (time.perf_counter() - started) * (self.threads if self.target == "cpu" else 1)
        self.networks += len(row)
        self.packets += int(np.nansum(values_of(found, "sent")))
        values = {name: values_of(found, name).reshape(len(chosen), n) for name in self.recorded}
        return _Part(batch.at[chosen], values)

    def describe(self, batch: Batch) -> None:
        """Fill in the columns that describe the cells of a batch."""
        sweep, at, n = self.sweep, batch.at, len(self.cells)
        place = sweep.indices(self.cells[at])
        known: dict[str, Any] = {"key": np.array(keys(sweep, batch), object)}
        if sweep.screening is not None:
            known["answered_by"] = np.full(len(at), sweep.variants[batch.variant].fidelity, object)
            known["because"] = sweep.answer_reason(self.cells[at])
        if sweep.design is not None:
            known["draw"] = place["draw"]
            known["block"] = sweep.design.block_of(place["draw"])
        for axis in sweep.axes:
            known[axis.name] = np.array(axis.labels, None if axis.numeric else object)[place[axis.name]]
        full = {name: sweep.names(batch.variant, name)[0] for name in sweep.derive}
        for name in [*(each.name for each in sweep.inputs), *full]:
            known[name] = batch.given.get(full.get(name, name), np.full(len(at), np.nan))
            above, each, rest = name.partition(".each.")
            if each and (count := batch.given.get(f"{above}.count")) is not None:
                known[name] = np.where(int(rest.partition(".")[0]) < count, known[name], np.nan)
        known |= batch.features
        for name, values in known.items():
            if name not in self.columns:
                self.columns[name] = np.empty(n, values.dtype)
            self.columns[name][at] = values

    def table(self, wanted: Any) -> "pa.Table":
        """Return the rows of the cells `wanted`, bool[n]."""
        import pyarrow as pa

        n = len(self.cells)
        error = np.array([self.errors.get(i, "") for i in range(n)], object)
        columns = {
            "cell": self.cells,
            "key": self.columns.pop("key"),
            "status": np.where(error == "", "ok", "failed").astype(object),
            "error": error,
        }
        columns |= {name: self.columns[name] for name in ANSWERED if name in self.columns}
        columns |= {name: self.columns[name] for name in self.columns if name not in FEATURES}
        columns["n_hops"] = self.columns["n_hops"].astype(np.int64)
        columns |= {name: self.columns[name] for name in FEATURES[1:]}
        columns["seed"] = np.full(n, self.sweep.base.seed)
        columns |= self._statistics()
        return pa.table({name: pa.array(values[wanted]) for name, values in columns.items()})

    def _statistics(self) -> dict[str, Any]:
        n = len(self.cells)
        names = [o + suffix for o in self.sweep.outcomes for suffix in ("", *STATISTICS)]
        names += [g + suffix for g in self.sweep.goals for suffix in ("", "_low", "_high")]
        names += [g + MARGIN for g in self.sweep.goals if self.sweep.screening]
        if self.sweep.compare:
            names += [o + suffix for o in self.sweep.outcomes for suffix in GAINS]
        columns: dict[str, Any] = {"replications": np.zeros(n, np.int64)}
        columns |= {
            name: np.zeros(n, np.int64) if name.endswith("_n") else np.full(n, np.nan) for name in names
        }
        for part in self.parts:
            self._summarise(part, columns)
        if self.sweep.compare:
            self._compare(columns)
        return columns

    def _summarise(self, part: _Part, columns: dict[str, Any]) -> None:
        at = part.at
        columns["replications"][at] = next(iter(part.values.values())).shape[1]
        for name in self.sweep.outcomes:
            values = part.values[name]
            outcome = BY_NAME[name]
            found = outcome.means(values)
            if name == PRECISE and self.sweep.base.precision is not None:
                wide = statistics.no_narrower(found, self.sweep.base.precision)
                found = statistics.bounded(wide, outcome.values.least, outcome.values.most)
            for suffix, column in zip(("_n", "", "_sd", "_low", "_high"), found, strict=True):
                columns[name + suffix][at] = column
            quantiles = statistics.row_quantiles(values, statistics.QUANTILES).T
            for p, column in zip(statistics.QUANTILES, quantiles, strict=True):
                columns[f"{name}_q{round(100 * p):02d}"][at] = column
        for name, goal in self.sweep.goals.items():
            if not goal.relative:
                self._share(name, goal, at, columns, part.values)

    def _share(
        self, name: str, goal: Goal, at: Any, columns: dict[str, Any], *values: dict[str, Floats]
    ) -> None:
        """Fill in the probability of a goal in the cells at positions `at`, from their `values` (and those of
        the baseline)."""
        shares = statistics.proportions(goal.held(*values))
        columns[name][at] = shares.probability
        columns[f"{name}_low"][at], columns[f"{name}_high"][at] = shares.ci_low, shares.ci_high
        if self.sweep.screening:
            columns[name + MARGIN][at] = goal.margins(*values)

    def _compare(self, columns: dict[str, Any]) -> None:
        """Fill in paired differences from the baseline, and relative goals, over the common replications."""
        position = {int(cell): i for i, cell in enumerate(self.cells)}
        base = np.array([position[int(cell)] for cell in self.sweep.baseline(self.cells)])
        where = {int(i): (part, row) for part in self.parts for row, i in enumerate(part.at)}
        groups: dict[int, list[int]] = {}
        for i in where:
            if base[i] in where:
                lengths = (_length(where[j][0].values) for j in (i, int(base[i])))
                groups.setdefault(min(lengths), []).append(i)

        def values(name: str, some: Any, n: int) -> Floats:
            return np.array([where[j][0].values[name][where[j][1], :n] for j in some])

        relative = {name: goal for name, goal in self.sweep.goals.items() if goal.relative}
        for n, members in groups.items():
            for name, goal in relative.items():
                mine, theirs = (
                    {goal.outcome: values(goal.outcome, some, n)} for some in (members, base[members])
                )
                self._share(name, goal, members, columns, mine, theirs)
            others = [i for i in members if i != base[i]]
            for name in self.sweep.outcomes if others else ():
                found = BY_NAME[name].differences(values(name, others, n) - values(name, base[others], n))
                for suffix, column in zip(GAINS, (found.mean, found.ci_low, found.ci_high), strict=True):
                    columns[name + suffix][others] = column

    def replications(self, wanted: Any) -> "pa.Table":
        """Return every replication of the cells `wanted`, bool[n]."""
        import pyarrow as pa

        found = [(int(i), part, row) for part in self.parts for row, i in enumerate(part.at) if wanted[i]]
        rows = sorted(found, key=lambda each: each[0])
        lengths = [_length(part.values) for _, part, _ in rows]
        cells = np.repeat(self.cells[[i for i, _, _ in rows]], lengths)
        numbers = np.concatenate([np.arange(n) for n in lengths]) if rows else np.zeros(0, np.int64)
        values = {
            name: np.concatenate([part.values[name][row] for _, part, row in rows] or [np.zeros(0)])
            for name in self.recorded
        }
        return pa.table({"cell": cells, "replication": numbers, **values})


def _length(values: Mapping[str, Floats]) -> int:
    return next((array.shape[-1] for array in values.values()), 0)
