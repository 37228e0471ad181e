"""Help texts of commands: groups, an example for each command, names such as STORE in place of types."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

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
    """A command whose help shows names such as STORE in place of the types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, without types."""
        return hide_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the line `Usage:`, with plain names of the arguments."""
        pieces = [piece.replace("...]...", "...]") for piece in super().collect_usage_pieces(ctx)]
        return [re.sub(r"^\{(.*)\}(\.\.\.)?$", r"\1", piece) for piece in pieces]


class Group(TyperGroup):
    """A group of commands, whose help shows no types of Python either."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, without types."""
        return hide_types(super().get_params(ctx))


def hide_types(parameters: list[Any]) -> list[Any]:
    """Remove types and ranges of numbers, which users do not write, from the help of parameters.

    The error about a number out of range states the range.
    """
    for one in parameters:
        if isinstance(one, TyperOption) and one.is_flag:
            one.metavar = ""
        if isinstance(one, TyperArgument):
            vars(one)["display_type_rich"] = lambda ctx: ""
        vars(one)["_get_number_range_help_str"] = lambda: None
    return parameters


def register(app: typer.Typer, panel: str, entries: Sequence[Entry]) -> None:
    """Add commands to the application, in a panel of `--help`."""
    for entry in entries:
        app.command(cls=Command, rich_help_panel=panel, epilog=f"Example: {entry.example}")(entry.run)
