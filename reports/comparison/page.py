"""The page of a comparison: the answer first, then the setting, the differences, and what is noise."""

from typing import Any

import pandas as pd

from netcarlo.comparison.comparison import Comparison
from netcarlo.comparison.differences import FALSE_DISCOVERY_RATE
from netcarlo.reports.comparison import figures, wording
from netcarlo.reports.page import page
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.wording import capital

MOST_ROWS = 5000
"""Most rows of the page; `comparison.csv` has all rows."""
MOST_FIRST = 12
"""Most rows of a pair of sides that are visible at once; the others unfold."""
MOST_NAMED = 6
"""Most leading quantities that are named."""
BADGES = {"differs": "mark", "noise": "plain", "equal": "plain", "unknown": "open"}


def comparison_page(found: Comparison) -> str:
    """The HTML of the page of a comparison."""
    drawn = figures.differences(found)
    most = max(MOST_ROWS // len(found.pairs), 1)
    return page(
        "comparison.html",
        title=" and ".join(side.label for side in found.sides),
        found=found,
        kind=found.sides[0].kind,
        plots=drawn is not None,
        verdict={"tone": _tone(found), "head": wording.headline(found), "text": wording.explanation(found)},
        tiles=_tiles(found),
        changes=[
            {"field": field, "values": [wording.said(text) or "–" for text in row]}
            for field, row in zip(found.changes.index, found.changes.to_numpy().tolist(), strict=True)
        ],
        quantities=[] if found.single else _quantities(found),
        differences=drawn,
        chance=figures.chance(found),
        farthest=f"{figures.FARTHEST:g}",
        pairs=[_pair(found, pair, most) for pair in found.pairs],
        left=sum(max(len(found.of_pair(pair)) - most, 0) for pair in found.pairs),
        badges=BADGES,
        leading=_listed([wording.name(found, outcome) for outcome in found.leading]),
        confidence=f"{100 * found.confidence:.4g} %",
        wrong=f"{100 * FALSE_DISCOVERY_RATE:g} %",
        provenance={side.label: _made(side.setting) for side in found.sides},
    )


def _pair(found: Comparison, pair: tuple[str, str], most: int) -> dict[str, Any]:
    """Return the rows of a pair of sides: those that are visible at once, and those that unfold."""
    table = found.of_pair(pair).head(most)
    leads = table.index.get_level_values("outcome").isin(found.leading) & (table["verdict"] == "differs")
    first = min(max(int(leads.sum()), 1), MOST_FIRST) if found.single else MOST_FIRST
    shown = wording.rows(found, table)
    return {
        "head": f"{pair[1]} against {pair[0]}" if len(found.sides) > 2 else "",
        "baseline": pair[0], "other": pair[1], "first": shown[:first], "rest": shown[first:],
    }  # fmt: skip


def _tone(found: Comparison) -> str:
    """Return the tone of the headline; red is for errors, as a difference is neither good nor bad."""
    if found.broken:
        return "bad"
    if len(found.differing):
        return "plain"
    return "open" if not found.tested and (found.table["verdict"] == "unknown").all() else "good"


def _tiles(found: Comparison) -> list[dict[str, str]]:
    counts = found.table["verdict"].value_counts()
    axes = [found.table.index.get_level_values(axis) for axis in found.sides[0].axes]
    cells = len(set(zip(*axes, strict=True))) if axes else 1
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
    """Return a row for each quantity: number of cells in which it differs, and the range of the
    differences."""
    table = []
    parts = {str(name): part for name, part in found.table.groupby(level="outcome", sort=False)}
    for outcome in sorted(parts, key=lambda outcome: outcome not in found.leading):
        part = parts[outcome]
        called = part[part["verdict"] == "differs"]
        relative = called["relative"][called["relative"].abs() < float("inf")]
        table.append(
            {
                "quantity": capital(wording.name(found, str(outcome))),
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
    return wording.percent(low) if low == high else f"{wording.percent(low)} … {wording.percent(high)}"


def _listed(names: list[str]) -> str:
    """Return the first names, and the number of the others."""
    some = ", ".join(names[:MOST_NAMED])
    return some if len(names) <= MOST_NAMED else f"{some} and {len(names) - MOST_NAMED} more"


def _made(setting: Any) -> str:
    models = f", models {setting['models']}" if "models" in setting else ""
    return f"netcarlo {setting.get('netcarlo', '?')}{models}, seed {setting.get('seed', '?')}"
