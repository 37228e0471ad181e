"""A delay that is drawn for every packet: a distribution, kept by its quantiles."""

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
    """A distribution that is drawn from for packets, and not, as others, for replications.

    Where it may `reorder` them packets overtake each other; else what would arrive before its predecessor
    arrives with it.
    """

    of: Distribution
    reorder: bool = False

    def quantiles(self) -> Floats:
        """The values [s] of 2**JITTER_BITS + 1 probabilities, equally far apart; the tails are cut at a
        quarter of that distance."""
        parts = 1 << JITTER_BITS
        return self.of.quantile(np.clip(np.arange(parts + 1), 0.25, parts - 0.25) / parts)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """How pydantic checks and writes such a field."""
        return core_schema.no_info_plain_validator_function(
            _checked,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else value.written()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """A distribution, and whether packets may overtake each other."""
        reordering = {"type": "object", "required": ["reorder"], "minProperties": 2, "maxProperties": 2}
        return {"anyOf": [DISTRIBUTION, reordering | {"properties": {"reorder": {"type": "boolean"}}}]}

    def written(self) -> dict[str, Any]:
        """What is read back to this."""
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
        raise InputError("is no distribution; write one such as {uniform: [0 ms, 5 ms]}, or add it to delay")
    return Jitter(found, reorder)
