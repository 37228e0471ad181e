"""Run of a sweep in phases: five with `fidelity: auto`, otherwise one. A phase is a run over some of the
cells.

1. Cheap models simulate a random sample of the groups. 2. Packets are simulated in the sample, and in groups
without a cheap model. If the sample shows that cheap models can decide enough groups, 3. they simulate the
others, and 4. their results become the answers of clear groups. 5. Packets are simulated in the remaining
groups, those with the least relative distance first. Each phase follows from the sweep and the contents of
the store, so a run may be interrupted and resumed at any point.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Bools, Ints
from netcarlo.simulation.executors import StoppedError
from netcarlo.sweeps.analysis import decisions
from netcarlo.sweeps.analysis.decisions import MARGIN, Decision
from netcarlo.sweeps.execution.chunk_plan import GroupCost
from netcarlo.sweeps.execution.run import Progress, Summary
from netcarlo.sweeps.execution.run import run as run_phase
from netcarlo.sweeps.space.columns import ANSWERED
from netcarlo.sweeps.store.partial_cells import partial_cells

if TYPE_CHECKING:
    from netcarlo.sweeps.space.space import Sweep
    from netcarlo.sweeps.store.store import Store

ADDED = ("done", "failed", "chunks", "networks", "packets", "kernel_s", "busy_s", "wall_s", "slot_s")
"""Fields of a summary that are added up over the phases."""


ROWS = 20_000
"""Minimum number of rows of cheap models that are written together."""


@dataclass(frozen=True)
class _Screened:
    """Adapter that writes the results of cheap models to a store."""

    store: "Store"

    def scan(self, *, repair: bool) -> Any:
        return SimpleNamespace(done=self.store.scan(repair=repair).known)

    def write(self, cells: pa.Table, replications: pa.Table | None) -> None:
        self.store.write_screened(cells)

    def add_run(self, record: dict[str, Any]) -> None:
        self.store.add_run(record)


def run(sweep: "Sweep", store: "Store", *, progress: Progress | None = None, **options: Any) -> Summary:
    """Simulate the cells that the store lacks, and return a summary of all phases; `options` are those of
    `run.run`.

    In the summary, `done` is the number of new answers, and `answered` the number of cells by fidelity and
    reason.
    """
    asked = sweep.screening
    if asked is None:
        return run_phase(sweep, store, progress=progress, begun=partial_cells(store), **options)
    before = int(np.count_nonzero(store.scan(repair=True).done))
    total = Summary(sweep.n_cells, before, sweep.n_cells - before)
    paces = {True: GroupCost(), False: GroupCost()}

    def phase(name: str, what: "Sweep", keeper: Any, groups: Ints) -> None:
        cells = (groups[:, None] * sweep.group + np.arange(sweep.group)).ravel()

        def report(summary: Summary) -> None:
            if progress:
                progress(replace(summary, phase=name))

        group_cost = paces[what.cheap]
        found = run_phase(
            what, keeper, cells=cells, phase=name, progress=report, group_cost=group_cost, **options
        )
        for field in ADDED:
            setattr(total, field, getattr(total, field) + getattr(found, field))
        total.failures += found.failures

    sample, screened = asked.sample(), sweep.screened()
    some_left = bool((asked.known & ~sample).any())  # in a small sweep all groups are in the sample
    if some_left:
        phase("sample, screened", screened, _Screened(store), np.flatnonzero(sample))
    phase("sample", sweep, store, np.flatnonzero(sample | ~asked.known))
    if some_left and current_decision(sweep, store).useful:
        phase("screening", screened, _Screened(store), np.flatnonzero(asked.known))
        decision = current_decision(sweep, store)
        keep_clear(store, decision.clear & ~sample, group=sweep.group)
        doubt = np.argsort(decision.relative_distance, kind="stable")
    else:
        doubt = np.arange(len(sample))
    phase("in doubt", sweep, store, doubt)
    total.done = int(np.count_nonzero(store.scan().done)) - before
    total.answered = decisions.answered(store.frame(["status", *ANSWERED]))
    return total


def current_decision(sweep: "Sweep", store: "Store") -> Decision:
    """Return the decisions of cheap models from the contents of the store."""
    asked = sweep.screening
    assert asked is not None
    columns = ["cell", "status", *(goal + MARGIN for goal in asked.goals), *filter(None, [asked.winner])]
    screened, cells = store.screened(columns), store.frame([*columns, "because"])
    return decisions.decide_from_tables(store.sweep, screened, cells, group=sweep.group)


def keep_clear(store: "Store", clear: Bools, *, group: int) -> None:
    """Store the results of cheap models as answers of `clear` groups, bool[groups], that have none yet."""
    done = store.scan().done
    waiting: list[pa.Table] = []

    def write() -> None:
        rows = pa.concat_tables(waiting)
        waiting.clear()
        try:
            store.write(rows)
        except InputError as error:
            raise StoppedError(str(error)) from None

    for table in store.screened_tables():
        cell = table.column("cell").to_numpy()
        rows = table.filter(pa.array(clear[cell // group] & ~done[cell]))
        waiting += [rows] if rows.num_rows else []
        if sum(each.num_rows for each in waiting) >= ROWS:
            write()
    if waiting:
        write()
