"""Quantity of a plan: its values, and the fields of the scenario that it sets."""

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
from netcarlo.schema.limit import Limit
from netcarlo.schema.names import full_names
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.record import Record
from netcarlo.simulation.outcomes import MEANING

MAX_VALUES = 10_000
"""Maximum number of values of a quantity."""


class QuantitySpec(Record):
    """Quantity to plan, and its values: a range (`linear` or `log`), or a list (`values`).

    Integers have a step of 1 unless `step` or `points` is given.
    """

    name: str = "value"
    """Name of the quantity in the answer and in expressions."""
    field: str | list[str] | None = None
    """Field of the scenario that the quantity sets, or a list of fields. Without it, the quantity is a number
    for `derive`."""
    linear: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Lowest and highest value of a range with equal steps."""
    log: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Lowest and highest value of a range with equal ratios."""
    values: list[Any] | None = Field(default=None, min_length=2, max_length=MAX_VALUES)
    """List of all values."""
    step: Any = None
    """Step of a linear range; by default 1 for integers, unless `points` is given."""
    points: int | None = Field(default=None, ge=2, le=MAX_VALUES)
    """Number of values in a range."""

    @property
    def fields(self) -> list[str]:
        """Fields of the scenario that the quantity sets."""
        return [self.field] if isinstance(self.field, str) else (self.field or [])

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in ("linear", "log", "values") if getattr(self, kind) is not None]
        if len(given) != 1:
            raise InputError("needs exactly one of linear, log and values; write linear: [lowest, highest]")
        if not self.name.isidentifier() or self.name in expressions.FUNCTIONS:
            raise InputError(f"name '{self.name}' is not allowed; write a word, such as name: users")
        if self.name in MEANING:
            raise InputError(
                f"name '{self.name}' is the name of an outcome; write another, such as name: users"
            )
        if self.step is not None and (self.linear is None or self.points is not None):
            raise InputError("step is allowed only with linear and without points; remove step")
        if self.points is not None and self.values is not None:
            raise InputError("points cannot be combined with values; remove points")
        if self.log is not None and self.points is None:
            raise InputError("log needs points; write points: 25")
        return self


class Values:
    """Checked quantity: its name, its dimension, and its values in SI units in increasing order."""

    def __init__(self, spec: QuantitySpec, base: Scenario, data: Mapping[str, Any], *, derives: bool) -> None:
        """Check a quantity for the scenario `base`, whose data are `data`.

        `derives` is true if fields are derived from the quantity; it then need not set a field. Raises
        InputError.
        """
        given = spec.linear or spec.log or spec.values or []
        self.name, self.log = spec.name, spec.log is not None
        self.fields = spec.fields
        self._limits = {name: limits(base, data, name, like=given[0]) for name in self.fields}
        if not self.fields and not derives:
            raise InputError("sets no field; write field: hops.0.queue, or use its name in derive")
        fixed = list(self._limits.values())
        self.dimension = fixed[0].dimension if fixed else _dimension(given[0])
        whole = any(limit.whole for limit in fixed)
        numbers = [_number(value, self.dimension) for value in given]
        if spec.values is None:
            numbers = _between(spec, numbers, self.dimension, whole)
        if whole and any(number != round(number) for number in numbers):
            raise InputError("has values that are not integers; write integers, and an integer step")
        if len(numbers) < 2 or any(a >= b for a, b in pairwise(numbers)):
            raise InputError("values do not increase; write [lowest, highest]")
        self.numbers = numbers

    def settings(self, value: float) -> dict[str, Any]:
        """Return the fields that the quantity sets, with their YAML values at `value`."""
        return {name: shown(limit, value) for name, limit in self._limits.items()}


def limits(base: Scenario, data: Mapping[str, Any], name: str, *, like: Any = None) -> Quantity:
    """Return dimension and limits of a field of a scenario. Raises InputError if it is not a number.

    A field with several units has that of the value `like`, or that of the scenario without one.
    """
    full = full_names(data, name)[0]
    if full == "precision":
        raise InputError("precision has no effect in a plan, which uses confidence; name another field")
    found = fields.declared(base, full)
    if isinstance(found, Limit):
        return found.of(found.unit_of(fields.value(base, full) if like is None else like))
    if found is None:
        raise InputError(f"{name} is not a number; name a field that is one")
    return found


def shown(limit: Quantity, value: float) -> Any:
    """Return the YAML value of a field for a number in SI units."""
    return limit.show(float(round(value)) if limit.whole else value)


def _between(spec: QuantitySpec, ends: list[float], dimension: units.Dimension, whole: bool) -> list[float]:
    low, high = ends
    if not low < high:
        raise InputError("values do not increase; write [lowest, highest]")
    if spec.log is not None and low <= 0:
        raise InputError("log cannot start at 0 or below; write a lower end above 0")
    count = spec.points
    if count is None:
        if spec.step is None and not whole:
            raise InputError("needs step or points; write step: 10 ms or points: 25")
        step = 1.0 if spec.step is None else _number(spec.step, dimension)
        if step <= 0:
            raise InputError("step is not positive; write a positive step")
        steps = math.floor((high - low) / step + 1e-9)
        if not 1 <= steps < MAX_VALUES:
            raise InputError(f"has {steps + 1} values; expected 2 to {MAX_VALUES}; change step")
        found = low + step * np.arange(steps + 1)
    elif spec.log is not None:
        found = np.geomspace(low, high, count)
    else:
        found = np.linspace(low, high, count)
    if whole and spec.step is None:
        found = np.unique(np.rint(found))
    # Twelve digits: 10 ms instead of 9.999999999999998 ms.
    return [float(f"{value:.12g}") for value in found]


def _number(value: Any, dimension: units.Dimension) -> float:
    try:
        return units.parse(value, dimension)
    except InputError as error:
        raise InputError(f"value {value!r} {error}") from None


def _dimension(value: Any) -> units.Dimension:
    """Return the dimension of a number with a unit. Raises InputError."""
    for dimension in DIMENSIONS:
        try:
            units.parse(value, dimension)
        except InputError:
            continue
        return dimension
    raise InputError(f"value {value!r} is not a number; write one such as 10 ms")
