"""Distributions, which a user may write in place of a number.

    {uniform: [a, b]}   {log_uniform: [a, b]}   {integers: [a, b]}   {choice: [a, b, ...]}
    {triangular: [a, most likely, b]}           {empirical: FILE.csv}
    {normal: {mean: m, sd: s}}                  {lognormal: {median: m, sigma: s}}
    {exponential: {mean: m}}  {weibull: {scale: x, shape: k}}  {pareto: {scale: least, shape: k}}

Distributions with named parameters also accept `min` and `max`; their default is the limits of the field.
They are truncated at these values and renormalised, not clipped. Each is drawn by its inverse distribution
function from one uniform random number (`quantiles`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netcarlo.errors import InputError, suggest
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import cumulative, empirical, quantiles, units
from netcarlo.schema.units import Dimension

NAMED: dict[str, tuple[str, ...]] = {
    "normal": ("mean", "sd"),
    "lognormal": ("median", "sigma"),
    "exponential": ("mean",),
    "weibull": ("scale", "shape"),
    "pareto": ("scale", "shape"),
}
"""Distributions with named parameters. In `Distribution.values`, `min` and `max` follow these."""

BARE = ("sigma", "shape")
"""Parameters that are plain numbers, whatever the unit of the field."""

_LISTS = {
    "uniform": "[lowest, highest]",
    "log_uniform": "[lowest, highest]",
    "integers": "[lowest, highest]",
    "triangular": "[lowest, most likely, highest]",
    "choice": "[value, value, ...]",
}
"""Form of the parameters of the distributions with positional parameters."""

_PARTS = (np.arange(1024) + 0.5) / 1024

DISTRIBUTIONS = (*_LISTS, *NAMED, empirical.NAME)


@dataclass(frozen=True)
class Distribution:
    """A distribution of one of `DISTRIBUTIONS`; `values` are its parameters in SI units, in the order of
    `NAMED` and `_LISTS`.

    For an empirical distribution they are its values, followed by the cumulative probabilities.
    """

    kind: str
    values: tuple[float, ...]
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Parts of a sentence on how the file of a distribution was interpreted; the first is empty."""

    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest value that can be drawn."""
        if self.kind in NAMED:
            return self.values[-2], self.values[-1]
        values = self.points[0] if self.kind == empirical.NAME else self.values
        return min(values), max(values)

    @property
    def points(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Values of an empirical distribution and their cumulative probabilities."""
        half = len(self.values) // 2
        return self.values[:half], self.values[half:]

    def quantile(self, u: Floats) -> Floats:
        """Return the values [n] at the probabilities `u` [n] in [0, 1)."""
        if self.kind in ("choice", empirical.NAME):
            return getattr(quantiles, self.kind)(u, self.values)  # type: ignore[no-any-return]
        low, high = self.bounds()
        found = getattr(quantiles, self.kind)(u, *self.values)
        return np.asarray(np.clip(found, low, high), np.float64)

    def mean(self) -> float:
        """Return the mean: exact for an empirical distribution, otherwise the mean of the quantiles at the
        centres of 1,024 equally likely intervals."""
        if self.kind == empirical.NAME:
            values, below = (np.array(part) for part in self.points)
            return cumulative.mean(values, below)
        return float(self.quantile(_PARTS).mean())

    def written(self, show: Callable[[float], Any]) -> dict[str, Any]:
        """Return the YAML value that `parse` reads back to this distribution; `show` writes a value of the
        field."""
        if self.kind in NAMED:
            names = (*NAMED[self.kind], "min", "max")
            pairs = zip(names, self.values, strict=True)
            return {self.kind: {name: value if name in BARE else show(value) for name, value in pairs}}
        if self.kind == empirical.NAME:
            return {self.kind: [[show(value), p] for value, p in zip(*self.points, strict=True)]}
        return {self.kind: [show(value) for value in self.values]}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the values that `parse` accepts."""
    number = {"type": ["number", "string"]}
    made: dict[str, Any] = {}
    for kind, shape in _LISTS.items():
        ends: dict[str, int] = {"minItems": 1}
        if kind != "choice":
            ends = {"minItems": shape.count(",") + 1, "maxItems": shape.count(",") + 1}
        made[kind] = {"type": "array", "items": number, **ends, "description": shape}
    for kind, names in NAMED.items():
        parameters = dict.fromkeys((*names, "min", "max"), number)
        made[kind] = {
            "type": "object", "properties": parameters, "required": list(names), "additionalProperties": False
        }  # fmt: skip
    unit = {"type": "string", "description": "unit of values without one, such as packets"}
    made[empirical.NAME] = {
        "type": ["string", "array", "object"],
        "description": "a file, or its rows, or {file: FILE, unit: UNIT}",
        "properties": {"file": {"type": "string"}, "unit": unit}, "additionalProperties": False,
    }  # fmt: skip
    return {
        "type": "object", "properties": {**made, "unit": unit}, "additionalProperties": False,
        "minProperties": 1, "dependentRequired": {"unit": [empirical.NAME]},
        "if": {"required": ["unit"]}, "then": {"maxProperties": 2}, "else": {"maxProperties": 1},
        "description": "a distribution, drawn for every replication",
    }  # fmt: skip


def parse(
    value: dict[Any, Any], number: Callable[[Any], float], *, low: float, high: float,
    dimension: Dimension = units.PLAIN,
) -> Distribution:  # fmt: skip
    """Return the distribution written as a one-key mapping; `number` reads one value in SI units.

    `low` and `high` are the limits of the field. An empirical distribution may have a `unit` beside it.
    Raises InputError without the name of the field.
    """
    unit = value.get("unit") if empirical.NAME in value else None
    if len(value) != 1 + (unit is not None):
        raise InputError(
            f"is not a distribution; write one of {', '.join(DISTRIBUTIONS)}, "
            f"such as {{uniform: {_LISTS['uniform']}}}"
        )
    kind, given = next((key, item) for key, item in value.items() if key != "unit" or unit is None)
    if kind not in DISTRIBUTIONS:
        raise InputError(f"has the unknown distribution '{kind}'; {suggest(str(kind), DISTRIBUTIONS)}")
    if kind in NAMED:
        return _named(kind, given, number, low, high)
    if kind == empirical.NAME:
        found = empirical.points(given, number, dimension, unit=unit, low=low)
        kind = kind if found.below else "choice"
        return Distribution(kind, (*found.values, *found.below), tuple(found.notes))
    places = _LISTS[kind].count(",") + 1
    if not isinstance(given, list) or not given or (kind != "choice" and len(given) != places):
        raise InputError(f"has the wrong parameters; write {{{kind}: {_LISTS[kind]}}}")
    values = tuple(_item(kind, item, number) for item in given)
    if kind == "choice":
        return Distribution(kind, values)
    if not all(map(math.isfinite, values)):
        raise InputError("is unlimited at one end; write a number there")
    if list(values) != sorted(values):
        raise InputError(f"has its bounds in descending order; write {{{kind}: {_LISTS[kind]}}}")
    if kind == "log_uniform" and values[0] <= 0:
        raise InputError("starts at 0 or below, but log_uniform needs positive values; raise the lower bound")
    if kind == "integers" and any(v != int(v) for v in values):
        raise InputError("has a bound that is not a whole number; write whole numbers")
    return Distribution(kind, values)


def _item(kind: str, item: Any, number: Callable[[Any], float]) -> float:
    """Return an item of a list in SI units. Raises InputError that names the item."""
    try:
        return number(item)
    except InputError as error:
        raise InputError(f"has in {kind} the value {item!r}, which {error}") from None


def _named(kind: str, given: Any, number: Callable[[Any], float], low: float, high: float) -> Distribution:
    names = NAMED[kind]
    if not isinstance(given, dict) or not set(names) <= set(given) <= {*names, "min", "max"}:
        shape = ", ".join(f"{name}: {name[0]}" for name in names)
        raise InputError(
            f"has the wrong parameters; write {{{kind}: {{{shape}, min: lowest, max: highest}}}}"
        )
    values = tuple(_bare(given[name]) if name in BARE else number(given[name]) for name in names)
    a = number(given["min"]) if "min" in given else low
    b = number(given["max"]) if "max" in given else high
    first, last = values[0], values[-1]
    if kind == "normal" and not (math.isfinite(first) and 0 < last < math.inf):
        raise InputError("needs a finite mean and an sd above 0; write a plain number for a fixed value")
    if kind != "normal" and not 0 < first < math.inf:
        raise InputError(f"needs a finite {names[0]} above 0; raise it")
    if names[-1] in BARE and not 0.01 <= last <= 100:
        raise InputError(f"has a {names[-1]} of {last:g}; expected 0.01 to 100")
    if kind == "pareto":
        a = max(a, first)
    if not a < b:
        raise InputError("has min not below max; write min: lowest, max: highest")
    centre, to_a, to_b = first, a, b
    if kind == "lognormal":  # compare logarithms, which are normal
        centre, to_a, to_b = map(math.log, (first, max(a, quantiles.TINY), b))
    if kind in ("normal", "lognormal") and max(to_a - centre, centre - to_b) > 8 * last:
        away = f"more than 8 {names[1]} outside [min, max]"
        raise InputError(f"has its {names[0]} {away}; move the {names[0]} or the bounds")
    return Distribution(kind, (*values, float(a), float(b)))  # limits of whole-number fields are ints


def _bare(value: Any) -> float:
    return units.parse(value, units.PLAIN)
