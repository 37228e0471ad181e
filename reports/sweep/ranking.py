"""Wording of `netcarlo sensitivity`: which input explains most of the variance of an outcome."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from netcarlo.reports.parts import scales
from netcarlo.reports.parts.wording import capital

MEANINGS = {
    "first": "Alone: share of the variance that disappears if the input is known (first-order Sobol index).",
    "total": "With others: share that remains if all other inputs are known (total index).",
}
"""Explanations of the indices."""
NEGATIVE = "Estimates of small shares can be below 0."
"""Note on negative indices, which are estimates of numbers from 0 to 1."""
MORE = "draw more networks (raise draw.count)"
"""Remedy for wide intervals."""
HEADS = {"first": "alone", "total": "with others"}
"""Headers of the columns of indices."""


def sentence(table: pd.DataFrame, *, of: str, where: Mapping[str, Any]) -> str:
    """Return which input matters most for an outcome at one point of the axes.

    `table` has the indices of each input, see `sensitivity.indices`.
    """
    at = ", ".join(f"{name.removeprefix('paths.0.')} = {value}" for name, value in where.items())
    point = f" with {at}" if at else ""
    networks = f"({scales.count(int(table.attrs['used']))} networks)"
    ranked = ordered(table)
    top = ranked.iloc[0]
    name = _input(ranked.index[0])
    if not top["first_low"] > 0:
        remedy = f"no input alone has a clear effect; {MORE}"
        return f"{capital(scales.name_of(of))}{point}: {remedy} {networks}."
    text = f"{capital(scales.name_of(of))}{point}: {name} matters most, it explains {_share(top, 'first')}"
    rivals = ranked.index[1:][(ranked["first_high"].iloc[1:] > top["first_low"]).to_numpy()]
    doubt = f" The interval of {_input(rivals[0])} overlaps; {MORE}." if len(rivals) else ""
    return f"{text} of the variance {networks}.{doubt}"


def explanation(table: pd.DataFrame) -> str:
    """Return the meaning of the columns of `rows`."""
    meanings = [MEANINGS[kind] for kind in _kinds(table)]
    low = [table[f"{kind}_low"].min() for kind in _kinds(table)]
    negative = NEGATIVE if min(low, default=0.0) < 0 else ""
    return " ".join(filter(None, [*meanings, about_groups(table), "Brackets: 95 % intervals.", negative]))


def about_groups(table: pd.DataFrame) -> str:
    """Return which inputs stand for several drawn fields, and what their indices include; else empty."""
    several = table["fields"][table["fields"] > 1]
    if several.empty:
        return ""
    each = ", ".join(f"{_input(name)} ({count} numbers)" for name, count in several.items())
    within = (
        "their indices include interactions among these numbers."
        if "total" in _kinds(table)
        else "their indices are sums over these numbers, without interactions among them."
    )
    return f"Inputs drawn for each item of a list: {each}; {within}"


def _kinds(table: pd.DataFrame) -> list[str]:
    """Return the indices that have values."""
    return [kind for kind in HEADS if table[kind].notna().any()]


def rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the indices in percent with their intervals as texts, the largest first."""
    ranked = ordered(table)
    texts = {HEADS[kind]: [_share(row, kind) for _, row in ranked.iterrows()] for kind in _kinds(table)}
    return pd.DataFrame(texts, index=pd.Index([_input(name) for name in ranked.index], name="input"))


def ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Return the inputs ordered by their index alone, largest first."""
    return table.sort_values("first", ascending=False, kind="stable")


def _input(name: Any) -> str:
    """Return the field of an input as a scenario file has it."""
    return str(name).removeprefix("paths.0.")


def _share(row: Any, kind: str) -> str:
    """Return an index in percent with its 95 % interval."""
    if not math.isfinite(row[kind]):
        return ""
    share, low, high = (_percent(row[name]) for name in (kind, f"{kind}_low", f"{kind}_high"))
    return f"{share} % [{low}, {high}]"


def _percent(index: float) -> str:
    """Return an index in whole percent, without a sign if it is rounded to 0."""
    return str(round(100 * index)).replace("-", scales.MINUS)
