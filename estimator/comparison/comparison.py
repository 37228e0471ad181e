"""Result of a comparison: the differences of each pair of sides."""

import reprlib
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from netcarlo.comparison.leading import ordered
from netcarlo.comparison.side import Side
from netcarlo.comparison.winner import Winner
from netcarlo.errors import InputError
from netcarlo.schema.output import captioned
from netcarlo.simulation.outcomes import Outcomes

PAIR = ("against", "side")
"""Levels of the index of a comparison of more than two sides: the baseline, and the side compared with it."""


@dataclass(frozen=True)
class Comparison:
    """Result of `compare`: differences of each pair of sides, the later side minus the earlier one, its
    baseline."""

    sides: tuple[Side, ...]
    """Sides that are compared."""
    table: pd.DataFrame
    """Differences, a row for each quantity of a cell.

    The columns: n (number of pairs; if sides are not `paired`, the smaller number of values), baseline,
    other, difference with its own 95 % interval ci_low to ci_high, relative (difference over baseline), the
    interval low to high that is adjusted for the number of tests, and the verdict: `differs`, `noise`,
    `equal` to the bit, or `unknown` (too few values). The columns baseline_low, baseline_high, other_low and
    other_high are the 95 % intervals of the sides alone (of plans: their bands). The index: with more than
    two sides the pair, `against` (the baseline) and `side`; the axes; the outcome.
    """
    changes: pd.DataFrame
    """Fields of the setting that are not the same on all sides, a row each; a column for each side."""
    notes: tuple[str, ...]
    """Sentences about cells and quantities that could not be compared."""
    tested: int
    """Number of differences that were tested: those with an interval that are not equal to the bit."""
    confidence: float
    """Confidence of the intervals from low to high."""
    broken: int
    """Number of cells that could be simulated on some sides but not on all."""
    leading: tuple[str, ...] = ()
    """Quantities at the top: those of the argument `of`, else those that the files request, else those of
    which more or less is better."""
    winner: Winner | None = None
    """Side with the best mean, as found with `until_decided`; None without it."""

    @property
    def decided(self) -> bool:
        """False if the best side was requested (`until_decided`) and is not known."""
        return self.winner is None or self.winner.side is not None

    @property
    def outside(self) -> list[str]:
        """Sentences about sides outside the validated range, one for all that leave it in the same way."""
        lines: dict[str, list[str]] = {}
        for side in self.sides:
            if side.outside:
                lines.setdefault(side.outside, []).append(side.label)
        return [f"{', '.join(labels)}: {text}" for text, labels in lines.items()]

    @property
    def baseline(self) -> Outcomes | None:
        """Replications of the first side, if it is a scenario."""
        return self.sides[0].outcomes

    @property
    def other(self) -> Outcomes | None:
        """Replications of the second side, if it is a scenario."""
        return self.sides[1].outcomes

    @property
    def differing(self) -> pd.DataFrame:
        """Rows of `table` with a significant difference."""
        return self.table[self.table["verdict"] == "differs"]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Labels of each pair that has rows: the baseline, and the side compared with it."""
        labels = [side.label for side in self.sides]
        if len(labels) == 2:
            return [(labels[0], labels[1])]
        found = set(zip(*(self.table.index.get_level_values(name) for name in PAIR), strict=True))
        return [pair for pair in combinations(labels, 2) if pair in found]

    def of_pair(self, pair: tuple[str, str]) -> pd.DataFrame:
        """Return the rows of one of `pairs`, in the order in which they are shown.  Raises InputError."""
        try:
            known = tuple(pair) in self.pairs
        except TypeError:
            known = False
        if not known:
            shown, allowed = reprlib.repr(pair), " or ".join(map(repr, self.pairs))
            raise InputError(f"pair = {shown} is not a pair of this comparison; expected {allowed}")
        table = self.ordered
        if len(self.sides) == 2:
            return table
        against, side = (table.index.get_level_values(name) for name in PAIR)
        return table[(against == pair[0]) & (side == pair[1])]

    @property
    def ordered(self) -> pd.DataFrame:
        """Rows of `table` in the order in which they are shown: leading quantities that differ first."""
        return ordered(self.table, self.sides, self.leading)

    @property
    def single(self) -> bool:
        """True if the sides have one cell each."""
        return not self.sides[0].axes

    @property
    def same(self) -> bool:
        """True if there is no significant difference, and no cell that only some sides could simulate."""
        return not len(self.differing) and not self.broken

    def to_frame(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    def __repr__(self) -> str:
        """Return the number of significant differences in one line; for single cells also the goodput."""
        counts = f"{len(self.differing)} of {len(self.table)} differ"
        if len(self.sides) > 2 or "goodput_bps" not in self.table.index:
            return f"Comparison of {len(self.sides)} sides: {counts}"
        found = self.table.loc["goodput_bps"]
        interval = f"{found['difference']:.4g} [{found['ci_low']:.4g}, {found['ci_high']:.4g}]"
        pairs = f"{found['n']} pairs" if found["paired"] else f"{len(self.sides)} sides"
        return f"Comparison of {pairs}: goodput_bps {interval}, {counts}"

    def _repr_html_(self) -> str:
        """Return each difference with its interval as a table for notebooks."""
        shown = self.table[["n", "baseline", "other", "difference", "ci_low", "ci_high", "verdict"]]
        return captioned(shown, repr(self))
