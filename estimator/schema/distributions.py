"""Random quantities: what a user may write wherever a number is expected.

    {uniform: [a, b]}   {log_uniform: [a, b]}   {integers: [a, b]}   {choice: [a, b, ...]}
    {normal: {mean: m, sd: s, min: a, max: b}}

Each is drawn by its inverse distribution function from one uniform number.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError, nearest
from netcarlo.numerics import normal, portable

KINDS = ("uniform", "log_uniform", "normal", "choice", "integers")
_SHAPE = "[lowest, highest]"


@dataclass(frozen=True)
class Distribution:
    """A distribution of one of `KINDS`; `values` are its parameters in SI units, in the order above."""

    kind: str
    values: tuple[float, ...]

    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value that can be drawn."""
        if self.kind == "normal":
            return self.values[2], self.values[3]
        return min(self.values), max(self.values)

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values [n] at the probabilities `u` [n] in [0, 1)."""
        values = self.values
        if self.kind == "choice":
            return np.array(values)[_index(u, len(values))]
        if self.kind == "normal":
            return _truncated_normal(u, *values)
        a, b = values
        if self.kind == "integers":
            return np.asarray(a + _index(u, int(b - a) + 1), np.float64)
        if self.kind == "log_uniform":
            return np.clip(a * portable.exp2(u * portable.log2(b / a)), a, b)
        return np.clip(a + u * (b - a), a, b)


def _index(u: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    # The product can round up to `count` when u is the largest float below 1.
    return np.minimum(np.floor(u * count), count - 1).astype(np.int64)


def _truncated_normal(
    u: NDArray[np.float64], mean: float, sd: float, low: float, high: float
) -> NDArray[np.float64]:
    # In the upper tail work with the mirror image, where the probability below keeps its digits.
    sign = -1.0 if low > mean else 1.0
    a, b = sorted((sign * (low - mean) / sd, sign * (high - mean) / sd))
    at_a, at_b = normal.below(a), normal.below(b)
    p = at_a + (u if sign > 0 else 1.0 - u) * (at_b - at_a)
    return np.asarray(np.clip(mean + sign * sd * normal.quantile(p), low, high))


def parse(value: dict[Any, Any], number: Callable[[Any], float], *, low: float, high: float) -> Distribution:
    """The distribution a user wrote as a one-key mapping; `number` reads one value in SI units.

    `low` and `high` are the limits of the field; a normal distribution without min or max is
    truncated there.  Raises InputError without the field's name.
    """
    if len(value) != 1:
        raise InputError(
            f"is not a distribution; write one of {', '.join(KINDS)}, such as {{uniform: {_SHAPE}}}"
        )
    kind, given = next(iter(value.items()))
    if kind not in KINDS:
        raise InputError(f"has the unknown distribution '{kind}'; {nearest(str(kind), KINDS)}")
    if kind == "normal":
        return _normal(given, number, low, high)
    if not isinstance(given, list) or not given or (kind != "choice" and len(given) != 2):
        shape = "[value, value, ...]" if kind == "choice" else _SHAPE
        raise InputError(f"has the wrong shape; write {{{kind}: {shape}}}")
    values = tuple(number(item) for item in given)
    if kind == "choice":
        return Distribution(kind, values)
    if not all(map(math.isfinite, values)):
        raise InputError("is unlimited at one end; write a number there")
    if values[0] > values[1]:
        raise InputError(f"has its bounds in falling order; write {{{kind}: {_SHAPE}}}")
    if kind == "log_uniform" and values[0] <= 0:
        raise InputError("starts at 0 or below, where a logarithm has no value; raise the lower bound")
    if kind == "integers" and any(v != int(v) for v in values):
        raise InputError("has a bound that is no whole number; write whole numbers")
    return Distribution(kind, values)


def _normal(given: Any, number: Callable[[Any], float], low: float, high: float) -> Distribution:
    keys = ("mean", "sd", "min", "max")
    if not isinstance(given, dict) or not {"mean", "sd"} <= set(given) <= set(keys):
        raise InputError("has the wrong shape; write {normal: {mean: m, sd: s, min: lowest, max: highest}}")
    mean, sd = number(given["mean"]), number(given["sd"])
    a = number(given["min"]) if "min" in given else low
    b = number(given["max"]) if "max" in given else high
    if not (math.isfinite(mean) and 0 < sd < math.inf):
        raise InputError("needs a finite mean and an sd above 0; a fixed number needs no distribution")
    if not a < b:
        raise InputError("has min not below max; write min: lowest, max: highest")
    if max((a - mean) / sd, (mean - b) / sd) > 8:
        raise InputError("has its mean more than 8 sd outside [min, max]; move the mean or the bounds")
    return Distribution("normal", (mean, sd, float(a), float(b)))  # limits of whole numbers are ints
