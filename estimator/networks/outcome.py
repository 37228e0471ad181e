"""What an outcome is: its name, meaning and unit, which way it is better, and what values it can have."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netcarlo.numerics import portable, statistics
from netcarlo.numerics.arrays import Floats
from netcarlo.numerics.statistics import Mean, Means
from netcarlo.schema import units


class Values(NamedTuple):
    """What the values of an outcome can be."""

    least: float
    most: float
    yes_no: bool = False
    """Whether they are 0 and 1 only, so that their mean is a probability."""


ANY = Values(-math.inf, math.inf)
POSITIVE = Values(0.0, math.inf)
SHARE = Values(0.0, 1.0)
YES_NO = Values(0.0, 1.0, yes_no=True)

Direction = Literal["more", "less"] | None
MORE: Direction = "more"
LESS: Direction = "less"
NEITHER: Direction = None
"""Neither more nor less is better as such, so that nothing is the best."""


FRACTION = "fraction"
"""The unit of a share that is shown in percent."""

_DIMENSIONS = {"_bps": units.RATE, "_s": units.TIME, "_packets": units.PACKETS, "_J": units.ENERGY}


def dimension(name: str) -> units.Dimension:
    """What kind of quantity an outcome is, by the end of its name; what is counted per second is a number."""
    known = (kind for end, kind in _DIMENSIONS.items() if name.endswith(end) and "_per_" not in name)
    return next(known, units.PLAIN)


class Outcome(NamedTuple):
    """An outcome of a replication; the end of its name says its `dimension`."""

    name: str
    better: Direction
    meaning: str
    values: Values = POSITIVE
    label: str = ""
    """What it is called in figures, where that is not its name."""
    unit: str = ""
    """In which they show it, where that is not the unit of its dimension."""

    @property
    def words(self) -> str:
        """What it is called in figures."""
        name = self.name
        for suffix in ("_bps", "_s", "_packets"):
            name = name.removesuffix(suffix)
        return self.label or name.replace("_", " ")

    def steps(self, values: ArrayLike) -> Floats:
        """The values on a scale on which equal steps are worth as much: logarithms of what is positive and
        has no bound, as a step is a ratio there; shares, and what can be negative, as they are."""
        x = np.asarray(values, np.float64)
        return portable.log(x) if self.values == POSITIVE else x

    def scores(self, values: ArrayLike) -> Floats:
        """The same with a sign such that more is better; what did not happen is worst."""
        found = self.steps(values)
        return np.where(np.isnan(found), -np.inf, -found if self.better == LESS else found)

    def means(self, values: ArrayLike) -> Means:
        """`statistics.means` of each row of `values` [rows, n], with intervals inside what can be."""
        found = statistics.means(values)
        if self.values.yes_no:
            low, high = statistics.wilson(found.mean, found.n)
            return found._replace(ci_low=low, ci_high=high)
        return statistics.bounded(found, self.values.least, self.values.most)

    def differences(self, values: ArrayLike) -> Means:
        """The same of differences of the outcome, no larger than its bounds are apart."""
        reach = self.values.most - self.values.least
        return statistics.bounded(statistics.means(values), -reach, reach)

    def inside(self, found: Mean) -> Mean:
        """A mean that was corrected, as by a control, and its interval without what cannot be."""
        mean, low, high = np.clip(
            (found.mean, found.ci_low, found.ci_high), self.values.least, self.values.most
        ).tolist()
        return found._replace(mean=mean, ci_low=low, ci_high=high)


def joined(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tables of outcomes [n, ...], one behind the other in each row as kernels write them."""
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
