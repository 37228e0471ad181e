"""Section `live` of a scenario or plan: fields that can be changed on a live page.

Fields are given by name, as `hops.0.loss: {linear: [0, 2 %]}`, `hops.0.rate: {log: [1 Mbit/s, 100 Mbit/s]}`
or `transport.protocol: [reno, newreno, sack]`.
"""

from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from netcarlo.errors import InputError
from netcarlo.schema.record import Record

MAX_POSITIONS = 400
"""Maximum number of positions of a slider."""


class Movable(Record):
    """Range of a slider: `linear` or `log` between two ends with a number of `points`, or a list of
    `values`."""

    linear: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Lowest and highest value of a slider with equal steps."""
    log: list[Any] | None = Field(default=None, min_length=2, max_length=2)
    """Lowest and highest value of a slider with equal ratios."""
    values: list[Any] | None = Field(default=None, min_length=1, max_length=MAX_POSITIONS)
    """Values of the slider, listed one by one."""
    points: int | None = Field(default=None, ge=2, le=MAX_POSITIONS)
    """Number of positions of the slider. Default: chosen to suit the ends."""

    short: ClassVar = ({"type": "array"},)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        return {"values": data} if isinstance(data, list) else data

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in ("linear", "log", "values") if getattr(self, kind) is not None]
        if len(given) != 1:
            raise InputError("needs one of linear, log and values; write linear: [lowest, highest]")
        if self.points is not None and self.values is not None:
            raise InputError("has points beside values; remove points")
        return self
