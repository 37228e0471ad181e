"""The report of a study: what its template shows, put together from the evaluation."""

import math
import re
import statistics
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from netcarlo.claims import Claim
from netcarlo.comparison import Compared
from netcarlo.evaluation import Evaluation
from netcarlo.kernels.layout import Out
from netcarlo.reports import figures, study_runs, words
from netcarlo.reports.calibration import shipped_section
from netcarlo.reports.figures import Plot
from netcarlo.reports.page import page
from netcarlo.statistics import mean
from netcarlo.study import Figure, Table, TraceFigure, Value

KNOWN = {
    "stated": "stated",
    "trace": "read from its traces",
    "inferred": "inferred",
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
        setting=[{**part.model_dump(), "value": study.fill(part.value)} for part in description.setting],
        lines=any(figure.published for figure in description.figures),
        passed=evaluation.passed,
        verdict=verdict(evaluation),
        tiles=tiles(evaluation),
        checks=evaluation.checks,
        overview=_overview(evaluation),
        figures=_figures(evaluation),
        spreads=_spreads(evaluation),
        tables=laid_out,
        claims=[_claim(claim) for claim in evaluation.claims],
        mismatches=_mismatches(evaluation),
        words=KNOWN,
        exact=description.exact,
        metrics=[
            Markup("<b>{}</b>: {}").format(_capital(description.label(metric)), text)
            for metric, text in description.metrics.items()
        ],
        fitted=[
            {
                "parameter": part.parameter,
                "cells": sum(part.parameter in row.fitted for row in evaluation.rows),
            }
            for part in description.fitted
        ],
        unseen=_unseen(evaluation),
        others=_others(evaluation, shown),
        calibration=shipped_section(study),
        provenance=provenance,
        scenarios={path.name: path.read_text(encoding="utf-8") for path in study.scenario_files()},
    )


def verdict(evaluation: Evaluation) -> str:
    """The outcome in two sentences."""
    claims = evaluation.claims
    found = [(kind, sum(claim.verdict == kind for claim in claims)) for kind in TONE]
    counts = ", ".join(f"{n} {kind}" for kind, n in found if n)
    return (
        f"{_nearness(evaluation)} Of {len(claims)} claims {counts}."
        " The report lists what does not match, and why."
    )


def _nearness(evaluation: Evaluation) -> str:
    printed = _printed(evaluation)
    if evaluation.study.description.exact:
        hits = sum(bool(row.matches_printed) for row in printed)
        near, of = f"{hits} of {len(printed)} printed numbers show the paper's digits", ""
    else:
        judged = [row.within for row in printed if row.within is not None]
        near = f"{sum(judged)} of {len(judged)} printed numbers are as near as demanded"
        metric = _metrics(evaluation)[0]
        of = f" of {evaluation.study.description.label(metric)}"
        printed = [row for row in printed if row.published.metric == metric]
    return f"{near}; the median error{of} is {statistics.median(abs(row.rel_error) for row in printed):.2%}."


def tiles(evaluation: Evaluation) -> list[dict[str, str]]:
    """The key figures at the top of a report."""
    found = [_tile(evaluation, metric) for metric in _metrics(evaluation)]
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


def _tile(evaluation: Evaluation, metric: str) -> dict[str, str]:
    """How near the numbers of a metric are."""
    label = evaluation.study.description.label(metric)
    rows = [row for row in _printed(evaluation) if row.published.metric == metric]
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


def _metrics(evaluation: Evaluation) -> list[str]:
    """The metrics of the paper's tables."""
    tables = evaluation.study.description.tables
    return list(dict.fromkeys(metric for table in tables for metric in table.metrics))


def _match(evaluation: Evaluation, row: Compared) -> bool | None:
    """Whether a number is as near as the study means to be: to the digit, or to its tolerance."""
    return row.matches_printed if evaluation.study.description.exact else row.within


def _printed(evaluation: Evaluation) -> list[Compared]:
    return [row for row in evaluation.rows if row.published.kind == "printed" and row.estimate is not None]


def _overview(evaluation: Evaluation) -> list[dict[str, Any]]:
    plots = []
    description = evaluation.study.description
    for metric in _metrics(evaluation):
        label = _capital(description.label(metric))
        band = "the printed digits agree" if description.exact else "it is as near as demanded"
        captions = (
            f"<b>{label}</b>: every published number against ours, equal on the dashed line.",
            f"<b>{label}</b>: the error of each; inside the band {band}.",
        )
        for name, draw, caption in zip(
            ("identity", "errors"), (figures.identity, figures.errors), captions, strict=True
        ):
            plots.append(
                {"name": f"{name}-{metric}", "caption": Markup(caption), "plot": draw(evaluation, metric)}
            )
    return plots


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _figures(evaluation: Evaluation) -> list[dict[str, Any]]:
    description = evaluation.study.description
    drawn: list[tuple[Figure | TraceFigure, Plot]] = []
    drawn += [(figure, figures.lines(evaluation, figure)) for figure in description.figures]
    drawn += [(figure, study_runs.over_time(evaluation, figure)) for figure in description.traces]
    caption = Markup("<b>{}.</b> {}. {}")
    plots = [
        {
            "name": f"figure-{k}",
            "caption": caption.format(
                f"Figure {figure.figure}" if figure.figure else "Beyond the paper", figure.title, figure.note
            ),
            "plot": plot,
            "tall": isinstance(figure, TraceFigure) and len(figure.zoom_s) > 1,
            "order": _order(figure.figure),
        }
        for k, (figure, plot) in enumerate(drawn)
    ]
    return sorted(plots, key=lambda plot: plot["order"])


def _spreads(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [
        {"name": f"spread-{k}", "caption": figure.title, "plot": study_runs.spread(evaluation, figure)}
        for k, figure in enumerate(evaluation.study.description.spreads)
    ]


def _order(name: str) -> tuple[float, str]:
    number = re.search(r"\d+", name)
    return float(number[0]) if number else math.inf, name


def _rows(evaluation: Evaluation, table: Table) -> list[Compared]:
    return [
        row
        for row in evaluation.rows
        if row.published.place.get("table") == table.table and row.published.metric in table.metrics
    ]


Key = tuple[Value, ...]


def _table(evaluation: Evaluation, table: Table) -> dict[str, Any]:
    description = evaluation.study.description
    conditions = description.conditions
    rows = _rows(evaluation, table)
    several = len(table.metrics) > 1

    def key(row: Compared, columns: list[str]) -> Key:
        return tuple(row.published.conditions[column] for column in columns)

    def texts(columns: list[str], key: Key) -> list[str]:
        return [conditions[c].show(value) for c, value in zip(columns, key, strict=True)]

    columns = list(dict.fromkeys(key(row, table.columns) for row in rows))
    lines: dict[Key, dict[Key, Compared]] = {}
    for row in rows:
        head = key(row, table.rows) + ((row.published.metric,) if several else ())
        lines.setdefault(head, {})[key(row, table.columns)] = row
    heads = [texts(table.rows, head[: len(table.rows)]) for head in lines]
    if several:
        heads = [
            [*texts_, description.label(str(head[-1]))] for texts_, head in zip(heads, lines, strict=True)
        ]
    return {
        "name": table.table,
        "title": table.title,
        "unit": rows[0].published.unit if rows else "",
        "heads": [*(conditions[column].label for column in table.rows), *([""] if several else [])],
        "columns": list(zip(*_spans([texts(table.columns, c) for c in columns]), strict=True)),
        "lines": [
            {"heads": head, "cells": [_cell(evaluation, line.get(column)) for column in columns]}
            for head, line in zip(_spans(heads), lines.values(), strict=True)
        ],
    }


def _spans(heads: list[list[str]]) -> list[list[dict[str, Any]]]:
    """Headings; one that repeats in the next spans them, and has no span there."""
    found = []
    for head in heads:
        line = []
        for i, text in enumerate(head):
            same = [other for other in heads if other[: i + 1] == head[: i + 1]]
            inner = i == len(head) - 1
            line.append({"text": text, "span": 1 if inner else len(same) if same[0] is head else 0})
        found.append(line)
    return found


def _cell(evaluation: Evaluation, row: Compared | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "published": words.printed(row.published),
        "estimate": words.estimate(row),
        "error": words.error(row),
        "match": _match(evaluation, row),
        "fitted": bool(row.fitted),
        "note": row.note,
    }


def _line(evaluation: Evaluation, row: Compared) -> dict[str, Any]:
    published = row.published
    return {
        **(_cell(evaluation, row) or {}),
        "place": words.place(published),
        "quantity": words.with_unit(evaluation.study.description.label(published.metric), published.unit),
        "conditions": words.conditions(evaluation.study.description, published.conditions),
    }


def _mismatches(evaluation: Evaluation) -> list[dict[str, Any]]:
    rows = [row for row in evaluation.rows if not _counts(evaluation, row)]
    notes = list(dict.fromkeys(row.note for row in rows))
    rows.sort(key=lambda row: (not row.note, notes.index(row.note)))
    return [
        {"head": note or "No explanation known.", "rows": [_line(evaluation, row) for row in group]}
        for note, group in groupby(rows, key=lambda row: row.note)
    ]


def _counts(evaluation: Evaluation, row: Compared) -> bool:
    """Whether a number needs no explanation: it matches, or nothing is demanded of it and nothing said."""
    match = _match(evaluation, row)
    return bool(match) if evaluation.study.description.exact else match is not False and not row.note


def _others(evaluation: Evaluation, shown: set[int]) -> list[dict[str, Any]]:
    rows = [row for row in evaluation.rows if id(row) not in shown]
    places = list(dict.fromkeys(words.place(row.published) for row in rows))
    rows.sort(key=lambda row: places.index(words.place(row.published)))
    return [
        {"head": _capital(place), "rows": [_line(evaluation, row) for row in group]}
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
        "own": claim.own or "",
        "own_tone": TONE.get(claim.own or "", ""),
    }


def _unseen(evaluation: Evaluation) -> str:
    tested: Sequence[Compared] = [
        row for row in _printed(evaluation) if not row.fitted and row.published.conditions
    ]
    hits = sum(bool(_match(evaluation, row)) for row in tested)
    near = "show the printed digits" if evaluation.study.description.exact else "are as near as demanded"
    return (
        f"Of the {len(tested)} printed results that pin no parameter, {hits} {near}; "
        f"their median error is {statistics.median(abs(row.rel_error) for row in tested):.2%}."
    )
