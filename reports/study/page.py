"""The report of a study: what its template shows, put together from the evaluation."""

import math
import re
import statistics
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from netcarlo.reports.page import page
from netcarlo.reports.parts import figures, wording
from netcarlo.reports.study import (
    lines as study_lines,
)
from netcarlo.reports.study import (
    maps as study_maps,
)
from netcarlo.reports.study import (
    runs as study_runs,
)
from netcarlo.reports.study import (
    tables as study_tables,
)
from netcarlo.reports.study.calibration import shipped_section
from netcarlo.reports.study.verdict import headline, match, metrics, printed, tiles, verdict
from netcarlo.studies.cells import estimate
from netcarlo.studies.claims import Claim
from netcarlo.studies.comparison import Compared
from netcarlo.studies.description import Figure, Spread, TraceFigure
from netcarlo.studies.evaluation import Evaluation

KNOWN = {
    "stated": "stated",
    "trace": "read from its traces",
    "inferred": "inferred",
    "fitted": "fitted",
    "default": "simulator's default",
}
TONE = {"held": "good", "not held": "bad", "undecided": "open", "not testable": "plain"}


def study_page(evaluation: Evaluation, *, provenance: dict[str, Any]) -> str:
    """The HTML of the report."""
    study = evaluation.study
    description = study.description
    laid_out = [study_tables.layout(evaluation, table) for table in description.tables]
    shown = {id(row) for table in description.tables for row in study_tables.rows_of(evaluation, table)}
    return page(
        "study.html",
        title=description.title,
        study={"name": study.name, **description.model_dump()},
        setting=[{**part.model_dump(), "value": study.fill(part.value)} for part in description.setting],
        lines=any(figure.published for figure in description.figures),
        passed=evaluation.passed,
        answer=evaluation.answer,
        headline=headline(evaluation),
        verdict=verdict(evaluation),
        tiles=tiles(evaluation),
        checks=evaluation.checks,
        overview=_overview(evaluation),
        figures=_figures(evaluation),
        maps=study_maps.maps(evaluation),
        spreads=_spreads(evaluation),
        tables=laid_out,
        claims=[_claim(claim) for claim in evaluation.claims],
        mismatches=study_tables.mismatches(evaluation),
        words=KNOWN,
        exact=description.exact,
        metrics=[
            Markup("<b>{}</b>: {}").format(wording.capital(description.label(metric)), text)
            for metric, text in description.definitions.items()
        ],
        screening=any(row.screening for row in evaluation.rows),
        fitted=[
            {
                "parameter": part.parameter,
                "cells": sum(part.parameter in row.fitted for row in evaluation.rows),
            }
            for part in description.fitted
        ],
        unseen=_unseen(evaluation),
        others=study_tables.others(evaluation, shown),
        calibration=shipped_section(study),
        provenance=provenance,
        scenarios={path.name: path.read_text(encoding="utf-8") for path in study.scenario_files()},
    )


def _overview(evaluation: Evaluation) -> list[dict[str, Any]]:
    plots = []
    description = evaluation.study.description
    for metric in metrics(evaluation):
        label = wording.capital(description.label(metric))
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


def _figures(evaluation: Evaluation) -> list[dict[str, Any]]:
    description = evaluation.study.description
    plots: list[dict[str, Any]] = []
    figures_: list[Figure | TraceFigure] = [*description.figures, *description.traces]
    for k, figure in enumerate(figures_):
        head = f"Figure {figure.figure}" if figure.figure else "Beyond the paper"
        if isinstance(figure, Figure):
            plot = study_lines.lines(evaluation, figure)
        else:
            plot = study_runs.over_time(evaluation, figure)
        shown = {
            "name": f"figure-{k}",
            "caption": Markup("<b>{}.</b> {}. {}").format(head, figure.title, figure.note),
            "plot": plot,
            "tall": isinstance(figure, TraceFigure) and len(figure.zoom_s) > 1,
            "order": _order(figure.figure),
        }
        plots += _beside(evaluation, figure, shown) if isinstance(figure, Figure) else [shown]
    return _in_columns(sorted(plots, key=lambda plot: plot["order"]))


def _spreads(evaluation: Evaluation) -> list[dict[str, Any]]:
    plots: list[dict[str, Any]] = []
    for k, figure in enumerate(evaluation.study.description.spreads):
        plot = study_runs.spread(evaluation, figure)
        shown = {"name": f"spread-{k}", "caption": figure.title, "plot": plot}
        plots += _beside(evaluation, figure, shown)
    return _in_columns(plots)


def _beside(evaluation: Evaluation, figure: Figure | Spread, shown: dict[str, Any]) -> list[dict[str, Any]]:
    """A figure and, if there is one, that of its differences run by run."""
    gains = study_lines.gains(evaluation, figure)
    if gains is None:
        return [shown]
    caption = Markup("<b>Run by run.</b> {}: differences of runs that met the same random numbers.")
    beside = {"name": f"gain-{shown['name']}", "caption": caption.format(figure.title), "plot": gains}
    return [{**shown, "pair": True}, {**shown, **beside}]


def _in_columns(plots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The figures, of which one is as wide as two where a pair that belongs together would be torn apart."""
    right = False
    for k, plot in enumerate(plots):
        if right and "pair" in plot:
            plots[k - 1]["wide"] = True
            right = False
        right = not right
    return plots


def _order(name: str) -> tuple[float, str]:
    number = re.search(r"\d+", name)
    return float(number[0]) if number else math.inf, name


def _claim(claim: Claim) -> dict[str, Any]:
    value = ""
    if claim.samples is not None:
        found = estimate(claim.samples)
        value = f"{found.mean:.2f} {claim.unit}"
        if math.isfinite(found.ci_low):
            value += f" [{found.ci_low:.2f}, {found.ci_high:.2f}]"
    return {
        "id": claim.id,
        "text": claim.text,
        "where": claim.where,
        "verdict": claim.verdict,
        "standing": claim.standing,
        "fitted": claim.fitted,
        "tone": TONE[claim.verdict],
        "quantity": claim.quantity,
        "value": value,
        "published": f"{claim.published} {claim.unit}".strip() if claim.published else "",
        "evidence": claim.evidence,
        "changed": claim.changed,
        "own": claim.own or "",
        "own_tone": TONE.get(claim.own or "", ""),
    }


def _unseen(evaluation: Evaluation) -> str:
    tested: Sequence[Compared] = [
        row for row in printed(evaluation) if not row.fitted and row.published.conditions
    ]
    hits = sum(bool(match(evaluation, row)) for row in tested)
    if not tested:
        return "No printed result is free of them: see the left-out errors of the calibration."
    near = "show the printed digits" if evaluation.study.description.exact else "are as near as demanded"
    errors = [abs(row.rel_error) for row in tested if math.isfinite(row.rel_error)]
    median = f"; their median error is {statistics.median(errors):.2%}" if errors else ""
    return f"Of the {len(tested)} printed results that pin no parameter, {hits} {near}{median}."
