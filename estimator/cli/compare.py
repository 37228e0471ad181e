"""The command that sets results side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Quiet, Replications, Seed, Target, Trust, Yes

if TYPE_CHECKING:
    from netcarlo.comparison.compare import Comparison

MOST_ROWS = 30
"""Rows of a table that are printed; the files have all."""


def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C...]",
            help="Scenarios, stores, results of plans and of estimate --json, reproduced studies.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of comparison.html and comparison.csv.")
    ] = None,
    equal: Annotated[
        bool, typer.Option("--equal", help="Exit 1 if anything differs by more than chance.")
    ] = False,
    replications: Replications = None,
    seed: Seed = None,
    target: Target = "auto",
    trust: Trust = None,
    as_json: AsJson = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Set results side by side: what changed in the setting, where, by how much, and what is noise."""
    from netcarlo import compare as run
    from netcarlo.comparison.differences import FALSE
    from netcarlo.reports.comparison import words
    from netcarlo.reports.comparison.page import comparison_page
    from netcarlo.reports.parts.write import write_all
    from netcarlo.schema import destination, output

    if out is not None:
        destination.check_folder(out, ["comparison.csv", "comparison.html"])
    with console.progress("compare", quiet) as progress:
        found = run(
            *results, replications=replications, seed=seed, target=target, progress=progress, large=yes
        )
    if out is not None:
        text = output.csv_text(found.table.reset_index())
        write_all(out, {"comparison.csv": text, "comparison.html": comparison_page(found)})
    if as_json:
        console.print_json(
            {
                "sides": [{"label": side.label, "kind": side.kind} for side in found.sides],
                "changes": found.changes.to_dict("index"),
                "rows": found.table.reset_index().to_dict("records"),
                "notes": list(found.notes),
                "tested": found.tested,
                "false": FALSE,
                "confidence": found.confidence,
                "same": found.same,
            }
        )
    elif not quiet:
        _print(found, "comparison.csv has" if out else "--out DIR writes")
        console.echo(words.headline(found))
        console.echo(words.explanation(found))
        if out is not None:
            console.say(f"{out / 'comparison.html'} and comparison.csv")
    if equal and not found.same:
        raise typer.Exit(1)


def _print(found: "Comparison", rest: str) -> None:
    from netcarlo.reports.comparison import words

    if len(found.changes):
        console.print_table("What changed in the setting", found.changes, lambda _, text: words.said(text))
    rows = words.rows(found, found.table if found.single else found.differing)
    if rows:
        title = "What came of it" if found.single else "What differs by more than chance, the clearest first"
        left = len(rows) - MOST_ROWS
        console.print_table(title, _frame(rows[:MOST_ROWS]), lambda _, text: str(text), wrap=False)
        if left > 0:
            console.echo(f"and {left} more; {rest} all")
    for note in found.notes:
        console.echo(f"not compared: {note}")


def _frame(rows: "list[dict[str, str]]") -> Any:
    import pandas as pd

    frame = pd.DataFrame(rows)
    return frame.set_index(frame.columns[0])
