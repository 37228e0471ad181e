"""Axes of a sweep file: what a user writes, and the points that result.

* `loss: {field: hops.0.loss, values: [0, 0.1 %, 1 %]}`
* `rate: {field: hops.0.rate, log: [1 Mbit/s, 100 Mbit/s], points: 7}`
* `share: {linear: [0.25, 2], points: 8}`: a number for `derive`
* `access: {zip: {hops.0.rate: [2 Mbit/s, 50 Mbit/s], hops.0.delay: [30 ms, 5 ms]}}`
* `setup: {cases: {TCP: {transport.protocol: newreno}, SCTP: {transport.protocol: sctp}}}`
* `transport.protocol: [reno, vegas]`: the name is the field.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.numerics import portable
from netcarlo.schema import units
from netcarlo.schema.record import Record

DIMENSIONS = (
    units.PLAIN, units.TIME, units.RATE, units.SIZE, units.PACKETS, units.LENGTH, units.SPEED,
    units.POWER, units.ENERGY, units.BDP,
)  # fmt: skip
MAX_POINTS = 100_000


class AxisSpec(Record):
    """An axis of a sweep as written; exactly one of `values`, `linear`, `log`, `zip` and `cases`."""

    field: str | list[str] | None = None
    """Field that the axis sets, or several fields. Default: the name of the axis if that is a field;
    otherwise the axis is a number for `derive`."""
    values: list[Any] | None = Field(default=None, min_length=1, max_length=MAX_POINTS)
    """Values of the axis, listed one by one."""
    linear: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Lowest and highest value of a linear scale (equal steps)."""
    log: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Lowest and highest value of a logarithmic scale (equal ratios)."""
    points: int | None = Field(default=None, ge=2, le=MAX_POINTS)
    """Number of values of a `linear` or `log` scale."""
    zip: dict[str, list[Any]] | None = Field(default=None, min_length=1)
    """Fields that change together, each with its list of values."""
    cases: dict[str, dict[str, Any]] | None = Field(default=None, min_length=1)
    """Named combinations of field values."""

    short: ClassVar = ({"type": ["array", "string", "number", "boolean"]},)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        if isinstance(data, dict | AxisSpec):
            return data
        return {"values": data if isinstance(data, list) else [data]}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = ("values", "linear", "log", "zip", "cases")
        given = [kind for kind in kinds if getattr(self, kind) is not None]
        if len(given) != 1:
            has = " and ".join(given) or "none of them"
            raise InputError(f"needs exactly one of {', '.join(kinds)}, but has {has}; write one")
        if (self.points is not None) != (given[0] in ("linear", "log")):
            raise InputError(
                "needs points with linear or log, and only with these; write points: 10 or remove it"
            )
        if self.field is not None and given[0] in ("zip", "cases"):
            raise InputError(f"has both field and {given[0]}, which contains the fields; remove field")
        for value in _inside([self.values, self.linear, self.log, self.zip, self.cases]):
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"has the value {value}, which is not a number; write a number or unlimited")
        if self.zip is not None and not all(self.zip.values()):
            raise InputError("has a column of zip without values; write at least one")
        if self.zip is not None and len({len(column) for column in self.zip.values()}) > 1:
            raise InputError(
                "has columns of zip with different numbers of values; write equally many in each"
            )
        return self


@dataclass(frozen=True)
class Points:
    """Points of an axis. Each point has a label or a coordinate in SI units, and the YAML values of the
    fields that it sets."""

    labels: tuple[float | str, ...]
    unit: str
    log: bool
    settings: tuple[dict[str, Any], ...]

    @property
    def numeric(self) -> bool:
        """True if every setting is a number and every point sets the same fields."""
        values = [value for point in self.settings for value in point.values()]
        same = len({tuple(point) for point in self.settings}) == 1
        return same and all(_number(value) is not None for value in values)


def points(name: str, spec: AxisSpec) -> Points:
    """Return the points of an axis. Raises InputError without the name of the axis."""
    if spec.cases is not None:
        return Points(tuple(spec.cases), "", False, tuple(dict(case) for case in spec.cases.values()))
    if spec.zip is not None:
        columns = list(spec.zip.values())
        rows = [dict(zip(spec.zip, row, strict=True)) for row in zip(*columns, strict=True)]
        labels, unit = _labels(columns[0])
        if len(set(labels)) < len(labels):
            labels = tuple(f"{i + 1}: " + ", ".join(map(str, row.values())) for i, row in enumerate(rows))
            unit = ""
        return Points(labels, unit, False, tuple(rows))
    values = spec.values
    if values is None:
        assert spec.points is not None
        values = _between((spec.linear or spec.log or []), spec.points, log=spec.log is not None)
    labels, unit = _labels(values)
    if len(set(labels)) < len(labels):
        raise InputError("has a value twice; remove one")
    names = [spec.field] if isinstance(spec.field, str) else (spec.field or ([name] if "." in name else []))
    positive = all(isinstance(label, float) and label > 0 for label in labels)
    spread = positive and len(labels) > 2 and max(labels) / min(labels) >= 30  # type: ignore[operator]
    log = spec.log is not None or (spec.values is not None and spread)
    return Points(labels, unit, log, tuple(dict.fromkeys(names, value) for value in values))


def _inside(value: Any) -> Iterator[Any]:
    """Yield all scalar values inside nested lists and mappings."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _inside(item)
    else:
        yield value


def _between(ends: list[Any], count: int, *, log: bool) -> list[str]:
    found = [_number(end) for end in ends]
    for end, number in zip(ends, found, strict=True):
        if number is None:
            raise InputError(f"has the end {end!r}, which is not a number; write one such as 10 ms")
    (low, dimension), (high, other) = found  # type: ignore[misc]
    if other != dimension:
        raise InputError(
            f"has ends of different kinds, {dimension.name} and {other.name}; write both in one unit"
        )
    if not low < high:
        raise InputError("has its ends in descending order; write [lowest, highest]")
    if log and low <= 0:
        raise InputError(
            "starts at 0 or below, but a logarithmic scale needs positive values; raise the lower end"
        )
    shares = [i / (count - 1) for i in range(count)]
    numbers = [low * portable.power(high / low, s) if log else low + (high - low) * s for s in shares]
    # Twelve digits, to write 10 ms instead of 9.999999999999998 ms.
    return [units.show(float(f"{number:.12g}"), dimension) for number in numbers]


def _labels(values: list[Any]) -> tuple[tuple[float | str, ...], str]:
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    given = {dimension for _, dimension in known if dimension is not units.PLAIN}
    if len(known) == len(values) and len(given) <= 1:
        unit = next((dimension.unit for _, dimension in known if dimension is not units.PLAIN), "")
        return tuple(number for number, _ in known), unit
    return tuple(map(str, values)), ""


def _number(value: Any) -> tuple[float, units.Dimension] | None:
    """Return a number, with or without a unit, in SI units with its dimension; None if the value is not a
    number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    for dimension in DIMENSIONS:
        try:
            return units.parse(value, dimension), dimension
        except InputError:
            continue
    return None
