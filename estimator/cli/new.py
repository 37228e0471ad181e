"""The command `new`: a commented starter file, or the folder of a study."""

import os
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from netcarlo.cli import console
from netcarlo.errors import InputError

STARTERS = resources.files("netcarlo.configs") / "starters"
STUDY = "study"
FAMILIES = [
    *sorted(Path(file.name).stem for file in STARTERS.iterdir() if file.name.endswith(".yaml")), STUDY
]  # fmt: skip
NEXT = {
    "sweep": "netcarlo sweep {} --out STORE",
    "plan": "netcarlo plan {}",
    "mapping": "netcarlo validate {table} --mapping {}",
    STUDY: "netcarlo reproduce {}",
}


def new(
    family: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            autocompletion=lambda: FAMILIES,
            help=f"Kind of network of a scenario, or sweep, plan, mapping or study: {', '.join(FAMILIES)}.",
        ),
    ],
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder of a study; default: study.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Name of the file, or of the folder of a study; default: KIND.yaml."
        ),
    ] = None,
) -> None:
    """Write a commented starter file, or the folder of a study, which editors complete and check."""
    from netcarlo.schema import destination, output

    if family not in FAMILIES:
        raise InputError(f"there is no starter file for {family!r}; write one of {', '.join(FAMILIES)}")
    if folder is not None and (family != STUDY or out is not None):
        raise InputError(f"{folder}: only a study has a folder; write --out FILE, or netcarlo new study DIR")
    path = out or folder or Path(STUDY if family == STUDY else f"{family}.yaml")
    if os.path.lexists(path):
        raise InputError(f"{path}: exists already; name another one, or remove it")
    table = path.with_suffix(".csv")
    written = f"{path} is"
    if family == STUDY:
        destination.write_texts({path / name: text for name, text in study().items()})
    elif (STARTERS / f"{family}.csv").is_file():
        if os.path.lexists(table):
            raise InputError(f"{table}: exists already; name another file with --out, or remove it")
        beside = (STARTERS / f"{family}.csv").read_text(encoding="utf-8")
        destination.write_texts({path: starter(family), table: beside})
        written = f"{path} and {table} are"
    else:
        output.write_text(path, starter(family))
    following = NEXT.get(family, "netcarlo estimate {}").format(path, table=table)
    console.say(f"{written} written; next: {following}")


def study() -> dict[str, str]:
    """Return the files of the starter study by name, which refer to the schemas of this installation."""
    folder = STARTERS / STUDY
    return {
        file.name: _with_schemas(file.read_text(encoding="utf-8"), "../../schemas")
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if Path(file.name).suffix in (".yaml", ".csv")
    }


def _with_schemas(text: str, folder: str) -> str:
    """Return a text whose references to schemas in a folder are those of this installation."""
    with resources.as_file(resources.files("netcarlo.configs") / "schemas") as schemas:
        return text.replace(folder, schemas.absolute().as_uri())


def starter(family: str) -> str:
    """Return the text of a starter file, which refers to the schema of this installation."""
    text = (STARTERS / f"{family}.yaml").read_text(encoding="utf-8")
    return _with_schemas(text, "../schemas")
