"""The command `new`: a commented starter file."""

import os
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.errors import InputError

STARTERS = resources.files("netcarlo.configs") / "starters"
FAMILIES = sorted(Path(file.name).stem for file in STARTERS.iterdir() if file.name.endswith(".yaml"))
NEXT = {"sweep": "netcarlo sweep {} --out STORE", "plan": "netcarlo plan {}"}


def new(
    family: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            autocompletion=lambda: FAMILIES,
            help=f"Kind of network of a scenario, or sweep or plan: {', '.join(FAMILIES)}.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Name of the file; default: KIND.yaml.")
    ] = None,
) -> None:
    """Write a commented starter file, which editors complete and check."""
    from netcarlo.schema import output

    if family not in FAMILIES:
        raise InputError(f"there is no starter file for {family!r}; write one of {', '.join(FAMILIES)}")
    path = out or Path(f"{family}.yaml")
    if os.path.lexists(path):
        raise InputError(f"{path}: exists already; name another file with --out, or remove it")
    output.write_text(path, starter(family))
    console.say(f"{path} is written; next: {NEXT.get(family, 'netcarlo estimate {}').format(path)}")


def starter(family: str) -> str:
    """Return the text of a starter file, which refers to the schema of this installation."""
    text = (STARTERS / f"{family}.yaml").read_text(encoding="utf-8")
    kind = family if family in NEXT else "scenario"
    with resources.as_file(resources.files("netcarlo.configs") / "schemas" / f"{kind}.json") as schema:
        return text.replace(f"../schemas/{kind}.json", schema.absolute().as_uri(), 1)
