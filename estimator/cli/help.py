"""Help texts of commands: groups, an example for each command, flags without a type."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperOption

SCENARIO = "Simulate one scenario"
SWEEP = "Simulate many networks (sweeps)"
PLAN = "Find the value that meets requirements"
EVIDENCE = "Compare, validate, reproduce"
TOOLS = "Files and machines"


class Entry(NamedTuple):
    """A command as `--help` shows it."""

    run: Callable[..., None]
    example: str


class Command(TyperCommand):
    """A command whose flags are shown without the type `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; an empty text stands for the type of flags."""
        return hide_types(super().get_params(ctx))


def hide_types(parameters: list[Any]) -> list[Any]:
    """Replace the type of flags by an empty text, as it says nothing that a user can write."""
    for one in parameters:
        if isinstance(one, TyperOption) and one.is_flag:
            one.metavar = ""
    return parameters


def register(app: typer.Typer, panel: str, entries: Sequence[Entry]) -> None:
    """Add commands to the application, in a panel of `--help`."""
    for entry in entries:
        app.command(cls=Command, rich_help_panel=panel, epilog=f"Example: {entry.example}")(entry.run)
