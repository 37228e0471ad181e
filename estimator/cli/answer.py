"""Print an answer: a sentence, headline outcomes, and a table of outcomes in groups."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from netcarlo.cli import console
from netcarlo.cli.console import width, wrapped
from netcarlo.estimation.estimate import Estimate, summary
from netcarlo.reports.estimate.answer import Row, answer, answer_of, goals
from netcarlo.reports.estimate.headline import Found, Line
from netcarlo.reports.estimate.parts import busiest, texts
from netcarlo.reports.parts.simulated import simulated
from netcarlo.reports.parts.write import write_all
from netcarlo.scenario import Scenario
from netcarlo.schema.output import csv_text
from netcarlo.sweeps.execution.rerun import Rerun

LONGEST_NAMES = (40, 24, 20, 16)
"""Characters of a name beside its numbers: the most that fit. A longer name has a line of its own."""
HEADS: Sequence[str] = ("", "mean", "95 % CI", "5 % to 95 %")


MOST_PARTS = 10
"""Number of links, and of flows, that are printed unless all outcomes are requested."""

FILES = ("estimate.html", "outcomes.csv")
"""Files of an estimate that is written into a folder."""


def write(found: Estimate, out: Path, *, command: str) -> None:
    """Write the page of an estimate and its outcomes as a table."""
    from netcarlo.reports.estimate.page import page_of

    page = page_of(found, command=command)
    write_all(out, dict(zip(FILES, (page, csv_text(found.to_frame().reset_index())), strict=True)))


def print_estimate(found: Estimate, *, every: bool, out: Path | None) -> None:
    """Print an estimate: one sentence, the headline outcomes, how often goals are met, all outcomes."""
    said = answer(found, every=every)
    console.echo(wrapped(said.sentence))
    print_lines(said.lines)
    print_lines(goals(found))
    print_groups(said.groups)
    print_parts(found, every=every)
    shown = sum(map(len, said.groups.values()))
    if any(row.quantiles for rows in said.groups.values() for row in rows):
        console.echo("5 % to 95 %: the range of 9 in 10 replications.")
    hints = [] if shown == said.outcomes else [f"All {said.outcomes} outcomes: --all."]
    hints += [f"Page: {out / FILES[0]}." if out else "Page: --out DIR.", "JSON: --json."]
    console.echo(wrapped("  ".join(hints)))


def print_parts(found: Estimate, *, every: bool) -> None:
    """Print the busiest link, and tables by link and by flow: all rows if `every`, otherwise a few of
    each.
    """
    if not found.parts:
        return
    console.echo(wrapped(f"{busiest(found)}."))
    for part, table in found.parts.items():
        shown = table if every else table[:MOST_PARTS]
        about = ["busiest first"] if part == "links" else []
        if len(shown) < len(table):
            about.append(f"{len(shown)} of {len(table)}; all of them: --all")
        title = part.capitalize() + (f" ({', '.join(about)})" if about else "")
        console.print_table(title, texts(shown), lambda _, text: text, wrap=False)


def print_trace(scenario: Scenario, frame: pd.DataFrame, *, replication: int, every: bool) -> None:
    """Print one replication: a sentence, the headline outcomes, and all outcomes."""
    said = answer_of(Found(scenario, frame, summary(frame)), every=every)
    console.echo(wrapped(f"{simulated(scenario)}, replication {replication} of seed {scenario.seed}"))
    print_lines(said.lines)
    print_groups(said.groups)


def print_rerun(found: Rerun, *, replication: int | None, every: bool) -> None:
    """Print a cell that was simulated again: whether it equals the store, headline and all outcomes."""
    what = f"Cell {found.stored['cell']}" if replication is None else f"Replication {replication} of cell "
    what += "" if replication is None else str(found.stored["cell"])
    verdicts = {
        True: f"{what} is bit-identical to the store.",
        False: f"{what} is NOT equal to the store.",
        None: f"{what} cannot be compared: the store has no results of it.",
    }
    console.echo(wrapped(f"{verdicts[found.equal]} Key {found.stored['key']}."))
    table = found.table if replication is None else summary(found.frame)
    said = answer_of(Found(found.scenario, found.frame, table), every=every)
    console.echo(wrapped(said.sentence))
    print_lines(said.lines)
    print_groups(said.groups)


def print_lines(lines: Sequence[Line]) -> None:
    """Print headline outcomes in columns, with an empty line above them."""
    if not lines:
        return
    console.echo("")
    left, middle = (max(len(line[k]) for line in lines) for k in (0, 1))
    cells = [f"95 % CI {line.interval}" if line.interval else "" for line in lines]
    right = max(map(len, cells))
    for line, interval in zip(lines, cells, strict=True):
        text = f"  {line.name:<{left}}  {line.value:<{middle}}  {interval:<{right}}".rstrip()
        whole = f"  {line.name:<{left}}  {line.value:<{middle}}  {interval:<{right}}  {line.remark}".rstrip()
        if len(whole) <= width() or not line.remark:
            console.echo(whole)
        else:
            console.echo(text)
            margin = " " * (left + 4)
            console.echo(
                textwrap.fill(line.remark, max(width(), 60), initial_indent=margin, subsequent_indent=margin)
            )


def print_groups(groups: dict[str, list[Row]]) -> None:
    """Print a table of outcomes with a title for each group."""
    tables = (_table(groups, longest) for longest in LONGEST_NAMES)
    lines = next((table for table in tables if max(map(len, table), default=0) <= width()), None)
    for line in _table(groups, LONGEST_NAMES[-1]) if lines is None else lines:
        console.echo(line)


def _table(groups: dict[str, list[Row]], longest: int) -> list[str]:
    """Return the lines of a table; names that are longer than `longest` have lines of their own."""
    rows = [row for some in groups.values() for row in some]
    most = max((row.n for row in rows), default=0)
    columns = [
        [row.name for row in rows if len(row.name) <= longest],
        [row.mean for row in rows],
        [row.interval for row in rows],
        [row.quantiles for row in rows],
    ]
    widths = [max(len(head), *map(len, texts), 0) for head, texts in zip(HEADS, columns, strict=True)]
    used = [k for k in (1, 2, 3) if any(columns[k])]

    def line(first: str, texts: Sequence[str]) -> str:
        beside = "".join(f"  {texts[k]:>{widths[k]}}" for k in used)
        return f"{first:<{widths[0] + 2}}{beside}".rstrip()

    lines: list[str] = []
    heads = HEADS
    for title, some in groups.items():
        alone = len(title) > widths[0] + 2 and any(heads)
        lines += ["", *([title] if alone else []), line("" if alone else title, heads)]
        heads = ("",) * len(HEADS)
        for row in some:
            name = row.name if len(row.name) <= longest else ""
            lines += [] if name else [f"  {row.name}"]
            lines.append(
                line(f"  {name}", (name, row.mean, row.interval, row.quantiles))
                + (f"  in {row.n:,}" if row.n < most else "")
            )
    return [*lines, ""]
