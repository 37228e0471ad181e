"""Jitter: a delay drawn for every packet from a distribution, which is stored as quantiles."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic_core import CoreSchema, core_schema

from netcarlo.errors import InputError
from netcarlo.kernels.base.varying import JITTER_BITS
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.json_schema import DISTRIBUTION
from netcarlo.schema.quantity import Quantity

_TIME = Quantity(units.TIME, 0.0, 60.0)


@dataclass(frozen=True)
class Jitter:
    """A distribution from which a value is drawn for each packet, not once per replication.

    With `reorder` packets can overtake each other. Otherwise a packet that would arrive before its
    predecessor arrives with it.
    """

    of: Distribution
    reorder: bool = False

    def quantiles(self) -> Floats:
        """Return the values [s] at 2**JITTER_BITS + 1 equidistant probabilities; tails are cut at a
        quarter of the distance."""
        parts = 1 << JITTER_BITS
        return self.of.quantile(np.clip(np.arange(parts + 1), 0.25, parts - 0.25) / parts)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Return the schema by which pydantic checks and writes such a field."""
        return core_schema.no_info_plain_validator_function(
            _checked,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else value.written()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema: a distribution, optionally with `reorder`."""
        reordering = {"type": "object", "required": ["reorder"], "minProperties": 2, "maxProperties": 2}
        return {"anyOf": [DISTRIBUTION, reordering | {"properties": {"reorder": {"type": "boolean"}}}]}

    def written(self) -> dict[str, Any]:
        """Return the YAML value that reads back to this jitter."""
        found: dict[str, Any] = _TIME.show(self.of)
        return found | {"reorder": True} if self.reorder else found


def _checked(given: Any) -> Jitter:
    if isinstance(given, Jitter):
        return given
    reorder: Any = False
    if isinstance(given, dict) and "reorder" in given:
        reorder = given["reorder"]
        given = {name: value for name, value in given.items() if name != "reorder"}
        if not isinstance(reorder, bool):
            raise InputError("has a reorder that is neither true nor false; write true, or remove it")
    found = _TIME.validate(given)
    if not isinstance(found, Distribution):
        raise InputError(
            "is not a distribution; write one such as {uniform: [0 ms, 5 ms]}, or add it to delay"
        )
    return Jitter(found, reorder)
