"""Published numbers beside ours: error, interval, printed digits, and the demands of `--check`."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netcarlo.cells import Cells, Samples
from netcarlo.claims import Claim
from netcarlo.statistics import Mean, mean
from netcarlo.study import Published, Study, Tolerance, Value, matches


@dataclass(frozen=True)
class Compared:
    """One published number and our estimate of it; `estimate` is None where there can be none."""

    published: Published
    estimate: Mean | None
    fitted: str
    note: str
    left_out: bool
    allowed: float = math.inf
    """The largest difference that the tolerance allows, in the unit of the number."""

    @property
    def difference(self) -> float:
        """Ours - published; NaN without an estimate."""
        return math.nan if self.estimate is None else self.estimate.mean - self.published.value

    @property
    def within(self) -> bool | None:
        """True if the difference is allowed; None where the tolerance says nothing."""
        return None if math.isinf(self.allowed) else abs(self.difference) <= self.allowed

    @property
    def rel_error(self) -> float:
        """(ours - published) / published; NaN without an estimate, and where 0 is published."""
        return self.difference / self.published.value if self.published.value else math.nan

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


Summaries = Mapping[str, Samples | Callable[[Mapping[str, Value]], Samples]]
"""Metrics that no single cell has: their values, or how they follow from the conditions of a number."""


def compare(study: Study, cells: Cells, summaries: Summaries) -> list[Compared]:
    """Every published number beside our estimate, in the order of `published.csv`."""
    by_conditions = {tuple(cell.conditions.items()): cell for cell in cells.all}

    def samples(number: Published) -> Samples | None:
        if number.metric in summaries:
            found = summaries[number.metric]
            return found(number.conditions) if callable(found) else found
        cell = by_conditions.get(tuple(number.conditions.items()))
        return cells.samples(number.metric, cell) if cell is not None and cells.has(number.metric) else None

    return [_compared(study, number, samples(number)) for number in study.published]


def _compared(study: Study, number: Published, samples: Samples | None) -> Compared:
    description = study.description
    about = [e for e in description.explanations if number.matches(e.where)]
    fitted = [f.parameter for f in description.fitted if any(number.matches(w) for w in f.cells)]
    estimate = None if samples is None or not np.isfinite(samples).any() else mean(samples)
    demands = [demand for demand in description.tolerance if demand.concerns(number)]
    return Compared(
        published=number,
        estimate=estimate,
        fitted="; ".join(fitted),
        note=" ".join(e.note for e in about),
        left_out=any(e.left_out for e in about),
        allowed=min((_allowed(demand, number, estimate) for demand in demands), default=math.inf),
    )


def _allowed(demand: Tolerance, number: Published, estimate: Mean | None) -> float:
    """The largest difference that a demand allows, in the unit of the number."""
    if demand.abs_error is not None:
        return demand.abs_error
    if demand.rel_error is None:
        return math.inf
    relative = demand.rel_error
    if demand.runs is not None and estimate is not None:
        relative = max(relative, 2 * estimate.sd / abs(estimate.mean) / math.sqrt(demand.runs))
    return relative * abs(number.value)


def check(study: Study, rows: Sequence[Compared], claims: Iterable[Claim], cells: Cells) -> list[Check]:
    """Each demand of the study's tolerance against what was reached."""
    claims = list(claims)
    found = []
    for demand in study.description.tolerance:
        if demand.claims is not None:
            found.append(_check_claims(claims))
        elif demand.at_least is not None or demand.at_most is not None:
            found.append(_check_cells(study, demand, cells))
        else:
            found.append(_check_numbers(study, demand, [r for r in rows if demand.concerns(r.published)]))
    return found


def _check_numbers(study: Study, demand: Tolerance, rows: Sequence[Compared]) -> Check:
    name = study.description.say_demand(demand)
    if demand.matches_printed is not None:
        hits = sum(bool(row.matches_printed) for row in rows)
        return Check(
            f"{name}: at least {demand.matches_printed} of {len(rows)} show the printed digits",
            f"{hits} of {len(rows)}",
            hits >= demand.matches_printed,
        )
    counted = [row for row in rows if not row.left_out]
    left_out = len(rows) - len(counted)
    note = f" ({left_out} declared unexplained and left out)" if left_out else ""
    # NaN, a number without an estimate, is the worst of all and fails.
    errors = np.abs([row.rel_error for row in counted])
    for most, what, reduce in (
        (demand.mean_error, "mean", np.mean), (demand.median_error, "median", np.median),
        (demand.rms_error, "root mean square", _rms),
    ):  # fmt: skip
        if most is not None:
            reached = float(reduce(errors))
            return Check(
                f"{name}: {what} error of {len(counted)} numbers at most {_percent(most)}{note}",
                f"{reached:.2%}", reached <= most,
            )  # fmt: skip
    if demand.abs_error is not None:
        worst = float(np.max(np.abs([row.difference for row in counted])))
        unit = counted[0].published.unit.replace("%", "percentage points")
        return Check(
            f"{name}: every number within {demand.abs_error:g} {unit}{note}",
            f"worst {worst:.2f} of {len(counted)}",
            worst <= demand.abs_error,
        )
    limits = [_allowed(demand, row.published, row.estimate) for row in counted]
    inside = [abs(row.difference) <= limit for row, limit in zip(counted, limits, strict=True)]
    spread = "" if demand.runs is None else f" or twice the spread of a mean of {demand.runs} runs"
    return Check(
        f"{name}: every number within {_percent(demand.rel_error or 0)}{spread}{note}",
        f"worst {np.max(errors):.2%} of {len(counted)}"
        + ("" if all(inside) or demand.runs is None else f", {inside.count(False)} outside"),
        all(inside),
    )


def _check_cells(study: Study, demand: Tolerance, cells: Cells) -> Check:
    cells = cells.varied(demand.variation) if demand.variation else cells
    chosen = [cell for cell in cells.all if matches(cell.conditions, demand.where)]
    means = [float(np.mean(cells.samples(demand.metric, cell))) for cell in chosen]
    least, most = min(means, default=math.nan), max(means, default=math.nan)
    name = study.description.say_demand(demand)
    if demand.at_least is not None:
        return Check(f"{name}: at least {demand.at_least:g}", f"{least:.4g}", least >= demand.at_least)
    return Check(f"{name}: at most {demand.at_most:g}", f"{most:.4g}", most <= (demand.at_most or 0.0))


def _check_claims(claims: list[Claim]) -> Check:
    surprises = [claim.id for claim in claims if claim.verdict != claim.expected]
    return Check(
        f"all {len(claims)} claims as expected",
        f"{len(claims) - len(surprises)} of {len(claims)}"
        + (f", not {', '.join(surprises)}" if surprises else ""),
        not surprises,
    )


def _rms(values: Samples) -> float:
    return math.sqrt(np.mean(values**2))


def _percent(share: float) -> str:
    return f"{share * 100:g} %"
