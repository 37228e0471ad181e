"""Axes of a sweep, and the checks of their values."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netcarlo.errors import Faults, InputError, suggest
from netcarlo.numerics.arrays import Floats
from netcarlo.scenario import Scenario
from netcarlo.schema import fields
from netcarlo.schema.axes import Points
from netcarlo.schema.limit import Limit, dimension_of
from netcarlo.schema.problems import brief
from netcarlo.sweeps.space.base import Base, full_name, quantity
from netcarlo.sweeps.space.places import Places

SWEEP_FIELDS = ("seed", "replications", "precision", "topology", "name", "description")
"""Fields of a scenario that have the same value in every cell."""


@dataclass(frozen=True)
class Axis:
    """Axis of a sweep."""

    name: str
    """Name of the axis."""
    labels: tuple[float | str, ...]
    """Label of each point: a number in SI units, or a word."""
    unit: str
    """SI unit of the labels; empty for words."""
    log: bool
    """True if the axis is logarithmic."""
    columns: Mapping[str, Floats]
    """Fields that the axis sets to numbers, with the number at each point in SI units."""
    settings: tuple[dict[str, Any], ...]
    """Fields that each point sets, as YAML values, if the points differ in more than numbers; else empty."""

    @property
    def makes_variants(self) -> bool:
        """True if the points differ in more than numbers."""
        return bool(self.settings)

    @property
    def numeric(self) -> bool:
        """True if the labels are numbers."""
        return all(isinstance(label, float) for label in self.labels)

    @property
    def fields(self) -> set[str]:
        """Fields that the axis sets."""
        return {name for point in self.settings for name in point} | set(self.columns)


def make_axis(base: Base, name: str, found: Mapping[str, Points]) -> Axis:
    """Return the axis of a name from the points of all axes. Raises InputError for values out of range."""
    mine = found[name]
    _check_values(base, name, mine)
    first = _first_point(base, found)
    columns: dict[str, Floats] = {}
    if mine.numeric:
        for field in mine.settings[0]:
            with base.places.at("axes", name):
                limits = quantity(first, field)
            if limits is None or not _in_one_unit(first, field, mine):
                columns = {}
                break
            faults, values = Faults(), []
            for k, point in enumerate(mine.settings):
                with faults:
                    values.append(_number(base.places, name, _position(mine, k), field, limits, point[field]))
            faults.refuse()
            columns[field] = np.array(values)
    variants = () if columns or not any(mine.settings) else mine.settings
    return Axis(name, mine.labels, mine.unit, mine.log, columns, variants)


def check_points(base: Base, found: Mapping[str, Points]) -> None:
    """Raise InputError for points of an axis that are not valid with the first points of the other axes."""
    faults, firsts = Faults(), {name: p.settings[0] for name, p in found.items() if not p.numeric}
    for name in firsts:
        others = {k: v for other, point in firsts.items() if other != name for k, v in point.items()}
        for k, point in enumerate(found[name].settings):
            with faults:
                words = f"axes.{name} = {found[name].labels[k]}"
                base.with_fields(others | point, words, name, of=_position(found[name], k))
    faults.refuse()


def check_setters(places: Places, axes: Sequence[Axis], *, used: Collection[str], auto: bool) -> None:
    """Raise InputError for a field that two axes set or that no axis may set, and for an axis without effect.

    `used` are the names in derived fields; `auto` is True if the sweep chooses the fidelity.
    """
    setters: dict[str, str] = {}
    for axis in axes:
        if not axis.fields and axis.name not in used:
            remedy = "write field: hops.0.loss, or use it in derive"
            raise places.error(("axes", axis.name), f"axes.{axis.name} sets no field; {remedy}")
        for field in axis.fields:
            if field == "fidelity" and auto:
                text = f"axes.{axis.name} sets fidelity, but fidelity = auto; remove one of them"
                raise places.error(("axes", axis.name), text)
            if field in SWEEP_FIELDS:
                remedy = f"write {field}: at the top of the file"
                raise places.error(("axes", axis.name), f"{field} cannot be an axis; {remedy}")
            other = setters.setdefault(field, axis.name)
            if other != axis.name:
                both = f"axes.{other} and axes.{axis.name}"
                raise places.error(("axes", axis.name), f"{field} is set by {both}; remove one of them")


def compared(places: Places, axes: Sequence[Axis], wanted: str | None) -> Axis | None:
    """Return the axis that is compared: that with the name `wanted`, by default the first one that makes
    variants.

    Raises InputError for an unknown name.
    """
    if wanted is None:
        return next((axis for axis in axes if axis.makes_variants and len(axis.labels) > 1), None)
    for axis in axes:
        if axis.name == wanted:
            return axis
    names = [axis.name for axis in axes]
    remedy = suggest(wanted, names) if names else "the sweep has no axes; write axes:, or remove compare"
    raise places.error(("compare",), f"compare = '{wanted}' is not an axis; {remedy}")


def _first_point(base: Base, found: Mapping[str, Points]) -> Scenario:
    """Return the base scenario at the first point of every axis whose points differ in more than numbers."""
    settings = {k: v for p in found.values() if not p.numeric for k, v in p.settings[0].items()}
    try:
        return base.with_fields(settings, "")
    except InputError:
        check_points(base, found)
        raise


def _check_values(base: Base, name: str, mine: Points) -> None:
    """Raise InputError for values of an axis that are not allowed in its numeric fields."""
    faults = Faults()
    for k, point in enumerate(mine.settings if not mine.numeric else ()):
        for field, value in point.items():
            if not isinstance(value, str | int | float) or _accepts_words(base.scenario, field):
                continue
            try:
                limits = fields.declared(base.scenario, full_name(base.scenario, field))
            except InputError:  # the base scenario has a protocol without this field
                continue
            if limits is not None:
                with faults:
                    _number(base.places, name, _position(mine, k), field, limits, value)
    faults.refuse()


def _number(places: Places, axis: str, of: str, field: str, limits: Any, value: Any) -> float:
    try:
        return float(limits.validate(value))
    except InputError as error:
        text = f"axes.{axis}: {field} = {brief(value)} {error}{of}"
        raise places.error(("axes", axis), text) from None


def _position(mine: Points, k: int) -> str:
    """Return the position of a point on its axis as text, counted from 1."""
    return f" (value {k + 1} of {len(mine.settings)})"


def _accepts_words(scenario: Scenario, name: str) -> bool:
    """Return True if a field accepts words instead of numbers."""
    owner, _, last = name.rpartition(".")
    try:
        record = fields.value(scenario, full_name(scenario, owner)) if owner else scenario
    except InputError:
        return True
    return bool(getattr(record, "words", {}).get(last))


def _in_one_unit(scenario: Scenario, name: str, axis: Points) -> bool:
    """Return True if the values of an axis are in the unit of the field in the scenario.

    Otherwise each value needs a scenario of its own.
    """
    full = full_name(scenario, name)
    limits = fields.declared(scenario, full)
    if not isinstance(limits, Limit):
        return True
    own = dimension_of(fields.value(scenario, full))
    return all(limits.unit_of(p[name]) is own for p in axis.settings)
