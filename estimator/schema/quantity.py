"""The type of a number in a scenario: a value with a unit, or a distribution of such values."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic_core import CoreSchema, core_schema

from netcarlo.errors import InputError
from netcarlo.schema import distributions, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.json_schema import DISTRIBUTION

Number = float | Distribution
"""A number of a scenario: a float in SI units, or a distribution over such floats."""

UNLIMITED = "unlimited"


def bounds(value: Number) -> tuple[float, float]:
    """Return the smallest and the largest value that a number of a scenario can take."""
    return value.bounds() if isinstance(value, Distribution) else (value, value)


@dataclass(frozen=True)
class Quantity:
    """Dimension and limits of a numeric field; pydantic metadata of `Number`."""

    dimension: units.Dimension
    low: float
    high: float
    whole: bool = False
    unlimited: bool = False
    random: bool = True

    def validate(self, value: Any) -> Number:
        """Return the checked number or distribution. Raises InputError without the name of the field."""
        given = value
        if isinstance(value, dict | Distribution) and not self.random:
            raise InputError(f"cannot be a distribution; expected {self.allowed}; write one number")
        if isinstance(value, dict):
            value = distributions.parse(
                value, self._parse, low=self.low, high=self.high, dimension=self.dimension
            )
        elif not isinstance(value, Distribution):
            value = self._parse(value)
            if self.whole and math.isfinite(value) and value != int(value):
                raise InputError(f"is not a whole number; expected {self.allowed}")
        lowest, highest = value.bounds() if isinstance(value, Distribution) else (value, value)
        for bound in (lowest, highest):
            if not self.low <= bound <= self.high and not (self.unlimited and bound == math.inf):
                side, limit, way = (
                    ("below", self.low, "more") if bound < self.low else ("above", self.high, "less")
                )
                near = self.near(limit)
                allowed = self.allowed
                if self.dimension is units.FRACTION:
                    allowed = f"{units.percent(self.low)} to {units.percent(self.high)}"
                    near = units.percent(limit)
                    if self.low <= bound / 100 <= self.high and bound > 1 and "%" not in str(given):
                        raise InputError(
                            f"is {side} the limit; expected {allowed}; without %, {bound:g} is a factor; "
                            f"write {bound:g} %"
                        )
                raise InputError(f"is {side} the limit; expected {allowed}; write {near} or {way}")
        return value  # type: ignore[no-any-return]

    @property
    def allowed(self) -> str:
        """Allowed range in words, for messages and the reference."""
        low, high = (units.readable(limit, self.dimension) for limit in (self.low, self.high))
        unit = high.partition(" ")[2]
        if unit and (self.low == 0 or low.endswith(f" {unit}")):
            low = low.partition(" ")[0]
        return f"{low} to {high}" + (f", or {UNLIMITED}" if self.unlimited else "")

    def near(self, limit: float) -> Any:
        """Return a limit as a user would write it."""
        return self.show(limit) if self.dimension.bare else units.readable(limit, self.dimension)

    def show(self, value: Any) -> Any:
        """Return the YAML value that `validate` reads back to the same number or distribution."""
        if isinstance(value, Distribution):
            return value.written(self.show)
        if value == math.inf:
            return UNLIMITED
        if self.dimension.bare:
            return int(value) if value == int(value) else value
        return units.show(value, self.dimension)

    def _parse(self, value: Any) -> float:
        if self.unlimited and value == UNLIMITED:
            return math.inf
        return units.parse(value, self.dimension)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Return the schema by which pydantic checks and writes such a field."""
        return core_schema.no_info_plain_validator_function(
            self.validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else self.show(value)
            ),
        )

    def __get_pydantic_json_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema: a number where no unit is needed, a text with a unit, or a distribution."""
        bare = ["number", "string"] if self.dimension.bare else "string"
        written: list[dict[str, Any]] = [{"type": bare, "pattern": _WRITTEN}, {"const": 0}]
        if self.random:
            written.append(DISTRIBUTION)
        text = f"{self.dimension.name} such as {self.dimension.example}; {self.allowed}"
        return {"anyOf": written, "description": text}


_WRITTEN = r"^\s*([-+]?[0-9.]|unlimited$)"

DAY = 86400.0
Rate = Annotated[Number, Quantity(units.RATE, 100.0, 1e12, unlimited=True)]
Delay = Annotated[Number, Quantity(units.TIME, 0.0, 3600.0)]
Time = Annotated[Number, Quantity(units.TIME, 0.0, 10 * DAY)]
Duration = Annotated[Number, Quantity(units.TIME, 1e-3, 10 * DAY)]
Interval = Annotated[Number, Quantity(units.TIME, 1e-6, DAY)]
Size = Annotated[Number, Quantity(units.SIZE, 0, 65535, whole=True)]
Load = Annotated[Number, Quantity(units.RATE, 0.0, 1e12)]
Length = Annotated[Number, Quantity(units.LENGTH, 0.1, 1e7)]
Speed = Annotated[Number, Quantity(units.SPEED, 1e-3, 1e5)]
Payload = Annotated[Number, Quantity(units.SIZE, 1, 65535, whole=True)]
Transfer = Annotated[Number, Quantity(units.SIZE, 1, 1e15, whole=True)]
FileSize = Annotated[Number, Quantity(units.SIZE, 1, 1e12, whole=True)]
Packets = Annotated[Number, Quantity(units.PACKETS, 1, 1e12, whole=True)]
Stretch = Annotated[Number, Quantity(units.PACKETS, 1, 1e9)]
Window = Annotated[Number, Quantity(units.PACKETS, 1, 4096, whole=True)]
Room = Annotated[Number, Quantity(units.PACKETS, 0, 65536, whole=True, unlimited=True)]
Correlation = Annotated[Number, Quantity(units.FRACTION, 0.0, 0.9999)]
Probability = Annotated[Number, Quantity(units.FRACTION, 0.0, 1.0)]
Precision = Annotated[float, Quantity(units.FRACTION, 1e-5, 0.5, random=False)]
Count = Annotated[Number, Quantity(units.PLAIN, 1, 64, whole=True)]
Routers = Annotated[Number, Quantity(units.PLAIN, 1, 4096, whole=True, unlimited=True)]
Retries = Annotated[Number, Quantity(units.PLAIN, 0, 64, whole=True)]
Constant = Annotated[Number, Quantity(units.PLAIN, -1e300, 1e300)]
