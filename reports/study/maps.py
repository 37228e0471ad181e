"""Maps of a study: a result over two unknowns, a square for each reading."""

import math
from typing import Any

import numpy as np
from markupsafe import Markup

from netcarlo.reports.parts import wording
from netcarlo.reports.parts.exported import exact
from netcarlo.reports.parts.figures import INK, Plot, plot, rounded
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.maps import Map

LOSS_TO_GAIN = [[0, "#e39a5f"], [0.5, "#f7f7f7"], [1, "#79b0dc"]]
"""Light enough to be written on."""

NONE_TO_ALL = ("#e8c9a8", "#f6ead6", "#d5e2ef", "#7fb3d9")
"""From a kind in which nothing holds to one in which all does."""


def maps(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The maps of a study with their captions."""
    return [
        {
            "name": f"map-{k}",
            "caption": Markup("<b>{}</b>{}. {}").format(
                found.title, f" [{found.unit}]" if found.unit else "", found.note
            ),
            "plot": heat(found),
        }
        for k, found in enumerate(evaluation.maps)
    ]


def heat(found: Map) -> Plot:
    """A map as a heat map, the study's setting outlined."""
    reach = max(abs(float(found.values.min())), abs(float(found.values.max())), 1.0)
    if found.kinds:
        count = len(found.kinds)
        colours: Plot = {
            "colorscale": [[(k + end) / count, NONE_TO_ALL[k]] for k in range(count) for end in (0, 1)],
            "zmin": -0.5, "zmax": count - 0.5,
        }  # fmt: skip
    else:
        colours = {"colorscale": LOSS_TO_GAIN, "zmin": -reach, "zmax": reach}
    trace = {
        "type": "heatmap", "x": found.columns, "y": found.rows,
        "z": [[rounded(value) for value in row] for row in found.values],
        "text": found.marks, "texttemplate": "%{text}", "textfont": {"size": 13, "color": INK},
        "customdata": _more(found), "xgap": 2, "ygap": 2, "showscale": False,
        "hovertemplate": f"{found.across} %{{x}}<br>{found.up} %{{y}}<br>%{{customdata}}<extra></extra>",
        "meta": _exported(found), **colours,
    }  # fmt: skip
    axis: Plot = {"type": "category", "showgrid": False, "zeroline": False}
    shapes = []
    if found.at is not None:
        y, x = found.at
        shapes.append({"type": "rect", "x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5,
                       "line": {"color": INK, "width": 2.5}})  # fmt: skip
    return plot([trace], x=found.across, y=found.up, xaxis=axis, yaxis=dict(axis), shapes=shapes,
                meta={"value": wording.with_unit("value", found.unit)})  # fmt: skip


def _exported(found: Map) -> Plot:
    """Return the values of the squares with their intervals, or their kinds, as they are exported."""
    if found.kinds:
        return {"series": found.title, "z": _more(found)}
    ends = {"low": [exact(row) for row in found.low], "high": [exact(row) for row in found.high]}
    return {"series": found.title, **(ends if np.isfinite(found.low).any() else {})}


def _more(found: Map) -> list[list[str]]:
    """Return the full text of each square: its value, unit and interval."""
    if found.kinds:
        return [[found.kinds[int(value)] for value in row] for row in found.values]
    return [
        [
            f"{value:+.1f} {found.unit}" + (f" [{low:+.1f}, {high:+.1f}]" if math.isfinite(low) else "")
            for value, low, high in zip(*line, strict=True)
        ]
        for line in zip(found.values, found.low, found.high, strict=True)
    ]
