"""Names and units of outcomes, features and fields, and their values as in `schema.readable`."""

import math
import re
from typing import Any

from netcarlo.errors import InputError
from netcarlo.networks.family import Network
from netcarlo.networks.registry import BY_KEY
from netcarlo.scenario import Scenario
from netcarlo.schema import fields, units
from netcarlo.schema.distributions import Distribution
from netcarlo.schema.names import full_names
from netcarlo.schema.readable import FRACTION, MINUS, Scale, number, say, scale, trimmed
from netcarlo.simulation.outcomes import BY_NAME

__all__ = ["FRACTION", "MINUS", "Scale", "number", "say", "scale", "trimmed"]

_MOST_SAID = 12
"""Most values of a choice that are said one by one."""
_FEATURES = {
    "n_hops": ("hops", ""),
    "bottleneck_bps": ("bottleneck rate", "bit/s"),
    "base_rtt_s": ("base RTT", "s"),
    "path_loss": ("path loss", FRACTION),
    "bdp_packets": ("bandwidth-delay product", "packets"),
}


def count(n: int) -> str:
    """Return an integer with commas between thousands: `10,000`."""
    return f"{n:,}"


def digits_for(value: float, low: float, high: float) -> int:
    """Return the number of significant digits of a value with which its interval has two."""
    if not (low < high and math.isfinite(low) and math.isfinite(high) and value):
        return 3
    return min(max(3, math.ceil(math.log10(abs(value) / (high - low))) + 2), 6)


def interval(low: float, high: float, shown: Scale, digits: int = 3) -> str:
    """Return an interval on a scale: `[1.21, 1.26]`, or `[1,210 to 1,260]` where a comma would be ambiguous;
    empty without one, or if its ends are equal."""
    if not (math.isfinite(low) and math.isfinite(high)) or low == high:
        return ""
    ends = [number(end / shown.factor, digits) for end in (low, high)]
    return f"[{(' to ' if any(',' in end for end in ends) else ', ').join(ends)}]"


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
