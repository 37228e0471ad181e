"""The cells of a sweep that leave the validated range of their model."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.simulation import validated
from netcarlo.simulation.validated import Outside
from netcarlo.sweeps.space import identity

if TYPE_CHECKING:
    from netcarlo.sweeps.space.space import Sweep

LOOKED_AT = 100
"""Cells that are looked at; of more, so many spread evenly over the sweep."""

LEAST, NUMBERS = 20, 1000
"""Sweeps with large cells examine fewer: LEAST cells, or as many as have NUMBERS values in all."""


class Beyond(NamedTuple):
    """Number of cells outside the validated range, and the quantities that leave it."""

    cells: int
    looked_at: int
    of: int
    """All cells of the sweep."""
    quantities: list[Outside]
    """Each quantity once, over all cells that leave the range in it."""

    @property
    def text(self) -> str:
        """Return the count of cells and the quantities in one line; empty if no cell leaves the range."""
        if not self.cells:
            return ""
        some = f" looked at, of {self.of:,}" if self.looked_at < self.of else ""
        found = validated.one_line(self.quantities).removeprefix(validated.START)
        return f"{validated.START}{self.cells} of {self.looked_at} cells{some}: {found}"

    def record(self) -> dict[str, Any]:
        """Return the count of cells and the quantities as data for JSON."""
        quantities = [one.record() for one in self.quantities]
        return {**self._asdict(), "quantities": quantities, "text": self.text}


def beyond(sweep: "Sweep") -> Beyond:
    """Look at the cells of a sweep."""
    n = sweep.n_cells
    numbers = len(next(iter(sweep.batches(np.zeros(1, np.int64)))).given)
    most = min(n, LOOKED_AT, max(LEAST, NUMBERS // max(numbers, 1)))
    cells = np.unique(np.linspace(0, n - 1, most).astype(np.int64))
    scenarios = []
    for cell in cells:
        with suppress(InputError):  # a cell that fails says so itself
            scenarios.append(identity.scenario(sweep, int(cell)))
    return of_scenarios(scenarios, of=n)


def of_scenarios(scenarios: Sequence[Scenario], *, of: int) -> Beyond:
    """Look at the scenarios of some of the cells, of which there are `of`."""
    found = [validated.outside(scenario) for scenario in scenarios]
    return Beyond(sum(map(bool, found)), len(found), of, validated.combined(found))
