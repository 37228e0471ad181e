"""Published claims, and verdicts on them.

A verdict depends on the whole confidence interval: if the bound of a claim lies within the interval, the
claim is undecided.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from netcarlo.numerics.statistics import Mean
from netcarlo.studies.cells import Samples
from netcarlo.studies.stated import Verdict as Verdict


@dataclass(frozen=True)
class Claim:
    """Claim of the paper, with the evidence for or against it."""

    id: str
    """Identifier, such as `M1`."""
    text: str
    """Statement of the claim."""
    where: str
    """Section, figure or table of the paper."""
    verdict: Verdict
    """Verdict of the simulation."""
    evidence: str
    """Text with the numbers behind the verdict."""
    quantity: str = ""
    """Description of the quantity that decides."""
    unit: str = ""
    """Unit of the quantity."""
    samples: Samples | None = None
    """Values of the quantity, one per replication."""
    published: str = ""
    """Value of the quantity in the paper; empty if it prints none."""
    expected: Verdict = "held"
    """Verdict that `--check` requires. A claim expected to be `not held` or `not testable` is not
    required."""
    own: Verdict | None = None
    """Verdict of the paper's own numbers, if they decide."""
    fitted: str = ""
    """Parameters that were fitted with the claim in view, so that the claim is not a test of them."""
    changed: str = ""
    """Earlier criterion, and the reason why it was changed after the results were known; empty if
    unchanged."""

    @property
    def passed(self) -> bool:
        """True if the verdict is at least as good as expected.

        A claim expected to hold must have the verdict `held`; one expected to be undecided must not be `not
        held`.
        """
        if self.verdict == "held" or self.expected in ("not held", "not testable"):
            return True
        return self.verdict == self.expected

    @property
    def standing(self) -> str:
        """Verdict as text, with the expected one if it differs."""
        if self.verdict == self.expected:
            return "known miss" if self.verdict == "not held" else self.verdict
        return f"{self.verdict}, expected: {self.expected}"


def verdict(held: bool) -> Verdict:
    """Return `held` or `not held`, for a claim without an interval."""
    return "held" if held else "not held"


def inside(found: Mean, least: float = -math.inf, most: float = math.inf) -> Verdict:
    """Return `held` if the interval is within [least, most]. A value without interval counts as a point."""
    low, high = ends(found)
    if least <= low and high <= most:
        return "held"
    return "not held" if high < least or low > most else "undecided"


def positive(found: Mean) -> Verdict:
    """Return `held` if the interval is above 0."""
    low, high = ends(found)
    return "held" if low > 0 else "not held" if high <= 0 else "undecided"


def every(verdicts: Iterable[Verdict]) -> Verdict:
    """Return `held` if all are held (with 95 % confidence, as each of them), `not held` if one is not
    held."""
    found = set(verdicts)
    return next((kind for kind in ("not held", "undecided") if kind in found), "held")


def either(verdicts: Iterable[Verdict]) -> Verdict:
    """Return `held` if at least one is held, `not held` if none can be."""
    found = set(verdicts)
    return next((kind for kind in ("held", "undecided") if kind in found), "not held")


def ends(found: Mean) -> tuple[float, float]:
    """Return the interval of a mean; the mean itself twice if it has no interval."""
    if math.isfinite(found.ci_low) and math.isfinite(found.ci_high):
        return found.ci_low, found.ci_high
    return found.mean, found.mean
