"""What a page is about: a scenario or a plan; what the page asks of one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from netcarlo.live.address import State
from netcarlo.reports.parts.figures import Plot


class Number(NamedTuple):
    """A number that is shown large."""

    name: str
    text: str
    unit: str
    interval: str
    by: str
    """What answered."""


@dataclass
class Numbers:
    """The answers of a state, the commands that say the same, and whether the answers stay."""

    items: list[Number]
    commands: list[str]
    rest: bool


@dataclass
class Drawn:
    """What stands below the numbers, and whether all of it is as it will stay."""

    plots: list[Plot]
    head: Sequence[str]
    table: Sequence[Sequence[str]]
    rest: bool


Check = Callable[..., object]


class File(NamedTuple):
    """What can be taken from the page: how the link says it, its type, whether it is saved, and its text."""

    label: str
    type: str
    saved: bool
    make: Callable[[State, Check], str]
    """Function that returns the text of a file at a state. It calls the `Check` now and then, which raises
    once no client waits."""


class Subject(Protocol):
    """A scenario or a plan as a page shows it."""

    name: str
    description: str
    outcomes: Sequence[str]
    """What can be asked; of a plan nothing."""
    of: str
    """What is asked unless the address says so."""
    captions: Sequence[str]
    """Of the figures; the first of a scenario is followed by a menu."""
    files: Mapping[str, File]

    def state(self, query: str) -> tuple[State, str]:
        """The state of an address and what is refused of it, see `address.read`."""

    def numbers(self, state: State, visitor: str) -> Numbers:
        """What is known at a state now; what is missing is begun.  Raises InputError."""

    def drawn(self, state: State, *, budget_s: float) -> Drawn:
        """The figures as far as they are known; a cheap curve gets so many seconds."""
