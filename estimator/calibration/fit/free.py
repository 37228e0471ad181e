"""Free fields of a fit: their ranges and scales, and the notation `hops.0.rate=1..100 Mbit/s`."""

import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema import fields, units
from netcarlo.schema.names import full_names
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.readable import FRACTION, say, scale, trimmed

MAX_FREE = 8
"""Maximum number of free fields."""
LOG_RATIO = 4.0
"""Ratio of the ends of a range from which its scale is logarithmic."""
DECADE = 10.0
"""Default range of a field: its value divided by this factor to its value times this factor."""
MAX_LOSS = 0.05
"""Upper end of the default range of a loss probability."""
DEFAULTS = ("rate", "delay", "queue", "loss")
"""Fields of the slowest hop that are free by default."""

Scale = Literal["linear", "log", "square"]

_RANGE = re.compile(r"^\s*(?P<low>.+?)\s*\.\.\s*(?P<high>.+?)\s*$")
_UNIT = re.compile(r"[^\d.eE+\-\s].*$")


class FreeField(NamedTuple):
    """A field that is fitted, with its range in SI units.

    Positions from 0 to 1 are equally likely before the measurement. The scale is logarithmic if the ends
    differ by a factor of `LOG_RATIO` or more; for a range from 0, values are squares of positions.
    """

    name: str
    """Name as the user wrote it."""
    full: tuple[str, ...]
    """Full dotted names of the fields that have this value."""
    quantity: Quantity
    """Dimension and limits."""
    low: float
    """Lower end of the range."""
    high: float
    """Upper end of the range."""

    @property
    def scale(self) -> Scale:
        """Scale on which all positions are equally likely."""
        if self.low == 0:
            return "square"
        return "log" if self.high >= LOG_RATIO * self.low else "linear"

    def values(self, positions: Floats) -> Floats:
        """Return the values in SI units at positions in [0, 1]."""
        if self.scale == "square":
            found = self.high * positions**2
        elif self.scale == "log":
            found = self.low * np.exp(positions * math.log(self.high / self.low))
        else:
            found = self.low + positions * (self.high - self.low)
        return np.clip(found, self.low, self.high)

    def positions(self, values: Floats) -> Floats:
        """Return the positions in [0, 1] of values in SI units."""
        if self.scale == "square":
            return np.sqrt(values / self.high)
        if self.scale == "log":
            return np.asarray(np.log(values / self.low) / math.log(self.high / self.low))
        return (values - self.low) / (self.high - self.low)

    @property
    def unit(self) -> str:
        """SI unit of the values; FRACTION for probabilities."""
        if self.quantity.dimension is units.FRACTION:
            return FRACTION
        return "packets" if self.quantity.dimension is units.PACKETS else self.quantity.dimension.unit

    def say(self, value: float, digits: int = 3) -> str:
        """Return a value with its unit: `19.8 Mbit/s`."""
        return say(value, self.unit, digits)

    def between(self, low: float, high: float) -> str:
        """Return a range with one unit: `19.6 to 20 Mbit/s`."""
        shown = scale([high], self.unit)
        ends = " to ".join(trimmed(end / shown.factor) for end in (low, high))
        return f"{ends} {shown.unit}".rstrip()

    def yaml(self, value: float) -> str | int:
        """Return a value as it is written in a scenario, with four significant digits."""
        if self.quantity.dimension is units.PACKETS or self.quantity.whole:
            return max(round(value), math.ceil(self.quantity.low))
        if self.quantity.dimension is units.FRACTION:
            return f"{100 * value:.3g} %"
        for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("u", 1e-6)):
            if value >= factor or prefix == "u":
                return f"{value / factor:.4g} {prefix}{self.quantity.dimension.unit}".strip()
        return f"{value:g}"


def free_fields(scenario: Scenario, asked: Sequence[str]) -> list[FreeField]:
    """Return the free fields of a fit; by default those of the slowest hop. Raises InputError."""
    texts = list(asked) or _default(scenario)
    found = [_one(scenario, text) for text in texts]
    names = [name for one in found for name in one.full]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--free: {name} is given twice; remove one")
    if len(found) > MAX_FREE:
        raise InputError(f"--free has {len(found)} fields; expected 1 to {MAX_FREE}")
    return found


def _one(scenario: Scenario, text: str) -> FreeField:
    name, equals, given = text.partition("=")
    name = name.strip()
    data = scenario.model_dump(mode="json", exclude_none=True)
    full = tuple(full_names(data, name))
    try:
        quantity = fields.quantity(scenario, full[0])
    except InputError as error:
        raise InputError(f"--free '{text}': {error}") from None
    if quantity is None:
        raise InputError(f"--free '{text}': {name} is not a number; name a field such as hops.0.rate")
    if not equals:
        return _around(scenario, name, full, quantity)
    parts = _RANGE.match(given)
    if parts is None:
        raise InputError(
            f"--free '{text}' has no range; write --free '{name}=LOW..HIGH', such as {_example(quantity)}"
        )
    low, high = parts["low"], parts["high"]
    if not _UNIT.search(low) and (unit := _UNIT.search(high)):
        low = f"{low} {unit[0]}"
    ends = []
    for end in (low, high):
        try:
            ends.append(float(quantity.validate(end)))  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(f"--free '{text}': {end} {error}") from None
    if not ends[0] < ends[1] < math.inf:
        raise InputError(
            f"--free '{text}': the range is empty; write the lower end first, such as {_example(quantity)}"
        )
    return FreeField(name, full, quantity, ends[0], ends[1])


def _example(quantity: Quantity) -> str:
    return {units.RATE: "1..100 Mbit/s", units.TIME: "5..100 ms", units.PACKETS: "10..1000",
            units.FRACTION: "0..2 %"}.get(quantity.dimension, "1..10")  # fmt: skip


def _around(scenario: Scenario, name: str, full: tuple[str, ...], quantity: Quantity) -> FreeField:
    """Return a field with the default range around its value in the scenario."""
    if quantity.dimension is units.FRACTION:
        return FreeField(name, full, quantity, 0.0, min(MAX_LOSS, quantity.high))
    value = fields.value(scenario, full[0])
    if not isinstance(value, float) or not 0 < value < math.inf:
        raise InputError(
            f"--free '{name}' has no default range, because its value is not a positive number; write "
            f"--free '{name}={_example(quantity)}'"
        )
    low = max(value / DECADE, quantity.low or value / DECADE)
    return FreeField(name, full, quantity, low, min(value * DECADE, quantity.high))


def _default(scenario: Scenario) -> list[str]:
    if len(scenario.paths or []) != 1:
        raise InputError("write the fields to fit, such as --free 'hops.0.rate=1..100 Mbit/s'")
    hops = scenario.paths[0].hops
    rates = [getattr(hop, "rate", None) for hop in hops]
    numbers = {k: rate for k, rate in enumerate(rates) if isinstance(rate, float)}
    if not numbers:
        raise InputError("write the fields to fit, such as --free 'hops.0.rate=1..100 Mbit/s'")
    k = min(numbers, key=lambda k: numbers[k])
    hop = hops[k]
    return [
        f"hops.{k}.{name}" for name in DEFAULTS
        if name == "loss" or (isinstance(value := getattr(hop, name), float) and 0 < value < math.inf)
    ]  # fmt: skip
