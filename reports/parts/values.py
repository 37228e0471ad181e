"""Means with their intervals in readable units, as on the terminal: `9.587 Mbit/s`, `9.580 to 9.593`."""

import math
from typing import Any, NamedTuple

from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.scales import Scale
from netcarlo.schema.readable import FRACTION, MINUS
from netcarlo.simulation.outcomes import BY_NAME

MOST_DIGITS = 12
"""Significant digits of a whole number that is the same in all replications."""


COUNTS = ("", "packets")
"""Units of numbers of things."""


class Shown(NamedTuple):
    """Texts of a mean, its unit and its 95 % interval on one scale."""

    number: str
    unit: str
    interval: str
    """The ends, without their unit; empty without an interval."""

    @property
    def value(self) -> str:
        """The number with its unit."""
        return f"{self.number} {self.unit}".rstrip()


def unit_of(name: str) -> str:
    """Return the SI unit of an outcome; that of shares is FRACTION, which is shown in percent."""
    found = scales.unit_of(name)
    if found or name not in BY_NAME or name == "fairness":
        return found
    return FRACTION if BY_NAME[name].values.most == 1.0 else ""


def shown(name: str, mean: Mean) -> Shown:
    """Return the texts of the mean of an outcome, on a scale that its interval shares.

    There is no interval where all replications have the same value.
    """
    scale = _scale(name, mean)
    digits = digits_for(mean, counts=scale.unit in COUNTS)
    low, high = mean.ci_low, mean.ci_high
    interval = f"{number(low, scale, digits)} to {number(high, scale, digits)}" if low < high else ""
    return Shown(number(mean.mean, scale, digits), scale.unit, interval)


def spread(name: str, mean: Mean, low: float, high: float) -> str:
    """Return a range of values of an outcome on the scale of its mean; empty if all are the same."""
    if not low < high:
        return ""
    scale, digits = _scale(name, mean), digits_for(mean._replace(ci_low=low, ci_high=high))
    return " to ".join(number(end, scale, digits) for end in (low, high))


def digits_for(mean: Mean, *, counts: bool = False) -> int:
    """Return the significant digits with which the ends of the interval of a mean differ visibly, 3 to 6.

    A number that `counts` and is whole has all its digits where it has no interval.
    """
    width = mean.ci_high - mean.ci_low
    if not (width > 0 and math.isfinite(width) and mean.mean):
        return MOST_DIGITS if counts and float(mean.mean).is_integer() else 4
    return min(max(3, math.ceil(math.log10(abs(mean.mean) / width)) + 1), 6)


def _scale(name: str, mean: Mean) -> Scale:
    return scales.scale([mean.mean], unit_of(name))


def number(value: float, scale: Scale, digits: int = 4) -> str:
    """Return a number on a scale, with commas between thousands; whole numbers have no zeros behind them."""
    text = scales.number(value / scale.factor, digits)
    whole = float(f"{value / scale.factor:.{digits}g}").is_integer() and scale.unit in (*COUNTS, "%")
    return (scales.trimmed(value / scale.factor, digits) if whole else text).replace(MINUS, "-")


def row(table: Any, name: str) -> Mean:
    """Return the mean of an outcome in a table of `estimate`."""
    found = table.loc[name]
    return Mean(int(found["n"]), *(float(found[field]) for field in Mean._fields[1:]))
