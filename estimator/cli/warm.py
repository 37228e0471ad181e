"""The command `warm`: compilation of the models that files need."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from netcarlo.cli import console
from netcarlo.cli.console import AsJson, Quiet, Set, Trust
from netcarlo.errors import InputError


def warm(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Scenarios, sweeps and plans, or names of studies."),
    ],
    set_: Set = None,
    trust: Trust = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compile the models that files need, so that their first simulation starts at once."""
    from netcarlo.simulation.warm import compile_ahead

    values = console.values(set_)
    start = time.perf_counter()
    with console.progress("warm", quiet or as_json):
        done = compile_ahead(model for file in files for model in _models(file, values))
    took = time.perf_counter() - start
    if as_json:
        console.print_json({"models": done.models, "compiled": done.compiled, "seconds": round(took, 2)})
    elif not quiet:
        typer.echo(_sentence(len(done.models), done.compiled, took))


def _sentence(models: int, compiled: list[str], took_s: float) -> str:
    """Return a line that names a compiled model and the time of its compilation."""
    plural = "model" if models == 1 else "models"
    if not compiled:
        return f"{models} {plural} needed, all compiled already"
    return f"{models} {plural} needed, {len(compiled)} compiled in {took_s:.0f} s: {', '.join(compiled)}"


def _models(file: str, values: dict[str, Any]) -> Iterable[Any]:
    """Return the models of a file or of a study.  Raises InputError."""
    from netcarlo import load_scenario
    from netcarlo.planning.file import load_plan
    from netcarlo.schema import kinds
    from netcarlo.simulation.warm import models_of
    from netcarlo.studies import cells
    from netcarlo.studies import study as studies
    from netcarlo.sweeps.space.file import load_sweep

    if file in studies.names() and not Path(file).exists():
        return models_of(cells.scenarios(studies.load(file)))
    kind = kinds.kind_of(file)
    if kind == kinds.SWEEP:
        return load_sweep(Path(file), values=values).models()
    if kind == kinds.PLAN:
        plan = load_plan(Path(file), values=values)
        return models_of(
            one.scenario(value)
            for one in (plan.designs or (plan,))
            for value in (one.values[0], one.values[-1])
        )
    if kind == kinds.STUDY:
        return models_of(cells.scenarios(studies.load(file)))
    if kind in ("", kinds.SCENARIO):
        return models_of([load_scenario(Path(file), values=values)])
    expected = "a scenario, a sweep, a plan, or a study (its name or folder)"
    raise InputError(f"{file} is {kind}; expected {expected}")
