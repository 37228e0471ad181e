"""The page of a calibration, and the same as a section of a study's report."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from netcarlo.calibration.result import Calibrated, Errors, Number, Parameter, read
from netcarlo.reports.page import page
from netcarlo.reports.parts.exported import DECORATION, interval
from netcarlo.reports.parts.figures import COLOURS, GRID, INK, SYMBOLS, Plot, plot, rounded
from netcarlo.schema.readable import MINUS
from netcarlo.studies.study import Study

SHIPPED = "calibration.json"
"""The result that a study carries in its folder."""

RESISTS = 2.0
"""Numbers that are at least this many standard deviations off are listed as those that do not fit."""

TONE = {
    "identified": "good",
    "bounded below": "open",
    "bounded above": "open",
    "not identified": "plain",
    "acts on nothing": "plain",
}


NAMES = {"acts on nothing": "no effect"}
"""Verdicts as they are shown, if that is not their name in the result."""


def calibration_page(result: Calibrated, study: Study) -> str:
    """The HTML of the page."""
    return page(
        "calibration.html",
        title=f"Calibration of {study.name}",
        study={"name": study.name, "title": study.description.title},
        calibration=section(result, study),
    )


def shipped_section(study: Study) -> dict[str, Any] | None:
    """The section of the result that a study carries; None if it carries none."""
    path: Path = study.folder / SHIPPED
    return section(read(path), study) if path.is_file() else None


def section(result: Calibrated, study: Study) -> dict[str, Any]:
    """Return the variables of the template of the section."""
    resisting = sorted((row for row in result.numbers if abs(row.z) > RESISTS), key=lambda row: -abs(row.z))
    return {
        "verdict": verdict(result, study),
        "tiles": _tiles(result, study),
        "parameters": [_parameter(result, one) for one in result.parameters],
        "profiles": [
            {"name": f"profile-{one.name}", "caption": _caption(result, one), "plot": _profile(result, one)}
            for one in result.parameters if one.profile
        ],
        "errors": _errors(result, study),
        "scatter": _scatter(result, study),
        "metrics": result.metrics,
        "resisting": [_number(row, result, study) for row in resisting],
        "numbers": [_number(row, result, study) for row in result.numbers],
        "settings": yaml.safe_dump(result.settings, sort_keys=False, width=1000).strip(),
        "declared": result.declared.model_dump(),
        "repeatable": study.description.say(result.declared.repeatable or {}),
        "work": result.work.model_dump(),
        "resists": RESISTS,
    }  # fmt: skip


def verdict(result: Calibrated, study: Study) -> str:
    """The outcome in a few sentences."""
    identified = [one.name for one in result.parameters if one.verdict == "identified"]
    metric = next(iter(result.declared.targets))
    fitted, unseen = (_of(errors, metric) for errors in (result.in_sample, result.left_out))
    name = study.description.label(metric)
    parts = [
        f"The mean error of {fitted.n} {name} numbers is {show(result, metric, fitted.mean)} "
        "with random numbers that the search has not seen"
        + (
            f", and {show(result, metric, unseen.mean)} where they were left out of the fit"
            if unseen.n
            else ""
        )
        + ".",
        f"{len(identified)} of {len(result.parameters)} parameters are identified"
        + (f" ({', '.join(identified)})." if identified else "."),
        f"The mean square deviation is {result.chi_square:.2f} of what noise would explain.",
    ]
    return " ".join(parts)


def show(result: Calibrated, metric: str, error: float, *, sign: bool = False) -> str:
    """An error as people read it: relative in per cent, absolute in the unit of the metric."""
    if result.declared.targets[metric].relative:
        text = f"{error * 100:{'+' if sign else ''}.2f} %"
    else:
        unit = next(row.unit for row in result.numbers if row.metric == metric)
        text = f"{error:{'+' if sign else ''}.3g} {'points' if unit == '%' else unit}".strip()
    return text.replace("-", MINUS)


def allowed(result: Calibrated, one: Parameter) -> str:
    """The values of a parameter that the profile does not exclude, in words."""
    unit = result.declared.parameters[one.name].unit
    low, high = (None if end is None else f"{end:g}" for end in (one.low, one.high))
    if low and high:
        return f"between {low} and {high} {unit}".strip()
    if low or high:
        return f"{'above' if low else 'below'} {low or high} {unit}".strip()
    return "any value searched"


def _tiles(result: Calibrated, study: Study) -> list[dict[str, str]]:
    tiles = []
    for errors in result.in_sample:
        name = study.description.label(errors.metric)
        tiles.append({"label": f"mean error of {name}, fitted", "of": f"of {errors.n}",
                      "value": show(result, errors.metric, errors.mean)})  # fmt: skip
        if result.folds:
            unseen = _of(result.left_out, errors.metric)
            tiles.append({"label": f"mean error of {name}, left out", "of": f"of {unseen.n}",
                          "value": show(result, errors.metric, unseen.mean)})  # fmt: skip
    identified = sum(one.verdict == "identified" for one in result.parameters)
    work = result.work
    return [
        *tiles,
        {"label": "parameters identified", "value": str(identified), "of": f"of {len(result.parameters)}"},
        {"label": "candidates simulated", "value": f"{work.candidates:,}", "of": f"in {work.wall_s:.0f} s"},
        {"label": "packets simulated", "value": f"{work.packets / 1e6:,.0f}", "of": "million"},
    ]


def _of(errors: Iterable[Errors], metric: str) -> Errors:
    nothing = Errors(metric=metric, n=0, mean=0, median=0, worst=0, worst_at={})
    return next((one for one in errors if one.metric == metric), nothing)


def _parameter(result: Calibrated, one: Parameter) -> dict[str, Any]:
    declared = result.declared.parameters[one.name]
    return {
        "label": declared.label,
        "value": f"{one.value:g} {declared.unit}".strip(),
        "allowed": allowed(result, one),
        "searched": f"{declared.low:g} to {declared.high:g} by {declared.step:g}",
        "verdict": NAMES.get(one.verdict, one.verdict),
        "tone": TONE[one.verdict],
        "numbers": one.numbers,
    }


def _caption(result: Calibrated, one: Parameter) -> str:
    declared = result.declared.parameters[one.name]
    return f"{declared.label}: {NAMES.get(one.verdict, one.verdict)}, {allowed(result, one)}"


def _profile(result: Calibrated, one: Parameter) -> Plot:
    declared = result.declared.parameters[one.name]
    x = [step.value for step in one.profile]
    rise = result.declared.rise
    data: list[Plot] = [
        {
            "x": x, "y": [rounded(step.rise) for step in one.profile], "mode": "lines", "hoverinfo": "skip",
            "line": {"color": COLOURS[0], "width": 1.6}, "showlegend": False, **DECORATION,
        }
    ]  # fmt: skip
    for keeps, name, symbol in ((True, "kept", "circle"), (False, "excluded", "circle-open")):
        steps = [step for step in one.profile if step.kept == keeps]
        data.append(
            {
                "x": [step.value for step in steps], "y": [rounded(step.rise) for step in steps],
                "error_y": {"type": "data", "array": [rounded(2 * step.doubt) for step in steps],
                            "thickness": 1.2, "width": 3},
                **interval(
                    [step.rise - 2 * step.doubt for step in steps],
                    [step.rise + 2 * step.doubt for step in steps],
                    more={"limit": [rise] * len(steps)},
                ),
                "mode": "markers", "name": name,
                "marker": {"color": COLOURS[0], "size": 9, "symbol": symbol},
                "hovertemplate": f"%{{x}} {declared.unit}: %{{y:.3g}} above the best<extra></extra>",
            }
        )  # fmt: skip
    data.append(
        {
            "x": [declared.low, declared.high], "y": [rise, rise], "mode": "lines", "name": f"{rise:g}",
            "line": {"color": COLOURS[1], "width": 1.2, "dash": "dash"}, "hoverinfo": "skip", **DECORATION,
        }
    )  # fmt: skip
    # Steep walls would leave the part that decides flat.
    top = max(4 * rise, *(2 * step.rise for step in one.profile if step.kept))
    unit = f" [{declared.unit}]" if declared.unit else ""
    return plot(
        data, x=declared.label + unit, y="misfit above the best",
        yaxis={"range": [-0.25 * rise, top]}, xaxis={"range": [declared.low, declared.high]},
    )  # fmt: skip


def _errors(result: Calibrated, study: Study) -> list[dict[str, Any]]:
    """A line per set of errors: the present files, the fit, every fold."""
    lines: list[tuple[str, list[Errors], list[str]]] = [
        ("the scenario files as they were", result.present, []),
        ("the fit, all numbers", result.in_sample, []),
    ]
    for fold in result.folds:
        left_out = study.description.say({fold.condition: fold.value})
        unseen = [result.declared.parameters[name].label for name in fold.unseen]
        lines.append((f"left out: {left_out}", fold.left_out, unseen))
    return [
        {
            "head": head,
            "unseen": ", ".join(unseen),
            "cells": [
                {
                    "n": errors.n,
                    "metric": study.description.label(errors.metric),
                    "mean": show(result, errors.metric, errors.mean),
                    "median": show(result, errors.metric, errors.median),
                    "worst": show(result, errors.metric, errors.worst),
                    "worst_at": study.description.say(errors.worst_at),
                }
                for errors in found
            ],
        }
        for head, found, unseen in lines
    ]


def _scatter(result: Calibrated, study: Study) -> Plot:
    """The error of every number of the first metric, as fitted and as predicted by each refit."""
    metric = next(iter(result.declared.targets))
    fitted = [row for row in result.numbers if row.metric == metric]
    order = {tuple(row.conditions.items()): i + 1 for i, row in enumerate(fitted)}
    relative = bool(result.declared.targets[metric].relative)
    scale = 100 if relative else 1
    groups: dict[str, Sequence[Number]] = {"fitted": fitted}
    for condition in result.declared.leave_out:
        label = study.description.conditions[condition].label
        rows = [row for fold in result.folds if fold.condition == condition for row in fold.numbers]
        groups[f"{label} left out"] = [row for row in rows if row.metric == metric]
    data: list[Plot] = [
        {
            "type": "scatter", "mode": "markers", "name": name,
            "x": [order[tuple(row.conditions.items())] for row in rows],
            "y": [rounded(row.error * scale) for row in rows],
            "error_y": {"type": "data", "array": [rounded(_band(row, result) * scale) for row in rows],
                        "thickness": 1, "width": 0, "visible": name == "fitted"},
            "text": [study.description.say(row.conditions) for row in rows],
            **interval(
                [(row.error - _band(row, result)) * scale for row in rows],
                [(row.error + _band(row, result)) * scale for row in rows],
                more={"number": [study.description.say(row.conditions) for row in rows]},
            ),
            "marker": {"color": COLOURS[i], "symbol": SYMBOLS[i] + ("-open" if i else ""), "size": 9},
            "hovertemplate": "%{text}: %{y:.3g}<extra>" + name + "</extra>",
        }
        for i, (name, rows) in enumerate(groups.items())
    ]  # fmt: skip
    y = f"error of {study.description.label(metric)} [{'%' if relative else fitted[0].unit}]"
    return plot(data, x="number, in the paper's order", y=y,
                yaxis={"zeroline": True, "zerolinecolor": INK, "gridcolor": GRID})  # fmt: skip


def _band(row: Number, result: Calibrated) -> float:
    """One sigma of the deviation that noise explains, in the unit of the error."""
    return abs(row.error / row.z) if row.z else 0.0


def _number(row: Number, result: Calibrated, study: Study) -> dict[str, Any]:
    return {
        "conditions": study.description.say(row.conditions),
        "metric": f"{study.description.label(row.metric)} [{row.unit}]",
        "published": f"{row.published:g}",
        "estimate": f"{row.estimate:.5g}",
        "spread": f"{row.sd:.3g}",
        "error": show(result, row.metric, row.error, sign=True),
        "z": f"{row.z:+.1f}".replace("-", MINUS),
        "off": abs(row.z) > RESISTS,
    }


def summary(result: Calibrated, study: Study) -> RenderableType:
    """Return the output for the terminal: parameters, errors, and the values for the scenario files."""
    parameters = Table("parameter", "fitted", "allowed by the tables", "", title=result.study)
    for one in result.parameters:
        line = _parameter(result, one)
        parameters.add_row(one.name, line["value"], line["allowed"], line["verdict"])
    errors = Table("errors", "", "mean", "median", "worst", "at", title="On fresh random numbers")
    for line in _errors(result, study):
        for cell in line["cells"]:
            errors.add_row(
                line["head"], cell["metric"], cell["mean"], cell["median"], cell["worst"], cell["worst_at"]
            )
    fields = Table("field", "value", title="For the scenario files")
    for field, value in result.settings.items():
        fields.add_row(field, value)
    return Group(parameters, errors, fields, Text(verdict(result, study)))
