"""Page of a validation: the errors in a sentence, measured against simulated values, and all rows."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netcarlo.estimation.validate import Validation
from netcarlo.reports.page import page
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, SYMBOLS, Plot, finite, plot
from netcarlo.schema.readable import MINUS, number, trimmed
from netcarlo.simulation.provenance import model_version, versions

FILES = ("validation.html", "rows.csv")
"""Files of a validation that is written into a folder."""
MOST_ROWS = 2000
"""Rows of the page; the CSV file has all of them."""
STATISTICS = {
    "compared": "rows", "median": "median", "p90": "9 in 10 below", "worst": "largest", "bias": "bias"
}  # fmt: skip
"""Statistics of the errors on the page, with their names."""


def rows(found: Validation) -> pd.DataFrame:
    """Return measured and simulated values as texts: a row for each scenario and metric."""
    once = found.rows.drop_duplicates(["id", "metric"])
    return pd.DataFrame(
        {
            "metric": once["metric"].to_numpy(),
            "measured": [_number(value) for value in once["reference"]],
            "simulated": [_number(value) for value in once["estimate"]],
            "95 % CI": [
                _between(low, high) for low, high in zip(once["ci_low"], once["ci_high"], strict=True)
            ],
            "error": [_percent(value, "+") for value in once["rel_error"]],
        },
        index=pd.Index(once["id"].to_numpy(), name="row"),
    )


def title(reference: str | Path) -> str:
    """Return the title of the page of a reference."""
    return f"{Path(reference).name} and its simulation"


def _number(value: float) -> str:
    return trimmed(value, 4) if math.isfinite(value) else ""


def _between(low: float, high: float) -> str:
    return f"{number(low, 4)} to {number(high, 4)}" if low < high else ""


def _percent(share: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.3g} %".replace("-", MINUS) if math.isfinite(share) else ""


def validation_page(found: Validation) -> str:
    """Return the HTML of the page."""
    table = rows(found)
    metrics = list(dict.fromkeys(found.rows["metric"]))
    classes = found.classes
    return page(
        "validation.html",
        title=title(found.reference),
        sentence=found.sentence,
        figure=with_choices(
            lambda k: _figure(found.rows[found.rows["metric"] == metrics[k]], metrics[k]),
            [Choice("metric", metrics)],
            most_bytes=1_500_000,
        ),
        statistics=list(STATISTICS.values()),
        classes=[
            {"metric": key[0], "class": key[1], "cells": [_statistic(row, one) for one in STATISTICS]}
            for key, row in zip(classes.index.tolist(), classes.to_dict("records"), strict=True)
        ],
        rows=[
            {"row": name, **cells} for name, cells in zip(table.index, table.to_dict("records"), strict=True)
        ][:MOST_ROWS],
        left=max(len(table) - MOST_ROWS, 0),
        provenance={
            "mapping": Path(found.mapping).name,
            "model version": model_version(),
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        },
    )


def _statistic(row: Any, name: str) -> str:
    return (
        f"{int(row[name])}"
        if name == "compared"
        else _percent(float(row[name]), "+" if name == "bias" else "")
    )


def _figure(table: pd.DataFrame, metric: str) -> Plot:
    """Return simulated over measured values, with the identity line and a symbol for each class."""
    both = table[table["reference"].notna() & table["estimate"].notna()]
    ends = [float(pick(both[["reference", "estimate"]].to_numpy(), initial=0.0)) for pick in (np.min, np.max)]
    data: list[Plot] = [
        {
            "type": "scatter", "x": ends, "y": ends, "mode": "lines", "name": "equal", "hoverinfo": "skip",
            "line": {"color": "#8794a3", "width": 1.2, "dash": "dash"},
        }
    ]  # fmt: skip
    for k, name in enumerate(table["class"].unique()):  # each metric has the same symbols and traces
        part = both[both["class"] == name]
        spread = {
            "array": [finite(v) for v in part["ci_high"] - part["estimate"]],
            "arrayminus": [finite(v) for v in part["estimate"] - part["ci_low"]],
        }
        colour = COLOURS[k % len(COLOURS)]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": str(name), "text": part["id"].tolist(),
                "x": [finite(v) for v in part["reference"]], "y": [finite(v) for v in part["estimate"]],
                "error_y": {"type": "data", "symmetric": False, "thickness": 1.2, "width": 3, "color": colour,
                            **spread},
                "marker": {"color": colour, "symbol": SYMBOLS[k % len(SYMBOLS)], "size": 8},
                "hovertemplate": "%{text}<br>measured %{x}, simulated %{y}<extra></extra>",
            }
        )  # fmt: skip
    return plot(data, x=f"measured {metric}", y=f"simulated {metric}")
