"""Quantities as people write them: SI prefixes, percent, and as many digits as one reads."""

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.networks.family import Network
from netcarlo.networks.outcome import FRACTION
from netcarlo.networks.registry import BY_KEY
from netcarlo.reports.parts.words import MINUS
from netcarlo.scenario import Scenario
from netcarlo.schema import fields, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.names import full_names
from netcarlo.simulation.outcomes import BY_NAME

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"))
_MOST_SAID = 12
"""Most values of a choice that are said one by one."""
_FEATURES = {
    "n_hops": ("hops", ""),
    "bottleneck_bps": ("bottleneck rate", "bit/s"),
    "base_rtt_s": ("base RTT", "s"),
    "path_loss": ("path loss", FRACTION),
    "bdp_packets": ("bandwidth-delay product", "packets"),
}


class Scale(NamedTuple):
    """Scale of a displayed quantity: its SI value is divided by `factor` and followed by `unit`."""

    factor: float
    unit: str

    def label(self, name: str) -> str:
        """The title of an axis: `goodput [Mbit/s]`."""
        return f"{name} [{self.unit}]" if self.unit else name


def scale(values: Iterable[float], unit: str) -> Scale:
    """The scale on which values in this SI unit read well: that of the largest."""
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
    """A number in a few significant digits, without an exponent where it can be read without: `12 300`."""
    if not math.isfinite(value):
        return "–"
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    if not 1e-4 <= abs(rounded) < 1e9:
        return f"{rounded:.{digits - 1}e}".replace("-", MINUS)
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:,.{places}f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
    return text.replace("-", MINUS)


def count(n: int) -> str:
    """A whole number with its thousands apart: `10 000`."""
    return f"{n:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def say(value: float, unit: str, digits: int = 3) -> str:
    """A value with its unit: `1.5 Mbit/s`, `200 ms`, `1 %`; trailing zeros are left out."""
    if math.isinf(value):
        return "unlimited"
    shown = scale([value], unit)
    return f"{trimmed(value / shown.factor, digits)} {shown.unit}".rstrip()


def trimmed(value: float, digits: int = 3) -> str:
    """A number without trailing zeros behind the point."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def digits_for(value: float, low: float, high: float) -> int:
    """Return the number of significant digits of a value with which its interval has two."""
    if not (low < high and math.isfinite(low) and math.isfinite(high) and value):
        return 3
    return min(max(3, math.ceil(math.log10(abs(value) / (high - low))) + 2), 6)


def interval(low: float, high: float, shown: Scale, digits: int = 3) -> str:
    """An interval on a scale: `[1.21, 1.26]`; empty without one."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"[{number(low / shown.factor, digits)}, {number(high / shown.factor, digits)}]"


def name_of(column: str, base: Scenario | None = None) -> str:
    """Return an outcome, a feature or a field in words: `goodput`, `base RTT`, `hops.1 rate`.

    With a scenario, flows of a class are called by the class: `video number of flows`.
    """
    if column in _FEATURES:
        return _FEATURES[column][0]
    if column in BY_NAME:
        return BY_NAME[column].words
    if "." in column:
        return _by_class(_field(column), base)
    for suffix in ("_bps", "_s", "_packets"):
        column = column.removesuffix(suffix)
    return column.replace("_", " ")


def goal(text: str) -> str:
    """A goal such as `goodput_bps >= 1 Mbit/s` with its outcome in words."""
    outcome = text.split()[0]
    return text.replace(outcome, name_of(outcome), 1)


def unit_of(column: str) -> str:
    """The SI unit of an outcome or a feature."""
    if column in _FEATURES:
        return _FEATURES[column][1]
    if column in BY_NAME and BY_NAME[column].unit:
        return BY_NAME[column].unit
    suffixes = {"_bps": "bit/s", "_s": "s", "_packets": "packets", "_J": "J"}
    return next((unit for suffix, unit in suffixes.items() if column.endswith(suffix)), "")


def field_unit(base: Scenario | None, name: str) -> str:
    """The SI unit of a field of a scenario; empty where it is not known."""
    try:
        found = fields.quantity(base, _as_written(base, name))
    except InputError:
        return ""
    if found is None:
        return ""
    return FRACTION if found.dimension is units.FRACTION else found.dimension.unit


def distribution(base: Scenario | None, name: str) -> str:
    """From what a field is drawn, in words; empty where the scenario does not say."""
    try:
        value: Any = fields.value(base, _as_written(base, name))
    except InputError:
        return ""
    if not isinstance(value, Distribution):
        return ""
    unit = field_unit(base, name)
    word = {"log_uniform": "log-uniform", "integers": "whole numbers"}.get(value.kind, value.kind)
    written = value.written(lambda v: say(v, unit))[value.kind]
    if isinstance(written, dict):
        texts = [(name, v if isinstance(v, str) else f"{v:g}") for name, v in written.items()]
        *given, (_, low), (_, high) = texts
        return f"{word}, " + ", ".join(f"{name} {v}" for name, v in given) + f", cut to {low} … {high}"
    low, high = (say(v, unit) for v in value.bounds())
    if value.kind == "empirical":
        return f"empirical, {len(written)} points, {low} … {high}"
    if value.kind == "choice" and len(written) > _MOST_SAID:
        return f"choice of {len(written)} values, {low} … {high}"
    return f"{word}, " + (", " if value.kind == "choice" else " … ").join(written)


def _as_written(base: Scenario | None, name: str) -> str:
    """The first field that a name stands for; `each.3.rate`, drawn for hop 3, is `each.rate`."""
    if base is not None:
        name = full_names(base.model_dump(), name)[0]
    head, each, rest = name.partition(".each.")
    return f"{head}.each.{rest.partition('.')[2]}" if each and rest[0].isdecimal() else name


def _by_class(text: str, base: Scenario | None) -> str:
    """Return the words for a field with the class of its flows in place of their number, if no other flows
    have that class."""
    found = re.match(r"[a-z]+\.flows\.(\d+)", text)
    if base is None or found is None:
        return text
    items = getattr(base.network, "flows", ())
    words = [_classes(item) for item in items] if isinstance(items, list) else []
    mine = words[int(found[1])] if int(found[1]) < len(words) else set()
    if len(mine) != 1 or sum(bool(mine & others) for others in words) != 1:
        return text
    return f"{next(iter(mine))}{text[found.end() :]}"


def _classes(item: Any) -> set[str]:
    """Return the classes that the flows of an item of a list name."""
    each = getattr(item, "each", None)
    records = each if isinstance(each, list) else [item if each is None else each]
    return {word for record in records if (word := getattr(record, "class", None))}


def _field(name: str) -> str:
    parts = name.split(".")
    return BY_KEY.get(parts[0], Network).in_words(parts)
