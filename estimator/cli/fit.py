"""The command `netcarlo fit`: fields of a scenario from measured runs."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Quiet, ScenarioFile, Set, Target, Trust
from netcarlo.cli.earlier import Earlier, Replace
from netcarlo.cli.workers import Scheduler, Workers, simulating

if TYPE_CHECKING:
    from netcarlo.calibration.fit.result import Fitted

FILES = ("fit.html", "fit.json")
"""Files of a fit that is written into a folder."""


def fit(
    scenario: ScenarioFile,
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Measured runs: iperf3, flent, FlowMonitor or CSV.")
    ],
    free: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'a.b=LOW..HIGH'",
            help="Field to fit, and its range. Default: rate, delay, queue and loss of the slowest hop.",
        ),
    ] = None,
    effort: Annotated[
        float, typer.Option(min=0.1, max=100, metavar="N", help="Factor of the number of candidates.")
    ] = 1.0,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the scenario with the fitted values.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for fit.html and fit.json; an interrupted fit continues."),
    ] = None,
    replace: Replace = False,
    set_: Set = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed.")] = 1,
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    trust: Trust = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit fields of a scenario, such as rate, delay, queue and loss, to measured runs."""
    from netcarlo import fit as run
    from netcarlo import load_scenario
    from netcarlo.calibration.fit.fit import JOURNAL
    from netcarlo.measurements import read
    from netcarlo.reports.parts.write import write_all
    from netcarlo.schema import destination, output

    if out is not None:
        destination.check_folder(out, (*FILES, JOURNAL))
    if write is not None:
        destination.check_file(write)
    values = console.values(set_)
    loaded = load_scenario(scenario, values=values)
    earlier = Earlier.check(out, FILES[0], f"Fit of {loaded.name}", replace=replace)
    measured = [one for file in runs for one in read(file)]
    for text in _differences(loaded, measured):
        console.say(f"warning: {text}")
    reached = (0, 0)
    try:
        with console.progress("fit", quiet) as show, simulating(workers, scheduler, target) as here:

            def progress(done: int, total: int) -> None:
                nonlocal reached
                reached = (done, total)
                show(done, total)

            found = run(
                loaded, measured, free=free or [], seed=seed, effort=effort, target=here, progress=progress,
                folder=out,
            )  # fmt: skip
    except KeyboardInterrupt:
        done, total = reached
        when = f"after {done:,} of {total:,} replications" if total else "before anything was simulated"
        if out is None:
            remedy = "nothing was written; with --out DIR the same command continues"
        else:
            remedy = f"they are in {out}, and the same command continues" if total else "nothing was written"
        console.say(f"interrupted {when}; {remedy}")
        console.leave(130)
    command = shlex.join(["netcarlo", *sys.argv[1:]])
    if write is not None:
        output.write_text(write, _yaml(scenario, values, found, command))
    if out is not None:
        from netcarlo.reports.fit.page import fit_page

        text = console.json_text(found.record()) + "\n"
        write_all(out, {"fit.html": fit_page(found, command=command), "fit.json": text})
        earlier.say(quiet or as_json)
    if as_json:
        console.print_json(found.record())
    elif not quiet:
        _print(found, out=out, write=write)


def _print(found: "Fitted", *, out: Path | None, write: Path | None) -> None:
    from netcarlo.reports.fit import wording

    console.echo(console.wrapped(wording.answer(found)))
    heads = ("field", "fitted", "95 % interval", "searched")
    rows = [
        (one.free.name, wording.value(one), wording.interval(one), wording.searched(one))
        for one in found.parameters
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    console.echo("")
    for row in (heads, *rows):
        console.echo("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    console.echo("")
    for text in [*wording.remarks(found), wording.coverage()]:
        console.echo(console.wrapped(text))
    hints = [f"Page: {out / FILES[0]}." if out else "Page: --out DIR."]
    hints.append(f"Scenario: {write}." if write else "Scenario with these values: --write FILE.")
    console.echo(console.wrapped("  ".join([*hints, "JSON: --json."])))


def _yaml(path: Path, values: dict[str, Any], found: "Fitted", command: str) -> str:
    """Return the scenario file with the fitted values; comments of the file are lost."""
    from netcarlo.reports.fit import wording
    from netcarlo.schema import document, kinds
    from netcarlo.schema.names import with_options

    data, _ = with_options(kinds.read(path, kinds.SCENARIO), values | found.settings)
    lines = [command, wording.answer(found), *wording.remarks(found)]
    head = "".join(f"# {line}\n" for text in lines for line in console.wrapped(text, margin=2).splitlines())
    return head + document.yaml_text(data)


def _differences(scenario: Any, measured: Any) -> list[str]:
    """Return how measured runs differ from the scenario in what their files state."""
    ours = scenario.transport.given("congestion_control")
    ours = str(ours or scenario.transport.protocol)
    found = []
    for run in measured:
        theirs = run.setting.get("congestion control", "")
        if theirs and theirs not in (ours, f"linux_{ours}"):
            found.append(f"{run.source}: was measured with {theirs}, the scenario has {ours}")
        flows = run.setting.get("flows", "1")
        if flows != "1" and scenario.network.one_flow:
            found.append(f"{run.source}: has {flows} flows, the scenario has one")
    return found
