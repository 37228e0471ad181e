"""The command `plan`: the largest or smallest value that meets requirements, with a guarantee."""

import json
import signal
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Seed, Set, Target, Trust, Yes, wrapped
from netcarlo.cli.earlier import Earlier, Replace
from netcarlo.cli.workers import Scheduler, Workers, simulating
from netcarlo.errors import InputError

if TYPE_CHECKING:
    from netcarlo.planning.definition import Plan
    from netcarlo.planning.designs import Frontier
    from netcarlo.planning.run import Answer, State

LINE_S = 30.0
"""Interval between lines of progress without a terminal [s]."""


def plan(
    file: Annotated[Path, typer.Argument(metavar="PLAN.yaml", help="Plan; netcarlo new plan writes one.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for result.json and report.html; simulations in it are not repeated."
        ),
    ] = None,
    replace: Replace = False,
    set_: Set = None,
    time_: Annotated[
        str | None,
        typer.Option(
            "--time", metavar="60s", help="Time limit with compilation; the answer is what is known by then."
        ),
    ] = None,
    seed: Seed = None,
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    trust: Trust = None,
    yes: Yes = False,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the answer, no progress and no tables.")
    ] = False,
) -> None:
    """Find the largest or smallest value that meets requirements. Exit 1 if nothing could be decided."""
    from netcarlo import planning
    from netcarlo.planning import Stopped, load_plan
    from netcarlo.planning.runner import JOURNAL
    from netcarlo.schema import destination

    most_s = _seconds(time_)
    values = console.values(set_) | ({} if seed is None else {"seed": seed})
    loaded = load_plan(file, values=values)
    if out is not None:
        destination.check_folder(out, ["result.json", "report.html", JOURNAL])
    earlier = Earlier.check(out, "report.html", loaded.name, replace=replace)
    try:
        with (
            _progress(loaded, quiet or as_json) as update,
            simulating(workers, scheduler, target) as here,
            _stopped(most_s),
        ):
            answer: Callable[..., Answer | Frontier] = planning.frontier if loaded.designs else planning.plan
            found = answer(loaded, folder=out, target=here, progress=update, large=yes)
    except Stopped as why:
        interrupted = str(why) == INTERRUPTED
        remedy = "" if interrupted else f". Compile models first (netcarlo warm {file}), or allow more time"
        console.say(f"stopped ({why}) before anything was simulated; there is no answer{remedy}")
        console.leave(130 if interrupted else 1)
    if out is not None:
        _write(found, out)
        earlier.say(quiet or as_json)
    if as_json:
        console.print_json(found.record())
    else:
        _print(found, None if quiet else out, tables=not quiet)
    if found.stopped and out is None:
        console.say("with --out DIR all replications are kept, and the same command continues")
    elif found.stopped:
        console.say(f"replications are in {out}; the same command continues (to the end without --time)")
    if found.stopped == INTERRUPTED:
        console.leave(130)
    if not found.decided:
        raise typer.Exit(1)


INTERRUPTED = "interrupted"


def _seconds(text: str | None) -> float | None:
    """Return the time limit of `--time` [s]. Raises InputError."""
    if text is None:
        return None
    from netcarlo.schema import units

    try:
        found = units.parse(text, units.TIME)
    except InputError as error:
        raise InputError(f"--time {text} {error}") from None
    if not 0 < found < float("inf"):
        raise InputError(f"--time {text} is out of range; expected more than 0 s; write --time 60s")
    return found


@contextmanager
def _stopped(most_s: float | None) -> Iterator[None]:
    """Stop a plan after a time and at the first Ctrl-C; a second one ends the command."""
    from netcarlo.planning import Stopped

    if threading.current_thread() is not threading.main_thread():  # only the main thread has signals
        yield
        return

    def stop(number: int, _: object) -> None:
        disarm()
        raise Stopped(INTERRUPTED if number == signal.SIGINT else f"after {console.seconds(most_s or 0)}")

    def disarm() -> None:
        signal.signal(signal.SIGINT, before)
        if most_s is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGINT, stop)
    if most_s is not None:
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, most_s)
    try:
        yield
    finally:
        disarm()


def _write(found: "Answer | Frontier", out: Path) -> None:
    from netcarlo.planning import Frontier
    from netcarlo.reports.frontier.page import frontier_page
    from netcarlo.reports.parts.write import write_all
    from netcarlo.reports.plan.page import plan_page

    record = json.dumps(found.record(), indent=1, allow_nan=False) + "\n"
    html = frontier_page(found) if isinstance(found, Frontier) else plan_page(found)
    write_all(out, {"result.json": record, "report.html": html})


def _print(found: "Answer | Frontier", out: Path | None, *, tables: bool) -> None:
    from netcarlo.planning import Frontier
    from netcarlo.reports.frontier import wording as of_two
    from netcarlo.reports.plan import wording

    if isinstance(found, Frontier):
        console.echo(wrapped(of_two.headline(found)))
        console.echo(wrapped(of_two.explanation(found)))
    else:
        console.echo(wrapped(wording.headline(found)))
        console.echo(wrapped(wording.explanation(found)))
    for text in found.warnings:
        console.echo(wrapped(f"Warning: {text}"))
    if found.outside:
        console.echo(wrapped(found.outside))
    if not tables:
        return
    if isinstance(found, Frontier):
        _table("Designs", of_two.rows(found))
    else:
        rows = [{k: v for k, v in row.items() if k != "requirement"} for row in wording.requirements(found)]
        _table("Requirements", rows, wrap=False)
        console.echo(wrapped(wording.LEGEND) + "\n")
        if gains := wording.gains(found):
            _gains(gains)
    console.echo(wording.spent(found.cost))
    if out is not None:
        console.say(f"{out / 'report.html'} and result.json")


def _gains(rows: "list[dict[str, str]]") -> None:
    """Print the effect of more of each resource: a heading for each, and below it what changes."""
    console.echo("Effect of more of each resource")
    for row in rows:
        (_, name), (_, change), *rest = row.items()
        console.echo(f"\n  {name}: {change}")
        texts = "; ".join(f"{head}: {text}" for head, text in rest if text)
        console.echo(textwrap.indent(console.wrapped(texts, margin=4), "    "))
    console.echo("")


def _table(title: str, rows: "list[dict[str, str]]", *, wrap: bool = True) -> None:
    """Print a table whose rows are named by their first column."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    console.print_table(title, frame.set_index(frame.columns[0]), _as_is, wrap=wrap)


def _as_is(column: str, value: Any) -> str:
    return str(value)


@contextmanager
def _progress(plan: "Plan", quiet: bool) -> Iterator[Callable[["State"], None]]:
    """Show a progress bar with the answer so far on stderr, or lines at intervals if it is no terminal."""
    from netcarlo.reports.plan import wording

    err = Console(stderr=True)
    if quiet:
        yield lambda state: None
        return
    if not err.is_terminal:
        due = time.monotonic() + LINE_S

        def line(state: "State") -> None:
            nonlocal due
            if time.monotonic() > due:
                due += LINE_S
                known = wording.progress(plan, state)
                name = "" if known.startswith(f"{plan.name}:") else f"{plan.name}: "
                console.say(f"{name}{known}, {state.replications} replications")

        with console.compiling(quiet):
            yield line
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), console.Done("replications"),
        TextColumn("{task.fields[state]}", markup=False), console=err, transient=True,
    )  # fmt: skip
    with bar:
        name = console.plain(plan.name)
        task: TaskID = bar.add_task(name, total=None, state="")

        def update(state: "State") -> None:
            bar.update(
                task, description=name, total=state.forecast, completed=state.replications,
                state=wording.progress(plan, state), compilation=None,
            )  # fmt: skip

        with console.compiling(quiet, bar, task):
            yield update
