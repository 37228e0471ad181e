"""The command `compare`: several results side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netcarlo.cli import console
from netcarlo.cli import measured as cli_measured
from netcarlo.cli.console import AsJson, Quiet, Replications, Seed, Target, Trust, Yes
from netcarlo.cli.earlier import Earlier
from netcarlo.cli.workers import Scheduler, Workers, simulating
from netcarlo.errors import InputError

if TYPE_CHECKING:
    from netcarlo.comparison.comparison import Comparison

MOST_ROWS = 1000
"""Maximum number of rows that are printed; the files have all of them."""

TABLES = {
    "Results that differ by more than chance": ("differs",),
    "Results without a clear difference": ("noise", "unknown"),
}
"""Verdicts on the rows of each table that is printed, by its title."""


def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...",
            help="Results: scenarios, stores of sweeps, results of plans or of estimate --json, folders of "
            "reproduced studies; or one scenario and measured runs (iperf3, flent, FlowMonitor, CSV).",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for comparison.html and comparison.csv.")
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(metavar="OUTCOME", help="Outcome to list first; repeatable."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[SIDE:]a.b=value",
            help="Set a field of all scenarios or of one side: its name, the stem of its file or its letter "
            "(A, B, ...); repeatable.",
        ),
    ] = None,
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Add replications until it is known which scenario has the best mean of --of (goodput_bps).",
        ),
    ] = False,
    equal: Annotated[
        bool, typer.Option("--equal", help="Exit with 1 if anything differs by more than chance.")
    ] = False,
    replications: Replications = None,
    seed: Seed = None,
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    trust: Trust = None,
    as_json: AsJson = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Compare results: what changed in the setting, which outcomes differ, by how much, and what is noise.

    With a scenario and measured runs: goodput, RTT, retransmissions and loss, measured and simulated.

    Exit 1 if --until-decided leaves it open which scenario is best.
    """
    if (measured := cli_measured.split(results)) is not None:
        if of or until_decided:
            option = "--of" if of else "--until-decided"
            raise InputError(f"{option} has no effect with measured runs; remove it")
        with simulating(workers, scheduler, target) as here:
            same = cli_measured.compare_measured(
                *measured, out=out, set_=set_, as_json=as_json, quiet=quiet, replications=replications,
                seed=seed, target=here, large=yes,
            )  # fmt: skip
        if equal and not same:
            raise typer.Exit(1)
        return
    from netcarlo import compare as run
    from netcarlo.comparison.differences import FALSE_DISCOVERY_RATE
    from netcarlo.reports.comparison import wording
    from netcarlo.reports.comparison.page import comparison_page
    from netcarlo.reports.parts.write import write_all
    from netcarlo.schema import destination, output

    if out is not None:
        destination.check_folder(out, ["comparison.csv", "comparison.html"])
    with (
        console.progress("compare", quiet) as progress,
        simulating(workers, scheduler, target) as here,
    ):
        found = run(
            *results,
            of=of,
            values=console.values(set_),
            replications=replications,
            seed=seed,
            until_decided=until_decided,
            target=here,
            progress=progress,
            large=yes,
        )
    if out is not None:
        text = output.csv_text(found.table.reset_index())
        Earlier.check(out, "comparison.html", "", replace=True).say(quiet or as_json)
        write_all(out, {"comparison.csv": text, "comparison.html": comparison_page(found)})
    if as_json:
        labels = [side.label for side in found.sides]
        console.print_json(
            {
                "sides": [{"label": side.label, "kind": side.kind} for side in found.sides],
                "changes": found.changes.to_dict("index"),
                "rows": found.table.reset_index().to_dict("records"),
                "notes": list(found.notes),
                "outside_validated_range": found.outside,
                "leading": list(found.leading),
                **({} if found.winner is None else {"winner": found.winner.record(labels)}),
                "tested": found.tested,
                "false": FALSE_DISCOVERY_RATE,
                "confidence": found.confidence,
                "same": found.same,
            }
        )
    elif not quiet:
        for line in wording.headline(found).split(wording.LINE):
            console.echo(console.wrapped(line))
        console.echo("")
        _print(found, "comparison.csv has" if out else "with --out DIR comparison.csv has")
        console.echo(console.wrapped(wording.explanation(found)))
        for text in found.outside:
            console.say(text)
        if out is not None:
            console.say(f"{out / 'comparison.html'} and comparison.csv")
    if (equal and not found.same) or not found.decided:
        raise typer.Exit(1)


def _print(found: "Comparison", rest: str) -> None:
    from netcarlo.reports.comparison import wording

    if len(found.changes):
        changes = found.changes.rename(index=lambda field: field.removeprefix("paths.0."))
        console.print_table("Different settings", changes, lambda _, text: wording.said(text))
    left = 0
    for pair in found.pairs:
        table = found.of_pair(pair)
        of = f": {pair[1]} against {pair[0]}" if len(found.sides) > 2 else ""
        for title, verdicts in TABLES.items():
            part = table[table["verdict"].isin(verdicts)]
            if len(part) and (found.single or "differs" in verdicts):
                shown = wording.compact(found, part.head(MOST_ROWS), ends="differs" in verdicts)
                rows = [_called(row, *pair) for row in shown]
                left += max(len(part) - MOST_ROWS, 0)
                console.print_table(f"{title}{of}", _frame(rows), lambda _, text: str(text), wrap=False)
        equal = table[table["verdict"] == "equal"]
        if len(equal) == len(table):
            console.echo(console.wrapped(f"Compared: {pair[0]} and {pair[1]}."))
        elif found.single and len(equal):
            names = ", ".join(row["quantity"] for row in wording.compact(found, equal))
            console.echo(console.wrapped(f"Equal{of.replace(':', ',')}: {names}.") + "\n")
    if left:
        console.echo(f"{left} more rows; {rest} all rows.")
    for note in found.notes:
        console.echo(console.wrapped(f"Not compared: {note}."))


def _called(row: dict[str, str], baseline: str, other: str) -> dict[str, str]:
    """Return a row whose columns have the names of its sides."""
    names = {"baseline": baseline, "other": other}
    return {names.get(head, head): text for head, text in row.items()}


def _frame(rows: "list[dict[str, str]]") -> Any:
    import pandas as pd

    frame = pd.DataFrame(rows)
    return frame.set_index(frame.columns[0])
