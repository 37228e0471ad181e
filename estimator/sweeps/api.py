"""Python function for a sweep. The results are an xarray Dataset or a pandas DataFrame."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.schema.arguments import checked
from netcarlo.simulation.executors import open_workers
from netcarlo.simulation.progress import reporter
from netcarlo.sweeps.execution.adaptive import run
from netcarlo.sweeps.execution.forecast import check
from netcarlo.sweeps.execution.run import Progress, Summary
from netcarlo.sweeps.space.file import load_sweep, make_sweep
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store import growth
from netcarlo.sweeps.store.export import results
from netcarlo.sweeps.store.files import Files
from netcarlo.sweeps.store.store import MANIFEST, Store


@checked
def sweep(
    what: str | Path | Mapping[str, Any] | Sweep,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: Any = None,
    target: str = "auto",
    replications: int | None = None,
    seed: int | None = None,
    progress: Progress | bool | None = None,
    large: bool = False,
    grow: bool = False,
) -> Any:
    """Simulate every cell of a sweep that is not in the store `out`, and return all results.

    `what` is a sweep, the path of its file, or its data as in a file. `out` is a folder or an fsspec URL;
    without it, the results are not stored. Chunks run on threads of this process, on `workers` processes (one
    for each GPU with target cuda; then call this below `if __name__ == "__main__":`), or on the workers of a
    Dask `scheduler`, an address or a cluster. `progress(summary)` is called after each chunk; with True, a
    line with the number of finished cells is printed. Cells that are forecast to be very large (`workload`)
    are refused unless `large` is true. With `grow`, the store may have fewer draws, values of axes or
    replications than the sweep (`growth`).

    Returns an xarray Dataset over the axes, or, for drawn networks, a pandas DataFrame with a row for each
    cell. A failed cell has the status "failed", an error, and NaN. Raises InputError, and StoppedError if the
    run cannot continue; the same call then resumes.
    """
    given = {"replications": replications, "seed": seed}
    values = {name: value for name, value in given.items() if value is not None}
    if isinstance(what, Sweep):
        space = what
        if values:
            scenario = what.definition["scenario"] | values
            # Another seed draws other networks, whose derived numbers were not checked.
            definition = what.definition | {"scenario": scenario}
            space = Sweep.from_definition(definition, derived_checked=False)
    elif isinstance(what, Mapping):
        space = make_sweep({**what, **values})
    else:
        space = load_sweep(what, values=values)
    if not large:
        check(space)
    with tempfile.TemporaryDirectory() as scratch:
        url = scratch if out is None else out
        if grow and MANIFEST in Files(url).names():
            store = growth.grown(Store.open(url), space)
            growth.keep(store)
        else:
            store = Store.create(url, space.manifest())
        with open_workers(
            workers=workers, scheduler=scheduler, target=target, models=space.models(), work=space.work
        ) as found:
            run(
                space, store, executor=found.executor, slots=found.slots, target=found.target,
                workers=found.name, command="netcarlo.sweep", progress=_told(progress),
            )  # fmt: skip
        return results(store)


def _told(progress: Progress | bool | None) -> Progress | None:
    if not isinstance(progress, bool):
        return progress
    line = reporter(progress, "cells")

    def update(summary: Summary) -> None:
        if line:
            line(summary.done + summary.failed, summary.todo)

    return update
