"""Candidates: grid points of the parameters, and the scenario fields that follow from them."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from netcarlo import units
from netcarlo.calibration.description import Calibration
from netcarlo.errors import InputError
from netcarlo.expressions import evaluate
from netcarlo.scenario import Scenario, full_names
from netcarlo.study import Value, matches

Point = tuple[int, ...]
"""A candidate: the number of the grid point of each parameter, in the order of the declaration."""

_DIMENSIONS = (units.RATE, units.TIME, units.SIZE, units.PACKETS, units.FRACTION, units.PLAIN)


class Grid:
    """The candidates of a calibration."""

    def __init__(self, calibration: Calibration) -> None:
        self._parts = calibration.parts
        self.parameters = calibration.parameters
        self.middle: Point = tuple(p.middle for p in self.parameters.values())
        start = {name: p.at(p.middle) for name, p in self.parameters.items()} | calibration.start
        self.start: Point = tuple(p.nearest(start[name]) for name, p in self.parameters.items())
        self.first: Point = tuple(0 for _ in self.parameters)
        self.last: Point = tuple(p.last for p in self.parameters.values())

    def values(self, point: Point) -> dict[str, float]:
        """The value of each parameter in its unit."""
        return {name: p.at(at) for (name, p), at in zip(self.parameters.items(), point, strict=True)}

    def settings(self, point: Point, conditions: Mapping[str, Value]) -> dict[str, str]:
        """The scenario fields of a cell as they are written in a file: `hops.0.rate: 951 kbit/s`."""
        values = self.values(point)
        return {
            field: _fill(template, values)
            for part in self._parts if matches(conditions, part.where)
            for field, template in part.fields.items()
        }  # fmt: skip

    def everywhere(self, point: Point) -> dict[str, str]:
        """The same of all cells; a field that differs between them says of which it is."""
        values = self.values(point)
        return {
            field + _of(part.where): _fill(template, values)
            for part in self._parts
            for field, template in part.fields.items()
        }

    def given(
        self,
        points: Sequence[Point],
        *,
        scenario: Scenario,
        conditions: Mapping[str, Value],
        replications: int,
    ) -> dict[str, NDArray[np.float64]]:
        """A cell's fields in SI units as `build_rows` takes them, float64[points * replications] each."""
        data = scenario.model_dump(mode="json", exclude_none=True)
        quantities = [
            {field: _si(text) for field, text in self.settings(point, conditions).items()} for point in points
        ]
        return {
            name: np.repeat([each[field] for each in quantities], replications)
            for field in quantities[0]
            for name in full_names(data, field)
        }


def _of(where: Mapping[str, Value | list[Value]]) -> str:
    """The cells of a part, behind the name of a field: ` (rtt_ms 1)`."""
    if not where:
        return ""
    said = (
        f"{name} {', '.join(f'{v:g}' if isinstance(v, float) else v for v in _listed(wanted))}"
        for name, wanted in where.items()
    )
    return f" ({'; '.join(said)})"


def _listed(wanted: Value | list[Value]) -> list[Value]:
    return wanted if isinstance(wanted, list) else [wanted]


def _fill(template: str, values: Mapping[str, float]) -> str:
    return re.sub(r"\{([^{}]+)\}", lambda match: f"{evaluate(match[1], values):.12g}", template)


@cache
def _si(text: str) -> float:
    """A quantity with its unit as a float in SI units."""
    for dimension in _DIMENSIONS:
        try:
            return units.parse(text, dimension)
        except InputError:
            continue
    raise InputError(f"calibration.set: '{text}' is no quantity; write it as '{{delay}} ms'")
