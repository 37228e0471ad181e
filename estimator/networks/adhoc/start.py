"""Distance of sender and receiver of an ad hoc network at the start, and the probability of such a start."""

import math
from collections.abc import Callable
from typing import Annotated, Self

import numpy as np
from pydantic import model_validator

from netcarlo.errors import InputError
from netcarlo.schema import units
from netcarlo.schema.quantity import Number, Quantity, bounds
from netcarlo.schema.record import Record

MAX_DISTANCE = 15e3
"""Maximum distance [m], above the diagonal of the largest area."""

MIN_SHARE = 1e-3
"""Minimum probability of a start condition; rarer ones would need too many draws and are refused."""

Near = Annotated[Number, Quantity(units.LENGTH, 0.1, MAX_DISTANCE)]
Far = Annotated[Number, Quantity(units.LENGTH, 0.0, MAX_DISTANCE)]


class Apart(Record):
    """Range of the distance of sender and receiver, from `min` to `max`."""

    min: Far | None = None
    """Minimum distance. Default: no limit."""
    max: Near | None = None
    """Maximum distance. Default: no limit."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.min is None and self.max is None:
            raise InputError("needs min or max; write {max: 75 m}")
        if bounds(self.least)[1] > bounds(self.most)[0]:
            raise InputError("min can be above max; lower min or raise max")
        return self

    @property
    def least(self) -> Number:
        """Minimum distance [m]."""
        return 0.0 if self.min is None else self.min

    @property
    def most(self) -> Number:
        """Maximum distance [m]."""
        return MAX_DISTANCE if self.max is None else self.max


class Start(Record):
    """Condition at the start of the transfer; only networks that meet it are simulated."""

    apart: Apart
    """Distance of source and sink."""


def share(least: float, most: float, width: float, height: float, *, gathered: bool) -> float:
    """Return the probability that two nodes in a rectangle are `least` to `most` apart [m].

    They are uniformly distributed, or `gathered` in the middle as by random waypoint without pauses: about
    x(1 - x) along each side (Bettstetter, Resta and Santi, IEEE Trans. Mobile Computing 2(3), 2003).
    """

    def within(distance: float) -> float:
        # `u`, `v`: distance along one side and along the other, relative to the side.
        u = (np.arange(1000) + 0.5) / 1000 * min(distance / width, 1.0)
        rest = np.sqrt(np.maximum(distance**2 - (width * u) ** 2, 0.0))
        v = np.minimum(rest / height, 1.0)
        if gathered:
            density = 2.4 * (1 - 5 * u**2 + 5 * u**3 - u**5)
            below = 2.4 * (v - 5 / 3 * v**3 + 5 / 4 * v**4 - v**6 / 6)
        else:
            density, below = 2 * (1 - u), v * (2 - v)
        return float(np.mean(density * below)) * min(distance / width, 1.0)

    return max(within(most) - within(least), 0.0)


def min_share(apart: Apart, width: Number, height: Number, *, gathers: bool) -> float:
    """Return the minimum probability of such a start, over the drawn values of `apart` and of the area."""
    return _rarest(bounds(apart.least)[1], bounds(apart.most)[0], width, height, gathers)


def _rarest(least: float, most: float, width: Number, height: Number, gathers: bool) -> float:
    spreads = (False, True) if gathers else (False,)
    sides = [(w, h) for w in bounds(width) for h in bounds(height)]
    return min(share(least, most, w, h, gathered=gathered) for w, h in sides for gathered in spreads)


def check(apart: Apart, width: Number, height: Number, *, gathers: bool) -> None:
    """Raise InputError if such a start has a probability below `MIN_SHARE`."""

    def enough(low: float, high: float) -> bool:
        return _rarest(low, high, width, height, gathers) >= MIN_SHARE

    found = min_share(apart, width, height, gathers=gathers)
    if found >= MIN_SHARE:
        return
    least, most = bounds(apart.least)[1], bounds(apart.most)[0]
    diagonal = math.hypot(bounds(width)[1], bounds(height)[1])
    remedies = []
    if most < diagonal and enough(least, diagonal):
        nearest = _limit(lambda high: enough(least, high), most, diagonal)
        remedies.append(f"raise max to {math.ceil(10 * nearest) / 10:g} m or more")
    if least > 0 and enough(0.0, most):
        farthest = _limit(lambda low: enough(low, most), least, 0.0)
        remedies.append(f"lower min to {math.floor(10 * farthest) / 10:g} m or less")
    raise InputError(
        f"mobility.start.apart holds in {100 * found:.2g} % of networks; expected {100 * MIN_SHARE:g} "
        f"% or more; {' or '.join(remedies) or 'lower min and raise max'}"
    )


def _limit(holds: Callable[[float], bool], bad: float, good: float) -> float:
    """Return the limit of the values that hold, between `bad` and `good`, by bisection."""
    for _ in range(30):
        middle = (bad + good) / 2
        bad, good = (bad, middle) if holds(middle) else (middle, good)
    return good
