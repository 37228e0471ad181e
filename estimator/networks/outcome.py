"""Declaration of an outcome: name, meaning, unit, range, source, and conditions of measurement."""

import math
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum, auto
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netcarlo.networks.causes import Given, Lost
from netcarlo.numerics import portable, statistics
from netcarlo.numerics.arrays import Bools, Floats
from netcarlo.numerics.statistics import Mean, Means
from netcarlo.schema import units


class Values(NamedTuple):
    """Range of the values of an outcome."""

    least: float
    most: float
    yes_no: bool = False
    """True if the values are 0 or 1, so that their mean is a probability."""


ANY = Values(-math.inf, math.inf)
POSITIVE = Values(0.0, math.inf)
SHARE = Values(0.0, 1.0)
YES_NO = Values(0.0, 1.0, yes_no=True)

Direction = Literal["more", "less"] | None
MORE: Direction = "more"
LESS: Direction = "less"
NEITHER: Direction = None
"""Direction of outcomes for which neither more nor less is better."""


_DIMENSIONS = {"_bps": units.RATE, "_s": units.TIME, "_packets": units.PACKETS, "_J": units.ENERGY}


def dimension(name: str) -> units.Dimension:
    """Return the dimension of an outcome by the end of its name; numbers per second are plain numbers."""
    known = (kind for end, kind in _DIMENSIONS.items() if name.endswith(end) and "_per_" not in name)
    return next(known, units.PLAIN)


Column = IntEnum | tuple[IntEnum, ...] | Callable[[Any], Any]
"""Source of an outcome: a column of a kernel's output, several columns to be added, or a function of an
`Output`."""


class By(NamedTuple):
    """Outcome of each part of a network (flow, link or class)."""

    part: Literal["flows", "links", "classes"]
    column: Column
    """Source of the values for each part: [n, parts]."""


class Otherwise(Enum):
    """Value of an outcome in rows in which it is not measured."""

    MISSING = auto()
    """NaN."""
    COMPUTED = auto()
    """Value computed from its column."""
    ABSENT = auto()
    """Value computed from its column; if no row measures the outcome, the table omits it."""


class Outcome(NamedTuple):
    """Declaration of an outcome of a replication; the end of its name determines its `dimension`.

    Tables, intervals, reports, the reference and `simulation.measurable` use it. A kind of network lists all
    outcomes that it has. Those that an earlier kind in the registry declares have no meaning here, see
    `same`.
    """

    name: str
    column: Column | None
    """Source of the values. None: only `by` parts of the network."""
    better: Direction
    meaning: str
    values: Values = POSITIVE
    label: str = ""
    """Name in figures; empty: derived from `name`."""
    unit: str = ""
    """Unit in figures; empty: that of the dimension."""
    when: Callable[[Any], Bools | bool] | None = None
    """Condition on the rows of an `Output` [n]: true where the outcome is measured. None: everywhere."""
    otherwise: Otherwise = Otherwise.MISSING
    """Value in rows in which it is not measured."""
    fluid: bool = True
    """False if only packet models measure it; fluid models then write 0 or NEVER."""
    by: tuple[By, ...] = ()
    """Parts of the network that also have this outcome."""
    cause: Callable[[Given], bool] | None = None
    """Condition on a scenario without which the outcome is always zero. None: it can always occur."""
    lost: Lost | None = None
    """Place of the lost data packets that it counts, or of which it is the share; None: it counts no losses
    of data packets."""

    @property
    def words(self) -> str:
        """Name in figures."""
        name = self.name
        for suffix in ("_bps", "_s", "_packets"):
            name = name.removesuffix(suffix)
        return self.label or name.replace("_", " ")

    def steps(self, values: ArrayLike) -> Floats:
        """Return values on a scale where equal steps are equally important.

        The scale is logarithmic for positive unbounded outcomes, where a step is a ratio, and linear for
        shares and outcomes that can be negative.
        """
        x = np.asarray(values, np.float64)
        return portable.log(x) if self.values == POSITIVE else x

    def scores(self, values: ArrayLike) -> Floats:
        """Return `steps` with a sign such that more is better; an event that did not occur is worst."""
        found = self.steps(values)
        return np.where(np.isnan(found), -np.inf, -found if self.better == LESS else found)

    def means(self, values: ArrayLike) -> Means:
        """Return `statistics.means` of each row of `values` [rows, n], with intervals limited to possible
        values."""
        found = statistics.means(values)
        if self.values.yes_no:
            low, high = statistics.wilson(found.mean, found.n)
            return found._replace(ci_low=low, ci_high=high)
        return statistics.bounded(found, self.values.least, self.values.most)

    def differences(self, values: ArrayLike) -> Means:
        """Return the means of differences of the outcome, with intervals limited to possible differences."""
        reach = self.values.most - self.values.least
        return statistics.bounded(statistics.means(values), -reach, reach)

    def inside(self, found: Mean) -> Mean:
        """Return a corrected mean, such as by a control variate, and its interval, limited to possible
        values."""
        mean, low, high = np.clip(
            (found.mean, found.ci_low, found.ci_high), self.values.least, self.values.most
        ).tolist()
        return found._replace(mean=mean, ci_low=low, ci_high=high)


def same(name: str, column: Column | None, **fields: Any) -> Outcome:
    """Return an outcome that an earlier kind of network in the registry declares, with its source here.

    The `cause` and the place of losses (`lost`) of that declaration apply unless they are given here.
    """
    return Outcome(name, column, NEITHER, "", **fields)


def declared(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the outcomes of a replication without those of `same` and those of parts only."""
    return tuple(outcome for outcome in outcomes if outcome.meaning and outcome.column is not None)


def measured(outcomes: Iterable[Outcome], output: Any, *, fluid: bool) -> Iterator[str]:
    """Yield the names of the outcomes that packet or `fluid` models measure in some row of an `Output`."""
    for each in outcomes:
        known = each.column is not None and (each.fluid or not fluid)
        if known and (each.when is None or np.any(each.when(output))):
            yield each.name
