"""What an outcome is: its name, which way it is better, what it means, and between which values it lies."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics import statistics
from netcarlo.numerics.statistics import Mean, Means


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


class Outcome(NamedTuple):
    """An outcome of a replication; the end of its name says its unit (`simulation.outcomes.dimension`)."""

    name: str
    better: Direction
    meaning: str
    values: Values = POSITIVE

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
