"""The command line.

Exit codes: 0 done, 1 out of tolerance or not all done, 2 bad input, 3 the machine is full or a
device failed, 130 interrupted.
"""

import math
import signal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from netcarlo.cli import compare as cli_compare
from netcarlo.cli import console
from netcarlo.cli import devices as cli_devices
from netcarlo.cli import live as cli_live
from netcarlo.cli import new as cli_new
from netcarlo.cli import plan as cli_plan
from netcarlo.cli import schema as cli_schema
from netcarlo.cli import sweeps as cli_sweeps
from netcarlo.cli import warm as cli_warm
from netcarlo.cli.console import AsJson, Quiet, Replications, Seed, Set, Target, Trust, Yes
from netcarlo.errors import InputError, MachineError
from netcarlo.schema import destination


class _Commands(TyperGroup):
    """The commands; bad input is one line on stderr and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console.interrupted()
        except InputError as error:
            for line in error.lines:
                console.say(f"error: {line}")
        except (MachineError, MemoryError) as error:
            short = "not enough memory; take fewer replications, or a machine with more"
            console.say(f"error: {error if isinstance(error, MachineError) else short}")
            raise typer.Exit(3) from None
        except Exception as error:
            if not hasattr(error, "format_message"):  # not about the command line
                raise
            text = error.format_message().replace("\n", " ").rstrip(".")
            console.say(f"error: {text}; see netcarlo --help")
        raise typer.Exit(2)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"netcarlo {version('netcarlo')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """How well will this transport do on networks like these?"""


@app.command()
def reproduce(
    studies: Annotated[list[str] | None, typer.Argument(help="Studies; all unless given.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the reports.")] = Path(
        "netcarlo-studies"
    ),
    replications: Annotated[int | None, typer.Option(min=1, help="Per cell, instead of the study's.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed, instead of the study's.")] = None,
    target: Target = "auto",
    check: Annotated[bool, typer.Option("--check", help="Exit 1 outside the declared tolerance.")] = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Simulate published studies and set every published number beside ours."""
    from netcarlo import reproduce as run
    from netcarlo.reports.study.folder import FILES, write_study
    from netcarlo.reports.study.summary import summary
    from netcarlo.studies.study import names

    found = []
    with console.progress("reproduce", quiet) as progress:
        evaluations = run(
            studies or [],
            replications=replications,
            seed=seed,
            target=target,
            progress=progress,
            large=yes,
        )
        for name in studies or names():
            destination.check_folder(out / name, FILES)
        destination.check_folder(out, ["index.html"])
        for evaluation in evaluations:
            write_study(evaluation, out)
            found.append(evaluation)
    if not quiet:
        Console().print(summary(found, out=out))
    if check and not all(evaluation.passed for evaluation in found):
        raise typer.Exit(1)


@app.command()
def calibrate(
    study: Annotated[str, typer.Argument(help="A study that declares a calibration.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the reports; written is STUDY/calibration in it.")
    ] = Path("netcarlo-studies"),
    target: Target = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a study's free parameters to its published numbers; say which of them the numbers determine."""
    from netcarlo.calibration.calibrate import calibrate as run
    from netcarlo.reports.parts.write import write_all
    from netcarlo.reports.study.calibration import calibration_page, summary
    from netcarlo.studies import study as studies

    loaded = studies.load(study)
    folder = out / study / "calibration"
    destination.check_folder(folder, ["calibration.json", "calibration.html"])
    with console.progress(f"calibrate {study}", quiet) as progress:
        found = run(loaded, target=target, progress=progress)
    text = found.model_dump_json(indent=1) + "\n"
    write_all(folder, {"calibration.json": text, "calibration.html": calibration_page(found, loaded)})
    if as_json:
        typer.echo(text)
    elif not quiet:
        Console().print(summary(found, loaded))
        console.say(f"{folder / 'calibration.html'} and calibration.json")


@app.command()
def estimate(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.yaml")],
    set_: Set = None,
    precision: Annotated[
        str | None,
        typer.Option(metavar="1%", help="Replicate until the half-width is this share of the mean."),
    ] = None,
    of: Annotated[str, typer.Option(help="The outcome that must be that precise.")] = "goodput_bps",
    goal: Annotated[
        list[str] | None, typer.Option(metavar="'outcome >= value'", help="Estimate how often this holds.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(metavar="formula|fluid", help="Sharpen the means by this cheap model of each network."),
    ] = None,
    replications: Replications = None,
    seed: Seed = None,
    target: Target = "auto",
    trust: Trust = None,
    as_json: AsJson = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the outcomes of a scenario, with 95 % intervals.  Exit 1 if the precision is not reached."""
    from netcarlo import estimate as run
    from netcarlo import load_scenario
    from netcarlo.estimation import goals as goal_texts
    from netcarlo.simulation import fidelity, validated

    loaded = load_scenario(scenario, values=console.values(set_))
    with console.progress(loaded.name, quiet) as progress:
        found = run(
            loaded, replications=replications, seed=seed, precision=precision, of=of, goals=goal or [],
            control=control, target=target, progress=progress, large=yes,
        )  # fmt: skip
    if as_json:
        console.print_json(
            {
                "outcomes": found.table.to_dict("index"),
                "goals": found.goals.to_dict("index"),
                "precise": found.precise,
                "known_bias": fidelity.known_bias(found.scenario),
                "outside_validated_range": validated.record(found.scenario),
                "saving": found.saving and found.saving.record(),
                "warnings": [*found.warnings],
                "provenance": found.provenance,
            }
        )
    elif not quiet:
        seen = found.table[found.table["n"] > 0]
        title = f"{loaded.name}: {len(found.outcomes.frame)} replications"
        console.print_table(title, seen[list(console.STATISTICS)])
        if len(found.goals):
            console.print_table("How often a goal is met", found.goals)
        if found.saving is not None:
            console.print_table(f"What the control by {control} saved", found.saving.table)
            console.say(found.saving.sentence(of))
        asked = [of, *(goal_texts.parse(text).outcome for text in goal or [])]
        if (bias := fidelity.sentence(found.scenario, asked)) is not None:
            console.say(bias)
        if found.outside:
            console.say(found.outside)
        for text in found.warnings:
            console.say(f"warning: {text}")
    if not found.precise:
        console.say(f"precision {loaded.precision or precision} not reached; raise --replications")
        raise typer.Exit(1)


@app.command()
def validate(
    reference: Annotated[Path, typer.Argument(metavar="REFERENCE.csv")],
    mapping: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A mapping, or your own FILE.yaml; the file's name unless given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="ROWS.csv", help="Write a row per scenario and metric.")
    ] = None,
    target: Target = "auto",
    trust: Trust = None,
    as_json: AsJson = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Run every scenario of a reference file and print the errors per class."""
    from netcarlo import validate as run
    from netcarlo.schema import output

    if out is not None:
        destination.check_file(out)
    with console.progress(reference.name, quiet) as progress:
        found = run(reference, mapping=mapping, target=target, progress=progress, large=yes)
    if out is not None:
        output.write_text(out, output.csv_text(found.rows))
    if as_json:
        classes = found.classes.reset_index().to_dict("records")
        console.print_json({"reference": found.reference, "mapping": found.mapping, "classes": classes})
    elif not quiet:
        for metric, table in found.classes.groupby(level="metric", sort=False):
            _print_errors(str(metric), table.droplevel("metric"))


@app.command()
def trace(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.yaml")],
    replication: Annotated[int, typer.Option(min=0, help="Which replication.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of trace.csv and trace.html.")] = Path(),
    set_: Set = None,
    seed: Seed = None,
    trust: Trust = None,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Run one replication alone and write what happened over time, as a table and a page."""
    from netcarlo import load_scenario
    from netcarlo import trace as run
    from netcarlo.reports import trace_page
    from netcarlo.reports.parts.write import write_all
    from netcarlo.simulation import validated
    from netcarlo.simulation.interruptions import interruptions
    from netcarlo.simulation.trace import per_second

    destination.check_folder(out, ["trace.csv", "trace.html"])
    values = console.values(set_) | ({} if seed is None else {"seed": seed})
    loaded = load_scenario(scenario, values=values)
    with console.progress(loaded.name, quiet):
        traced = run(loaded, replication=replication, large=yes)
    title = f"{loaded.name}, seed {loaded.seed}, replication {replication}"
    page = trace_page(
        traced.frame, title,
        scenario=loaded, outcomes=traced.outcomes.frame,
        interruptions=interruptions(loaded, replication=replication),
        rates=per_second(loaded, traced.frame, replication=replication),
    )  # fmt: skip
    write_all(out, {"trace.csv": traced.frame.to_csv(index=False), "trace.html": page})
    if not quiet:
        console.print_table(title, traced.outcomes.frame.T.rename(columns=str).dropna())
        if outside := validated.sentence(loaded):
            console.say(outside)
        console.say(f"{len(traced.frame)} events in {out / 'trace.csv'} and {out / 'trace.html'}")


_OTHERS = (
    cli_plan.plan, cli_live.live, cli_compare.compare, cli_new.new, cli_devices.devices, cli_schema.schema,
    cli_warm.warm,
)  # fmt: skip
for command in (*cli_sweeps.COMMANDS, *_OTHERS):
    app.command()(command)


def main() -> None:
    """Run the command line; an interrupt ends it with exit code 130 and leaves no traceback."""
    console.show_notes()
    console.prepare_streams()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where a parent process ignored it, too
    try:
        with console.printed():
            app()
    except KeyboardInterrupt:
        console.interrupted()


def _print_errors(metric: str, classes: Any) -> None:
    percent = {name: f"{name} %" for name in ("mean", "median", "p90", "worst", "bias")}
    rest = {"compared": "rows", "absolute_p90": "p90 abs", "z_rms": "z rms"}
    table = classes[["compared", *percent, "absolute_p90", "z_rms"]].rename(columns=percent | rest)

    def show(column: str, value: float) -> str:
        share = column.endswith("%") and math.isfinite(value)
        return f"{100 * value:.3f}" if share else console.number(value)

    console.print_table(f"{metric}: relative errors", table, show)


if __name__ == "__main__":
    main()
