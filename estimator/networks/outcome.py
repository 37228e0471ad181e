"""Declaration of an outcome: name, meaning, unit, range, what it is computed from, when it is measured."""

import math
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum, auto
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.numerics import portable, statistics
from netcarlo.numerics.arrays import Bools, Floats
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


Column = IntEnum | tuple[IntEnum, ...] | Callable[[Any], Any]
"""A column of what a kernel wrote, several columns to be added, or a function of an `Output`."""


class By(NamedTuple):
    """A part of a network that has an outcome of its own."""

    part: Literal["flows", "links", "classes"]
    column: Column
    """What it is computed from, for each part: an array [n, parts]."""


class Otherwise(Enum):
    """The value of an outcome in a row in which it is not measured."""

    MISSING = auto()
    """NaN."""
    COMPUTED = auto()
    """As computed from its column."""
    ABSENT = auto()
    """As computed; without any row in which it is measured, the table of outcomes lacks it."""


class Outcome(NamedTuple):
    """Declaration of an outcome of a replication; the end of its name says its `dimension`.

    Tables, intervals, reports, the reference and `simulation.measurable` read it. A kind of network lists all
    outcomes that it has. Those that a kind before it in the registry declares have no meaning, see `same`.
    """

    name: str
    column: Column | None
    """What it is computed from. None: only `by` parts of the network."""
    better: Direction
    meaning: str
    values: Values = POSITIVE
    label: str = ""
    """Name in figures; empty: `name`."""
    unit: str = ""
    """Unit in figures; empty: that of the dimension."""
    when: Callable[[Any], Bools | bool] | None = None
    """Condition on the rows of an `Output` [n]: true where the outcome is measured. None: everywhere."""
    otherwise: Otherwise = Otherwise.MISSING
    """Value in the other rows."""
    fluid: bool = True
    """False: only packet models measure it; fluid models write 0 or NEVER."""
    by: tuple[By, ...] = ()
    """Parts of the network that have it, too."""

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


def same(name: str, column: Column | None, **fields: Any) -> Outcome:
    """Return an outcome that a kind of network before this one in the registry declares, as computed here."""
    return Outcome(name, column, NEITHER, "", **fields)


def declared(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the outcomes of a replication without those of `same` and those of parts only."""
    return tuple(outcome for outcome in outcomes if outcome.meaning and outcome.column is not None)


def measured(outcomes: Iterable[Outcome], output: Any, *, fluid: bool) -> Iterator[str]:
    """Yield the names of the outcomes that packet or `fluid` models measure in a row of an `Output`."""
    for each in outcomes:
        known = each.column is not None and (each.fluid or not fluid)
        if known and (each.when is None or np.any(each.when(output))):
            yield each.name
