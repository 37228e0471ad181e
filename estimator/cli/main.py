"""The command line.

Exit codes: 0 done, 1 out of tolerance or not all done, 2 bad input, 3 the machine is full or a
device failed, 130 interrupted.
"""

import math
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from netcarlo.cli import availability as cli_availability
from netcarlo.cli import compare as cli_compare
from netcarlo.cli import console, help, stores, usage
from netcarlo.cli import devices as cli_devices
from netcarlo.cli import fit as cli_fit
from netcarlo.cli import importing as cli_importing
from netcarlo.cli import live as cli_live
from netcarlo.cli import new as cli_new
from netcarlo.cli import plan as cli_plan
from netcarlo.cli import schema as cli_schema
from netcarlo.cli import sweeps as cli_sweeps
from netcarlo.cli import warm as cli_warm
from netcarlo.cli.console import AsJson, Quiet, Replications, ScenarioFile, Seed, Set, Target, Trust, Yes
from netcarlo.cli.earlier import Earlier, Replace
from netcarlo.cli.help import Entry
from netcarlo.cli.workers import Scheduler, Workers, simulating
from netcarlo.errors import InputError, MachineError
from netcarlo.schema import destination


class _Commands(help.Group):
    """The commands. Bad input is reported in lines on stderr, with exit code 2."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Return the context of a call; a wrong option of `netcarlo` itself is one line."""
        try:
            return super().make_context(*args, **extra)
        except Exception as error:
            if not hasattr(error, "format_message") or "NoArgs" in type(error).__name__:  # prints the help
                raise
            console.say(f"error: {usage.said(error)}")
            sys.exit(2)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console.interrupted()
        except InputError as error:
            for line in error.lines:
                console.say(f"error: {line}")
        except (MachineError, MemoryError) as error:
            short = "not enough memory; reduce replications, or use a machine with more memory"
            console.say(f"error: {error if isinstance(error, MachineError) else short}")
            raise typer.Exit(3) from None
        except Exception as error:
            if not hasattr(error, "format_message"):  # not an error of the command line
                raise
            if error.format_message():  # otherwise the help has been printed
                console.say(f"error: {usage.said(error)}")
        raise typer.Exit(2)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Begin with: netcarlo new path, then netcarlo estimate path.yaml",
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
    """Estimate the performance of transport protocols on simulated networks, with confidence intervals."""


def reproduce(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY...", help="Names of studies, or folders of your own; default: all names."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the reports.")] = Path(
        "netcarlo-studies"
    ),
    replications: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Replications per cell; default: as in the study."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Seed; default: as in the study.")
    ] = None,
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a result is outside the declared tolerance.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check all files of the studies; simulate nothing.")
    ] = False,
    trust: Trust = None,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Simulate published studies and compare every published number with the simulated one."""
    if dry_run:
        return _checked(studies or [], quiet=quiet)
    from netcarlo import reproduce as run
    from netcarlo.reports.study.folder import FILES, write_study
    from netcarlo.reports.study.summary import summary
    from netcarlo.studies.study import load
    from netcarlo.studies.study import names as known

    found = []
    with (
        console.progress("reproduce", quiet) as progress,
        simulating(workers, scheduler, target) as here,
    ):
        evaluations = run(
            studies or [],
            replications=replications,
            seed=seed,
            target=here,
            progress=progress,
            large=yes,
        )
        for name in studies or known():
            destination.check_folder(out / (name if name in known() else load(name).name), FILES)
        destination.check_folder(out, ["index.html"])
        for evaluation in evaluations:
            write_study(evaluation, out)
            found.append(evaluation)
    if not quiet:
        Console().print(summary(found, out=out))
    if check and not all(evaluation.passed for evaluation in found):
        raise typer.Exit(1)


def _checked(studies: list[str], *, quiet: bool) -> None:
    """Check studies without simulation, and say what would be simulated."""
    from netcarlo.studies.reproduce import chosen_studies

    for study in chosen_studies(studies):
        cells = len([*study.cells()])
        claims = len(study.description.claims)
        if not quiet:
            console.say(
                f"{study.name}: no faults; published numbers: {len(study.published)}, cells: {cells}, "
                f"replications of each: {study.description.replications}, claims in study.yaml: {claims}"
            )


def calibrate(
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help="Study that declares a calibration, or its folder.")
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder for the reports; results are in DIR/STUDY/calibration."),
    ] = Path("netcarlo-studies"),
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit the free parameters of a study to its published numbers; report which are determined."""
    from netcarlo.calibration.calibrate import calibrate as run
    from netcarlo.reports.parts.write import write_all
    from netcarlo.reports.study.calibration import calibration_page, summary
    from netcarlo.studies import study as studies

    loaded = studies.load(study)
    folder = out / loaded.name / "calibration"
    destination.check_folder(folder, ["calibration.json", "calibration.html"])
    with (
        console.progress(f"calibrate {loaded.name}", quiet) as progress,
        simulating(workers, scheduler, target) as here,
    ):
        found = run(loaded, target=here, progress=progress)
    text = found.model_dump_json(indent=1) + "\n"
    write_all(folder, {"calibration.json": text, "calibration.html": calibration_page(found, loaded)})
    if as_json:
        typer.echo(text)
    elif not quiet:
        Console().print(summary(found, loaded))
        console.say(f"{folder / 'calibration.html'} and calibration.json")


def estimate(
    scenario: ScenarioFile,
    set_: Set = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="1%", help="Add replications until half the 95 % interval is this fraction of the mean."
        ),
    ] = None,
    of: Annotated[
        str, typer.Option(metavar="OUTCOME", help="Outcome that --precision refers to.")
    ] = "goodput_bps",
    goal: Annotated[
        list[str] | None,
        typer.Option(metavar="'outcome >= value'", help="Estimate how often this holds; repeatable."),
    ] = None,
    probability: Annotated[
        str | None,
        typer.Option(
            metavar="95%", help="Stop when it is decided whether every --goal holds with this probability."
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="auto|none|formula|fluid",
            help="Narrow the intervals with this cheap model as control variate; auto with --precision.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which control variates were used, and what they saved.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Print all outcomes, also those that are zero by construction.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for estimate.html and outcomes.csv.")
    ] = None,
    replace: Replace = False,
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
    """Estimate the outcomes of a scenario, with 95 % intervals.

    Exit 1 if a --goal stays undecided or the --precision is not reached.
    """
    from netcarlo import estimate as run
    from netcarlo import load_scenario
    from netcarlo.cli import answer
    from netcarlo.estimation import goals as goal_texts
    from netcarlo.networks import loaded as loaded_files
    from netcarlo.simulation import conversions, fidelity, validated

    if out is not None:
        destination.check_folder(out, answer.FILES)
    loaded = load_scenario(scenario, values=console.values(set_))
    earlier = Earlier.check(out, answer.FILES[0], loaded.name, replace=replace)
    with (
        console.progress(loaded.name, quiet) as progress,
        simulating(workers, scheduler, target) as here,
    ):
        found = run(
            loaded, replications=replications, seed=seed, precision=precision, of=of, goals=goal or [],
            probability=probability, control=control, target=here, progress=progress, large=yes,
        )  # fmt: skip
    if out is not None:
        answer.write(found, out, command=shlex.join(["netcarlo", *sys.argv[1:]]))
        earlier.say(quiet or as_json)
    if as_json:
        console.print_json(
            {
                "outcomes": found.table.to_dict("index"),
                "goals": found.goals.to_dict("index"),
                **({"busiest_link": found.by_link().index[0]} if found.parts else {}),
                **{part: table.reset_index().to_dict("records") for part, table in found.parts.items()},
                "precise": found.precise,
                "known_bias": fidelity.known_bias(found.scenario),
                "outside_validated_range": validated.record(found.scenario),
                "saving": found.saving and found.saving.record(),
                "explanation": found.explanation,
                "warnings": [*found.warnings],
                "provenance": found.provenance,
            }
        )
    elif not quiet:
        answer.print_estimate(found, every=every, out=out)
        for text in (*loaded_files.sentences(found.scenario), *conversions.sentences(found.scenario)):
            console.say(text)
        if found.saving is not None and (control is not None or explain):
            console.print_table(f"Control variate: {found.saving.control}", found.saving.table)
            console.say(found.saving.sentence(of))
        if explain:
            console.say(found.explanation)
        asked = [of, *(goal_texts.parse(text).outcome for text in goal or [])]
        if (bias := fidelity.sentence(found.scenario, asked)) is not None:
            console.say(bias)
        if found.outside:
            console.say(found.outside)
        for text in found.warnings:
            console.say(f"warning: {text}")
    if not found.decided:
        console.say(f"not decided after {len(found.outcomes.frame):,} replications; raise --replications")
        raise typer.Exit(1)
    if not found.precise:
        console.say(f"precision {loaded.precision or precision} not reached; raise --replications")
        raise typer.Exit(1)


def validate(
    reference: Annotated[Path, typer.Argument(metavar="REFERENCE.csv", help="Table of measurements.")],
    mapping: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Built-in mapping, or your FILE.yaml; default: the name of the reference."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|ROWS.csv", help="Folder for validation.html and rows.csv, or the name of a CSV file."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print all rows.")] = False,
    replace: Replace = False,
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    trust: Trust = None,
    as_json: AsJson = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Simulate every scenario of a reference; print measured and simulated values, and errors by class."""
    from netcarlo import validate as run
    from netcarlo.reports.parts.write import write_all
    from netcarlo.reports.validation.page import FILES, rows, title, validation_page
    from netcarlo.schema import output

    table = out is not None and out.suffix == ".csv"
    if out is not None:
        destination.check_file(out) if table else destination.check_folder(out, [*FILES])
    earlier = Earlier.check(None if table else out, FILES[0], title(reference), replace=replace)
    with (
        console.progress(reference.name, quiet) as progress,
        simulating(workers, scheduler, target) as here,
    ):
        found = run(reference, mapping=mapping, target=here, progress=progress, large=yes)
    if out is not None and table:
        output.write_text(out, output.csv_text(found.rows))
    elif out is not None:
        texts = (validation_page(found), output.csv_text(found.rows))
        earlier.say(quiet or as_json)
        write_all(out, dict(zip(FILES, texts, strict=True)))
    if as_json:
        console.print_json(
            {
                "reference": found.reference,
                "mapping": found.mapping,
                "classes": found.classes.reset_index().to_dict("records"),
                "rows": found.rows.to_dict("records"),
            }
        )
    elif not quiet:
        console.echo(console.wrapped(found.sentence))
        values = rows(found)
        shown = values if every else values[:MOST_ROWS]
        of = f" ({len(shown)} of {len(values)} rows; all of them: --all)" if len(shown) < len(values) else ""
        console.print_table(f"Measured and simulated{of}", shown, lambda _, text: text, wrap=False)
        for metric, classes in found.classes.groupby(level="metric", sort=False):
            _print_errors(str(metric), classes.droplevel("metric"))
        if out is not None and not table:
            console.say(f"{out / FILES[0]} and {FILES[1]}")


def trace(
    scenario: ScenarioFile,
    replication: Annotated[int, typer.Option(min=0, metavar="N", help="Number of the replication.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for trace.csv and trace.html.")] = Path(),
    pcap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write its packets as pcapng, for Wireshark.")
    ] = None,
    pcap_at: Annotated[
        str, typer.Option(metavar="END", help="Place of the packet capture: sender or receiver.")
    ] = "sender",
    every: Annotated[
        bool, typer.Option("--all", help="Print all outcomes, also those that are zero by construction.")
    ] = False,
    replace: Replace = False,
    set_: Set = None,
    seed: Seed = None,
    trust: Trust = None,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Simulate one replication and write its events over time as a table and a page."""
    from netcarlo import load_scenario
    from netcarlo import trace as run
    from netcarlo.captures import capture as captures
    from netcarlo.cli import answer
    from netcarlo.reports import trace_page
    from netcarlo.reports.parts.write import write_all
    from netcarlo.simulation import validated
    from netcarlo.simulation.interruptions import interruptions
    from netcarlo.simulation.trace import per_second

    destination.check_folder(out, ["trace.csv", "trace.html"])
    if pcap:
        captures.check(pcap, at=pcap_at)
    values = console.values(set_) | ({} if seed is None else {"seed": seed})
    loaded = load_scenario(scenario, values=values)
    title = f"{loaded.name}, seed {loaded.seed}, replication {replication}"
    earlier = Earlier.check(out, "trace.html", title, replace=replace, of=loaded.name)
    with console.progress(loaded.name, quiet):
        traced = run(loaded, replication=replication, large=yes)
    if pcap:
        captured = captures.capture(loaded, pcap, replication=replication, at=pcap_at)
    page = trace_page(
        traced.frame, title,
        scenario=loaded, outcomes=traced.outcomes.frame,
        interruptions=interruptions(loaded, replication=replication),
        rates=per_second(loaded, traced.frame, replication=replication),
    )  # fmt: skip
    earlier.say(quiet)
    write_all(out, {"trace.csv": traced.frame.to_csv(index=False), "trace.html": page})
    if not quiet:
        answer.print_trace(loaded, traced.outcomes.frame, replication=replication, every=every)
        if outside := validated.sentence(loaded):
            console.say(outside)
        console.say(f"{len(traced.frame):,} events in {out / 'trace.csv'} and {out / 'trace.html'}")
        if pcap:
            console.say(f"{captured} packets at the {pcap_at} in {pcap}")


GROUPS = {
    help.SCENARIO: (
        Entry(estimate, "netcarlo estimate link.yaml --set hops.0.loss=1% --out answer"),
        Entry(
            cli_availability.availability,
            "netcarlo availability branch.yaml --goal 'video_in_time >= 95 %'",
        ),
        Entry(trace, "netcarlo trace link.yaml --replication 3 --out run"),
        Entry(cli_live.live, "netcarlo live link.yaml"),
    ),
    help.SWEEP: (
        Entry(cli_sweeps.sweep, "netcarlo sweep paths.yaml --out paths"),
        Entry(stores.status, "netcarlo status paths"),
        Entry(stores.report, "netcarlo report paths --out paths.html"),
        Entry(stores.query, 'netcarlo query paths "SELECT * FROM cells LIMIT 5"'),
        Entry(stores.export, "netcarlo export paths --to csv"),
        Entry(stores.rerun, "netcarlo rerun paths 1f0c --out cell.yaml"),
        Entry(stores.sensitivity, "netcarlo sensitivity paths --of goodput_bps"),
    ),
    help.PLAN: (Entry(cli_plan.plan, "netcarlo plan office.yaml --out office"),),
    help.EVIDENCE: (
        Entry(cli_compare.compare, "netcarlo compare cubic.yaml bbr.yaml --of goodput_bps"),
        Entry(cli_fit.fit, "netcarlo fit link.yaml run.json --free 'hops.0.rate=1..100 Mbit/s'"),
        Entry(validate, "netcarlo validate measured.csv --mapping lab.yaml"),
        Entry(reproduce, "netcarlo reproduce sctp_linkdown --check"),
        Entry(calibrate, "netcarlo calibrate mobility"),
    ),
    help.TOOLS: (
        Entry(cli_new.new, "netcarlo new path --out link.yaml"),
        Entry(cli_schema.schema, "netcarlo schema scenario"),
        Entry(cli_warm.warm, "netcarlo warm link.yaml"),
        Entry(cli_devices.devices, "netcarlo devices --check"),
    ),
}
"""Commands by panel of `netcarlo --help`."""
for panel, entries in GROUPS.items():
    help.register(app, panel, entries)
app.add_typer(
    cli_importing.app,
    name="import",
    rich_help_panel=help.TOOLS,
    help="Read files of other programs: traces of links, movement of nodes, topologies.",
)


def main() -> None:
    """Run the command line; an interrupt ends it with exit code 130 and leaves no traceback."""
    console.show_notes()
    console.prepare_streams()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also if a parent process ignored it
    try:
        with console.printed():
            app()
    except KeyboardInterrupt:
        console.interrupted()


MOST_ROWS = 12
"""Number of rows that `validate` prints unless all are requested."""


def _print_errors(metric: str, classes: Any) -> None:
    percent = {name: f"{name} %" for name in ("mean", "median", "p90", "worst", "bias")}
    rest = {"compared": "rows", "absolute_p90": "p90 abs", "z_rms": "z rms"}
    table = classes[["compared", *percent, "absolute_p90", "z_rms"]].rename(columns=percent | rest)

    def show(column: str, value: float) -> str:
        share = column.endswith("%") and math.isfinite(value)
        return f"{100 * value:.3g}" if share else console.number(value)

    console.print_table(f"{metric}: relative errors", table.dropna(axis=1, how="all"), show, wrap=False)


if __name__ == "__main__":
    main()
