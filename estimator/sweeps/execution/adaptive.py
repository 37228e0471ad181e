"""A sweep in phases: of `fidelity: auto` five, each an ordinary run over some of the cells; else one.

1. Cheap models answer a random sample of the groups, 2. packets answer it, too, and whatever no cheap model
knows. If that shows that cheap models may answer enough, 3. they answer the rest, and 4. what is clear is
kept as their answer. 5. Packets answer what is left, the groups most in doubt first.  What a phase does
follows from the sweep and from what is in the store, so any of them may be interrupted, and goes on like any
other sweep.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Bools, Ints
from netcarlo.sweeps.analysis import decisions
from netcarlo.sweeps.analysis.decisions import MARGIN, Decision
from netcarlo.sweeps.execution.executors import StoppedError
from netcarlo.sweeps.execution.plan import Pace
from netcarlo.sweeps.execution.run import Progress, Summary
from netcarlo.sweeps.execution.run import run as run_phase
from netcarlo.sweeps.space.space import ANSWERED
from netcarlo.sweeps.store.begun import begun

if TYPE_CHECKING:
    from netcarlo.sweeps.space.space import Sweep
    from netcarlo.sweeps.store.store import Store

ADDED = ("done", "failed", "chunks", "networks", "packets", "kernel_s", "busy_s", "wall_s", "slot_s")
"""Fields of the summaries of phases that add up."""


ROWS = 20_000
"""Of what cheap models say that are written together."""


@dataclass(frozen=True)
class _Screened:
    """The part of a store that keeps what cheap models say, as `run` needs it."""

    store: "Store"

    def scan(self, *, repair: bool) -> Any:
        return SimpleNamespace(done=self.store.scan(repair=repair).known)

    def write(self, cells: pa.Table, replications: pa.Table | None) -> None:
        self.store.write_screened(cells)

    def add_run(self, record: dict[str, Any]) -> None:
        self.store.add_run(record)


def run(sweep: "Sweep", store: "Store", *, progress: Progress | None = None, **options: Any) -> Summary:
    """Simulate what the store lacks, as `run.run`, whose `options` these are; returns what all phases did.

    The summary's `done` counts the cells with an answer, and its `answered` says whose those of the store
    are.
    """
    asked = sweep.screening
    if asked is None:
        return run_phase(sweep, store, progress=progress, begun=begun(store), **options)
    before = int(np.count_nonzero(store.scan(repair=True).done))
    total = Summary(sweep.n_cells, before, sweep.n_cells - before)
    paces = {True: Pace(), False: Pace()}

    def phase(name: str, what: "Sweep", keeper: Any, groups: Ints) -> None:
        cells = (groups[:, None] * sweep.group + np.arange(sweep.group)).ravel()

        def report(summary: Summary) -> None:
            if progress:
                progress(replace(summary, phase=name))

        pace = paces[what.cheap]
        found = run_phase(what, keeper, cells=cells, phase=name, progress=report, pace=pace, **options)
        for field in ADDED:
            setattr(total, field, getattr(total, field) + getattr(found, field))
        total.failures += found.failures

    sample, screened = asked.sample(), sweep.screened()
    some_left = bool((asked.known & ~sample).any())  # a small sweep is all sample
    if some_left:
        phase("sample, screened", screened, _Screened(store), np.flatnonzero(sample))
    phase("sample", sweep, store, np.flatnonzero(sample | ~asked.known))
    if some_left and judged(sweep, store).useful:
        phase("screening", screened, _Screened(store), np.flatnonzero(asked.known))
        decision = judged(sweep, store)
        keep_clear(store, decision.clear & ~sample, group=sweep.group)
        doubt = np.argsort(decision.sureness, kind="stable")
    else:
        doubt = np.arange(len(sample))
    phase("in doubt", sweep, store, doubt)
    total.done = int(np.count_nonzero(store.scan().done)) - before
    total.answered = decisions.answered(store.frame(["status", *ANSWERED]))
    return total


def judged(sweep: "Sweep", store: "Store") -> Decision:
    """What cheap models may decide, by what is in the store."""
    asked = sweep.screening
    assert asked is not None
    columns = ["cell", "status", *(goal + MARGIN for goal in asked.goals), *filter(None, [asked.winner])]
    screened, cells = store.screened(columns), store.frame([*columns, "because"])
    return decisions.judge(store.sweep, screened, cells, group=sweep.group)


def keep_clear(store: "Store", clear: Bools, *, group: int) -> None:
    """Make what cheap models say of the `clear` groups, bool[groups], the store's answer, if it has none."""
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
