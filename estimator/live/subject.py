"""The file that a page is about: its scenarios at any state of the page."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.live.address import State, read
from netcarlo.live.controls import Control, controls
from netcarlo.scenario import Scenario, scenario_in
from netcarlo.schema.document import Document
from netcarlo.simulation import measurable

FIRST = ("goodput_bps", "completion_s")
"""Outcomes that are shown first: the last of them that a scenario has."""


class Subject:
    """A scenario file and what moves in it.  Raises InputError."""

    def __init__(self, document: Document, values: Mapping[str, Any]) -> None:
        """`values` are fields that are set for the whole page, as by `--set`."""
        self.document, self.set = document, dict(values)
        self.base = scenario_in(document, values=self.set)
        self.controls: list[Control] = controls(document, self.base)
        self.outcomes = measurable.outcomes(self.base)
        self.of = "completion_s" if getattr(self.base.transport, "bytes", None) else "goodput_bps"
        if self.of not in self.outcomes:
            self.of = "goodput_bps"

    def state(self, query: str) -> tuple[State, str]:
        """The state of an address and what is refused of it, see `address.read`."""
        return read(query, self.controls, of=self.of)

    def scenario(self, state: State, *, variant: bool = False, moved: Mapping[str, int] | None = None) -> Scenario:
        """The scenario of a state.  Raises InputError."""
        values = state.values(variant=variant, moved=moved)
        return scenario_in(self.document, values={**self.set, **values})

    def command(self, state: State, control: str | None, *, variant: bool = False) -> str:
        """The command that says the same."""
        words = ["netcarlo", "estimate", Path(self.document.source).name]
        for name, value in {**self.set, **state.values(variant=variant)}.items():
            words += ["--set", f"{name}={_yaml(value)}"]
        if control is not None:
            words += ["--control", control, "--of", state.of]
        return shlex.join(words)


def _yaml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
