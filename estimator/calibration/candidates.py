"""Candidates: grid points of the parameters, and the fields of the scenario that they set."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.scenario import Scenario
from netcarlo.schema import units
from netcarlo.schema.expressions import evaluate
from netcarlo.schema.names import full_names
from netcarlo.studies.calibrated import Calibration

Point = tuple[int, ...]
"""Candidate: the index of the grid point of each parameter, in the order of the declaration."""

_DIMENSIONS = (units.RATE, units.TIME, units.SIZE, units.PACKETS, units.FRACTION, units.PLAIN)


class Grid:
    """Grid of all candidates of a calibration."""

    def __init__(self, calibration: Calibration) -> None:
        self._set = calibration.set
        self._quantities: dict[Point, dict[str, float]] = {}
        self.parameters = calibration.parameters
        self.middle: Point = tuple(p.middle for p in self.parameters.values())
        start = {name: p.at(p.middle) for name, p in self.parameters.items()} | calibration.start
        self.start: Point = tuple(p.nearest(start[name]) for name, p in self.parameters.items())
        self.first: Point = tuple(0 for _ in self.parameters)
        self.last: Point = tuple(p.last for p in self.parameters.values())

    def values(self, point: Point) -> dict[str, float]:
        """Return the value of each parameter of a candidate, in its unit."""
        return {name: p.at(at) for (name, p), at in zip(self.parameters.items(), point, strict=True)}

    def settings(self, point: Point) -> dict[str, str]:
        """Return the scenario fields of a candidate as in a file, such as `hops.0.rate: 951 kbit/s`."""
        values = self.values(point)
        return {field: _fill(template, values) for field, template in self._set.items()}

    def given(
        self, points: Sequence[Point], *, scenario: Scenario, replications: int
    ) -> dict[str, NDArray[np.float64]]:
        """Return the fields in SI units for `build_rows`, float64[points * replications] each."""
        data = scenario.model_dump(mode="json", exclude_none=True)
        quantities = [self._in_si(point) for point in points]
        return {
            name: np.repeat([each[field] for each in quantities], replications)
            for field in self._set
            for name in full_names(data, field)
        }

    def _in_si(self, point: Point) -> dict[str, float]:
        if point not in self._quantities:
            self._quantities[point] = {field: _si(text) for field, text in self.settings(point).items()}
        return self._quantities[point]


def _fill(template: str, values: Mapping[str, float]) -> str:
    return re.sub(r"\{([^{}]+)\}", lambda match: f"{evaluate(match[1], values):.12g}", template)


@cache
def _si(text: str) -> float:
    """Return a quantity with a unit as a number in SI units. Raises InputError."""
    for dimension in _DIMENSIONS:
        try:
            return units.parse(text, dimension)
        except InputError:
            continue
    raise InputError(f"calibration.set: '{text}' is not a quantity; write one such as '{{delay}} ms'")
