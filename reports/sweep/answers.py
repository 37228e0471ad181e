"""Headline of the report of a sweep: verdict, tiles, means with intervals, and shares of wins."""

import math
from typing import Any, NamedTuple

import numpy as np

from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.results import Estimates, Results
from netcarlo.reports.sweep.reversals import sentence_part
from netcarlo.reports.sweep.wins import NEAR, gain_scale, judged, leads, places, wins

MOST_COLUMNS = 6
"""Maximum number of labels that are columns of the table of means; if there are more, they are rows."""

PERCENT = Scale(0.01, "%")
Cell = dict[str, str]


def whole(results: Results, column: str) -> Estimates:
    """Estimates over the whole space, one group."""
    return results.estimates(column, results.everywhere(), 1)


def verdict(results: Results) -> dict[str, str]:
    """Return what the sweep says: the answer, the cost of a win, what is missing, and the tone."""
    cells = scales.count(results.sweep["n_cells"])
    left, failed = results.missing, len(results.failed)
    if not len(results.ok):
        text = f"None of {cells} cells has a result." if left else f"All {cells} cells failed."
        return {"tone": "bad", "head": "No answer.", "cost": "", "text": text}
    lacks = []
    if left:
        share = _share(left / results.sweep["n_cells"])
        lacks.append(f"{scales.count(left)} of {cells} cells ({share}) are not simulated yet")
    if failed:
        lacks.append(f"{scales.count(failed)} of {cells} cells failed")
    answer = _answer(results)
    rest = f"{' and '.join(lacks)}; the numbers are those of the others." if lacks else ""
    text = rest[:1].upper() + rest[1:]
    return {"tone": "open" if lacks else "good", "head": answer, "cost": cost(results), "text": text}


def _answer(results: Results) -> str:
    outcomes = judged(results)
    column = (outcomes or results.outcomes)[0]
    values, name = whole(results, column), scales.name_of(column)
    unit = scales.unit_of(column)
    where = _where(results)
    if not np.isfinite(values.mean).any():
        return f"{name.capitalize()}: 0 in all cells."
    shown = scales.scale(np.abs(values.mean).ravel(), unit)
    order = np.argsort(np.where(np.isnan(values.mean[0]), np.inf, -results.sign(column) * values.mean[0]))
    first = int(order[0]) if outcomes else 0
    quantity = _quantity(values, first, shown)
    if not outcomes:
        label = f" of {results.labels[0]}" if results.labels[0] else ""
        return f"Mean {name}{label} {where}: {quantity}."
    share = wins(results, column)
    kind = "highest" if results.sign(column) > 0 else "lowest"
    second = int(order[1])
    text = f"{results.labels[first]} has the {kind} mean {name} {where}: {quantity}"
    if np.isfinite(values.mean[0, second]):
        text += f", before {results.labels[second]} with {_quantity(values, second, shown)}"
    text += sentence_part(results, column, first)
    if not np.isfinite(share.share).any():
        return text + "."
    most = int(np.nanargmax(share.share))
    often = f"{results.labels[most]} is best" if most != first else "It is best"
    return f"{text}. {often} {_places(results, column, most, share.share[most])}."


def _places(results: Results, column: str, k: int, share: float) -> str:
    """Return in how many networks a label is best, separately alone and tied, and how often it is near."""
    what = "networks" if results.drawn else "points"
    found = places(results, column)
    if found is None:
        return f"in {_share(share)} of the {what}"
    alone, tied, near = (_share(each[k]) for each in found)
    text = f"in {alone} of the {what}"
    if found.tied[k]:
        text = f"alone {text}, tied for best in {tied}"
    if np.isclose(found.near[k], found.alone[k] + found.tied[k]):
        return text
    return f"{text}, and within {scales.say(NEAR, scales.FRACTION)} of the best in {near}"


class Change(NamedTuple):
    """A paired difference between the best label and another one."""

    text: str
    """Size with its sign and the outcome: `+64 % mean RTT`."""
    better: bool
    clear: bool
    """True if the 95 % interval of the difference does not contain 0."""


def cost(results: Results) -> str:
    """Return what the label with the best mean of the first outcome wins, and what it loses elsewhere.

    It is compared with the baseline, or, if it is the baseline, with the next best label.
    """
    columns = judged(results)
    if not columns:
        return ""
    values = whole(results, columns[0])
    score = np.where(np.isnan(values.mean[0]), -np.inf, results.sign(columns[0]) * values.mean[0])
    first, second = np.argsort(-score, kind="stable")[:2].tolist()
    other = 0 if first else second
    if not np.isfinite(score[[first, other]]).all():
        return ""
    none = [column for column in columns[1:] if not np.nan_to_num(results.cube(column)).any()]
    changes = (_change(results, column, first, other) for column in columns if column not in none)
    found = [change for change in changes if change]
    if not found:
        return ""
    gain, rest = found[0], found[1:]
    worse = [change.text for change in rest if change.clear and not change.better]
    better = [change.text for change in rest if change.clear and change.better]
    unclear = [change.text for change in rest if not change.clear]
    text = f"{results.labels[first]} against {results.labels[other]}: {gain.text}"
    text += f", at the cost of {', '.join(worse)}" if worse else ""
    text += f"; also better: {', '.join(better)}" if better else ""
    text += f"; no clear difference: {', '.join(unclear)}" if unclear else ""
    n = scales.count(int(results.ok["replications"].sum()))
    return text + "".join(f"; {scales.name_of(column)} 0 in all {n} replications" for column in none) + "."


def _change(results: Results, column: str, best: int, other: int) -> Change | None:
    """Return the change of an outcome from one label to the best one; the baseline is one of the two."""
    values, gains = whole(results, column), whole(results, f"{column}_gain")
    k, sign = (best, 1) if best else (other, -1)
    ends = sorted(sign * float(each[0, k]) for each in (gains.low, gains.high))
    mean, base = sign * float(gains.mean[0, k]), float(values.mean[0, other])
    if not math.isfinite(mean):
        return None
    name, shown = scales.name_of(column), gain_scale(values.mean, scales.unit_of(column))
    if shown is None and base > 0:
        text = _percent(mean / base)
    else:
        shown = shown or scales.scale([mean], scales.unit_of(column))
        text = f"{'+' if mean > 0 else ''}{scales.number(mean / shown.factor)} {shown.unit}".rstrip()
    clear = bool(np.isfinite(ends).all() and (ends[0] > 0 or ends[1] < 0))
    return Change(f"{text} {name}", mean * results.sign(column) > 0, clear)


def _where(results: Results) -> str:
    points = f"{scales.count(results.points)} points"
    if results.drawn:
        networks = f"over {scales.count(results.draws)} drawn networks"
        return f"{networks} at {points} each" if results.points > 1 else networks
    return f"over {points}" if results.points > 1 else "in the only point"


def tiles(results: Results) -> list[dict[str, str]]:
    """The sizes of the sweep."""
    sweep = results.sweep
    found = [("cells with a result", len(results.ok), f"of {scales.count(sweep['n_cells'])}")]
    if results.drawn:
        method, blocks = sweep["draw"]["method"], sweep["draw"]["blocks"]
        of = "independent" if method == "plain" else f"in {blocks} blocks"
        found.append(("networks drawn", results.draws, of))
    if results.axes:
        sizes = [str(len(axis.values)) for axis in results.axes]
        of = " × ".join(sizes) if len(sizes) < 5 else f"{len(sizes)} axes"
        found.append(("points of the grid", results.points, of if len(sizes) > 1 else ""))
    each = sorted(set(results.ok["replications"].tolist())) or [sweep["replications"]]
    of = f"{each[0]} a cell" if len(each) == 1 else f"{each[0]} to {scales.count(each[-1])} a cell"
    found.append(("replications", int(results.ok["replications"].sum()), of))
    found.append(("cells that failed", len(results.failed), ""))
    return [{"label": label, "value": scales.count(value), "of": of} for label, value, of in found]


def means(results: Results) -> dict[str, Any]:
    """The table of means and of the probabilities of the goals, with 95 % intervals."""
    rows = []
    for column in results.outcomes:
        values = whole(results, column)
        shown = scales.scale(np.abs(values.mean).ravel(), scales.unit_of(column))
        gains = whole(results, f"{column}_gain") if len(results.labels) > 1 else None
        cells = [_cell(column, values, k, shown, gains) for k in range(len(results.labels))]
        rows.append({"head": shown.label(scales.name_of(column)), "cells": cells})
    for goal, text in results.sweep["goals"].items():
        values = whole(results, goal)
        cells = [_cell(goal, values, k, PERCENT, None) for k in range(len(results.labels))]
        rows.append({"head": f"probability that {scales.goal(text)} [%]", "cells": cells})
    heads = [row["head"] for row in rows]
    labels = list(results.labels) if results.labels != ("",) else ["mean"]
    if len(labels) <= MOST_COLUMNS:
        return {"corner": "outcome", "heads": labels, "rows": rows}
    turned = [{"head": label, "cells": [row["cells"][k] for row in rows]} for k, label in enumerate(labels)]
    return {"corner": results.compared.title if results.compared else "", "heads": heads, "rows": turned}


def winners(results: Results) -> list[dict[str, Any]]:
    """For every outcome that can be won: how often each label is best, by how much, and its mean gain."""
    found = []
    for column in judged(results):
        share, lead, each = wins(results, column), leads(results, column), places(results, column)
        values, gains = whole(results, column), whole(results, f"{column}_gain")
        rows = []
        for k, label in enumerate(results.labels):
            gain, gain_interval = _gain(column, values, gains, k)
            rows.append(
                {
                    "label": label,
                    "share": _share(share.share[k]),
                    "interval": scales.interval(share.low[k], share.high[k], PERCENT),
                    "alone": "" if each is None else _share(each.alone[k]),
                    "near": "" if each is None else _share(each.near[k]),
                    "width": f"{np.nan_to_num(100 * share.share[k]):.1f}",
                    "lead": _percent(lead[k]),
                    "gain": gain if k else "baseline",
                    "gain_interval": gain_interval,
                }
            )
        name = scales.name_of(column)
        order = "more" if results.sign(column) > 0 else "less"
        found.append({"title": f"{name[:1].upper()}{name[1:]}: {order} is better", "rows": rows})
    return found


def _cell(column: str, values: Estimates, k: int, shown: Scale, gains: Estimates | None) -> Cell:
    value, interval = _value(values, k, shown)
    gain = _gain(column, values, gains, k)[0] if gains is not None and k else ""
    return {"value": value, "interval": interval, "gain": gain}


def _gain(column: str, values: Estimates, gains: Estimates, k: int) -> tuple[str, str]:
    """The gain of a label over the baseline and its interval, in percent of it if that makes sense."""
    mean, low, high = (each[0, k] for each in gains[:3])
    shown = gain_scale(values.mean, scales.unit_of(column))
    if shown is not None:
        sign_ = "+" if mean > 0 else ""
        return f"{sign_}{scales.number(mean / shown.factor)} {shown.unit}", scales.interval(low, high, shown)
    base = values.mean[0, 0]
    if not base > 0:
        return "–", ""
    return _percent(mean / base), scales.interval(low / base, high / base, PERCENT)


def _value(values: Estimates, k: int, shown: Scale) -> tuple[str, str]:
    """The mean of a label over the whole space and its interval."""
    mean, low, high = (float(each[0, k]) for each in values[:3])
    digits = scales.digits_for(mean, low, high)
    return scales.number(mean / shown.factor, digits), scales.interval(low, high, shown, digits)


def _quantity(values: Estimates, k: int, shown: Scale) -> str:
    value, interval = _value(values, k, shown)
    return " ".join(filter(None, (value, shown.unit, interval)))


def _percent(part: float) -> str:
    if not math.isfinite(part):
        return "–"
    return ("+" if part > 0 else "") + scales.number(100 * part) + " %"


def _share(part: float) -> str:
    return f"{scales.number(100 * part)} %" if math.isfinite(part) else "–"
