"""Quantities as readers see them: SI prefixes, percent, and only the digits that matter."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from netcarlo.schema.distributions import Distribution
from netcarlo.schema.quantity import bounds

FRACTION = "fraction"
"""Unit of a share that is shown in percent."""

MINUS = "\N{MINUS SIGN}"

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"))

WIDEST = 1e4
"""Ratio of the ends of a distribution above which its mean is shown instead of its ends."""


class Scale(NamedTuple):
    """Scale of a displayed quantity: its SI value is divided by `factor` and followed by `unit`."""

    factor: float
    unit: str

    def label(self, name: str) -> str:
        """Return the title of an axis: `goodput [Mbit/s]`."""
        return f"{name} [{self.unit}]" if self.unit else name


def scale(values: Iterable[float], unit: str) -> Scale:
    """Return the scale with the SI prefix that suits the largest of some values in an SI unit."""
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    if unit == FRACTION:
        return Scale(0.01, "%")
    if unit not in ("s", "bit/s", "B", "J") or largest == 0:
        return Scale(1.0, unit)
    # A rounded number decides, so that 0.99999999 Mbit/s is 1 Mbit/s.
    largest = float(f"{largest:.4g}")
    most = 1.0 if unit == "s" else 1e12
    factor, prefix = next(((f, p) for f, p in _PREFIXES if f <= min(largest, most)), _PREFIXES[-1])
    return Scale(factor, prefix + unit)


def number(value: float, digits: int = 3) -> str:
    """Return a number with some significant digits, and with an exponent only if it is very large or small:
    `12,300`."""
    if not math.isfinite(value):
        return "–"
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    if not 1e-4 <= abs(rounded) < 1e9:
        return f"{rounded:.{digits - 1}e}".replace("-", MINUS)
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}".replace("-", MINUS)


def trimmed(value: float, digits: int = 3) -> str:
    """Return a number without trailing zeros after the decimal point."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def say(value: float, unit: str, digits: int = 3) -> str:
    """Return a value with its unit, without trailing zeros: `1.5 Mbit/s`, `200 ms`, `1 %`."""
    if math.isinf(value):
        return "unlimited"
    shown = scale([value], unit)
    return f"{trimmed(value / shown.factor, digits)} {shown.unit}".rstrip()


def counted(n: int, what: str) -> str:
    """Return a number of things: `1 replication`, `2,000 replications`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def quantity(value: Any, unit: str) -> str:
    """Return a number or the range of a distribution with its unit: `10 ms`, `1 to 40 ms`."""
    low, high = bounds(value)
    if low == high or not isinstance(value, Distribution):
        return say(low, unit)
    if high > WIDEST * max(low, 0.0):
        return f"{say(value.mean(), unit)} on average"
    return between(low, high, unit)


def between(low: float, high: float, unit: str) -> str:
    """Return a range with its unit, or one value if both ends are equal: `1 to 40 ms`, `500 kbit/s to
    2 Mbit/s`."""
    if math.isclose(low, high, rel_tol=1e-9):
        return say(low, unit)
    first, last = (say(end, unit) for end in (low, high))
    digits, _, of_first = first.partition(" ")
    return f"{digits if last.endswith(f' {of_first}') else first} to {last}"


def listed(texts: list[str]) -> str:
    """Return texts as a list: `one`, `one and two`, `one, two and three`."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def with_nines(share: float) -> str:
    """Return a share in percent with two digits of what is missing to 100 %: `99.952`."""
    missing = 1 - share
    places = 0 if missing <= 0 else max(0, min(7, 1 - math.floor(math.log10(100 * missing))))
    text = f"{100 * share:.{places}f}" if missing > 1e-9 else "100"
    return text if missing < 0.5 else f"{100 * share:.3g}"
