"""Values of the axes of a sweep at which the setting with the best mean is clearly worse than another one."""

from typing import NamedTuple

import numpy as np

from netcarlo.numerics import normal
from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.reports.parts import scales
from netcarlo.reports.sweep.results import Axis, Estimates, Results
from netcarlo.reports.sweep.wins import clearly_better, gain_scale

MOST_AXES = 2
"""Maximum number of axes that a sentence names."""
MOST_VALUES = 4
"""Maximum number of separate values of an axis that a sentence names."""
MOST_ESTIMATES = 1_000
"""Maximum number of estimates at single points; each takes milliseconds if networks are drawn."""


class Reversal(NamedTuple):
    """Setting that is clearly better than the best one at some values of an axis."""

    label: int
    """Number of the better setting."""
    where: str
    """Values of the axis: `loss ≥ 1 %`."""
    change: str
    """Change of the best setting against the better one over these values: `-12 %`; empty if unknown."""


def sentence_part(results: Results, column: str, best: int) -> str:
    """Return where the setting with the best mean of an outcome loses.

    Such as `, but loses to SACK where loss ≥ 1 % (-12 %)`. Empty if no other setting is clearly better at a
    value of an axis or at a point of the grid. All values of all axes are judged together at 95 % confidence
    (Bonferroni).
    """
    axes = [axis for axis in results.axes if len(axis.values) > 1]
    tests = sum(len(axis.values) for axis in axes) * (len(results.labels) - 1)
    found = [one for axis in axes if (one := _along(results, column, best, axis, tests)) is not None]
    if not found:
        return _at_points(results, column, best) if len(axes) > 1 else ""
    parts: list[str] = []
    named: int | None = None
    for one in found[:MOST_AXES]:
        to = f"loses to {results.labels[one.label]} " if one.label != named else ""
        parts.append(f"{to}where {one.where}" + (f" ({one.change})" if one.change else ""))
        named = one.label
    return f", but {' and '.join(parts)}"


def _along(results: Results, column: str, best: int, axis: Axis, tests: int) -> Reversal | None:
    """Return the setting that is clearly better at the most values of an axis, or None."""
    place = results.places[axis.name]
    beaten = _beaten(results, column, best, place, len(axis.values), tests)
    if not beaten.any():
        return None
    label = int(beaten.sum(axis=0).argmax())
    values = np.flatnonzero(beaten[:, label])
    inside = np.where(np.isin(place, values), 0, -1)
    change = _change(results, column, best, label, inside)
    return Reversal(label, f"{axis.title} {_condition(axis, values)}", change)


def _at_points(results: Results, column: str, best: int) -> str:
    """Return the share of points at which another setting is clearly better; empty if there are none."""
    points, labels = results.points, len(results.labels)
    if points * labels > MOST_ESTIMATES:
        return ""
    beaten = _beaten(results, column, best, np.arange(points), points, points * (labels - 1))
    count = int(beaten.any(axis=1).sum())
    if not count:
        return ""
    first = int(beaten.any(axis=1).argmax())
    label = int(beaten[first].argmax())
    place = [(axis, results.places[axis.name][first]) for axis in results.axes if len(axis.values) > 1]
    where = " and ".join(f"{axis.title} = {axis.texts[value]}" for axis, value in place)
    of = f"{scales.count(count)} of {scales.count(points)} points"
    return f", but loses at {of}, for example to {results.labels[label]} where {where}"


def _beaten(results: Results, column: str, best: int, group: Ints, groups: int, tests: int) -> Bools:
    """Return whether each setting is clearly better than the best one in each group, bool[groups, labels]."""
    values = _wider(results.estimates(column, group, groups), tests)
    gains = _wider(results.estimates(f"{column}_gain", group, groups), tests)
    return np.asarray(clearly_better(results.sign(column), values, gains)[:, :, best])


def _wider(found: Estimates, tests: int) -> Estimates:
    """Return estimates with intervals that hold for all tests together at 95 % (Bonferroni)."""
    both: Floats = normal.quantile(np.array([0.975, 1 - 0.025 / max(tests, 1)]))
    factor = both[1] / both[0]
    low = found.mean - factor * (found.mean - found.low)
    return found._replace(low=low, high=found.mean + factor * (found.high - found.mean))


def _change(results: Results, column: str, best: int, label: int, inside: Ints) -> str:
    """Return the relative change of the mean of the best setting against that of another one in a group."""
    values = results.estimates(column, inside, 1).mean[0]
    if gain_scale(values, scales.unit_of(column)) is not None or not values[label] > 0:
        return ""
    return f"{scales.number(100 * (values[best] / values[label] - 1))} %"


def _condition(axis: Axis, values: Ints) -> str:
    """Return a condition that the values of an axis with these places meet: `= 1 %`, `≥ 1 %` or `≤ 1 %`."""
    last = len(axis.values) - 1
    ordered = axis.numeric and len(values) > 1 and bool(np.all(np.diff(np.array(axis.values)) > 0))
    contiguous = bool(np.all(np.diff(values) == 1))
    if ordered and contiguous and values[-1] == last:
        return f"≥ {axis.texts[values[0]]}"
    if ordered and contiguous and values[0] == 0:
        return f"≤ {axis.texts[values[-1]]}"
    if ordered and contiguous and len(values) > MOST_VALUES:
        return f"= {axis.texts[values[0]]} … {axis.texts[values[-1]]}"
    named = [axis.texts[value] for value in values[:MOST_VALUES]]
    rest = len(values) - len(named)
    return f"= {', '.join(named)}" + (f" and {rest} more" if rest else "")
