"""Cells of a sweep that are outside the validated range of their model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netcarlo.scenario import Scenario
from netcarlo.simulation import validated
from netcarlo.simulation.validated import Outside
from netcarlo.sweeps.space import identity

if TYPE_CHECKING:
    from netcarlo.sweeps.space.space import Sweep

MAX_CHECKED = 100
"""Maximum number of cells to check. In larger sweeps, equally spaced cells are checked."""

MIN_CHECKED, MAX_NUMBERS = 20, 1000
"""Limits for cells with many numbers: at least MIN_CHECKED cells are checked, and further ones up to
MAX_NUMBERS numbers in total."""


class OutsideRange(NamedTuple):
    """Number of cells outside the validated range, and the quantities that leave it."""

    cells: int
    """Number of checked cells outside the validated range."""
    looked_at: int
    """Number of checked cells."""
    of: int
    """Number of all cells of the sweep."""
    quantities: list[Outside]
    """Quantities outside the range, each once for all cells."""

    @property
    def text(self) -> str:
        """Return the count of cells and the quantities in one line; empty if no cell leaves the range."""
        if not self.cells:
            return ""
        which = f"{self.cells} of {self.looked_at} cells"
        if self.looked_at < self.of:
            number = "all" if self.cells == self.looked_at else f"{self.cells}"
            which = f"{number} of a sample of {self.looked_at} of the {self.of:,} cells"
        found = validated.one_line(self.quantities).removeprefix(validated.START)
        return f"{validated.START}{which}: {found}"

    def record(self) -> dict[str, Any]:
        """Return the count of cells and the quantities as data for JSON."""
        quantities = [one.record() for one in self.quantities]
        return {**self._asdict(), "quantities": quantities, "text": self.text}


def count_outside(sweep: "Sweep") -> OutsideRange:
    """Check the cells of a sweep, or equally spaced ones if there are many."""
    n = sweep.n_cells
    numbers = len(next(iter(sweep.batches(np.zeros(1, np.int64)))).given)
    most = min(n, MAX_CHECKED, max(MIN_CHECKED, MAX_NUMBERS // max(numbers, 1)))
    cells = np.unique(np.linspace(0, n - 1, most).astype(np.int64))
    scenarios = identity.scenarios(sweep, cells)  # a cell that cannot be simulated is reported as failed
    return of_scenarios(list(scenarios.values()), of=n)


def of_scenarios(scenarios: Sequence[Scenario], *, of: int) -> OutsideRange:
    """Check the scenarios of some cells of a sweep with `of` cells."""
    found = [validated.outside(scenario) for scenario in scenarios]
    return OutsideRange(sum(map(bool, found)), len(found), of, validated.combined(found))
