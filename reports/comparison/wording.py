"""Wording of the results of a comparison, for the terminal and the page."""

import math
from contextlib import suppress
from typing import Any

import pandas as pd

from netcarlo.comparison.comparison import Comparison
from netcarlo.comparison.differences import FALSE_DISCOVERY_RATE
from netcarlo.networks.outcome import Outcome
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.parts.values import digits_for
from netcarlo.reports.parts.wording import capital

LONGEST = 60
"""Characters of a value of the setting that are shown."""

LINE = "\n"
"""Separator between the parts of the headline about several pairs of sides."""

MOST_LEADING = 3
"""Quantities of a pair of sides that the headline names."""

Row = dict[str, str]


def headline(found: Comparison) -> str:
    """Return the answer in a few words: the best side if it was asked, the clear differences of the leading
    quantities, then the number of all differences."""
    return _best(found) + _differences(found)


def _best(found: Comparison) -> str:
    """Return the answer which side is best, followed by `LINE`; empty if it was not requested."""
    if (winner := found.winner) is None:
        return ""
    said, after = name(found, winner.outcome), f"after {scales.count(winner.replications)} replications"
    if winner.side is None:
        return f"Which side has the better {said} is open {after}.{LINE}"
    return (
        f"{found.sides[winner.side].label} has the better {said}, decided {after} with 95 % confidence.{LINE}"
    )


def _differences(found: Comparison) -> str:
    differ, n = len(found.differing), len(found.table)
    if differ:
        count = f"{scales.count(differ)} of {scales.count(n)} {_rows(n)} more than chance."
        return f"{_leads(found)}{' ' if len(found.sides) == 2 else LINE}{count}"
    if found.broken:
        return "Cells that could be simulated on all sides show no difference beyond chance; others failed."
    if not found.tested:
        equal = (found.table["verdict"] == "equal").all()
        return (
            "All results are bit-identical." if equal else "There are too few replications for a comparison."
        )
    return "No result differs by more than chance."


def _rows(n: int) -> str:
    return "result differs by" if n == 1 else "results differ by"


def _leads(found: Comparison) -> str:
    """Return the leading quantities that differ, for each pair of sides that has any."""
    texts = []
    for pair in found.pairs:
        rows = found.of_pair(pair)
        leads = rows.index.get_level_values("outcome").isin(found.leading)
        changes: dict[str, str] = {}
        for index, row in rows[leads & (rows["verdict"] == "differs")].iterrows():
            changes.setdefault(_outcome(index), _change(found, index, row))
        if changes:
            more = len(changes) - MOST_LEADING
            text = ", ".join(list(changes.values())[:MOST_LEADING])
            text += f" and {more} more main outcome{'s' * (more > 1)}" if more > 0 else ""
            texts.append(f"{pair[1]} against {pair[0]}: {text}.")
    if texts:
        return LINE.join(texts)
    if len(found.leading) > MOST_LEADING:
        return f"None of the {len(found.leading)} main outcomes differs by more than chance."
    names = ", ".join(name(found, outcome) for outcome in found.leading)
    return f"{capital(names)}: no difference by more than chance."


def _change(found: Comparison, index: Any, row: Any) -> str:
    """Return a difference with its interval, of shares in points, with its place if there are several
    cells."""
    outcome = _outcome(index)
    text = f"{name(found, outcome)} {_changed(row, *_terms(found, outcome, row))}"
    return text if found.single else f"{text} ({_place(found, index)})"


def _terms(found: Comparison, outcome: str, row: Any) -> tuple[Scale, float, float]:
    """Return how a difference is shown: scale, factor and minimum.

    The factor is 1, or makes the difference relative to the baseline. A quantity of at least 0 cannot fall by
    more than 100 %.
    """
    values = _quantity(found, outcome).values
    if values.most == 1.0:
        return Scale(0.01, "points"), 1.0, -math.inf
    if math.isfinite(row["relative"]):
        return Scale(0.01, "%"), 1 / row["baseline"], -1.0 if values.least == 0.0 else -math.inf
    return scale(found, outcome, [row["difference"]]), 1.0, -math.inf


def explanation(found: Comparison) -> str:
    """Return the number of rows with each verdict, the test, and the confidence of the verdicts."""
    verdicts = found.table["verdict"].value_counts()
    noise, equal, unknown = (int(verdicts.get(word, 0)) for word in ("noise", "equal", "unknown"))
    parts = []
    if noise:
        parts.append(f"{_results(noise)} within chance")
    if equal:
        parts.append(f"{_results(equal)} bit-identical")
    if unknown:
        parts.append(f"{_results(unknown)} with too few values")
    text = f"{capital(', '.join(parts))}. " if parts else ""
    if found.sides[0].kind == "plan":
        bands = "their confidence bands, which hold for all values together, do not overlap"
        return f"{text}Plans differ where {bands}."
    if not found.tested:
        return text.strip()
    share = f"{100 * FALSE_DISCOVERY_RATE:g} %"
    text += f"{scales.count(found.tested)} differences were judged together: at most {share} of those "
    text += f"reported are expected to be false. Intervals have {100 * found.confidence:.4g} % confidence. "
    return text + _pairs(found)


def _results(n: int) -> str:
    return f"{scales.count(n)} {'result is' if n == 1 else 'results are'}"


def _pairs(found: Comparison) -> str:
    paired = found.table["paired"]
    if paired.all():
        return "All replications are paired: the sides use the same random numbers."
    if paired.any():
        n = scales.count(int(paired.sum()))
        return f"{n} differences are paired: the sides use the same random numbers."
    streams = {side.stream for side in found.sides}
    if len(streams) == 1 and "" not in streams:
        return "The sides share their seed but store no replications, so they are treated as independent."
    return "The sides are treated as independent."


def name(found: Comparison, outcome: str) -> str:
    """Return a quantity in words."""
    quantity = _quantity(found, outcome)
    return quantity.words if quantity.label else scales.name_of(outcome)


def said(text: str) -> str:
    """Return a value of the setting in readable units; the middle of a long text is omitted."""
    number, _, unit = text.partition(" ")
    if unit in ("s", "bit/s"):
        with suppress(ValueError):
            return scales.say(float(number), unit, 6)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 15]} … {text[-12:]}"


def percent(relative: float) -> str:
    """Return a relative difference with its sign, in percent."""
    return f"{signed(100 * relative)} %"


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign."""
    text = scales.trimmed(value, digits)
    return f"+{text}" if value > 0 and text != "0" else text


def cell(found: Comparison, index: Any) -> str:
    """Return the place of a row of the table: its values on the axes in words, and which of several sides are
    compared."""
    levels = dict(zip(found.table.index.names, _tuple(index), strict=True))
    sides = f"{levels['side']} against {levels['against']}" if len(found.sides) > 2 else ""
    return ": ".join(filter(None, [sides, _place(found, index)]))


def _place(found: Comparison, index: Any) -> str:
    """Return the values of a row on the axes, in words."""
    levels = dict(zip(found.table.index.names, _tuple(index), strict=True))
    return ", ".join(
        f"{scales.name_of(axis)} {_value(levels[axis], unit)}"
        for axis, unit in found.sides[0].axes.items()
        if _said(levels[axis])
    )


def _said(value: Any) -> bool:
    return not isinstance(value, str) or value != ""


def _value(value: Any, unit: str) -> str:
    return scales.say(value, unit) if isinstance(value, float) else str(value)


def _tuple(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _outcome(index: Any) -> str:
    return str(_tuple(index)[-1])


def _quantity(found: Comparison, outcome: str) -> Outcome:
    return next(side.quantities[outcome] for side in found.sides if outcome in side.quantities)


def unit(found: Comparison, outcome: str) -> str:
    """Return the unit of a quantity."""
    quantity = _quantity(found, outcome)
    return quantity.unit or scales.unit_of(outcome)


def scale(found: Comparison, outcome: str, values: Any) -> Scale:
    """Return the scale for values of a quantity."""
    quantity = _quantity(found, outcome)
    if quantity.values.most == 1.0:
        return Scale(0.01, "%")
    return scales.scale(values, unit(found, outcome))


def clearest(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows ordered by the distance of their interval from 0, relative to its width."""
    return table.iloc[(-clearness(table).abs()).fillna(0.0).to_numpy().argsort(kind="stable")]


def clearness(table: pd.DataFrame) -> "pd.Series[float]":
    """Return each difference divided by the half-width of its interval towards 0; beyond 1 it is clear."""
    reach = (table["difference"] - table["low"]).where(
        table["difference"] > 0, table["high"] - table["difference"]
    )
    return table["difference"] / reach.where(reach > 0)


def rows(found: Comparison, table: pd.DataFrame) -> list[Row]:
    """Return the rows of the table in words, in their order."""
    shown = []
    for index, row in table.iterrows():
        outcome = _outcome(index)
        how = scale(found, outcome, [row["baseline"], row["other"]])
        change = scale(found, outcome, [row["difference"]])
        place = {} if found.single else {"where": _place(found, index)}
        shown.append(
            place
            | {
                "quantity": name(found, outcome),
                "baseline": f"{_with(row['baseline'], how)} {_alone(row, 'baseline', how)}".strip(),
                "other": f"{_with(row['other'], how)} {_alone(row, 'other', how)}".strip(),
                "difference": _with(row["difference"], change, sign=True),
                "interval": scales.interval(row["low"], row["high"], change),
                "relative": percent(row["relative"]) if math.isfinite(row["relative"]) else "",
                "": row["verdict"],
            }
        )
    return shown


def compact(found: Comparison, table: pd.DataFrame, *, ends: bool = False) -> list[Row]:
    """Return the rows of the table in words for a terminal: one column for the difference and its interval.

    The difference is relative to the baseline if that is not 0; that of a share is in percentage points.
    With `ends`, a second line has the 95 % interval of each side, and the difference in the unit of the
    quantity if the first line has it in percent.
    """
    shown = []
    for index, row in table.iterrows():
        outcome = _outcome(index)
        how = scale(found, outcome, [row["baseline"], row["other"]])
        change, factor, least = _terms(found, outcome, row)
        place = {} if found.single else {"where": _place(found, index)}
        texts = {
            "quantity": name(found, outcome),
            "baseline": _with(row["baseline"], how),
            "other": _with(row["other"], how),
            "difference": _changed(row, change, factor, least),
        }
        if ends:
            plain = scale(found, outcome, [row["difference"]])
            below = {
                **{side: _alone(row, side, how) for side in ("baseline", "other")},
                "difference": _changed(row, plain) if factor != 1.0 else "",
            }
            texts |= {head: f"{texts[head]}\n{text}" for head, text in below.items() if any(below.values())}
        shown.append(place | texts)
    return shown


def _changed(row: Any, shown: Scale, factor: float = 1.0, least: float = -math.inf) -> str:
    """Return a difference times a factor with its interval, which ends at `least`."""
    interval = scales.interval(max(factor * row["low"], least), factor * row["high"], shown)
    return f"{_with(factor * row['difference'], shown, sign=True)} {interval}".strip()


def _alone(row: Any, side: str, shown: Scale) -> str:
    """Return the 95 % interval of a side, or "" if it has no width or is unknown."""
    low, high, mean = row[f"{side}_low"], row[f"{side}_high"], row[side]
    if not low < high:
        return ""
    rounded = [float(f"{end / shown.factor:.3g}") for end in (low, high)]
    apart = rounded[0] < mean / shown.factor < rounded[1]
    digits = 3 if apart else digits_for(Mean(0, mean, math.nan, low, high))
    return scales.interval(low, high, shown, digits)


def _with(value: float, shown: Scale, *, sign: bool = False) -> str:
    if not math.isfinite(value):
        return "–"
    number = signed(value / shown.factor) if sign else scales.trimmed(value / shown.factor, 4)
    return f"{number} {shown.unit}".rstrip()
