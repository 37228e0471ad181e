"""The quantity of a plan: its values, and the fields of a scenario that they set."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import expressions, fields, units
from netcarlo.schema.axes import DIMENSIONS
from netcarlo.schema.names import full_names
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.record import Record
from netcarlo.simulation.outcomes import MEANING

MOST_VALUES = 10_000
"""Values that a plan may choose from."""


class QuantitySpec(Record):
    """The quantity to plan and its values: `linear` or `log` between two ends, or `values` themselves.

    Whole numbers go in steps of 1 unless a `step` or a number of `points` is given.
    """

    name: str = "value"
    """What it is called in the answer and in expressions."""
    field: str | list[str] | None = None
    """The field that it sets, or several; a number for `derive` unless given."""
    linear: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Its lowest and its highest value, on a scale of equal steps."""
    log: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Its lowest and its highest value, on a scale of equal ratios."""
    values: list[Any] | None = Field(default=None, min_length=2, max_length=MOST_VALUES)
    """Its values one by one."""
    step: Any = None
    """From one value to the next on a linear scale; 1 of whole numbers unless `points` are given."""
    points: int | None = Field(default=None, ge=2, le=MOST_VALUES)
    """How many values there are on a scale."""

    @property
    def fields(self) -> list[str]:
        """The fields that it sets."""
        return [self.field] if isinstance(self.field, str) else (self.field or [])

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in ("linear", "log", "values") if getattr(self, kind) is not None]
        if len(given) != 1:
            raise InputError("needs one of linear, log and values; write linear: [lowest, highest]")
        if not self.name.isidentifier() or self.name in expressions.FUNCTIONS:
            raise InputError(f"has the name '{self.name}', which is no plain word; write name: users")
        if self.name in MEANING:
            raise InputError(f"has the name '{self.name}', which is that of an outcome; write name: users")
        if self.step is not None and (self.linear is None or self.points is not None):
            raise InputError("has a step, which belongs to linear without points; remove it")
        if self.points is not None and self.values is not None:
            raise InputError("has points beside values; remove points")
        if self.log is not None and self.points is None:
            raise InputError("needs points with log; write points: 25")
        return self


class Values:
    """A quantity: its name, its dimension, and its values in SI units, in rising order."""

    def __init__(self, spec: QuantitySpec, base: Scenario, data: Mapping[str, Any], *, derives: bool) -> None:
        """For the scenario `base` of this `data`; `derives`: fields follow from it, so it need not set one.

        Raises InputError.
        """
        given = spec.linear or spec.log or spec.values or []
        self.name, self.log = spec.name, spec.log is not None
        self.fields = spec.fields
        self._limits = {name: limits(base, data, name) for name in self.fields}
        if not self.fields and not derives:
            raise InputError("sets nothing; write field: hops.0.queue, or use its name in derive")
        fixed = list(self._limits.values())
        self.dimension = fixed[0].dimension if fixed else _dimension(given[0])
        whole = any(limit.whole for limit in fixed)
        numbers = [_number(value, self.dimension) for value in given]
        if spec.values is None:
            numbers = _between(spec, numbers, self.dimension, whole)
        if whole and any(number != round(number) for number in numbers):
            raise InputError("has values that are not whole; write whole numbers, and a whole step")
        if len(numbers) < 2 or any(a >= b for a, b in pairwise(numbers)):
            raise InputError("has its values in falling order; write [lowest, highest]")
        self.numbers = numbers

    def settings(self, value: float) -> dict[str, Any]:
        """The fields that it sets, with what is written there for a value."""
        return {name: shown(limit, value) for name, limit in self._limits.items()}


def limits(base: Scenario, data: Mapping[str, Any], name: str) -> Quantity:
    """What may stand in a field of a scenario that is a number.  Raises InputError if it is none."""
    full = full_names(data, name)[0]
    if full == "precision":
        raise InputError("precision decides nothing in a plan, its confidence does; name another field")
    found = fields.quantity(base, full)
    if found is None:
        raise InputError(f"{name} is no number; name a field that is one")
    return found


def shown(limit: Quantity, value: float) -> Any:
    """A value as it is written in a field."""
    return limit.show(float(round(value)) if limit.whole else value)


def _between(spec: QuantitySpec, ends: list[float], dimension: units.Dimension, whole: bool) -> list[float]:
    low, high = ends
    if not low < high:
        raise InputError("has its ends in falling order; write [lowest, highest]")
    if spec.log is not None and low <= 0:
        raise InputError("starts at 0 or below, where a logarithm has no value; raise the lower end")
    count = spec.points
    if count is None:
        if spec.step is None and not whole:
            raise InputError("needs a step or points; write step: 10 ms or points: 25")
        step = 1.0 if spec.step is None else _number(spec.step, dimension)
        if step <= 0:
            raise InputError("has a step that is not positive; write a positive one")
        steps = math.floor((high - low) / step + 1e-9)
        if not 1 <= steps < MOST_VALUES:
            raise InputError(f"has {steps + 1} values; allowed is 2 to {MOST_VALUES}; change step")
        found = low + step * np.arange(steps + 1)
    elif spec.log is not None:
        found = np.geomspace(low, high, count)
    else:
        found = np.linspace(low, high, count)
    if whole and spec.step is None:
        found = np.unique(np.rint(found))
    # Twelve digits, so that 10 ms is 10 ms and not 9.999999999999998 ms.
    return [float(f"{value:.12g}") for value in found]


def _number(value: Any, dimension: units.Dimension) -> float:
    try:
        return units.parse(value, dimension)
    except InputError as error:
        raise InputError(f"has the value {value!r}, which {error}") from None


def _dimension(value: Any) -> units.Dimension:
    """The dimension of a number with its unit."""
    for dimension in DIMENSIONS:
        try:
            units.parse(value, dimension)
        except InputError:
            continue
        return dimension
    raise InputError(f"has the value {value!r}, which is no number; write one such as 10 ms")
