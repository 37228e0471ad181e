"""Helpers for the claims of several studies: look up numbers, compute gains, and write evidence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from netcarlo.studies.cells import Samples, estimate
from netcarlo.studies.claims import Claim, Verdict, every, positive
from netcarlo.studies.selection import Value, Where
from netcarlo.studies.study import Study

Lookup = Callable[..., Samples]
"""Function (metric, conditions) -> values of a cell, one per replication (`Cells.value`), or the published
one."""


def printed(study: Study) -> Lookup:
    """Return a lookup of the numbers in the paper."""

    def value(metric: str, **conditions: Value) -> Samples:
        where: Where = {"metric": metric, **conditions}
        return np.array([next(number.value for number in study.published if number.matches(where))])

    return value


def printed_range(study: Study) -> Callable[..., tuple[float, float]]:
    """Return a lookup of the range of values that are rounded to a printed number."""

    def value(metric: str, **conditions: Value) -> tuple[float, float]:
        where: Where = {"metric": metric, **conditions}
        number = next(number for number in study.published if number.matches(where))
        return number.value - number.step / 2, number.value + number.step / 2

    return value


def gain(ours: Samples, other: Samples) -> Samples:
    """Return by how much `ours` exceeds `other` in each replication [%]."""
    return 100 * (ours / other - 1)


def gains(ours: Iterable[Samples], other: Iterable[Samples]) -> list[Samples]:
    """Return the gain of each of `ours` over its counterpart in `other` [%]."""
    return [gain(a, b) for a, b in zip(ours, other, strict=True)]


def all_positive(found: Iterable[Samples]) -> Verdict:
    """Return `held` if the intervals of all these quantities lie above 0."""
    return every(positive(estimate(one)) for one in found)


def said(values: Iterable[Samples], digits: int = 1) -> str:
    """Return the means of samples as text."""
    return ", ".join(f"{float(np.mean(one)):.{digits}f}" for one in values)


@dataclass(frozen=True)
class Finding:
    """Verdict on a claim by one set of numbers: the simulated ones, or those of the paper."""

    verdict: Verdict
    """Verdict on the claim."""
    evidence: str
    """Text with the numbers behind the verdict."""
    quantity: str = ""
    """Description of the quantity that decides."""
    unit: str = ""
    """Unit of the quantity."""
    samples: Samples | None = None
    """Values of the quantity, one per replication."""


def judged_twice(
    id_: str,
    text: str,
    where: str,
    ours: Finding,
    theirs: Finding,
    *,
    digits: str,
    expected: Verdict = "held",
    fitted: str = "",
    changed: str = "",
) -> Claim:
    """Return a claim with the verdict of the simulation and that of the paper's own numbers.

    `digits` is the format of the paper's value.
    """
    published = ""
    if theirs.samples is not None and ours.quantity == theirs.quantity:
        published = f"{float(np.mean(theirs.samples)):{digits}}"
    return Claim(
        id=id_,
        text=text,
        where=where,
        verdict=ours.verdict,
        own=theirs.verdict,
        quantity=ours.quantity,
        unit=ours.unit,
        samples=ours.samples,
        published=published,
        evidence=f"{ours.evidence}. The paper's own numbers: {theirs.evidence}",
        expected=expected,
        fitted=fitted,
        changed=changed,
    )
