"""How near a study came: the verdict, the key figures, and which numbers count as met."""

import math
import statistics
from typing import Any, get_args

from netcarlo.claims import Verdict
from netcarlo.comparison import Compared
from netcarlo.evaluation import Evaluation
from netcarlo.reports import words


def verdict(evaluation: Evaluation) -> str:
    """The outcome in two sentences."""
    claims = evaluation.claims
    found = [(kind, sum(claim.verdict == kind for claim in claims)) for kind in get_args(Verdict)]
    counts = ", ".join(f"{n} {kind}" for kind, n in found if n)
    return (
        f"{_nearness(evaluation)} Of {len(claims)} claims {counts}."
        " The report lists what does not match, and why."
    )


def _nearness(evaluation: Evaluation) -> str:
    rows = printed(evaluation)
    judged = [row.within for row in rows if row.within is not None]
    tables = metrics(evaluation)
    if not tables:
        return f"{sum(judged)} of {len(judged)} printed numbers are as near as demanded."
    if evaluation.study.description.exact:
        hits = sum(bool(row.matches_printed) for row in rows)
        near, of = f"{hits} of {len(rows)} printed numbers show the paper's digits", ""
    else:
        near = f"{sum(judged)} of {len(judged)} printed numbers are as near as demanded"
        metric = tables[0]
        of = f" of {evaluation.study.description.label(metric)}"
        rows = [row for row in rows if row.published.metric == metric]
    return f"{near}; the median error{of} is {statistics.median(abs(row.rel_error) for row in rows):.2%}."


def tiles(evaluation: Evaluation) -> list[dict[str, str]]:
    """The key figures at the top of a report."""
    found = [_tile(evaluation, metric) for metric in metrics(evaluation)]
    expected = sum(claim.verdict == claim.expected for claim in evaluation.claims)
    packets = sum(cell.packets for cell in evaluation.cells.all)
    return [
        *found,
        {"label": "claims as expected", "value": str(expected), "of": f"of {len(evaluation.claims)}"},
        {
            "label": "cells simulated",
            "value": str(len(evaluation.cells.all)),
            "of": f"by {evaluation.replications} runs",
        },
        {"label": "packets simulated", "value": f"{packets / 1e6:.1f}", "of": "million"},
    ]


def in_a_line(evaluation: Evaluation) -> dict[str, Any]:
    """What the index page says of a study: numbers and claims met, errors, and what does not hold."""
    rows = [row for row in printed(evaluation) if match(evaluation, row) is not None]
    hits = sum(bool(match(evaluation, row)) for row in rows)
    digits = evaluation.study.description.exact
    claims = evaluation.claims
    return {
        "numbers": hits,
        "of_numbers": len(rows),
        "near": "show the printed digits" if digits else "as near as demanded",
        "fitted": sum(bool(row.fitted) for row in rows),
        **_errors(evaluation, rows),
        "claims": sum(claim.verdict == "held" for claim in claims),
        "of_claims": len(claims),
        "open": [
            {"id": claim.id, "text": claim.text, "verdict": claim.verdict}
            for claim in claims if claim.verdict != "held"
        ],
        "missed": [f"{c.text}: {c.reached}" for c in evaluation.checks if not c.passed],
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
        unit = words.of_difference(rows[0].published)
    else:
        return {"median": "", "worst": "", "worst_of": ""}
    order = sorted(relative, key=lambda row: errors[id(row)])
    middle, worst = order[(len(order) - 1) // 2], order[-1]
    what = evaluation.study.description.label(worst.published.metric)
    at = words.conditions(evaluation.study.description, worst.published.conditions)
    return {
        "median": f"{shown[id(middle)]} {unit}",
        "worst": f"{shown[id(worst)]} {unit}",
        "worst_of": ", ".join(filter(None, (what, at))),
    }


def _tile(evaluation: Evaluation, metric: str) -> dict[str, str]:
    """How near the numbers of a metric are."""
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
        unit = words.of_difference(rows[0].published)
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
    return list(dict.fromkeys(metric for table in tables for metric in table.metrics))


def match(evaluation: Evaluation, row: Compared) -> bool | None:
    """Whether a number is as near as the study means to be: to the digit, or to its tolerance."""
    return row.matches_printed if evaluation.study.description.exact else row.within


def printed(evaluation: Evaluation) -> list[Compared]:
    """The printed numbers that have an estimate."""
    return [row for row in evaluation.rows if row.published.kind == "printed" and row.estimate is not None]
