"""Differences of every pair of sides, tested together with a bounded false discovery rate."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netcarlo.comparison import stores
from netcarlo.comparison.comparison import PAIR, Comparison
from netcarlo.comparison.differences import (
    Differences,
    Estimates,
    Judged,
    bracketed,
    independent,
    judge,
    paired,
    student,
)  # fmt: skip
from netcarlo.comparison.leading import leading
from netcarlo.comparison.side import Side
from netcarlo.errors import InputError
from netcarlo.networks.outcome import Outcome
from netcarlo.numerics import statistics
from netcarlo.numerics.arrays import Floats

COLUMNS = [
    "n", "paired", "baseline", "other", "difference", "ci_low", "ci_high", "relative", "low", "high",
    "verdict", "baseline_low", "baseline_high", "other_low", "other_high",
]  # fmt: skip


class PairDifferences(NamedTuple):
    """Differences of one quantity between two sides."""

    first: Side
    """Baseline."""
    side: Side
    """Side that is compared with the baseline."""
    name: str
    """Name of the quantity."""
    at: "pd.Index[Any]"
    """Cells that both sides have."""
    found: Differences
    """Differences in these cells."""
    paired: bool
    """True if the values are paired."""
    ends: tuple[Floats, Floats, Floats, Floats]
    """Lower and upper ends of the 95 % intervals of the baseline, and of the side."""


def compared(sides: Sequence[Side], *, of: Sequence[str] | None = None) -> Comparison:
    """Compare every pair of sides, and test all differences together.

    Raises InputError if no two sides have a cell and a quantity in common.
    """
    notes: list[str] = []
    parts: list[PairDifferences] = []
    for first, side in combinations(sides, 2):
        _check(first, side)
        for name in (name for name in first.quantities if name in side.quantities):
            a, b = first.estimates[name], side.estimates[name]
            at = a.index[a.index.isin(b.index)]
            if len(at):
                quantity = first.quantities[name]
                found, pairs = _differences(quantity, name, at, first, side)
                low, high = _interval(quantity, name, at, first, side if pairs else None)
                ends = low, high, *_interval(quantity, name, at, side, first if pairs else None)
                parts.append(PairDifferences(first, side, name, at, found, pairs, ends))
        notes += _missing(first, side)
    if not parts:
        raise InputError(
            "the results have no cell and outcome in common; compare results with common outcomes"
        )
    lead = leading(sides, of)
    judged = judge([part.found for part in parts])
    failed = [side.failed for side in sides]
    broken = len(frozenset.union(*failed) - frozenset.intersection(*failed))
    if broken:
        some = "one side" if len(sides) == 2 else "some sides"
        notes.append(f"{broken} cells could be simulated on {some} only")
    return Comparison(
        tuple(sides), _table(parts, judged, several=len(sides) > 2), _changes(sides),
        tuple(dict.fromkeys(notes)), judged.tested, judged.confidence, broken, lead,
    )  # fmt: skip


def _check(first: Side, side: Side) -> None:
    """Raise InputError if two sides have different kinds or axes."""
    if first.kind != side.kind:
        raise InputError(
            f"{first.label} is a result of kind {first.kind}, {side.label} of kind {side.kind}; "
            "compare results of one kind"
        )
    if set(first.axes) != set(side.axes):
        odd = sorted(set(first.axes) ^ set(side.axes))
        raise InputError(
            f"{first.label} and {side.label} do not both have the axis {odd[0]}; sweep both over it"
        )
    if list(first.axes) != list(side.axes):
        raise InputError(
            f"{first.label} and {side.label} have their axes in different orders; use the same order"
        )


def _differences(
    outcome: Outcome, name: str, at: "pd.Index[Any]", first: Side, side: Side
) -> tuple[Differences, bool]:
    """Return the differences of one quantity in these cells, and True if they are paired."""
    a, b = first.estimates[name].loc[at], side.estimates[name].loc[at]
    n = np.minimum(a["n"].to_numpy(), b["n"].to_numpy())
    if "low" in a:
        bands = [(each["low"].to_numpy(), each["high"].to_numpy()) for each in (a, b)]
        return bracketed(n, (a["mean"].to_numpy(), b["mean"].to_numpy()), *bands), False
    common = first.stream == side.stream and first.stream != ""
    if common and name in first.samples and name in side.samples:
        x, y = first.samples[name].loc[at], side.samples[name].loc[at]
        both = x.columns.intersection(y.columns)
        found = paired(outcome, x[both].to_numpy(), y[both].to_numpy())
        if first.blocks is None:
            return found, True
        moved = stores.from_networks(y[both] - x[both], first.blocks[both])
        interval = student(*(moved[column].to_numpy() for column in ("mean", "error", "df")))
        low, high = interval(1 - 0.95)
        return found._replace(ci_low=low, ci_high=high, interval=interval), True
    columns = ("n", "mean", "error", "df")
    means = (Estimates(*(each[column].to_numpy() for column in columns)) for each in (a, b))
    return independent(outcome, *means, common=common), False


def _interval(
    outcome: Outcome, name: str, at: "pd.Index[Any]", side: Side, partner: Side | None
) -> tuple[Floats, Floats]:
    """Return the 95 % interval of the mean of a side in these cells; of a plan its band.

    With a `partner`, the values are paired, and those without a partner are left out.
    """
    known = side.estimates[name].loc[at]
    if "low" in known:
        return known["low"].to_numpy(), known["high"].to_numpy()
    if partner is not None and side.blocks is None:
        values, others = side.samples[name].loc[at], partner.samples[name].loc[at]
        both = values.columns.intersection(others.columns)
        found = outcome.means(values[both].where(others[both].notna()).to_numpy())
        return found.ci_low, found.ci_high
    n, mean, error, df = (known[column].to_numpy() for column in ("n", "mean", "error", "df"))
    if outcome.values.yes_no:
        return statistics.wilson(mean, n)
    low, high = student(mean, error, df)(1 - 0.95)
    return np.maximum(low, outcome.values.least), np.minimum(high, outcome.values.most)


def _missing(first: Side, side: Side) -> list[str]:
    """Return sentences about quantities and cells that only one of two sides has."""
    notes = []
    for one, two in ((first, side), (side, first)):
        names = [name for name in one.quantities if name not in two.quantities]
        if names:
            notes.append(f"{', '.join(names)}: not in {two.label}")
        here, there = ({cell for t in s.estimates.values() for cell in t.index} for s in (one, two))
        if left := len(here - there):
            notes.append(f"{left} cells of {one.label} are not in {two.label}")
    return notes


def _table(parts: Sequence[PairDifferences], judged: Judged, *, several: bool) -> pd.DataFrame:
    frames = []
    for part in parts:
        found = part.found
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = np.where(found.baseline != 0, found.difference / found.baseline, np.nan)
        axes = list(part.side.axes)
        rows = pd.DataFrame(list(part.at), columns=axes) if axes else pd.DataFrame(index=range(1))
        frames.append(
            rows.assign(
                **{"\0against": part.first.label, "\0side": part.side.label, "\0outcome": part.name},
                n=found.n, paired=part.paired, baseline=found.baseline, other=found.other,
                difference=found.difference, ci_low=found.ci_low, ci_high=found.ci_high, relative=relative,
                **dict(zip(COLUMNS[-4:], part.ends, strict=True)),
            )
        )  # fmt: skip
    table = pd.concat(frames, ignore_index=True)
    table = table.assign(low=judged.low, high=judged.high, verdict=judged.verdict)
    axes = list(parts[0].first.axes)
    index = [*(f"\0{name}" for name in PAIR if several), *axes, "\0outcome"]
    table = table[table["n"] > 0].astype({"n": np.int64}).set_index(index)[COLUMNS]
    return table.rename_axis([name.lstrip("\0") for name in index])


def _changes(sides: Sequence[Side]) -> pd.DataFrame:
    names = dict.fromkeys(name for side in sides for name in side.setting)
    rows = {name: [side.setting.get(name, "") for side in sides] for name in names}
    differing = {name: row for name, row in rows.items() if len(set(row)) > 1}
    found = pd.DataFrame.from_dict(differing, orient="index", columns=[side.label for side in sides])
    return found.rename_axis("field")
