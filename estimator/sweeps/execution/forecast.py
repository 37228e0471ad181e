"""Forecast of the cost of a sweep by a pilot run: a few groups, simulated on the workers of the sweep."""

import copy
import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from netcarlo.numerics import statistics
from netcarlo.simulation import workload
from netcarlo.simulation.executors import Workers
from netcarlo.sweeps.execution.chunk_plan import CHUNK_S, GROWTH
from netcarlo.sweeps.execution.run import Summary, peak_bytes, run
from netcarlo.sweeps.space import congestion_files, identity
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store import chunk_files
from netcarlo.sweeps.store.store import Store

PILOT_S = 4.0
"""Time from the first finished chunk to the end of the pilot [s]."""

PILOT_REPLICATIONS = 64
"""Number of replications of a pilot cell, if the final number follows from its variance."""

TIME_FACTOR = 1.3
"""Factor for errors of a time that the pilot does not show, such as caches and other users of the machine."""

MAX_CHECKED = 16
"""Number of cells whose workload is checked before the simulation."""

SMALL_CHUNKS = 20
"""Number of chunks at the beginning and the end of a run that are smaller than the others."""

MAX_GROUPS = 10_000
"""Maximum number of groups that the pilot chooses from."""

GOLDEN = (math.sqrt(5) - 1) / 2
"""Golden ratio minus 1."""

CELL_BYTES = 4
"""Memory of the client for each cell: bitmaps of finished and missing cells [bytes]."""


@dataclass(frozen=True)
class Forecast:
    """Forecast of a run."""

    name: str
    """Name of the sweep."""
    n_cells: int
    """Number of cells of the sweep."""
    cells: int
    """Number of cells to simulate: missing in the store, or failed."""
    begun: int
    """Number of stored replications of these cells; they are not included in the following numbers."""
    networks: float
    """Number of replications."""
    packets: float
    """Number of data packets."""
    time_s: tuple[float, float]
    """Lower and upper estimate of the elapsed time [s]."""
    workers: str
    """Description of the workers."""
    memory_bytes: float
    """Memory of the client [bytes]."""
    disk_bytes: float
    """Size of the chunk files [bytes]."""
    pilot_cells: int
    """Number of cells of the pilot."""
    failed: int
    """Number of failed cells of the pilot."""
    error: str
    """Error of the first failed cell; empty if there is none."""


def forecast(sweep: Sweep, workers: Workers, *, store: Store | None = None) -> Forecast:
    """Run a pilot for some seconds, and extrapolate to the cells that `store` lacks. Nothing is written.

    The groups of the pilot are spread evenly over the sweep; each has every value of the compared axis. With
    a precision, the number of replications of a cell follows from its variance in the pilot. With `fidelity:
    auto`, the lower estimate of the time is for cheap models and the sample, the upper one for packets in all
    cells too.
    """
    scan = None if store is None else store.scan()
    missing = np.ones(sweep.n_cells, bool) if scan is None else ~scan.done
    found = _forecast(sweep, workers, missing, scan.begun_replications if scan else 0)
    if sweep.screening is None or not found.cells:
        return found
    known = np.repeat(sweep.screening.known, sweep.group)
    cheap = _forecast(sweep.screened(), workers, known if scan is None else known & ~scan.known)
    part = sweep.screening.sample().mean()
    return replace(
        found,
        networks=cheap.networks + found.networks,
        packets=cheap.packets + found.packets,
        time_s=(cheap.time_s[0] + part * found.time_s[0], cheap.time_s[1] + found.time_s[1]),
        disk_bytes=cheap.disk_bytes + found.disk_bytes,
        pilot_cells=cheap.pilot_cells + found.pilot_cells,
        failed=cheap.failed + found.failed,
        error=found.error or cheap.error,
    )


def _forecast(sweep: Sweep, workers: Workers, missing: NDArray[np.bool_], begun: int = 0) -> Forecast:
    """Return the forecast for the `missing` cells, bool[n_cells], which have `begun` stored replications."""
    cells = int(np.count_nonzero(missing))
    pilot = _Pilot(sweep, workers, missing)
    rows, networks = len(pilot), 0.0
    if pilot.network_s.size:
        networks = max(cells * pilot.replications - begun, 0) * (rows - len(pilot.errors)) / rows
    slots = max(workers.slots(), 1)
    wall_s = networks * pilot.cost_s / slots
    chunks = min(SMALL_CHUNKS + networks * pilot.cost_s / CHUNK_S, cells / sweep.group)
    in_flight = 2 * slots * pilot.row_bytes * CHUNK_S / max(pilot.cost_s * pilot.replications, 1e-6)
    return Forecast(
        name=sweep.name,
        n_cells=sweep.n_cells,
        cells=cells,
        begun=begun,
        networks=networks,
        packets=networks * pilot.packets,
        time_s=(wall_s * (1 - pilot.error / 2) / TIME_FACTOR, wall_s * (1 + pilot.error) * TIME_FACTOR),
        workers=workers.name,
        memory_bytes=peak_bytes() + CELL_BYTES * sweep.n_cells + min(in_flight, pilot.row_bytes * cells),
        disk_bytes=chunks * pilot.file_bytes
        + cells * pilot.cell_bytes
        + (networks + begun) * pilot.network_bytes,
        pilot_cells=rows,
        failed=len(pilot.errors),
        error=next(iter(pilot.errors), ""),
    )


def rehearsal(sweep: Sweep) -> Sweep:
    """Return the sweep with the standard congestion control instead of users' files, so that no user code
    runs."""
    definition = congestion_files.without_code(sweep.definition)
    return sweep if definition is sweep.definition else Sweep.from_definition(definition)


def check(sweep: Sweep) -> None:
    """Raise InputError if a cell is too large to be simulated without confirmation; checks equally spaced
    cells."""
    cells = np.unique(np.linspace(0, sweep.n_cells - 1, MAX_CHECKED).astype(np.int64))
    for cell, found in identity.scenarios(sweep, cells).items():  # other cells will fail
        workload.check([workload.forecast(found, found.replications)], what=f"cell {cell} of the sweep")


class _EnoughError(Exception):
    """Exception that ends the pilot after its time."""


class _Pilot:
    """Run over equally spread groups without a store, to measure the cost of a replication."""

    def __init__(self, sweep: Sweep, workers: Workers, missing: NDArray[np.bool_]) -> None:
        self.asked = sweep
        self.sweep = sweep if sweep.base.precision is None else _fixed(sweep, PILOT_REPLICATIONS)
        self.n_cells, self.missing = sweep.n_cells, missing
        self.tables: list[pa.Table] = []
        self.each: list[pa.Table] = []
        self.steps: list[tuple[int, float]] = []  # networks and seconds of each chunk
        self.summary = Summary(sweep.n_cells, 0, 0)
        groups = np.flatnonzero(np.logical_or.reduceat(missing, np.arange(0, sweep.n_cells, sweep.group)))
        if groups.size:
            self._run(workers, groups)
        self.rows = pa.concat_tables(self.tables) if self.tables else None
        self.errors = [text for text in self.rows["error"].to_pylist() if text] if self.rows else []
        most = max((networks for networks, _ in self.steps), default=0)
        # Small chunks are dominated by overhead, unlike those of the run.
        large = [(n, s) for n, s in self.steps if n and n >= most / GROWTH]
        self.network_s = np.array([seconds / networks for networks, seconds in large])
        self.cost_s = sum(s for _, s in large) / max(sum(n for n, _ in large), 1)

    def __len__(self) -> int:
        return self.rows.num_rows if self.rows else 0

    # Interface `ResultSink`.

    def scan(self, *, repair: bool = False) -> SimpleNamespace:
        """Return the finished cells: all that are not missing."""
        return SimpleNamespace(done=~self.missing)

    def write(self, cells: pa.Table, replications: pa.Table | None) -> None:
        """Store a chunk in memory."""
        self.tables.append(cells)
        if replications is not None:
            self.each.append(replications)

    def add_run(self, record: dict[str, Any]) -> None:
        """Ignore the record of the run."""

    def _run(self, workers: Workers, groups: NDArray[np.int64]) -> None:
        spread = groups[np.unique(np.linspace(0, len(groups) - 1, MAX_GROUPS).astype(np.int64))]
        # Multiples of the golden ratio: any number of first groups is spread evenly over the sweep.
        spread = spread[np.argsort(np.arange(len(spread)) * GOLDEN % 1.0, kind="stable")]
        cells = (spread[:, None] * self.sweep.group + np.arange(self.sweep.group)).ravel()
        end = math.inf

        def note(summary: Summary) -> None:
            nonlocal end
            before = self.summary
            if summary.chunks > before.chunks:
                self.steps.append((summary.networks - before.networks, summary.busy_s - before.busy_s))
                end = min(
                    end, time.monotonic() + PILOT_S
                )  # from the first chunk on, because workers need time to start
            self.summary = replace(summary)
            if time.monotonic() > end:
                raise _EnoughError

        with suppress(_EnoughError):
            run(
                self.sweep, self, executor=workers.executor, slots=workers.slots, target=workers.target,
                chunk_s=PILOT_S / 4, cells=cells, progress=note,
            )  # fmt: skip

    @property
    def error(self) -> float:
        """Relative half-width of the interval of the cost of a replication."""
        n = len(self.network_s)
        if n < 2:
            return 1.0
        return min(2 * float(np.std(self.network_s, ddof=1)) / math.sqrt(n) / self.cost_s, 1.0)

    @property
    def packets(self) -> float:
        """Mean number of packets of a replication."""
        return self.summary.packets / max(self.summary.networks, 1)

    @property
    def replications(self) -> float:
        """Mean number of replications of a cell: that of the sweep, or as many as its precision needs."""
        precision = self.asked.base.precision
        if precision is None:
            return float(self.asked.base.replications)
        if self.rows is None:
            return 0.0
        good = self.rows.filter(pa.compute.equal(self.rows["status"], "ok"))
        mean, sd, low, high = (good[f"goodput_bps{end}"].to_numpy() for end in ("", "_sd", "_low", "_high"))
        rule = statistics.StoppingRule(precision)
        wide = precision * np.abs(mean)
        with np.errstate(divide="ignore", invalid="ignore"):
            # The interval of few replications of a skewed outcome is wider than that of a normal one.
            second = rule.margin * PILOT_REPLICATIONS * ((high - low) / 2 / wide) ** 2
            last = rule.margin * (1.96 * sd / wide) ** 2
        wanted = np.maximum(np.minimum(second, rule.growth * rule.first), last)
        wanted = np.where((high - low) / 2 <= wide, rule.first, wanted)
        wanted = np.where(np.isnan(wanted), rule.most, wanted)
        return np.clip(wanted, rule.first, rule.most).mean().item() if good.num_rows else 0.0

    @property
    def row_bytes(self) -> float:
        """Memory of the row of a cell [bytes]."""
        return float(self.rows.nbytes / len(self)) if self.rows else 0.0

    @property
    def cell_bytes(self) -> float:
        """Disk space of a cell [bytes]."""
        return self._packed("cells", self.tables) / max(len(self), 1)

    @property
    def file_bytes(self) -> float:
        """Disk space of a file without its cells [bytes]."""
        if not self.tables:
            return 0.0
        first = self.tables[0]
        rest: float = self._packed("cells", [first]) - first.num_rows * self.cell_bytes
        return max(rest, 0.0)

    @property
    def network_bytes(self) -> float:
        """Disk space of a replication, if they are stored [bytes]."""
        rows: int = sum(table.num_rows for table in self.each)
        return self._packed("replications", self.each) / max(rows, 1)

    def _packed(self, kind: chunk_files.Kind, tables: list[pa.Table]) -> int:
        if not tables:
            return 0
        _, data = chunk_files.pack(kind, pa.concat_tables(tables), sweep="", model_version="")
        return len(data)


def _fixed(sweep: Sweep, replications: int) -> Sweep:
    """Return the sweep with a fixed number of replications for each cell."""
    definition = copy.deepcopy(sweep.definition)
    definition["scenario"] |= {"replications": replications, "precision": None}
    definition["outcomes"] = list(dict.fromkeys([*definition["outcomes"], "goodput_bps"]))
    return Sweep.from_definition(definition)
