"""The page of a comparison: the answer first, then the setting, the differences, and what is noise."""

from typing import Any

import pandas as pd

from netcarlo.comparison.compare import Comparison
from netcarlo.comparison.differences import FALSE
from netcarlo.reports.comparison import figures, words
from netcarlo.reports.page import page
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.words import capital

MOST_ROWS = 100
BADGES = {"differs": "bad", "noise": "plain", "equal": "good", "unknown": "open"}


def comparison_page(found: Comparison) -> str:
    """The HTML of the page of a comparison."""
    drawn = figures.differences(found)
    shown = found.table if found.single else words.clearest(found.table)
    return page(
        "comparison.html",
        title=" and ".join(side.label for side in found.sides),
        found=found,
        kind=found.sides[0].kind,
        plots=drawn is not None,
        verdict={"tone": _tone(found), "head": words.headline(found), "text": words.explanation(found)},
        tiles=_tiles(found),
        changes=[
            {"field": field, "values": [words.said(text) or "–" for text in row]}
            for field, row in zip(found.changes.index, found.changes.to_numpy().tolist(), strict=True)
        ],
        quantities=[] if found.single else _quantities(found),
        differences=drawn,
        chance=figures.chance(found),
        rows=words.rows(found, shown.head(MOST_ROWS)),
        left=max(len(shown) - MOST_ROWS, 0),
        badges=BADGES,
        confidence=f"{100 * found.confidence:.4g} %",
        wrong=f"{100 * FALSE:g} %",
        provenance={side.label: _made(side.setting) for side in found.sides},
    )


def _tone(found: Comparison) -> str:
    if not found.same:
        return "bad"
    return "open" if not found.tested and (found.table["verdict"] == "unknown").all() else "good"


def _tiles(found: Comparison) -> list[dict[str, str]]:
    counts = found.table["verdict"].value_counts()
    cells = len(found.table.droplevel("outcome").index.unique()) if not found.single else 1
    quantities = found.table.index.get_level_values("outcome").nunique()
    named = {"differ": "differs", "within chance": "noise", "equal to the bit": "equal"}
    tiles = [
        {"label": label, "value": scales.count(int(counts.get(word, 0))), "of": ""}
        for label, word in named.items()
    ]
    tiles[0]["of"] = f"of {scales.count(len(found.table))}"
    where = {"label": "cells" if cells > 1 else "cell", "value": scales.count(cells)}
    return [*tiles, where | {"of": f"{quantities} quantities"}]


def _quantities(found: Comparison) -> list[dict[str, Any]]:
    """Of each quantity in how many cells it differs, and by how much."""
    table = []
    for outcome, part in found.table.groupby(level="outcome", sort=False):
        called = part[part["verdict"] == "differs"]
        relative = called["relative"][called["relative"].abs() < float("inf")]
        table.append(
            {
                "quantity": capital(words.name(found, str(outcome))),
                "cells": scales.count(len(part)),
                "differs": scales.count(len(called)),
                "equal": scales.count(int((part["verdict"] == "equal").sum())),
                "from": _range(relative),
            }
        )
    return table


def _range(relative: "pd.Series[float]") -> str:
    if relative.empty:
        return ""
    low, high = float(relative.min()), float(relative.max())
    return words.percent(low) if low == high else f"{words.percent(low)} … {words.percent(high)}"


def _made(setting: Any) -> str:
    models = f", models {setting['models']}" if "models" in setting else ""
    return f"netcarlo {setting.get('netcarlo', '?')}{models}, seed {setting.get('seed', '?')}"
