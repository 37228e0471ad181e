"""Comparison of published and simulated numbers: errors, intervals, printed digits, and requirements of
`--check`."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, mean
from netcarlo.studies.cells import Cells, Samples, estimate
from netcarlo.studies.claims import Claim, Verdict, ends, every, inside
from netcarlo.studies.description import Tolerance
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value, matches
from netcarlo.studies.study import Study

WIDE = 0.5
"""Allowed relative difference above which a number does not count as a test."""


@dataclass(frozen=True)
class Compared:
    """Published number and its estimate."""

    published: Published
    """Published number."""
    estimate: Mean | None
    """Estimate by simulation; None if there is none."""
    fitted: str
    """Parameters that were fitted to this number."""
    note: str
    """Explanation of the difference; may be empty."""
    left_out: bool
    """True if the number is declared unexplained, and left out of relative errors."""
    allowed: float = math.inf
    """Maximum difference by the tolerance, in the unit of the number."""
    samples: Samples | None = None
    """Values of the metric behind the estimate, one per replication."""
    screening: Mean | None = None
    """Estimate by a fluid model; None if there is none."""

    @property
    def difference(self) -> float:
        """Estimate minus published value; NaN without an estimate."""
        return math.nan if self.estimate is None else self.estimate.mean - self.published.value

    @property
    def wide(self) -> bool:
        """True if the tolerance allows more than `WIDE` of the published value; such numbers are counted
        apart."""
        return math.isfinite(self.allowed) and _wide(self.allowed, self.published)

    @property
    def within(self) -> bool | None:
        """True if the difference is allowed; None if there is no tolerance or it is `wide`."""
        return None if math.isinf(self.allowed) or self.wide else abs(self.difference) <= self.allowed

    @property
    def rel_error(self) -> float:
        """Relative difference (estimate - published) / published; NaN without an estimate, or if 0 is
        published."""
        return self.difference / self.published.value if self.published.value else math.nan

    @property
    def matches_printed(self) -> bool | None:
        """True if the estimate, rounded or truncated, has the printed digits; None without an estimate."""
        if self.estimate is None:
            return None
        return shows(self.estimate.mean, self.published)


@dataclass(frozen=True)
class Check:
    """Requirement of the study's tolerance, with a verdict by the whole interval of the quantity."""

    text: str
    """Requirement as text."""
    reached: str
    """Result as text."""
    verdict: Verdict
    """Verdict on the requirement."""
    history: str = ""
    """Requirement as first declared, its verdict, and the reason for the change; empty if it never
    changed."""

    @property
    def passed(self) -> bool:
        """True if the requirement is met."""
        return self.verdict == "held"


def shows(value: float, published: Published) -> bool:
    """Return True if `value`, rounded or truncated at the last printed digit, is the published number."""
    digits = value / published.step
    printed = round(published.value / published.step)
    # The small offset corrects values just below a digit boundary (62.99999999999).
    return printed in (math.floor(digits + 0.5 + 1e-7), math.trunc(digits + math.copysign(1e-7, digits)))


Summary = Samples | Mean
"""Values of a metric, one per replication, or its estimate if it is not defined for single replications."""

Summaries = Mapping[str, Summary | Callable[[Mapping[str, Value]], Summary]]
"""Metrics that depend on several cells: by name, their values, or a function of the conditions of a
number."""


def compare(study: Study, cells: Cells, summaries: Summaries) -> list[Compared]:
    """Return every published number with its estimate, in the order of `published.csv`."""
    by_conditions = {tuple(cell.conditions.items()): cell for cell in cells.all}

    def samples(number: Published) -> Summary | None:
        if number.metric in summaries:
            found = summaries[number.metric]
            return found(number.conditions) if callable(found) else found
        cell = by_conditions.get(tuple(number.conditions.items()))
        return cells.samples(number.metric, cell) if cell is not None and cells.has(number.metric) else None

    return [_compared(study, number, samples(number)) for number in study.published]


def _compared(study: Study, number: Published, summary: Summary | None) -> Compared:
    description = study.description
    about = [e for e in description.explanations if number.matches(e.where)]
    fitted = [f.parameter for f in description.fitted if any(number.matches(w) for w in f.cells)]
    samples = None if isinstance(summary, Mean) else summary
    if isinstance(summary, Mean):
        found: Mean | None = summary
    else:
        found = None if samples is None or not np.isfinite(samples).any() else estimate(samples)
    demands = [demand for demand in description.tolerance if demand.concerns(number)]
    runs = description.runs_behind_the_table
    return Compared(
        published=number,
        estimate=found,
        fitted="; ".join(fitted),
        note=" ".join(e.note for e in about),
        left_out=any(e.left_out for e in about),
        allowed=min((_allowed(demand, number, found, runs) for demand in demands), default=math.inf),
        samples=samples,
    )


def _allowed(demand: Tolerance, number: Published, found: Mean | None, runs: float) -> float:
    """Return the maximum difference that a requirement allows, in the unit of the number."""
    if demand.abs_error is not None:
        return demand.abs_error
    if demand.not_excluded and found is not None:
        low, high = ends(found)
        return max(0.0, found.mean - low, high - found.mean)
    if demand.rel_error is None:
        return math.inf
    relative = demand.rel_error
    if demand.or_spread and found is not None and math.isfinite(found.sd):
        relative = max(relative, 2 * found.sd / abs(found.mean) / math.sqrt(runs))
    return relative * abs(number.value)


def _wide(allowed: float, number: Published) -> bool:
    return 0 < WIDE * abs(number.value) < allowed


def check(study: Study, rows: Sequence[Compared], claims: Iterable[Claim], cells: Cells) -> list[Check]:
    """Return each requirement of the study's tolerance with its result and verdict."""
    claims = list(claims)

    def judge(demand: Tolerance) -> Check:
        if demand.claims is not None:
            return _check_claims(claims)
        if demand.at_least is not None or demand.at_most is not None:
            return _check_cells(study, demand, cells)
        concerned = [row for row in rows if demand.concerns(row.published)]
        return _check_numbers(study, demand, concerned)

    found = []
    for demand in study.description.tolerance:
        judged, first = judge(demand), demand.as_first_declared()
        if first is not None:
            before = judge(first)
            history = f"First declared: {before.text} ({before.verdict}: {before.reached}). {demand.changed}"
            judged = replace(judged, history=history)
        found.append(judged)
    return found


def _check_numbers(study: Study, demand: Tolerance, rows: Sequence[Compared]) -> Check:
    name = study.description.say_demand(demand)
    if demand.matches_printed is not None:
        hits = sum(bool(row.matches_printed) for row in rows)
        return Check(
            f"{name}: at least {demand.matches_printed} of {len(rows)} have the printed digits",
            f"{hits} of {len(rows)}",
            "held" if hits >= demand.matches_printed else "not held",
        )
    if demand.not_excluded:
        return _check_not_excluded(name, rows)
    counted = [row for row in rows if not row.left_out]
    left_out = len(rows) - len(counted)
    note = f" ({left_out} declared unexplained and left out)" if left_out else ""
    for what, most in (
        ("mean", demand.mean_error), ("median", demand.median_error), ("root mean square", demand.rms_error)
    ):  # fmt: skip
        if most is not None:
            reached = aggregate(counted, what)
            return Check(
                f"{name}: {what} error of {len(counted)} numbers at most {_percent(most)}{note}",
                f"{reached.mean:.2%}{_interval(reached)}",
                inside(reached, most=most),
            )
    return _check_each(study, demand, counted, f"{name}: every number within", note)


def _check_each(study: Study, demand: Tolerance, rows: Sequence[Compared], name: str, note: str) -> Check:
    """Return the check that every number is within its allowed difference; wide tolerances are counted
    apart."""
    runs = study.description.runs_behind_the_table
    limits = [_allowed(demand, row.published, row.estimate, runs) for row in rows]
    tested = [
        (row, limit) for row, limit in zip(rows, limits, strict=True) if not _wide(limit, row.published)
    ]
    apart = len(rows) - len(tested)
    verdicts: list[Verdict] = [
        "not held" if row.estimate is None
        else inside(row.estimate, row.published.value - limit, row.published.value + limit)
        for row, limit in tested
    ]  # fmt: skip
    off = [f"{n} {words}" for kind, words in (("not held", "outside"), ("undecided", "undecided"))
           if (n := verdicts.count(kind))]  # type: ignore[arg-type]  # fmt: skip
    off += [f"{apart} with a tolerance of more than {_percent(WIDE)} not counted"] if apart else []
    if demand.abs_error is not None:
        unit = rows[0].published.unit.replace("%", "percentage points") if rows else ""
        allowed = f"{demand.abs_error:g} {unit}".rstrip()
        worst = f"{max((abs(row.difference) for row, _ in tested), default=math.nan):.2f}"
    else:
        allowed = _percent(demand.rel_error or 0)
        worst = f"{max((abs(row.rel_error) for row, _ in tested), default=math.nan):.2%}"
        if demand.or_spread:
            widths = [limit / abs(row.published.value) for row, limit in tested]
            allowed += (
                f" or twice the spread of a mean of {runs:g} runs (which allows "
                f"{min(widths, default=math.nan):.0%} to {max(widths, default=math.nan):.0%}, "
                f"{np.median(widths) if widths else math.nan:.0%} in the median)"
            )
    return Check(
        f"{name} {allowed}{note}",
        ", ".join([f"worst {worst} of {len(tested)}", *off]),
        every(verdicts) if tested else "undecided",
    )


def _check_not_excluded(name: str, rows: Sequence[Compared]) -> Check:
    """Return the check that every printed number is within the 95 % interval of its estimate."""
    outside = [
        row for row in rows
        if row.estimate is None
        or not (ends(row.estimate)[0] <= row.published.value <= ends(row.estimate)[1])
    ]  # fmt: skip
    alone = sum(
        row.estimate is not None and ends(row.estimate) == (row.published.value, row.published.value)
        for row in rows
    )
    return Check(
        f"{name}: every printed number within the 95 % interval of the estimate",
        f"{len(rows) - len(outside)} of {len(rows)}, {alone} of them equal to the only possible value",
        "not held" if outside or not rows else "held",
    )


def aggregate(rows: Sequence[Compared], what: str) -> Mean:
    """Return the `mean`, `median` or `root mean square` of the absolute relative errors, with its interval.

    Run k of every cell has the same random numbers, so the interval is computed from the linearised
    contribution of each run (delta method with the signs of the errors). The result is NaN if a number has no
    estimate.
    """
    errors = np.array([row.rel_error for row in rows])
    if not len(rows) or np.isnan(errors).any():
        return Mean(0, math.nan, math.nan, math.nan, math.nan)
    reached, weights = _REDUCED[what](errors)
    parts = [row.samples for row in rows if row.samples is not None]
    if len(parts) < len(rows) or len({len(part) for part in parts}) > 1 or len(parts[0]) < 2:
        return Mean(1, reached, math.nan, math.nan, math.nan)
    scale = weights / np.array([row.published.value for row in rows])
    runs = scale @ np.array(parts, np.float64)
    return mean(runs - runs.mean() + reached)


def _mean(errors: Floats) -> tuple[float, Floats]:
    return float(np.mean(np.abs(errors))), np.sign(errors) / len(errors)


def _rms(errors: Floats) -> tuple[float, Floats]:
    found = math.sqrt(np.mean(errors**2))
    return found, errors / (len(errors) * found) if found else np.zeros(len(errors))


def _median(errors: Floats) -> tuple[float, Floats]:
    order = np.argsort(np.abs(errors), kind="stable")
    middle = order[(len(errors) - 1) // 2 : len(errors) // 2 + 1]
    weights = np.zeros(len(errors))
    weights[middle] = np.sign(errors[middle]) / len(middle)
    return float(np.median(np.abs(errors))), weights


_REDUCED: dict[str, Callable[[Floats], tuple[float, Floats]]] = {
    "mean": _mean, "median": _median, "root mean square": _rms,
}  # fmt: skip
"""Functions from relative errors to an aggregate and its derivative with respect to each error."""


def _check_cells(study: Study, demand: Tolerance, cells: Cells) -> Check:
    cells = cells.varied(demand.variation) if demand.variation else cells
    found = [
        cells.estimate(demand.metric, cell) for cell in cells.all if matches(cell.conditions, demand.where)
    ]
    name = study.description.say_demand(demand)
    least, most = demand.at_least, demand.at_most
    text = f"at least {least:g}" if least is not None else f"at most {most:g}"
    verdicts = [
        inside(one, -math.inf if least is None else least, math.inf if most is None else most)
        for one in found
    ]
    pick = min if least is not None else max
    reached = pick(found, key=lambda one: one.mean, default=None)
    shown = "no cell" if reached is None else f"{reached.mean:.4g}{_interval(reached, plain=True)}"
    return Check(f"{name}: {text}", shown, every(verdicts) if found else "not held")


def _check_claims(claims: list[Claim]) -> Check:
    against = [f"{claim.id} {claim.verdict}" for claim in claims if not claim.passed]
    held = [claim for claim in claims if claim.expected == "held"]
    open_ = [claim for claim in claims if claim.expected == "undecided"]
    rest = [claim for claim in claims if claim.expected not in ("held", "undecided")]
    others = [f"{claim.id} {claim.standing}" for claim in rest]
    text = f"the {len(held)} of {len(claims)} claims that are expected to hold do hold"
    if open_:
        text += f", and {', '.join(claim.id for claim in open_)}, expected to be undecided, do not fail"
    return Check(
        text,
        f"{sum(claim.passed for claim in held)} of {len(held)}"
        + "".join(f", {claim.id} {claim.verdict}" for claim in open_ if claim.passed)
        + (f"; failed: {', '.join(against)}" if against else "")
        + (f"; not required: {', '.join(others)}" if others else ""),
        every(claim.verdict for claim in claims if not claim.passed),
    )


def _interval(found: Mean, *, plain: bool = False) -> str:
    if not math.isfinite(found.ci_low):
        return ""
    low, high = ends(found)
    return f" [{low:.4g}, {high:.4g}]" if plain else f" [{low:.2%}, {high:.2%}]"


def _percent(share: float) -> str:
    return f"{share * 100:g} %"
