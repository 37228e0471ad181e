"""Verdict on a study: counts, key figures, and the numbers that count as reproduced."""

import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any

from netcarlo.reports.parts import wording
from netcarlo.studies.comparison import Compared
from netcarlo.studies.evaluation import Evaluation

NEAR = 0.05
"""The relative error that every study is counted by, whatever it demands."""


@dataclass(frozen=True)
class Counts:
    """Counts of printed results with an estimate, without inputs, and of claims."""

    numbers: int
    fitted: int
    """Numbers used by the calibration or by a choice among settings; they test nothing."""
    digits: int
    """Numbers whose estimate has the printed digits."""
    near: int
    """Within 5 %."""
    judged: int
    """Numbers to which the tolerance applies."""
    met: int
    apart: int
    """Numbers whose tolerance is so wide that it tests hardly anything."""
    claims: int
    held: int
    missed: int
    undecided: int
    untestable: int
    in_view: int
    """Claims that hold, but that were known when a setting was chosen."""


def counts(evaluation: Evaluation) -> Counts:
    """Return the counts of a study."""
    rows, claims = printed(evaluation), evaluation.claims
    judged = [bool(near) for row in rows if (near := match(evaluation, row)) is not None]
    verdicts = [claim.verdict for claim in claims]
    return Counts(
        numbers=len(rows),
        fitted=sum(bool(row.fitted) for row in rows),
        digits=sum(bool(row.matches_printed) for row in rows),
        near=sum(near_by(row) for row in rows),
        judged=len(judged),
        met=sum(judged),
        apart=0 if evaluation.study.description.exact else sum(row.wide for row in rows),
        claims=len(claims),
        held=verdicts.count("held"),
        missed=verdicts.count("not held"),
        undecided=verdicts.count("undecided"),
        untestable=verdicts.count("not testable"),
        in_view=sum(claim.verdict == "held" and bool(claim.fitted) for claim in claims),
    )


def near_by(row: Compared) -> bool:
    """Return whether an estimate is within 5 % of the published number; a published 0 needs its digits."""
    return abs(row.rel_error) <= NEAR if row.published.value else bool(row.matches_printed)


def headline(evaluation: Evaluation) -> str:
    """Return the outcome of a study in counts: claims, numbers, and demands of `--check`."""
    n = counts(evaluation)
    met, all_ = sum(check.passed for check in evaluation.checks), len(evaluation.checks)
    changed = sum(bool(check.history) for check in evaluation.checks)
    changed += sum(bool(claim.changed) for claim in evaluation.claims)
    noted = f" (tests of {changed} demands and claims changed after the first results)" if changed else ""
    return (
        f"{n.held} of {n.claims} claims held, {n.near} of {n.numbers} published numbers within "
        f"{NEAR * 100:g} %; {met} of {all_} demands met{noted}."
    )


def verdict(evaluation: Evaluation) -> str:
    """Return the outcome in two sentences."""
    n = counts(evaluation)
    if evaluation.study.description.exact:
        met = ""
    elif n.apart:
        met = (
            f", {n.met} of {n.judged} tested are within their tolerance ({n.apart} more have a tolerance of "
            "half their value and are counted separately)"
        )
    else:
        met = f", {n.met} of {n.judged} tested are within their tolerance"
    fitted = f", {n.fitted} of them fitted" if n.fitted else ""
    return (
        f"{n.numbers} published numbers compared{fitted}: {n.digits} match to the printed digits, {n.near} "
        f"are within {NEAR * 100:g} %{met}. {_of_claims(n)} The report lists what does not match, and why."
    )


def _of_claims(n: Counts) -> str:
    parts = [
        f"{n.held} held" + (f" ({n.in_view} of them with a parameter chosen for this)" if n.in_view else ""),
        f"{n.missed} not held" if n.missed else "",
        f"{n.undecided} undecided" if n.undecided else "",
        f"{n.untestable} not testable" if n.untestable else "",
    ]
    return f"Of {n.claims} claims {', '.join(filter(None, parts))}."


def tiles(evaluation: Evaluation) -> list[dict[str, str]]:
    """The key figures at the top of a report."""
    n = counts(evaluation)
    packets = sum(cell.packets for cell in evaluation.cells.all)
    return [
        *(_tile(evaluation, metric) for metric in metrics(evaluation)),
        {"label": "claims held", "value": str(n.held), "of": f"of {n.claims}"},
        {
            "label": "cells simulated",
            "value": str(len(evaluation.cells.all)),
            "of": f"by {evaluation.replications} runs",
        },
        {"label": "packets simulated", "value": f"{packets / 1e6:.1f}", "of": "million"},
    ]


def in_a_line(evaluation: Evaluation) -> dict[str, Any]:
    """Return the row of a study on the index page: its counts, its errors, and claims that do not hold."""
    rows = [row for row in printed(evaluation) if match(evaluation, row) is not None]
    return {
        **asdict(counts(evaluation)),
        "demanded": "with the printed digits" if evaluation.study.description.exact else "within tolerance",
        **_errors(evaluation, rows),
        "open": [
            {"id": claim.id, "text": claim.text, "standing": claim.standing}
            for claim in evaluation.claims if claim.verdict != "held"
        ],
        "unmet": [f"{c.text}: {c.reached}" for c in evaluation.checks if not c.passed],
    }  # fmt: skip


def _errors(evaluation: Evaluation, rows: list[Compared]) -> dict[str, str]:
    """Median and worst error, relative ones where there are any, and where the worst is."""
    demands = evaluation.study.description.tolerance
    absolute = {demand.metric for demand in demands if demand.abs_error is not None}
    relative = [row for row in rows if row.published.metric not in absolute and math.isfinite(row.rel_error)]
    if relative:
        errors = {id(row): abs(row.rel_error) for row in relative}
        shown, unit = {key: f"{100 * error:.2g}" for key, error in errors.items()}, "%"
    elif rows:
        relative = rows
        errors = {id(row): abs(row.difference) for row in rows}
        shown = {key: f"{error:.2g}" for key, error in errors.items()}
        unit = wording.of_difference(rows[0].published)
    else:
        return {"median": "", "worst": "", "worst_of": ""}
    order = sorted(relative, key=lambda row: errors[id(row)])
    middle, worst = order[(len(order) - 1) // 2], order[-1]
    what = evaluation.study.description.label(worst.published.metric)
    at = wording.conditions(evaluation.study.description, worst.published.conditions)
    return {
        "median": f"{shown[id(middle)]} {unit}",
        "worst": f"{shown[id(worst)]} {unit}",
        "worst_of": ", ".join(filter(None, (what, at))),
    }


def _tile(evaluation: Evaluation, metric: str) -> dict[str, str]:
    """Return the key figure of a metric: numbers reproduced, or their median error."""
    label = evaluation.study.description.label(metric)
    rows = [row for row in printed(evaluation) if row.published.metric == metric]
    if evaluation.study.description.exact:
        hits = sum(bool(row.matches_printed) for row in rows)
        return {
            "label": f"{label} numbers with the printed digits",
            "value": str(hits),
            "of": f"of {len(rows)}",
        }
    if any(d.metric == metric and d.abs_error is not None for d in evaluation.study.description.tolerance):
        middle = statistics.median(abs(row.difference) for row in rows)
        unit = wording.of_difference(rows[0].published)
        return {
            "label": f"median difference of {len(rows)} {label} numbers",
            "value": f"{middle:.2f}",
            "of": unit,
        }
    middle = statistics.median(abs(row.rel_error) for row in rows)
    mean_ = statistics.mean(abs(row.rel_error) for row in rows)
    return {"label": f"median error of {len(rows)} {label} numbers", "value": f"{middle:.1%}",
            "of": f"mean {mean_:.1%}"}  # fmt: skip


def metrics(evaluation: Evaluation) -> list[str]:
    """The metrics of the paper's tables."""
    tables = evaluation.study.description.tables
    compared = {row.published.metric for row in printed(evaluation)}
    wanted = dict.fromkeys(metric for table in tables for metric in table.metrics)
    return [metric for metric in wanted if metric in compared]


def match(evaluation: Evaluation, row: Compared) -> bool | None:
    """Return whether a number is reproduced: to the printed digits, or within the tolerance of the study."""
    return row.matches_printed if evaluation.study.description.exact else row.within


def printed(evaluation: Evaluation) -> list[Compared]:
    """The printed results that have an estimate; inputs are none."""
    return [row for row in evaluation.rows if row.published.kind == "printed" and row.estimate is not None]
