"""The commands of stored sweeps: show their state, query, export, verify, explain and report them."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from netcarlo.cli import console, wide
from netcarlo.cli.console import AsJson, Trust, wrapped
from netcarlo.cli.earlier import Earlier, Replace
from netcarlo.errors import InputError, suggest

MOST_TABLES = 24
"""Maximum number of points of the axes whose sensitivity is printed."""

StoreUrl = Annotated[
    str, typer.Argument(metavar="STORE", help="Folder of a simulated sweep, or its fsspec URL.")
]


def status(store: StoreUrl, as_json: AsJson = False) -> None:
    """Show the state of a sweep: cells simulated, failed and missing; size, digest, runs."""
    from netcarlo.sweeps.analysis.decisions import answered
    from netcarlo.sweeps.store import growth
    from netcarlo.sweeps.store.store import Store

    opened = Store.open(store)
    scan, about, history = opened.scan(), opened.manifest["sweep"], growth.history(opened)
    done, failed = int(scan.done.sum()), int(scan.failed.sum())
    found: dict[str, Any] = {
        "name": about["name"],
        "cells": about["n_cells"],
        "done": done,
        "failed": failed,
        "missing": about["n_cells"] - done - failed,
        "files": scan.n_files,
        "damaged": scan.damaged,
        "bytes": scan.n_bytes,
        "digest": opened.digest(),
        "sweep_digest": about["digest"],
        "model_version": about["model_version"],
        "versions": opened.manifest["versions"],
        "runs": opened.runs(),
    }
    if (outside := opened.manifest.get("outside_validated_range")) is not None:
        found["outside_validated_range"] = outside
    if history:
        found["grown_from"] = history
    if about.get("auto"):
        counts = answered(opened.frame(["status", "answered_by", "because"]))
        found["answered"] = {", ".join(how): cells for how, cells in counts.items()}
    if as_json:
        console.print_json(found)
        return
    state = "not complete" if found["missing"] else "complete"
    console.echo(
        f"{found['name']} is {state}: {done} of {found['cells']} cells done, {failed} failed, "
        f"{found['missing']} missing" + ("; the same sweep command resumes" if found["missing"] else "")
    )
    console.echo(f"{found['files']} chunks, {console.size(found['bytes'])}; digest {found['digest']}")
    for was in history:
        words = "unchanged" if was["intact"] else "which has CHANGED"
        console.echo(f"grown from {was['cells']} cells; digest {was['digest']}, {words}")
    console.echo(f"netcarlo {found['versions'].get('netcarlo')}, models {found['model_version']}")
    if found.get("answered"):
        console.echo(f"answered by {answered_by(counts)}")
    if opened.outside:
        console.echo(opened.outside)
    for name, reason in found["damaged"].items():
        console.echo(f"damaged: {name}: {reason}")
    for one in found["runs"]:
        console.echo(_run(one))


def _run(record: dict[str, Any]) -> str:
    """Return a line about a run."""
    try:
        wall_s, packets = float(record["wall_s"]), float(record["packets"])
        speed = f"{console.large(packets / wall_s)} packets/s" if wall_s else ""
        phase = f"{record['phase']}, " if "phase" in record else ""
        return (
            f"run {record['started']}: {phase}{record['outcome']}, {record['cells']} cells, "
            f"{record['failed']} failed, {console.seconds(wall_s)}, {record['workers']}, {speed}"
        )
    except (KeyError, TypeError, ValueError):
        return "run: its record is damaged"


def query(
    store: StoreUrl,
    select: Annotated[str, typer.Argument(metavar='"SELECT ..."', help="SQL; tables: cells, replications.")],
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Query the results of a sweep in SQL (DuckDB)."""
    from netcarlo.schema.output import csv_text
    from netcarlo.sweeps.store.query import query as run
    from netcarlo.sweeps.store.store import Store

    frame = run(Store.open(store), select)
    if as_json:
        console.print_json(frame.to_dict("records"))
    elif as_csv:
        typer.echo(csv_text(frame), nl=False)
    else:
        console.echo(wide.text(frame, console.width()))


def export(
    store: StoreUrl,
    to: Annotated[Literal["csv", "parquet", "netcdf"], typer.Option(help="Format of the file.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Name of the file; default: STORE with a suffix.")
    ] = None,
) -> None:
    """Write the cells of a sweep to one file."""
    from netcarlo.schema import destination
    from netcarlo.sweeps.store.export import export as run
    from netcarlo.sweeps.store.store import Store

    out = out or _beside(store, {"netcdf": ".nc"}.get(to, f".{to}"))
    destination.check_file(out)
    run(Store.open(store), out, format=to)
    console.say(_written(out))


def rerun(
    store: StoreUrl,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Key of a cell, or its first digits.")],
    replication: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Simulate only this replication.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="SCENARIO.yaml", help="Write the scenario of the cell, for netcarlo trace."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print all outcomes, also those that are zero by construction.")
    ] = False,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Simulate one cell again and compare it with the store, bit by bit. Exit 1 if it fails or differs."""
    from netcarlo.cli import answer
    from netcarlo.schema import destination, output
    from netcarlo.schema import document as files
    from netcarlo.simulation.provenance import resolved
    from netcarlo.sweeps.execution.rerun import rerun as run
    from netcarlo.sweeps.store.store import Store

    if out is not None:
        destination.check_file(out)
    found = run(Store.open(store), key, replication=replication)
    if out is not None:
        output.write_text(out, files.yaml_text(resolved(found.scenario)))
    if as_json:
        console.print_json(
            {
                "key": found.stored["key"],
                "cell": found.stored["cell"],
                "equal": found.equal,
                "error": found.error,
                "table": found.table.to_dict("index"),
                "scenario": resolved(found.scenario),
            }
        )
    elif found.error:
        console.echo(f"Cell {found.stored['cell']} fails: {found.error}")
    else:
        answer.print_rerun(found, replication=replication, every=every)
    if out is not None:
        console.say(f"next: netcarlo trace {out} --replication {replication or 0} shows every packet")
    if found.error or found.equal is False:
        raise typer.Exit(1)


def sensitivity(
    store: StoreUrl,
    of: Annotated[str, typer.Option(metavar="OUTCOME", help="Outcome to explain.")] = "goodput_bps",
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="axis=value", help="Use only this value of an axis; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print which random inputs matter: Sobol indices of an outcome, at every point of the axes."""
    from netcarlo.sweeps.analysis.sensitivity import indices
    from netcarlo.sweeps.store.store import Store

    opened = Store.open(store)
    about = opened.manifest["sweep"]
    if about["draw"] is None:
        raise InputError(
            "the store has no random inputs; sensitivity needs a sweep with draw; use query instead"
        )
    of = _outcome(of, about["outcomes"])
    axes = [axis["name"] for axis in about["axes"]]
    columns = ["draw", "block", "seed", *axes, of]
    frame = _selected(opened.frame(columns), about["axes"], where or [])
    parts = frame.groupby(axes, sort=False) if axes else [((), frame)]
    if len(parts) > MOST_TABLES:
        raise InputError(
            f"the axes have {len(parts)} points; expected at most {MOST_TABLES}; "
            f"choose some with --where {axes[0]}={frame[axes[0]].iloc[0]}"
        )
    found = []
    for point, part in parts:
        table = indices(part, inputs=about["inputs"], of=of, draw=about["draw"])
        found.append((dict(zip(axes, point, strict=True)), table))
    if as_json:
        console.print_json(
            [{"of": of, "where": at, **t.attrs, "indices": t.to_dict("index")} for at, t in found]
        )
        return
    from netcarlo.reports.sweep import ranking

    for at, table in found:
        console.echo(wrapped(ranking.sentence(table, of=of, where=at)))
        console.print_table("", ranking.rows(table), lambda _, text: str(text), wrap=False)
    console.echo(wrapped(ranking.explanation(found[0][1])))


def report(
    store: StoreUrl,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Name of the file; default: STORE with a suffix.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a figure per outcome (SVG, PNG, PDF) instead.")
    ] = None,
    size: Annotated[str, typer.Option(metavar="'W x H mm'", help="Size of --figures.")] = "85x60 mm",
    x: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the x axis of --figures.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the lines of --figures.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="axis=value", help="Use only this value of an axis in --figures; repeatable."),
    ] = None,
    replace: Replace = False,
) -> None:
    """Write the report of a sweep, one HTML page that works offline; or its figures for a paper."""
    from netcarlo.reports.sweep.page import sweep_page
    from netcarlo.schema import destination, output
    from netcarlo.sweeps.store.store import Store

    if figures is not None:
        _write_figures(Store.open(store), figures, size, x, by, where or [])
        return
    out = out or _beside(store, ".html")
    destination.check_file(out)
    opened = Store.open(store)
    about = opened.manifest["sweep"]
    Earlier.check(out.parent, out.name, about["name"], replace=replace)
    page = sweep_page(
        opened.manifest, opened.frame(), store=store,
        replications=opened.replications() if about["keep_replications"] else None,
        cheap=opened.screened() if about.get("auto") else None, runs=opened.runs(),
    )  # fmt: skip
    output.write_text(out, page)
    console.say(_written(out))


def _write_figures(
    store: Any, folder: Path, size: str, x: str | None, by: str | None, where: list[str]
) -> None:  # fmt: skip
    from netcarlo.reports import images
    from netcarlo.reports.sweep.curves import curves

    width, height = images.size(size)
    about = store.manifest["sweep"]
    chosen = _values(about["axes"], where)
    outcomes = about["outcomes"]
    drawn = curves(store, x, outcomes[0], by, chosen)  # refuse wrong names before a browser starts
    with images.browser():
        for k, of in enumerate(outcomes, 1):
            images.write({of: drawn}, folder, width, height)
            console.say(f"{of}.svg, .png and .pdf (figure {k} of {len(outcomes)}{_nothing(drawn)})")
            if k < len(outcomes):
                drawn = curves(store, x, outcomes[k], by, chosen)
    files = len(outcomes) * len(images.FORMATS)
    console.say(f"{files} files in {folder}: {', '.join(outcomes)}, each as SVG, PNG and PDF")


def _nothing(drawn: Any) -> str:
    """Return a note on a figure that shows only zeros; else empty."""
    values = (value for trace in drawn["data"] for value in trace.get("y", ()))
    return "" if any(values) else ", 0 everywhere"


def answered_by(cells: dict[tuple[str, str], int]) -> str:
    """Return the number of cells by the model that answered them, with the reason."""
    words = {"sample": "sampled", "doubt": "in doubt", "unknown": "unknown to cheap models", "clear": "clear"}
    total = sum(cells.values())
    parts = [
        f"{fidelity}: {n} ({100 * n / total:.0f} %, {words[why]})" for (fidelity, why), n in cells.items()
    ]
    return ", ".join(parts)


def _outcome(name: str, outcomes: list[str]) -> str:
    """Return the full name of an outcome: `goodput` is short for `goodput_bps`. Raises InputError."""
    if name in outcomes:
        return name
    begin = [outcome for outcome in outcomes if outcome.startswith(name)]
    if len(begin) == 1:
        return begin[0]
    raise InputError(f"--of {name} is not an outcome of the sweep; {suggest(name, begin or outcomes)}")


def _selected(frame: Any, axes: list[dict[str, Any]], where: list[str]) -> Any:
    """Return the rows with the given values of axes; numbers may have units. Raises InputError."""
    for name, value in _values(axes, where).items():
        frame = frame[frame[name] == value]
    return frame


def _values(axes: list[dict[str, Any]], where: list[str]) -> dict[str, Any]:
    """Return the values of axes in texts such as `loss=1%`. Raises InputError."""
    from netcarlo.schema.document import read_value

    found: dict[str, Any] = {}
    known = {axis["name"]: axis for axis in axes}
    for text in where:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or name not in known:
            raise InputError(f"--where '{text}' does not name an axis; {suggest(name, known)}")
        choices = known[name]["values"]
        if known[name]["numeric"]:
            number = _number(value, known[name]["unit"], text)
            chosen = [v for v in choices if math.isclose(v, number, rel_tol=1e-6)]
        else:
            chosen = [v for v in choices if str(v) == str(read_value(value))]
        if not chosen:
            allowed = ", ".join(str(v) for v in choices)
            raise InputError(f"--where {text} is not a value of the axis; expected one of {allowed}")
        found[name] = chosen[0]
    return found


def _number(value: str, unit: str, text: str) -> float:
    from netcarlo.schema import units

    try:
        return float(value)
    except ValueError:
        pass
    try:
        return units.parse(value, units.Dimension("a value", unit, f"3 {unit}".strip()))
    except InputError as error:
        raise InputError(f"--where {text}: '{value}' {error}") from None


def _written(out: Path) -> str:
    """Return a line about a file that was written: with its size, unless it is a pipe or a device."""
    return f"{out}: {console.size(out.stat().st_size)}" if out.is_file() else f"{out}: written"


def _beside(store: str, suffix: str) -> Path:
    """Return a file in the current folder with the name of a store."""
    name = store.rstrip("/").rpartition("/")[2] or "sweep"
    return Path(name if name not in (".", "..") else "sweep").with_suffix(suffix)
