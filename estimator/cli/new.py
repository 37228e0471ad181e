"""The command that writes a file to start from."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from netcarlo.cli import console
from netcarlo.errors import InputError

Family = Literal["path", "shared", "wireless", "adhoc", "sweep", "plan"]
NEXT = {"sweep": "netcarlo sweep {} --out STORE", "plan": "netcarlo plan {}"}


def new(
    family: Annotated[Family, typer.Argument(help="A scenario of a kind of network, a sweep, or a plan.")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="FAMILY.yaml unless given.")] = None,
) -> None:
    """Write a commented file to start from; editors complete and check it."""
    from netcarlo.schema import output

    path = out or Path(f"{family}.yaml")
    if path.exists():
        raise InputError(f"{path}: is there already; name another file with --out, or remove it")
    output.write_text(path, starter(family))
    console.say(f"{path}: next: {NEXT.get(family, 'netcarlo estimate {}').format(path)}")


def starter(family: Family) -> str:
    """The text of such a file, which names the schema of this installation."""
    from importlib import resources

    configs = resources.files("netcarlo.configs")
    text = configs.joinpath("starters", f"{family}.yaml").read_text(encoding="utf-8")
    kind = family if family in NEXT else "scenario"
    with resources.as_file(configs.joinpath("schemas", f"{kind}.json")) as schema:
        return text.replace(f"../schemas/{kind}.json", schema.absolute().as_uri(), 1)
