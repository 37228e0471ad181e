"""A published claim as a check: what it says, what we find, with which interval, held or not."""

from dataclasses import dataclass
from typing import Literal

from netcarlo.cells import Samples

Verdict = Literal["held", "not held", "not derivable"]


@dataclass(frozen=True)
class Claim:
    """One claim of the paper and the evidence for or against it.

    `samples` is the quantity that decides, one value per replication; `published` the paper's own
    value of it where it prints one; `own` the verdict of the paper's own numbers where they decide.
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


def verdict(held: bool) -> Verdict:
    """`held` or `not held`."""
    return "held" if held else "not held"
