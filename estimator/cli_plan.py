"""The command about plans: how much fits, with which guarantee."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from netcarlo import console
from netcarlo.console import AsJson, Quiet, Seed, Set, Target, Yes

if TYPE_CHECKING:
    from netcarlo.planning.file import Plan
    from netcarlo.planning.run import Answer, State

LINE_S = 30.0
"""Seconds between lines of progress where there is no terminal."""


def plan(
    file: Annotated[Path, typer.Argument(metavar="PLAN.yaml")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of result.json and report.html; its runs are not repeated."),
    ] = None,
    set_: Set = None,
    seed: Seed = None,
    target: Target = "auto",
    yes: Yes = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the largest (smallest) value for which requirements hold.  Exit 1 if nothing could be decided."""
    from netcarlo import output
    from netcarlo.planning import load_plan
    from netcarlo.planning import plan as run

    values = console.values(set_) | ({} if seed is None else {"seed": seed})
    loaded = load_plan(file, values=values)
    if out is not None:
        output.check_writable(out)
    try:
        with _progress(loaded, quiet or as_json) as update:
            found = run(loaded, folder=out, target=target, progress=update, large=yes)
    except KeyboardInterrupt:
        if out is not None and out.exists():
            console.say(f"what was simulated is in {out}; the same command goes on from there")
        raise
    if out is not None:
        _write(found, out)
    if as_json:
        console.print_json(found.record())
    elif not quiet:
        _print(found, out)
    if not found.decided:
        raise typer.Exit(1)


def _write(found: "Answer", out: Path) -> None:
    from netcarlo.reports.plan_page import plan_page
    from netcarlo.reports.write import write_all

    record = json.dumps(found.record(), indent=1, allow_nan=False) + "\n"
    write_all(out, {"result.json": record, "report.html": plan_page(found)})


def _print(found: "Answer", out: Path | None) -> None:
    from netcarlo.reports import plan_words as words

    typer.echo(words.headline(found))
    typer.echo(words.explanation(found))
    rows = pd.DataFrame(words.requirements(found)).drop(columns="requirement").set_index("goal")
    console.print_table("Requirements", rows, _as_is)
    for row in words.gains(found):
        name, change, *rest = row.items()
        more = ", ".join(f"{head} {text}" for head, text in rest)
        typer.echo(f"{name[1]} ({change[1]}): {more}")
    typer.echo(words.cost(found))
    if out is not None:
        console.say(f"{out / 'report.html'} and result.json")


def _as_is(column: str, value: Any) -> str:
    return str(value)


@contextmanager
def _progress(plan: "Plan", quiet: bool) -> Iterator[Callable[["State"], None]]:
    """A bar on stderr with what is known so far; where that is no terminal, a line now and then."""
    from netcarlo.reports import plan_words as words

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
                console.say(f"{plan.name}: {words.so_far(plan, state)}, {state.replications} replications")

        with console.compiling(console.say, quiet):
            yield line
        return
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.percentage:.0f} %"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[state]}"),
        console=err, transient=True,
    )  # fmt: skip
    with bar:
        task: TaskID = bar.add_task(plan.name, total=None, state="")

        def show(text: str) -> None:
            bar.update(task, description=f"{plan.name}: {text}")

        def update(state: "State") -> None:
            bar.update(
                task, description=plan.name, total=state.forecast, completed=state.replications,
                state=words.so_far(plan, state),
            )  # fmt: skip

        with console.compiling(show, quiet):
            yield update
