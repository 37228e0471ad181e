"""Limit of a queue: packets, or a size, a time or a bandwidth-delay product that a network converts.

A number or distribution in another unit than packets keeps its unit (`dimension_of`), because only the
network has the rate and the round-trip time that a conversion needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from netcarlo.errors import InputError
from netcarlo.schema import units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import Number, Quantity
from netcarlo.schema.units import Dimension

OTHERS = {units.SIZE: (1.0, 1e12), units.TIME: (1e-6, 3600.0), units.BDP: (1e-3, 1000.0)}
"""Units other than packets, with the limits of their values."""


class Level(float):
    """Number in another unit than packets; equal numbers in different units differ."""

    dimension: Dimension

    def __new__(cls, value: float, dimension: Dimension) -> "Level":
        """Return the number `value` in the SI unit of `dimension`."""
        made = super().__new__(cls, value)
        made.dimension = dimension
        return made

    def __getnewargs__(self) -> tuple[float, Dimension]:  # type: ignore[override]
        return float(self), self.dimension

    def __repr__(self) -> str:
        return units.show(float(self), self.dimension)

    def __eq__(self, other: object) -> bool:
        return float(self) == other and self.dimension == getattr(other, "dimension", None)

    def __hash__(self) -> int:
        return hash((float(self), self.dimension))


@dataclass(frozen=True)
class Levels(Distribution):
    """Distribution in another unit than packets."""

    dimension: Dimension = units.SIZE


def dimension_of(value: Any) -> Dimension:
    """Return the unit of a checked limit."""
    return getattr(value, "dimension", units.PACKETS)


@dataclass(frozen=True)
class Limit(Quantity):
    """Metadata of the limit of a queue; `others` are the units that it may have besides packets."""

    others: tuple[Dimension, ...] = tuple(OTHERS)
    reason: str = ""
    """Reason why other units are not among them."""

    def validate(self, value: Any) -> Number:
        """Return the checked number or distribution, with its unit."""
        dimension = self.unit_of(value)
        if dimension is units.PACKETS:
            return super().validate(value)
        if dimension not in self.others:
            allowed = " or ".join(["packets", *(f"'{other.example}'" for other in self.others)])
            raise InputError(f"is {dimension.name}, but {self.reason}; write {allowed}")
        found = self.of(dimension).validate(value)
        if isinstance(found, Distribution):
            return Levels(found.kind, found.values, found.notes, dimension)
        return Level(found, dimension)

    def unit_of(self, value: Any) -> Dimension:
        """Return the unit in which a value is written: that of the first of its numbers with a unit."""
        if isinstance(value, Level | Levels):
            return value.dimension
        for text in _texts(value):
            for dimension in OTHERS:
                if units.is_in(text, dimension):
                    return dimension
        return units.PACKETS

    def of(self, dimension: Dimension) -> Quantity:
        """Return the quantity in one of the units."""
        if dimension is units.PACKETS:
            return Quantity(self.dimension, self.low, self.high, self.whole, self.unlimited, self.random)
        return replace(Quantity(dimension, *OTHERS[dimension]), random=self.random)

    @property
    def allowed(self) -> str:
        """Allowed range in words, for messages and the reference."""
        return ", ".join([super().allowed, *(f"or {_WORDS[other]}" for other in self.others)])

    def show(self, value: Any) -> Any:
        """Return the YAML value that `validate` reads back."""
        if isinstance(value, Level | Levels):
            return self.of(value.dimension).show(value)
        return super().show(value)

    def _parse(self, value: Any) -> float:
        examples = "', '".join(each.example for each in (self.dimension, *self.others))
        if self.unlimited and value == "unlimited":
            return super()._parse(value)
        return units.parse(value, replace(self.dimension, example=examples))


_WORDS = {
    units.SIZE: "a size such as 250 kB",
    units.TIME: "a time such as 40 ms",
    units.BDP: "a multiple of the BDP",
}


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts of a value that are not keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


Queue = Annotated[Number, Limit(units.PACKETS, 1, 65536, whole=True, unlimited=True)]
