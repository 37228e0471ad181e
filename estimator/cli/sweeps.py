"""The command that simulates a sweep: progress, interruption, forecast and summary."""

import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Quiet, Replications, Seed, Set, Target, Trust, Yes, wrapped
from netcarlo.cli.stores import answered_by
from netcarlo.cli.workers import Scheduler, Workers
from netcarlo.errors import InputError

if TYPE_CHECKING:
    from netcarlo.sweeps.execution.chunk_plan import Cells
    from netcarlo.sweeps.execution.run import Summary
    from netcarlo.sweeps.space.space import Sweep
    from netcarlo.sweeps.store.store import Store

LINE_S = 60.0
"""Interval between lines of progress without a terminal [s]."""

MOST_ANSWERED = 200_000
"""Maximum number of cells of a sweep whose answer is printed after the run; its report always has it."""


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="Sweep; netcarlo new sweep writes one.")],
    out: Annotated[
        str | None, typer.Option(metavar="STORE", help="Folder for the results, or fsspec URL.")
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    target: Target = "auto",
    chunk: Annotated[
        int | None,
        typer.Option(min=1, metavar="CELLS", help="Cells per chunk; default: chosen by measured cost."),
    ] = None,
    set_: Set = None,
    seed: Seed = None,
    replications: Replications = None,
    part: Annotated[
        str | None,
        typer.Option(metavar="K/N", help="Simulate only part K of N of the cells: a job of an array."),
    ] = None,
    grow: Annotated[
        bool, typer.Option("--grow", help="Extend a store by draws, values of axes or replications.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Forecast time and size; write nothing.")
    ] = False,
    trust: Trust = None,
    yes: Yes = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Simulate all cells of a sweep. The same command resumes. Exit 1 if a cell failed or the run stopped."""
    from netcarlo.simulation.executors import StoppedError, WrongVersion, open_workers
    from netcarlo.sweeps.execution.adaptive import run
    from netcarlo.sweeps.execution.forecast import check, forecast, rehearsal
    from netcarlo.sweeps.space.file import load_sweep
    from netcarlo.sweeps.store import growth
    from netcarlo.sweeps.store.files import Files
    from netcarlo.sweeps.store.store import MANIFEST, Store

    given = {"seed": seed, "replications": replications}
    values = console.values(set_) | {name: value for name, value in given.items() if value is not None}
    loaded = load_sweep(file, values=values)
    cells = {} if part is None else {"cells": _part(part, loaded)}
    if out is None and not dry_run:
        again = f"--out {shlex.quote(loaded.name)}"
        raise InputError(f"--out is missing; name the folder of the results: {again}")
    if not yes:
        check(loaded)
    if out is not None and not dry_run:
        Files(out).check_writable()
    there = None
    if out is not None and MANIFEST in Files(out).names():
        # Both refuse the store of another sweep.
        there = growth.grown(Store.open(out), loaded) if grow else Store.create(out, loaded.manifest())
    simulated = rehearsal(loaded) if dry_run else loaded
    last: list[Summary] = []
    try:
        with _Stop() as stop, ExitStack() as stack:
            with console.progress(loaded.name, quiet or as_json):  # compiles
                models = simulated.models()
                found = stack.enter_context(
                    open_workers(
                        workers=workers,
                        scheduler=scheduler,
                        target=target,
                        models=models,
                        work=simulated.work,
                    )
                )
            if dry_run:
                _print_forecast(forecast(simulated, found, store=there), as_json)
                if simulated.outside_range.text and not as_json:
                    console.say(simulated.outside_range.text)
                if simulated is not loaded:
                    console.say("the forecast uses the standard congestion control in place of your file")
                return
            store = there or Store.create(str(out), loaded.manifest())
            growth.keep(store)
            with _progress(loaded.name, quiet) as update:

                def report(summary: "Summary") -> None:
                    last[:] = [summary]
                    update(summary)
                    stop.check()

                summary = run(
                    loaded, store, executor=found.executor, slots=found.slots, target=found.target,
                    chunk=chunk, workers=found.name, command=shlex.join(["netcarlo", *sys.argv[1:]]),
                    progress=report, **cells,
                )  # fmt: skip
    except KeyboardInterrupt:
        stored = f"{_stored(last[0])}; " if last else ""
        console.say(f"interrupted: {stored}the same command resumes")
        console.leave(130)
    except WrongVersion as error:
        console.say(f"error: {error}; install the same netcarlo everywhere; finished chunks are kept")
        raise typer.Exit(2) from None
    except StoppedError as error:
        again = "" if "same command" in str(error) else "; run the same command again to resume"
        console.say(f"stopped: {error}{again}" + (f" ({_stored(last[0])})" if last else ""))
        raise typer.Exit(1) from None
    if as_json:
        failures = [{"key": key, "error": error} for key, error in summary.failures]
        record = {"stored": summary.stored + summary.done, "n_cells": summary.n_cells, "workers": found.name}
        record["outside_validated_range"] = loaded.outside_range.record()
        if summary.answered:
            record["answered"] = {", ".join(how): cells for how, cells in summary.answered.items()}
        console.print_json(record | summary.record() | {"failures": failures})
    elif not quiet:
        _print_answer(store)
        _print_summary(loaded.name, str(out), found.name, summary)
        if loaded.outside_range.text:
            console.say(loaded.outside_range.text)
    if summary.failed:
        raise typer.Exit(1)


def _part(text: str, sweep: "Sweep") -> "Cells":
    """Return the cells of part K of N, whole groups of cells that are compared. Raises InputError."""
    import numpy as np

    k, _, n = text.partition("/")
    if not (k.isdecimal() and n.isdecimal() and 1 <= int(k) <= int(n)):
        raise InputError(f"--part {text} is not a part; expected 1/N to N/N; write --part 3/40")
    if sweep.screening is not None:
        raise InputError(
            "--part has no meaning with fidelity: auto, which decides about all cells; remove one of them"
        )
    groups = sweep.n_cells // sweep.group
    first, end = ((int(k) - 1) * groups // int(n), int(k) * groups // int(n))
    return np.arange(first * sweep.group, end * sweep.group)


class _Stop:
    """Handler by which SIGINT and SIGTERM raise KeyboardInterrupt.

    In a run this happens between two chunks, never while one is written. A second signal ends the process at
    once.
    """

    def __init__(self) -> None:
        self.running = self.asked = False

    def __enter__(self) -> "_Stop":
        self.before = {number: signal.signal(number, self.ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def ask(self, *_: object) -> None:
        if self.asked:
            console.leave(130)
        self.asked = True
        if not self.running:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt after a signal; called between chunks."""
        self.running = not self.asked
        if self.asked:
            raise KeyboardInterrupt


@contextmanager
def _progress(title: str, quiet: bool) -> Iterator[Callable[["Summary"], None]]:
    """Show a progress bar on stderr, or a line per minute if it is no terminal."""
    if quiet:
        yield lambda summary: None
        return
    err = Console(stderr=True)
    if not err.is_terminal:
        due = time.monotonic() + LINE_S

        def line(summary: "Summary") -> None:
            nonlocal due
            if time.monotonic() > due:
                due += LINE_S
                console.say(f"{title}: {_state(summary)}")

        yield line
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}", markup=False), console=err, transient=True,
    )  # fmt: skip
    with bar:
        task: TaskID = bar.add_task(console.plain(title), total=None, state="")

        def update(summary: "Summary") -> None:
            bar.update(
                task, total=summary.todo, completed=summary.done + summary.failed, state=_state(summary)
            )

        yield update


def _state(summary: "Summary") -> str:
    if not summary.slots:
        return "no workers: waiting for some"
    wall_s = max(summary.wall_s, 1e-9)
    parts = [
        *([summary.phase] if summary.phase else []),
        f"{summary.done + summary.failed} of {summary.todo} cells",
        console.clock(summary.wall_s, summary.left_s),
        *([f"{summary.failed} failed"] if summary.failed else []),
        f"{console.large(summary.networks / wall_s)} replications/s",
        f"{console.large(summary.packets / wall_s)} packets/s",
    ]
    return ", ".join(parts)


def _stored(summary: "Summary") -> str:
    return f"{summary.stored + summary.done} of {summary.n_cells} cells are stored"


def _print_answer(store: "Store") -> None:
    """Print the answer of a sweep and the cost of the best label, as in its report."""
    from netcarlo.reports.sweep.answers import verdict
    from netcarlo.reports.sweep.results import Results

    about = store.manifest["sweep"]
    if about["n_cells"] > MOST_ANSWERED:
        return
    results = Results(store.manifest, store.frame(), store.screened() if about.get("auto") else None)
    said = verdict(results)
    console.echo(wrapped(" ".join(filter(None, (said["head"], said["cost"], said["text"])))))


def _print_summary(name: str, store: str, workers: str, summary: "Summary") -> None:
    where = shlex.quote(store)
    if not summary.todo:
        console.echo(f"{name}: all {summary.n_cells} cells are stored already, nothing to do")
    else:
        wall_s = max(summary.wall_s, 1e-9)
        console.echo(f"{name}: {_stored(summary)}, {summary.done} of them new, {summary.failed} failed")
        console.echo(
            f"{summary.networks} networks, {summary.packets} packets, {console.seconds(wall_s)} on {workers}"
        )
        console.echo(
            f"{console.large(summary.networks / wall_s)} networks/s, "
            f"{console.large(summary.packets / wall_s)} packets/s, "
            f"{100 * summary.kernel_share:.0f} % of the time in simulations"
        )
    if summary.answered:
        console.echo(f"answered by {answered_by(summary.answered)}")
    for key, error in summary.failures:
        words = " ".join(error.split())
        console.echo(f"failed: {words[:120]}{'...' * (len(words) > 120)}")
        console.echo(f"        netcarlo rerun {where} {shlex.quote(key)}")
    console.echo(f"next: netcarlo report {where}")
    console.echo(f'      netcarlo query {where} "SELECT * FROM cells LIMIT 5"')


def _print_forecast(found: Any, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        console.print_json(asdict(found))
        return
    if not found.cells:
        console.echo(f"{found.name}: all {found.n_cells} cells are stored already, nothing to do")
        return
    low, high = (console.seconds(s) for s in found.time_s)
    old = found.n_cells - found.cells
    stored = f", {old} {'is' if old == 1 else 'are'} stored" if old else ""
    console.echo(f"{found.name}: {found.cells} cells to run of {found.n_cells}{stored}; nothing was written")
    if found.begun:
        console.echo(f"begun     {found.begun} replications of them are stored")
    console.echo(f"networks  about {console.large(found.networks)}")
    console.echo(f"packets   about {console.large(found.packets)}")
    console.echo(f"time      {low} to {high} on {found.workers}")
    console.echo(f"memory    about {console.size(found.memory_bytes)} here")
    console.echo(f"disk      about {console.size(found.disk_bytes)}")
    if found.failed:
        console.echo(f"failed    {found.failed} of {found.pilot_cells} cells of the pilot: {found.error}")
