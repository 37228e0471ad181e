"""Bit rates in attributes and labels of links: `LinkSpeedRaw`, `OC-192c`, `2 x 2.5 Gbps`, `STM-16`."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from netcarlo.errors import InputError
from netcarlo.schema import table, units

_RAW = ("linkspeedraw",)
"""Attributes in bit/s (Topology Zoo)."""

_NAMED = ("bandwidth", "capacity", "rate", "speed", "bitrate", "datarate", "bw", "linkspeed", "throughput")
"""Attributes with a rate and, unless the value or the name has one, in a unit that the user states."""

_LABELS = ("linklabel", "label", "linktype", "type", "linknote", "name", "description")
"""Attributes whose text may have a rate."""

_STEPS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_NUMBER = r"(\d+(?:[.,]\d+)?)"
_UNITS = (
    r"(?i:([kmgt]?)\s*(?:bps|b/s|bits?/s(?:ec)?))",
    r"(?i:([kmgt])\s*(?:bs|bit|b))",
    r"(?i:([mg])(?:e|be|ige|(?:ig?a?)?bit\s*ethernet))",
    r"([MG])",
    r"([MG])\s*(?:E|BE|[eE]thernet)",
)
"""Patterns of what follows a number; the prefix is a group. A single `m` is a metre and no rate."""

_PATTERNS: tuple[tuple[str, float], ...] = (
    (r"oc-?\s*(\d+)c?", 51.84e6),
    (r"stm-?\s*(\d+)c?", 155.52e6),
    (r"sts-?\s*(\d+)c?", 51.84e6),
)
"""Multiples of the rates of SONET and SDH (ITU-T G.707, ANSI T1.105)."""

_WORDS = {
    r"(?:ds|t)-?1": 1.544e6, r"(?:ds|t)-?3": 44.736e6, r"e-?1": 2.048e6, r"e-?3": 34.368e6, r"ds-?0": 64e3,
    r"fast\s*ethernet|fast-?e|fe|100base-?\w+": 100e6,
    r"gige|gbe|ge|gigabit\s*ethernet|gigabit|1000base-?\w+": 1e9,
}  # fmt: skip
"""Names of rates (ITU-T G.702, IEEE 802.3)."""

_BOUND = re.compile(
    r"[<>≤≥~]|\d\s*(?:-|–|to|/)\s*\d|\bn\s*[x*×]|"
    r"\b(?:up to|less|more|below|above|under|over|at (?:least|most)|max|min)\b"
)
"""Mark of a label that states a range or a bound instead of a rate."""

_BYTES = re.compile(r"\d\s*[kMGT]B(?:/s|ps)?\b")
"""Rate in bytes, which a label may mean or not."""

_EQUAL = 1.05
"""Largest ratio of two rates in a label that are the same rate."""


def of_attributes(data: Mapping[str, Any], *, unit: str) -> tuple[float | None, str]:
    """Return the rate in the attributes of an edge [bit/s] or None, and a label that was not understood.

    `unit` is that of numbers without a unit, empty if it is unknown. Raises InputError for a number without
    one.
    """
    plain = {key.lower().replace("_", "").replace(" ", ""): value for key, value in data.items()}
    for key in _RAW:
        if (found := _number(plain.get(key))) is not None:
            return found, ""
    for name, value in data.items():
        bare, own = table.split_name(name, units.RATE)
        known = bare.lower().replace("_", "").replace(" ", "") in _NAMED
        if not known or str(value).lower() in table.MISSING:
            continue
        own = own or _unit_beside(plain, bare)
        number = _number(value)
        if number is None:
            if (found := of_text(str(value))) is not None:
                return found, ""
        elif own or unit:
            factor = units.factor(own or unit, units.RATE)
            if factor is not None and number > 0:
                return number * float(factor), ""
        elif number > 0:
            raise InputError(f"{name} = {value} of a link has no unit; name it, such as --unit Mbit/s")
    labels = [str(plain[key]) for key in _LABELS if key in plain and str(plain[key]).strip()]
    found = next((rate for rate in map(of_text, labels) if rate is not None), None)
    return found, "" if found is not None or not labels else labels[0]


def _unit_beside(plain: Mapping[str, Any], bare: str) -> str:
    """Return the unit in the attribute `LinkSpeedUnits` beside `LinkSpeed`, as `units` writes it."""
    text = str(plain.get(f"{bare.lower()}units", plain.get(f"{bare.lower()}unit", ""))).strip()
    if len(text) == 1 and text.lower() in _STEPS:
        return f"{'k' if text.lower() == 'k' else text.upper()}bit/s"
    return table.meant(text, units.RATE) if text else ""


def _number(value: Any) -> float | None:
    """Return a positive number or 0; None for a text, a missing value, or a number that is not finite."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) and found >= 0 else None


def of_text(text: str) -> float | None:
    """Return the rate in a label [bit/s]; None if it has none, several that differ, a range or a bound.

    Rates that differ by at most 5 %, as in `155 Mbps OC-3`, are one: the exact one of the standard.
    """
    text = " ".join(text.split())
    times, rest = 1.0, text
    if match := re.match(r"(\d+)\s*[x*×]\s*(?=[a-zA-Z\d])", text):
        times, rest = float(match[1]), text[match.end() :]
    elif match := re.search(r"[a-zA-Z\d]\s*[x*×]\s*(\d+)$", text):
        times, rest = float(match[1]), text[: match.start() + 1]
    if _BOUND.search(rest.lower()) or _BYTES.search(rest):
        return None
    found = [rate for rate in _rates(rest) if rate > 0]
    return times * found[0] if found and max(found) <= _EQUAL * min(found) else None


def _rates(text: str) -> Iterable[float]:
    """Yield the rates in a text [bit/s], those of standards first."""
    small = text.lower()
    for pattern, one in _PATTERNS:
        yield from (float(match[1]) * one for match in re.finditer(rf"\b{pattern}\b", small))
    for pattern, rate in _WORDS.items():
        if re.search(rf"\b(?:{pattern})\b", small) and not re.search(rf"\d\s*(?:{pattern})\b", small):
            yield rate
    for pattern in _UNITS:
        for match in re.finditer(rf"(?<![\d.,]){_NUMBER}\s*{pattern}\b", text):
            yield float(match[1].replace(",", ".")) * _STEPS[match[2].lower()]
