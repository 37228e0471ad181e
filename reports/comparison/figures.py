"""The figures of a comparison: differences with their intervals, and how they compare with chance."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from netcarlo.comparison.comparison import Comparison
from netcarlo.reports.comparison import wording
from netcarlo.reports.parts import exported
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, Plot, finite, plot, rounded
from netcarlo.reports.parts.wording import capital

LINES = 24
"""Most lines of labels beside a figure; a row has a line for each axis."""
ROWS = 15
"""Most names of quantities beside a figure, so that they do not touch on a phone."""
MOST_BYTES = 1_500_000
MOST_POINTS = 2000
FARTHEST = 6.0
"""Limit of the axis, in half-widths of an interval; points beyond are drawn at the limit."""
FEWEST = 10
"""Fewest differences for which the figure is drawn."""
OUTLIER = 8
"""Factor over the 75 % quantile of the differences beyond which one is drawn at the edge of the axis."""

SHOWN = {"differs": ("differs", COLOURS[1], "circle"), "noise": ("within chance", COLOURS[0], "square")}
"""Verdicts by which points are drawn: name, colour and symbol."""


def differences(found: Comparison) -> Plot | None:
    """Each difference with the interval by which it is judged, the clearest of many cells; None: none."""
    table = found.table[np.isfinite(found.table["difference"])]
    if not len(table):
        return None
    if found.single:
        return _single(found)
    outcomes = list(dict.fromkeys(table.index.get_level_values("outcome")))
    parts = [table[table.index.get_level_values("outcome") == outcome] for outcome in outcomes]
    called = [int((part["verdict"] == "differs").sum()) for part in parts]

    def draw(k: int) -> Plot:
        scale = wording.scale(found, outcomes[k], parts[k]["difference"])
        shown = wording.clearest(parts[k]).iloc[: max(LINES // (len(found.sides[0].axes) or 1), 4)]
        columns = ["difference", "low", "high"]
        shown = shown.assign(**{name: shown[name] / scale.factor for name in columns})
        return _forest(found, shown, scale.label(f"difference of {wording.name(found, outcomes[k])}"))

    options = [
        f"{capital(wording.name(found, outcome))}: {n} of {len(part)} differ"
        for outcome, n, part in zip(outcomes, called, parts, strict=True)
    ]
    first = [k for k, outcome in enumerate(outcomes) if outcome in found.leading]
    start = max(first or range(len(outcomes)), key=called.__getitem__)
    return with_choices(draw, [Choice("of", options, start)], most_bytes=MOST_BYTES)


def _single(found: Comparison) -> Plot | None:
    """Return a figure of the differences of single cells, in pages of one pair of sides and `ROWS` rows."""
    pages: list[tuple[str, pd.DataFrame]] = []
    for pair in found.pairs:
        table = _relative(found.of_pair(pair))
        where = "" if len(found.sides) == 2 else f"{pair[1]} against {pair[0]}: "
        for at in range(0, len(table), ROWS):
            shown = table.iloc[at : at + ROWS]
            pages.append((f"{where}{at + 1} to {at + len(shown)} of {len(table)}", shown))
    if not pages:
        return None

    def draw(k: int) -> Plot:
        return _forest(found, pages[k][1], "difference [%]")

    return with_choices(draw, [Choice("shown", [name for name, _ in pages])], most_bytes=MOST_BYTES)


def _relative(table: pd.DataFrame) -> pd.DataFrame:
    """The differences in percent of the baseline, where that is not 0."""
    found = table[np.isfinite(table["relative"]) & (table["verdict"] != "equal")]
    percent = {name: 100 * found[name] / found["baseline"].abs() for name in ("difference", "low", "high")}
    relative: pd.DataFrame = found.assign(**percent)
    return relative


def _forest(found: Comparison, table: pd.DataFrame, title: str) -> Plot:
    labels = [_label(found, index) for index in table.index]
    data = [_points(table, labels, verdict) for verdict in SHOWN]
    order = labels[::-1]
    view = _view(table)
    beyond = [] if view is None else _beyond(table, labels, *view)
    return plot(
        data, x=title, y="", meta={"y": "result"}, annotations=beyond,
        xaxis={"zeroline": True, "zerolinecolor": "#55616f", **({} if view is None else {"range": [*view]})},
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": order,
               "range": [-0.7, len(order) - 0.3], "tickfont": {"size": 11}, "dtick": 1},
    )  # fmt: skip


def _view(table: pd.DataFrame) -> tuple[float, float] | None:
    """Return the range of the axis if a few differences are so large that they would hide the others."""
    ends = table[["low", "difference", "high"]].to_numpy()
    reach = np.abs(np.where(np.isfinite(ends), ends, 0)).max(axis=1)
    most = OUTLIER * float(np.quantile(reach, 0.75))
    if not 0 < most < reach.max():
        return None
    inside = np.nan_to_num(ends[reach <= most])
    low, high = min(float(inside.min()), 0.0), max(float(inside.max()), 0.0)
    margin, room = 0.05 * (high - low), 0.2 * (high - low)  # room for the text at the edge
    beyond = table["difference"].to_numpy()
    return low - margin - room * (beyond < low).any(), high + margin + room * (beyond > high).any()


def _beyond(table: pd.DataFrame, labels: list[str], low: float, high: float) -> list[Plot]:
    """Return annotations at the edges of the axis for differences beyond it."""
    found: list[Plot] = []
    for label, difference, relative in zip(labels, table["difference"], table["relative"], strict=True):
        if low <= difference <= high or not math.isfinite(difference):
            continue
        right = difference > high
        text = _percent(relative)
        found.append(
            {
                "xref": "paper", "x": float(right), "xanchor": "right" if right else "left",
                "y": label, "text": f"{text} →" if right else f"← {text}", "showarrow": False,
                "font": {"size": 11, "color": COLOURS[1]}, "bgcolor": "#fff",  # hides the bar behind it
            }
        )  # fmt: skip
    return found


def _points(table: pd.DataFrame, labels: list[str], verdict: str) -> Plot:
    name, colour, symbol = SHOWN[verdict]
    mine = (
        (table["verdict"] == verdict) if verdict == "differs" else (table["verdict"] != "differs")
    ).to_numpy()
    rows = table[mine]
    ends = {"array": rows["high"] - rows["difference"], "arrayminus": rows["difference"] - rows["low"]}
    return {
        "type": "scatter", "mode": "markers", "name": name,
        "x": [finite(v) for v in rows["difference"]],
        "y": [label for label, here in zip(labels, mine.tolist(), strict=True) if here],
        "customdata": [_percent(v) for v in rows["relative"]],
        **exported.interval(
            rows["low"].to_numpy(), rows["high"].to_numpy(), more={"verdict": rows["verdict"].tolist()}
        ),
        "marker": {"color": colour, "symbol": symbol, "size": 8},
        "error_x": {"type": "data", "symmetric": False, "thickness": 1.4, "width": 4, "color": colour,
                    **{end: [finite(v) for v in values] for end, values in ends.items()}},
        "hovertemplate": "%{y}<br>%{x} (%{customdata})<extra></extra>",
    }  # fmt: skip


def _label(found: Comparison, index: Any) -> str:
    """Return the label of a row: its cell, one line for each axis, or the quantity if there is a single
    cell."""
    if found.single:
        return capital(wording.name(found, index[-1] if isinstance(index, tuple) else index))
    where = wording.cell(found, index)
    return where.replace(", ", "<br>")


def _percent(relative: float) -> str:
    return wording.percent(relative) if math.isfinite(relative) else "of nothing"


def chance(found: Comparison) -> Plot | None:
    """Return all differences in ascending order, divided by the half-widths of their intervals.

    A dashed line shows what chance alone would give. None if there are few differences, or all are clear.
    """
    table = found.table[found.table["verdict"].isin(SHOWN)]
    clear = wording.clearness(table)
    clear = clear[np.isfinite(clear)]
    if found.sides[0].kind == "plan" or len(clear) < FEWEST or not (table["verdict"] == "noise").any():
        return None
    verdicts = table.loc[clear.index, "verdict"] if clear.index.is_unique else table["verdict"][clear.index]
    order = clear.to_numpy().argsort(kind="stable")
    n = len(order)
    rank = np.arange(1, n + 1)
    keep = np.unique(np.concatenate([np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(int),
                                     np.arange(min(n, 50)), np.arange(max(n - 50, 0), n)]))  # fmt: skip
    exact = clear.to_numpy()[order][keep]
    values = np.clip(exact, -FARTHEST, FARTHEST)
    kinds = verdicts.to_numpy()[order][keep]
    place = rank[keep]
    expected = ndtri((place - 0.5) / n) / -ndtri((1 - found.confidence) / 2)
    data: list[Plot] = [
        {
            "type": "scatter", "mode": "lines", "name": "chance alone, about", "hoverinfo": "skip",
            "x": place.tolist(), "y": [rounded(v) for v in expected],
            "line": {"color": "#55616f", "dash": "dash", "width": 1.4},
        }
    ]  # fmt: skip
    for verdict, (name, colour, symbol) in SHOWN.items():
        mine = kinds == verdict
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name,
                "x": place[mine].tolist(), "y": [rounded(v) for v in values[mine]],
                "marker": {"color": colour, "symbol": symbol, "size": 6},
                **exported.instead(y=exported.exact(exact[mine])),
                "hovertemplate": f"{name}: %{{y}}<extra></extra>",
            }
        )  # fmt: skip
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "line": {"color": COLOURS[6], "width": 1}}
    shapes = [{**line, "y0": y, "y1": y} for y in (-1, 1)]
    return plot(data, x="differences in ascending order", y="difference / half-width", shapes=shapes)
