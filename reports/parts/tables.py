"""The rows of `comparison.csv` and `claims.csv`."""

import math
from typing import Any

from netcarlo.reports.parts.write import csv_text
from netcarlo.studies.cells import estimate
from netcarlo.studies.claims import Claim
from netcarlo.studies.comparison import Compared
from netcarlo.studies.evaluation import Evaluation


def comparison_csv(evaluation: Evaluation) -> str:
    """One row per published number, in the order of the study's file."""
    places = list(evaluation.rows[0].published.place)
    conditions = list(evaluation.study.description.conditions)
    columns = [
        "study", *places, *conditions, "metric", "unit", "published", "kind", "estimate", "ci_low", "ci_high",
        "replications", "rel_error", "matches_printed", "within", "fitted", "fluid", "note",
    ]  # fmt: skip
    return csv_text(columns, [_compared(evaluation.study.name, row) for row in evaluation.rows])


def claims_csv(evaluation: Evaluation) -> str:
    """One row per claim of the paper."""
    columns = [
        "study", "claim", "text", "where", "verdict", "expected", "fitted", "own_numbers", "quantity",
        "unit", "published", "estimate", "ci_low", "ci_high", "replications", "evidence", "changed",
    ]  # fmt: skip
    return csv_text(columns, [_claim(evaluation.study.name, claim) for claim in evaluation.claims])


def _compared(study: str, row: Compared) -> dict[str, Any]:
    published, estimate = row.published, row.estimate
    matches = row.matches_printed
    return {
        "study": study,
        **published.place,
        **{
            column: _number(value) if isinstance(value, float) else value
            for column, value in published.conditions.items()
        },
        "metric": published.metric,
        "unit": published.unit,
        "published": published.text,
        "kind": published.kind,
        "estimate": _number(estimate.mean) if estimate else "",
        "ci_low": _number(estimate.ci_low) if estimate else "",
        "ci_high": _number(estimate.ci_high) if estimate else "",
        "replications": estimate.n if estimate else 0,
        "rel_error": _number(row.rel_error),
        "matches_printed": "" if matches is None else str(matches).lower(),
        "within": "" if row.within is None else str(row.within).lower(),
        "fitted": str(bool(row.fitted)).lower(),
        "fluid": _number(row.screening.mean) if row.screening else "",
        "note": " ".join(filter(None, (row.note, row.fitted and f"Pins: {row.fitted}."))),
    }


def _claim(study: str, claim: Claim) -> dict[str, Any]:
    found = estimate(claim.samples) if claim.samples is not None else None
    return {
        "study": study,
        "claim": claim.id,
        "text": claim.text,
        "where": claim.where,
        "verdict": claim.verdict,
        "expected": claim.expected,
        "fitted": claim.fitted,
        "own_numbers": claim.own or "",
        "quantity": claim.quantity,
        "unit": claim.unit,
        "published": claim.published,
        "estimate": _number(found.mean) if found else "",
        "ci_low": _number(found.ci_low) if found else "",
        "ci_high": _number(found.ci_high) if found else "",
        "replications": found.n if found else 0,
        "evidence": claim.evidence,
        "changed": claim.changed,
    }


def _number(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else ""
