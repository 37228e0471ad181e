"""The command `schema`: the JSON Schema of a kind of file."""

import json
from typing import Annotated, Literal, get_args

import typer

from netcarlo.schema.json_schema import Schema

Kind = Literal["scenario", "sweep", "plan", "study", "mapping"]


def schema(
    kind: Annotated[
        Kind, typer.Argument(metavar="KIND", help=f"Kind of the file: {', '.join(get_args(Kind))}.")
    ],
) -> None:
    """Write the JSON Schema of a kind of file, with which editors complete and check it."""
    typer.echo(json.dumps(made(kind), indent=1, ensure_ascii=False))


def made(kind: Kind) -> Schema:
    """Return the JSON Schema of a kind of file (draft 2020-12)."""
    from netcarlo.estimation.reference import Mapping
    from netcarlo.planning.description import PlanSpec
    from netcarlo.schema import distributions, json_schema
    from netcarlo.schema.record import Record
    from netcarlo.studies.description import Description
    from netcarlo.sweeps.space.file import SweepSpec

    if kind == "scenario":
        return _scenario()
    records: dict[Kind, type[Record]] = {
        "sweep": SweepSpec, "plan": PlanSpec, "study": Description, "mapping": Mapping
    }  # fmt: skip
    found = json_schema.of(records[kind], title=f"netcarlo: {kind}", distribution=distributions.json_schema())
    if kind in ("sweep", "plan"):
        inside = json_schema.embed(found, _scenario(cheap_cells=kind == "sweep"))
        found["$defs"]["Scenario"] = inside
        found["properties"]["scenario"] = {
            "anyOf": [{"$ref": "#/$defs/Scenario"}, {"type": "string"}],
            "description": "a scenario, or the name of its file",
        }
    return found


def _scenario(*, cheap_cells: bool = False) -> Schema:
    """Return the schema of a scenario, with `hops` for one path; `cheap_cells` allows `fidelity: auto`."""
    from netcarlo.scenario import Scenario
    from netcarlo.schema import distributions, json_schema

    found = json_schema.of(Scenario, title="netcarlo: scenario", distribution=distributions.json_schema())
    found["properties"]["hops"] = found["$defs"]["Route"]["properties"]["hops"]
    if cheap_cells:
        fidelity = found["properties"]["fidelity"]
        found["properties"]["fidelity"] = {**fidelity, "enum": [*fidelity["enum"], "auto"]}
    return found
