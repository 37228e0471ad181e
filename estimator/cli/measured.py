"""The command `compare` for a scenario and measured runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netcarlo.cli import console
from netcarlo.cli.earlier import Earlier
from netcarlo.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from netcarlo.comparison.measured import Measured


def split(given: list[str]) -> tuple[str, list[str]] | None:
    """Return the scenario and the measured runs among the arguments of `compare`; None without measured runs.

    Raises InputError unless all but one of them are measured.
    """
    from netcarlo.schema import kinds

    found = {name: kinds.kind_of(name) if "://" not in name else "" for name in given}
    runs = [
        name for name, kind in found.items() if kind.startswith(kinds.MEASURED) or kind == kinds.REFERENCE
    ]
    others = [name for name in given if name not in runs]
    if not runs:
        return None
    if len(others) != 1 or found[others[0]] not in (kinds.SCENARIO, ""):
        named = ", ".join(f"{name} is {kind}" for name, kind in found.items() if kind)
        raise InputError(
            f"measured runs are compared with one scenario ({named}); write netcarlo compare SCENARIO.yaml "
            f"{' '.join(runs)}"
        )
    return others[0], runs


def compare_measured(
    scenario: str, runs: list[str], *, out: Path | None, set_: list[str] | None, as_json: bool, quiet: bool,
    **options: Any,
) -> bool:  # fmt: skip
    """Compare measured runs with a scenario, print or write the result, and return whether they agree."""
    from netcarlo import compare_measured as run
    from netcarlo.reports.comparison import measured_wording as wording
    from netcarlo.reports.comparison.measured import FILES, measured_page
    from netcarlo.reports.parts.write import write_all
    from netcarlo.schema import destination, output

    if out is not None:
        destination.check_folder(out, [*FILES])
    with console.progress("compare", quiet) as progress:
        found = run(
            scenario,
            *runs,
            values=console.values(set_),
            over_time=out is not None,
            progress=progress,
            **options,
        )
    if out is not None:
        text = output.csv_text(found.table.reset_index())
        Earlier.check(out, FILES[0], "", replace=True).say(quiet or as_json)
        write_all(out, dict(zip(FILES, (measured_page(found), text), strict=True)))
    if as_json:
        console.print_json(_record(found))
    elif not quiet:
        several = len(found.runs) > 1
        console.echo(console.wrapped(wording.headline(found)))
        console.echo(console.wrapped(f"Measured: {_names(found)}. Simulated: {_simulated(found)}."))
        console.echo("")
        _print(wording.rows(found).drop(columns="difference"), heads={"verdict": "inside" if several else ""})
        console.echo("")
        console.echo(console.wrapped(wording.explanation(found)))
        for note in found.notes:
            console.echo(console.wrapped(f"{note}."))
        if left := wording.left_out(found):
            console.echo(console.wrapped(f"Not measured. {'; '.join(left)}."))
        if found.outside:
            console.say(found.outside)
        if out is not None:
            console.say(f"{out / FILES[0]} and {FILES[1]}")
        else:
            console.echo("Page with the curves over time: --out DIR.  JSON: --json.")
    return found.same


def _print(table: "pd.DataFrame", *, heads: dict[str, str]) -> None:
    """Print a table of texts with two spaces between columns; all but the first are aligned to the right."""
    columns = [["", *map(str, table.index)]]
    columns += [[heads.get(str(name), str(name)), *map(str, table[name])] for name in table]
    widths = [max(map(len, column)) for column in columns]
    for cells in zip(*columns, strict=True):
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        console.echo("  ".join([cells[0].ljust(widths[0]), *aligned[1:]]).rstrip())


def _simulated(found: "Measured") -> str:
    from netcarlo.reports.parts.simulated import simulated

    return simulated(found.scenario, found.replications)


def _names(found: "Measured") -> str:
    """Return the names of the files, and the programs that wrote them."""
    names = list(dict.fromkeys(Path(run.source).name for run in found.runs))
    programs = ", ".join(dict.fromkeys(run.program for run in found.runs))
    shown = ", ".join(names) if len(names) < 4 else f"{len(names)} runs"
    return f"{shown} ({programs})"


def _record(found: "Measured") -> dict[str, Any]:
    """Return the result as data for JSON."""
    return {
        "same": found.same,
        "runs": [
            {
                "source": run.source, "program": run.program, "start_s": run.start_s, "end_s": run.end_s,
                "values": dict(run.values), "setting": dict(run.setting), "missing": dict(run.missing),
                "flows": [{"name": flow.name, **flow.values} for flow in run.flows],
                "curves": {
                    name: {column: getattr(curve, column).tolist() for column in curve._fields}
                    for name, curve in run.curves.items()
                },
            }
            for run in found.runs
        ],
        "quantities": found.table.reset_index().to_dict("records"),
        "window_s": None if found.window is None else [*found.window],
        "notes": list(found.notes),
        "not_compared": found.missing,
        "outside_validated_range": found.outside,
        "replications": found.replications,
        "provenance": dict(found.provenance),
    }  # fmt: skip
