"""Published numbers beside ours: error, interval, printed digits, and the demands of `--check`."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from netcarlo.cells import Cells, Samples
from netcarlo.claims import Claim
from netcarlo.statistics import Mean, mean
from netcarlo.study import Published, Study, Tolerance


@dataclass(frozen=True)
class Compared:
    """One published number and our estimate of it; `estimate` is None where there can be none."""

    published: Published
    estimate: Mean | None
    fitted: str
    note: str
    left_out: bool

    @property
    def rel_error(self) -> float:
        """(ours - published) / published; NaN without an estimate."""
        if self.estimate is None:
            return math.nan
        return (self.estimate.mean - self.published.value) / self.published.value

    @property
    def matches_printed(self) -> bool | None:
        """True if our value, rounded or cut off, shows the printed digits."""
        if self.estimate is None:
            return None
        return shows(self.estimate.mean, self.published)


@dataclass(frozen=True)
class Check:
    """One demand of the study's tolerance and whether it is met."""

    text: str
    reached: str
    passed: bool


def shows(value: float, published: Published) -> bool:
    """True if `value`, rounded or cut off at the last printed digit, is the published number."""
    digits = value / published.step
    printed = round(published.value / published.step)
    # A value a hair below a digit boundary (62.99999999999) is on it.
    return printed in (math.floor(digits + 0.5 + 1e-7), math.trunc(digits + math.copysign(1e-7, digits)))


def compare(study: Study, cells: Cells, summaries: dict[str, Samples]) -> list[Compared]:
    """Every published number beside our estimate, in the order of `published.csv`."""
    by_conditions = {tuple(cell.conditions.items()): cell for cell in cells.all}

    def samples(number: Published) -> Samples | None:
        if number.metric in summaries:
            return summaries[number.metric]
        cell = by_conditions.get(tuple(number.conditions.items()))
        return cells.samples(number.metric, cell) if cell is not None and cells.has(number.metric) else None

    return [_compared(study, number, samples(number)) for number in study.published]


def _compared(study: Study, number: Published, samples: Samples | None) -> Compared:
    about = [e for e in study.description.explanations if number.matches(e.where)]
    fitted = [f.parameter for f in study.description.fitted if any(number.matches(w) for w in f.cells)]
    return Compared(
        published=number,
        estimate=None if samples is None or not np.isfinite(samples).any() else mean(samples),
        fitted="; ".join(fitted),
        note=" ".join(e.note for e in about),
        left_out=any(e.left_out for e in about),
    )


def check(study: Study, rows: Sequence[Compared], claims: Iterable[Claim]) -> list[Check]:
    """Each demand of the study's tolerance against what was reached."""
    claims = list(claims)
    return [_check(demand, rows, claims) for demand in study.description.tolerance]


def _check(demand: Tolerance, rows: Sequence[Compared], claims: list[Claim]) -> Check:
    of = [row for row in rows if row.published.metric == demand.metric and row.published.kind == "printed"]
    if demand.matches_printed is not None:
        hits = sum(bool(row.matches_printed) for row in of)
        return Check(
            f"{demand.metric}: at least {demand.matches_printed} of {len(of)} show the printed digits",
            f"{hits} of {len(of)}",
            hits >= demand.matches_printed,
        )
    if demand.rel_error is not None:
        counted = [row for row in of if not row.left_out]
        # NaN, a number without an estimate, is the worst of all and fails.
        worst = float(np.max([abs(row.rel_error) for row in counted]))
        left_out = len(of) - len(counted)
        return Check(
            f"{demand.metric}: every number within {demand.rel_error:.2%}"
            + (f" ({left_out} declared unexplained and left out)" if left_out else ""),
            f"worst {worst:.2%} of {len(counted)}",
            worst <= demand.rel_error,
        )
    surprises = [claim.id for claim in claims if claim.verdict != claim.expected]
    return Check(
        f"all {len(claims)} claims as expected",
        f"{len(claims) - len(surprises)} of {len(claims)}"
        + (f", not {', '.join(surprises)}" if surprises else ""),
        not surprises,
    )
