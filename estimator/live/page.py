"""Interface of the pages about scenarios and plans, and the records that they return."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from netcarlo.live.url_state import State
from netcarlo.reports.parts.figures import Plot


class Number(NamedTuple):
    """Number in large type."""

    name: str
    """Label of the number."""
    text: str
    """The formatted number."""
    unit: str
    """Unit of the number."""
    interval: str
    """Confidence interval, or another remark in its place."""
    by: str
    """Fidelity and number of replications behind the number, with warnings."""


@dataclass
class Numbers:
    """Answer at a state."""

    items: list[Number]
    """Numbers in large type."""
    commands: list[str]
    """Commands that print the same answer."""
    final: bool
    """True if the answer is final."""


@dataclass
class Details:
    """Figures and table below the numbers."""

    plots: list[Plot]
    """Figures in order."""
    head: Sequence[str]
    """Column headings of the table."""
    table: Sequence[Sequence[str]]
    """Rows of the table."""
    final: bool
    """True if figures and table are final."""


Check = Callable[..., object]
"""Function that raises AbandonedError once no client waits for the result."""


class File(NamedTuple):
    """File that the page offers for download."""

    label: str
    """Text of the link."""
    type: str
    """MIME type."""
    saved: bool
    """True if the browser saves the file, False if it opens the file."""
    make: Callable[[State, Check], str]
    """Function that returns the text of a file at a state. It calls the `Check` now and then, which raises
    once no client waits."""


class Page(Protocol):
    """Interface of a page about a scenario or a plan."""

    name: str
    """Title of the page."""
    description: str
    """Text below the title; may be empty."""
    outcomes: Sequence[str]
    """Outcomes to choose from; empty for a plan."""
    of: str
    """Outcome of the page if the URL names none."""
    captions: Sequence[str]
    """Captions of the two figures; a menu follows the first one on the page of a scenario."""
    files: Mapping[str, File]
    """Files for download, by name."""

    def state(self, query: str) -> tuple[State, str]:
        """Return the state of a query and an error, see `url_state.read`."""

    def numbers(self, state: State, visitor: str) -> Numbers:
        """Return the current answer at a state, and schedule what is missing. Raises InputError."""

    def details(self, state: State, *, budget_s: float) -> Details:
        """Return the current figures and table. Cheap curves are extended for at most `budget_s` seconds."""
