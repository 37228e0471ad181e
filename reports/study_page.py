"""The report of a study: what its template shows, put together from the evaluation."""

import math
import statistics
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from netcarlo.claims import Claim
from netcarlo.comparison import Compared
from netcarlo.evaluation import Evaluation
from netcarlo.kernels.layout import Out
from netcarlo.reports import figures, words
from netcarlo.reports.page import page
from netcarlo.statistics import mean
from netcarlo.study import Table, Value

KNOWN = {
    "stated": "stated",
    "trace": "read from its traces",
    "fitted": "fitted",
    "default": "simulator's default",
}
TONE = {"held": "good", "not held": "bad", "not derivable": "open"}


def study_page(evaluation: Evaluation, *, provenance: dict[str, Any]) -> str:
    """The HTML of the report."""
    study = evaluation.study
    description = study.description
    laid_out = [_table(evaluation, table) for table in description.tables]
    shown = {id(row) for table in description.tables for row in _rows(evaluation, table)}
    return page(
        "study.html",
        title=description.title,
        study={"name": study.name, **description.model_dump()},
        passed=evaluation.passed,
        verdict=verdict(evaluation),
        tiles=tiles(evaluation),
        checks=evaluation.checks,
        overview=_overview(evaluation),
        figures=_figures(evaluation),
        tables=laid_out,
        claims=[_claim(claim) for claim in evaluation.claims],
        mismatches=_mismatches(evaluation),
        words=KNOWN,
        fitted=[
            {
                "parameter": part.parameter,
                "cells": sum(part.parameter in row.fitted for row in evaluation.rows),
            }
            for part in description.fitted
        ],
        unseen=_unseen(evaluation),
        others=_others(evaluation, shown),
        provenance=provenance,
        scenarios={path.name: path.read_text(encoding="utf-8") for path in study.scenario_files()},
    )


def verdict(evaluation: Evaluation) -> str:
    """The outcome in two sentences."""
    printed = _printed(evaluation)
    claims = evaluation.claims
    words_ = [
        f"{sum(c.verdict == kind for c in claims)} {kind}"
        for kind in TONE
        if any(c.verdict == kind for c in claims)
    ]
    hits = sum(bool(row.matches_printed) for row in printed)
    return (
        f"{hits} of {len(printed)} printed numbers show the paper's digits; the median error is "
        f"{statistics.median(abs(row.rel_error) for row in printed):.2%}. "
        f"Of {len(claims)} claims {', '.join(words_)}. The report lists what does not match, and why."
    )


def tiles(evaluation: Evaluation) -> list[dict[str, str]]:
    """The key figures at the top of a report."""
    found = []
    for metric in dict.fromkeys(table.metric for table in evaluation.study.description.tables):
        rows = [row for row in _printed(evaluation) if row.published.metric == metric]
        hits = sum(bool(row.matches_printed) for row in rows)
        found.append(
            {
                "label": f"{metric} numbers with the printed digits",
                "value": str(hits),
                "of": f"of {len(rows)}",
            }
        )
    expected = sum(claim.verdict == claim.expected for claim in evaluation.claims)
    packets = sum(int(cell.outcomes[:, Out.SENT].sum()) for cell in evaluation.cells.all)
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


def _printed(evaluation: Evaluation) -> list[Compared]:
    return [row for row in evaluation.rows if row.published.kind == "printed" and row.estimate is not None]


def _overview(evaluation: Evaluation) -> list[dict[str, Any]]:
    plots = []
    for metric in dict.fromkeys(table.metric for table in evaluation.study.description.tables):
        captions = (
            f"<b>{metric.capitalize()}</b>: every published number against ours, equal on the dashed line.",
            f"<b>{metric.capitalize()}</b>: the error of each; inside the band the printed digits agree.",
        )
        for name, draw, caption in zip(
            ("identity", "errors"), (figures.identity, figures.errors), captions, strict=True
        ):
            plots.append(
                {"name": f"{name}-{metric}", "caption": Markup(caption), "plot": draw(evaluation, metric)}
            )
    return plots


def _figures(evaluation: Evaluation) -> list[dict[str, Any]]:
    description = evaluation.study.description
    drawn = [(figure, figures.lines(evaluation, figure)) for figure in description.figures]
    drawn += [(figure, figures.window(evaluation, figure)) for figure in description.traces]  # type: ignore[misc]
    caption = Markup("<b>Figure {}.</b> {}. {}")
    plots = [
        {
            "name": "figure-" + "".join(c for c in figure.figure if c.isalnum()),
            "caption": caption.format(figure.figure, figure.title, getattr(figure, "note", "")),
            "plot": plot,
            "order": _order(figure.figure),
        }
        for figure, plot in drawn
    ]
    return sorted(plots, key=lambda plot: plot["order"])


def _order(name: str) -> tuple[int, str]:
    digits = "".join(c for c in name if c.isdigit())
    return int(digits or 0), name


def _rows(evaluation: Evaluation, table: Table) -> list[Compared]:
    return [
        row
        for row in evaluation.rows
        if row.published.place.get("table") == table.table and row.published.metric == table.metric
    ]


def _table(evaluation: Evaluation, table: Table) -> dict[str, Any]:
    conditions = evaluation.study.description.conditions
    rows = _rows(evaluation, table)
    columns = list(dict.fromkeys(row.published.conditions[table.columns] for row in rows))
    lines: dict[tuple[Value, ...], dict[Value, Compared]] = {}
    for row in rows:
        key = tuple(row.published.conditions[column] for column in table.rows)
        lines.setdefault(key, {})[row.published.conditions[table.columns]] = row
    return {
        "name": table.table,
        "title": table.title,
        "unit": rows[0].published.unit if rows else "",
        "heads": [conditions[column].label for column in table.rows],
        "columns": [conditions[table.columns].show(value) for value in columns],
        "lines": [
            {
                "heads": [
                    _head(conditions[c].show(key[i]), list(lines), key, i) for i, c in enumerate(table.rows)
                ],
                "cells": [_cell(line.get(value)) for value in columns],
            }
            for key, line in lines.items()
        ],
    }


def _head(text: str, keys: list[tuple[Value, ...]], key: tuple[Value, ...], i: int) -> dict[str, Any]:
    """A row heading; one that repeats in the lines below spans them, and has no span there."""
    same = [other for other in keys if other[: i + 1] == key[: i + 1]]
    if i == len(key) - 1:
        return {"text": text, "span": 1}
    return {"text": text, "span": len(same) if same[0] == key else 0}


def _cell(row: Compared | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "published": words.printed(row.published),
        "estimate": words.estimate(row),
        "error": words.error(row),
        "match": row.matches_printed,
        "fitted": bool(row.fitted),
        "note": row.note,
    }


def _line(evaluation: Evaluation, row: Compared) -> dict[str, Any]:
    published = row.published
    return {
        **(_cell(row) or {}),
        "place": words.place(published),
        "quantity": f"{words.metric(published.metric)} [{published.unit}]",
        "conditions": words.conditions(evaluation.study.description, published.conditions),
    }


def _mismatches(evaluation: Evaluation) -> list[dict[str, Any]]:
    rows = [row for row in evaluation.rows if not row.matches_printed]
    notes = list(dict.fromkeys(row.note for row in rows))
    rows.sort(key=lambda row: (not row.note, notes.index(row.note)))
    return [
        {"head": note or "No explanation known.", "rows": [_line(evaluation, row) for row in group]}
        for note, group in groupby(rows, key=lambda row: row.note)
    ]


def _others(evaluation: Evaluation, shown: set[int]) -> list[dict[str, Any]]:
    rows = [row for row in evaluation.rows if id(row) not in shown]
    places = list(dict.fromkeys(words.place(row.published) for row in rows))
    rows.sort(key=lambda row: places.index(words.place(row.published)))
    return [
        {"head": place[:1].upper() + place[1:], "rows": [_line(evaluation, row) for row in group]}
        for place, group in groupby(rows, key=lambda row: words.place(row.published))
    ]


def _claim(claim: Claim) -> dict[str, Any]:
    value = ""
    if claim.samples is not None:
        found = mean(claim.samples)
        value = f"{found.mean:.2f} {claim.unit}"
        if math.isfinite(found.ci_low):
            value += f" [{found.ci_low:.2f}, {found.ci_high:.2f}]"
    return {
        "id": claim.id,
        "text": claim.text,
        "where": claim.where,
        "verdict": claim.verdict,
        "tone": TONE[claim.verdict],
        "quantity": claim.quantity,
        "value": value,
        "published": f"{claim.published} {claim.unit}".strip() if claim.published else "",
        "evidence": claim.evidence,
    }


def _unseen(evaluation: Evaluation) -> str:
    tested: Sequence[Compared] = [
        row for row in _printed(evaluation) if not row.fitted and row.published.conditions
    ]
    hits = sum(bool(row.matches_printed) for row in tested)
    return (
        f"Of the {len(tested)} printed results that pin no parameter, {hits} show the printed digits; "
        f"their median error is {statistics.median(abs(row.rel_error) for row in tested):.2%}."
    )
