"""Bit rates in attributes of links, such as `LinkSpeedRaw`, and in their labels."""

import math
from collections.abc import Mapping
from typing import Any

from netcarlo.errors import InputError
from netcarlo.schema import table, units
from netcarlo.schema.rate_labels import of_text

_RAW = ("linkspeedraw",)
"""Attributes in bit/s (Topology Zoo)."""

_NAMED = ("bandwidth", "capacity", "rate", "speed", "bitrate", "datarate", "bw", "linkspeed", "throughput")
"""Attributes with a rate and, unless the value or the name has one, in a unit that the user states."""

_LABELS = ("linklabel", "label", "linktype", "type", "linknote", "name", "description")
"""Attributes whose text may have a rate."""


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
    if text.lower() in ("k", "m", "g", "t"):
        return f"{'k' if text.lower() == 'k' else text.upper()}bit/s"
    return table.meant(text, units.RATE) if text else ""


def _number(value: Any) -> float | None:
    """Return a positive number or 0; None for a text, a missing value, or a number that is not finite."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) and found >= 0 else None
