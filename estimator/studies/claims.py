"""A published claim as a check: what it says, what we find, with which interval, held or not.

A verdict needs the whole interval: one that lies across the border of what a claim says leaves it undecided.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from netcarlo.numerics.statistics import Mean
from netcarlo.studies.cells import Samples

Verdict = Literal["held", "undecided", "not held", "not testable"]


@dataclass(frozen=True)
class Claim:
    """Claim of the paper and the evidence for or against it.

    `samples` is the quantity that decides, one value per replication. `published` is the paper's own value of
    that quantity, where it prints one. `own` is the verdict of the paper's own numbers, where they decide.
    `expected` is the verdict that `--check` demands; `not held` marks a known miss, of which `--check`
    demands nothing. `fitted` names what was set with the claim in view; such a claim is no test. `changed`
    says how the claim was judged at first and why this was changed after the results were known.
    """

    id: str
    text: str
    where: str
    verdict: Verdict
    evidence: str
    quantity: str = ""
    unit: str = ""
    samples: Samples | None = None
    published: str = ""
    expected: Verdict = "held"
    own: Verdict | None = None
    fitted: str = ""
    changed: str = ""

    @property
    def passed(self) -> bool:
        """True if the verdict is at least as good as expected.

        A claim expected to hold must hold beyond doubt; one expected to be undecided must not fail beyond
        doubt.
        """
        if self.verdict == "held" or self.expected in ("not held", "not testable"):
            return True
        return self.verdict == self.expected

    @property
    def standing(self) -> str:
        """The verdict in words, beside what was expected."""
        if self.verdict == self.expected:
            return "known miss" if self.verdict == "not held" else self.verdict
        return f"{self.verdict}, expected: {self.expected}"


def verdict(held: bool) -> Verdict:
    """`held` or `not held`: for what has no interval."""
    return "held" if held else "not held"


def inside(found: Mean, least: float = -math.inf, most: float = math.inf) -> Verdict:
    """Held if the interval lies within these ends, which count as inside; a value without one is its own."""
    low, high = ends(found)
    if least <= low and high <= most:
        return "held"
    return "not held" if high < least or low > most else "undecided"


def positive(found: Mean) -> Verdict:
    """Held if the interval lies above 0, which counts as outside."""
    low, high = ends(found)
    return "held" if low > 0 else "not held" if high <= 0 else "undecided"


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """Held if all are (as each is at 95 %, so is this); not held if one is not."""
    found = set(verdicts)
    return next((kind for kind in ("not held", "undecided") if kind in found), "held")


def either(verdicts: Iterable[Verdict]) -> Verdict:
    """Held if one is; not held if none can be."""
    found = set(verdicts)
    return next((kind for kind in ("held", "undecided") if kind in found), "not held")


def ends(found: Mean) -> tuple[float, float]:
    """The interval of a mean; the mean itself where it has none."""
    if math.isfinite(found.ci_low) and math.isfinite(found.ci_high):
        return found.ci_low, found.ci_high
    return found.mean, found.mean
