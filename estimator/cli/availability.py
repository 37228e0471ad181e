"""The command `availability`: the share of the year in which goals are met."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Quiet, ScenarioFile, Seed, Set, Target, Trust, Yes, wrapped
from netcarlo.cli.earlier import Earlier, Replace
from netcarlo.cli.workers import Scheduler, Workers, simulating

FILES = "availability.html", "states.csv"


def availability(
    scenario: ScenarioFile,
    goal: Annotated[
        list[str] | None,
        typer.Option(metavar="'outcome >= value'", help="What good service means; repeatable."),
    ] = None,
    set_: Set = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="10%", help="Add replications until half the interval is this share of the bad time."
        ),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Replications of each state at least; default: as in the file."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for availability.html and states.csv.")
    ] = None,
    replace: Replace = False,
    seed: Seed = None,
    target: Target = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    trust: Trust = None,
    as_json: AsJson = False,
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the share of the year in which goals are met. Exit 1 if the precision is not reached."""
    import pandas as pd

    from netcarlo import availability as run
    from netcarlo import load_scenario
    from netcarlo.reports.availability import wording
    from netcarlo.reports.parts.simulated import simulated
    from netcarlo.reports.parts.write import write_all
    from netcarlo.schema import destination, output
    from netcarlo.simulation import validated

    if out is not None:
        destination.check_folder(out, FILES)
    loaded = load_scenario(scenario, values=console.values(set_))
    earlier = Earlier.check(out, FILES[0], loaded.name, replace=replace)
    with (
        console.progress(loaded.name, quiet) as progress,
        simulating(workers, scheduler, target) as here,
    ):
        found = run(
            loaded, goals=goal or [], replications=replications, precision=precision, seed=seed, target=here,
            progress=progress, large=yes,
        )  # fmt: skip
    if out is not None:
        from netcarlo.reports.availability.page import availability_page

        texts = (
            availability_page(found, command=shlex.join(["netcarlo", *sys.argv[1:]])),
            output.csv_text(found.states.reset_index()),
        )
        write_all(out, dict(zip(FILES, texts, strict=True)))
        earlier.say(quiet or as_json)
    if as_json:
        console.print_json(
            {
                "goals": [*found.goals],
                "share": found.share._asdict(),
                "missed_with_outage": found.outages._asdict(),
                "states": found.states.reset_index().to_dict("records"),
                "precise": found.precise,
                "outside_validated_range": validated.record(found.scenario),
                "provenance": found.provenance,
            }
        )
    elif not quiet:
        console.echo(wrapped(f"{wording.sentence(found)}."))
        console.echo(wrapped(f"{wording.meaning(found)}."))
        console.echo(wrapped(f"{wording.causes(found)}."))
        if text := wording.nines(found):
            console.echo(wrapped(f"{text}."))
        console.echo(wrapped(f"{simulated(found.scenario)}; {wording.spent(found)}."))
        frame = pd.DataFrame(wording.rows(found)).set_index("state")
        console.print_table("", frame, lambda _, text: str(text), wrap=False)
        if outside := validated.sentence(found.scenario):
            console.say(outside)
        if out is not None:
            console.say(f"{out / FILES[0]} and {FILES[1]}")
    if not found.precise:
        console.say(f"precision {precision} not reached; raise --replications")
        raise typer.Exit(1)
