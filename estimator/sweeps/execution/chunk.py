"""A chunk of a sweep: some of its cells, simulated and summed up; a pure function that runs anywhere."""

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
from netcarlo.simulation.launches import Part
from netcarlo.simulation.outcomes import BY_NAME, MEANING, of_classes, values_of
from netcarlo.simulation.provenance import model_version
from netcarlo.simulation.simulate import resolve_target
from netcarlo.sweeps.analysis.decisions import MARGIN
from netcarlo.sweeps.space.identity import keys
from netcarlo.sweeps.space.space import ANSWERED, GAINS, STATISTICS, Batch, Sweep, sweep_of

if TYPE_CHECKING:
    import pyarrow as pa


class WrongVersion(RuntimeError):  # noqa: N818
    """A worker whose models are not the client's."""


@dataclass(frozen=True)
class Chunk:
    """What came of some cells."""

    cells: "pa.Table"
    """A row per cell; docs/reference/store.md names the columns."""
    replications: "pa.Table | None"
    networks: int
    """Replications simulated."""
    packets: int
    """Data packets put out in them."""
    kernel_s: float
    """Core-seconds inside kernels."""
    wall_s: float
    """Seconds for all of it."""


def run_chunk(
    definition: str, cells: Ints, *, target: str = "cpu", threads: int = 1, version: str,
    begun: "pa.Table | None" = None,
) -> Chunk:  # fmt: skip
    """Simulate cells [n] of a sweep (its definition as JSON).

    `begun` are replications that are known already: of some cells the first of them, or all.  The tables
    depend on the definition and the cells alone.  A cell that cannot be simulated is in them as failed, with
    its error.  Raises WrongVersion where the models are not of `version`, and DeviceError where a kernel has
    ended the use of devices in this process.
    """
    if version != model_version():
        raise WrongVersion(f"models {model_version()} here, {version} at the client")
    started = time.perf_counter()
    sweep = sweep_of(definition)
    cells = np.unique(np.asarray(cells, np.int64))
    simulated = np.union1d(cells, sweep.baseline(cells)) if sweep.compare else cells
    run = _Run(sweep, simulated, resolve_target(target), threads, begun=_by_cell(begun))
    for batch in sweep.batches(simulated):
        run.simulate(batch)
    wanted = np.isin(simulated, cells)
    table = run.table(wanted)
    each = run.replications(wanted) if sweep.keep_replications else None
    seconds = time.perf_counter() - started
    return Chunk(table, each, run.networks, run.packets, run.kernel_s, seconds)


def _by_cell(begun: "pa.Table | None") -> dict[int, dict[str, Floats]]:
    """By cell the values of each outcome, in the order of the replications."""
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
    """The table of cells that could not be simulated at all, and why."""
    run = _Run(sweep, np.unique(np.asarray(cells, np.int64)), "cpu", 1)
    for batch in sweep.batches(run.cells):
        run.describe(batch)
    run.errors = dict.fromkeys(range(len(run.cells)), error)
    return run.table(np.ones(len(run.cells), bool))


class _Part(NamedTuple):
    """Outcomes of cells with as many replications: positions of the cells, and by name [cells, n]."""

    at: Ints
    values: dict[str, Floats]


class _Cell(Sample):
    """Replications of a cell, which are simulated with those of others."""

    def __init__(self, fidelity: str) -> None:
        """There are none yet."""
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
class _Run:
    sweep: Sweep
    cells: Ints
    target: str
    threads: int
    begun: dict[int, dict[str, Floats]] = field(default_factory=dict)
    """Of cells, what is known already."""
    networks: int = 0
    packets: int = 0
    kernel_s: float = 0.0
    parts: list[_Part] = field(default_factory=list)
    errors: dict[int, str] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)

    @property
    def kept(self) -> Sequence[str]:
        """The outcomes whose values are needed."""
        asked = dict.fromkeys([*self.sweep.outcomes, *(goal.outcome for goal in self.sweep.goals.values())])
        if self.sweep.keep_replications:
            return (*MEANING, *of_classes(asked))
        return tuple(asked | {"goodput_bps": None})

    def simulate(self, batch: Batch) -> None:
        """Simulate the cells of a batch, a bounded number of replications at a time."""
        self.describe(batch)
        n = self.sweep.base.replications
        precision = self.sweep.base.precision
        rule = None if precision is None else statistics.StoppingRule(precision)
        most = launches.max_replications([self.sweep.variants[batch.variant]], self.target)
        step = max(1, most // (rule.first if rule else n))
        known = np.array([_length(self.begun.get(int(cell), {})) for cell in self.cells[batch.at]])
        for first in np.unique(known):
            members = np.flatnonzero(known == first)
            simulate = self._fixed(int(first)) if rule is None or first else self._until(rule)
            for lo in range(0, len(members), step):
                self._isolate(batch, members[lo : lo + step], simulate)

    def _isolate(
        self, batch: Batch, chosen: Ints, simulate: Callable[[Batch, Ints], Iterator[_Part]]
    ) -> None:
        """Simulate cells; where that raises, halve them until the failing ones are alone."""
        try:
            self.parts += list(simulate(batch, chosen))
        except DeviceError:  # of every cell that this process could still run
            raise
        except Exception as error:  # whatever a model raises is the cell's outcome
            if len(chosen) == 1:
                self.errors[int(batch.at[chosen[0]])] = f"{type(error).__name__}: {error}"
                return
            for half in np.array_split(chosen, 2):
                self._isolate(batch, half, simulate)

    def _fixed(self, first: int) -> Callable[[Batch, Ints], Iterator[_Part]]:
        """Replicate cells of which the first are known; with a precision those are all."""
        n = self.sweep.base.replications if self.sweep.base.precision is None else first

        def simulate(batch: Batch, chosen: Ints) -> Iterator[_Part]:
            if not first:
                yield self._replicate(batch, chosen, 0, n)
                return
            at = batch.at[chosen]
            before = [self.begun[int(cell)] for cell in self.cells[at]]
            values = {name: np.array([each[name] for each in before]) for name in self.kept}
            if n > first:
                more = self._replicate(batch, chosen, first, n - first).values
                values = {name: np.concatenate([values[name], more[name]], axis=1) for name in values}
            yield _Part(at, values)

        return simulate

    def _until(self, rule: statistics.StoppingRule) -> Callable[[Batch, Ints], Iterator[_Part]]:
        """Replicate every cell until `rule` stops it."""
        aim = Aim("goodput_bps", rule)

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
        """Replications `first` to `first + n` - 1 of the chosen cells of a batch."""
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
        values = {name: values_of(found, name).reshape(len(chosen), n) for name in self.kept}
        return _Part(batch.at[chosen], values)

    def describe(self, batch: Batch) -> None:
        """Fill in the columns that say what the cells of a batch are."""
        sweep, at, n = self.sweep, batch.at, len(self.cells)
        place = sweep.indices(self.cells[at])
        known: dict[str, Any] = {"key": np.array(keys(sweep, batch), object)}
        if sweep.screening is not None:
            known["answered_by"] = np.full(len(at), sweep.variants[batch.variant].fidelity, object)
            known["because"] = sweep.because(self.cells[at])
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
        """The rows of the cells `wanted`, bool[n]."""
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
            found = BY_NAME[name].means(values)
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
        """How often a goal is held in the cells at the positions `at`, given their `values` (and the
        baseline's)."""
        shares = statistics.proportions(goal.held(*values))
        columns[name][at] = shares.probability
        columns[f"{name}_low"][at], columns[f"{name}_high"][at] = shares.ci_low, shares.ci_high
        if self.sweep.screening:
            columns[name + MARGIN][at] = goal.margins(*values)

    def _compare(self, columns: dict[str, Any]) -> None:
        """What needs the baseline, over the replications that a cell shares with it: paired differences
        and goals relative to it."""
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
        """Every replication of the cells `wanted`."""
        import pyarrow as pa

        found = [(int(i), part, row) for part in self.parts for row, i in enumerate(part.at) if wanted[i]]
        rows = sorted(found, key=lambda each: each[0])
        lengths = [_length(part.values) for _, part, _ in rows]
        cells = np.repeat(self.cells[[i for i, _, _ in rows]], lengths)
        numbers = np.concatenate([np.arange(n) for n in lengths]) if rows else np.zeros(0, np.int64)
        values = {
            name: np.concatenate([part.values[name][row] for _, part, row in rows] or [np.zeros(0)])
            for name in self.kept
        }
        return pa.table({"cell": cells, "replication": numbers, **values})


def _length(values: Mapping[str, Floats]) -> int:
    return next((array.shape[-1] for array in values.values()), 0)
