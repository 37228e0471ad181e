"""Positions of routers, and delays by distance."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.schema import table, units
from netcarlo.schema.link_list import SPEED_KM_S

EARTH_KM = 6371.0
"""Mean radius of the Earth [km]."""

_LATITUDE = ("latitude", "lat")
_LONGITUDE = ("longitude", "lon", "lng", "long")
_LENGTHS = ("length", "distance", "dist", "lengthkm", "distancekm", "km")
_DELAYS = ("delay", "latency", "propagationdelay", "propdelay", "owd")


class Position(NamedTuple):
    """Position on the Earth [degrees]."""

    latitude: float
    longitude: float


def position(data: Mapping[str, Any]) -> Position | None:
    """Return the position in the attributes of a router; None if it is missing or impossible."""
    plain = {key.lower(): value for key, value in data.items()}
    found = [
        next((value for name in names if (value := _finite(plain.get(name))) is not None), None)
        for names in (_LATITUDE, _LONGITUDE)
    ]
    if found[0] is None or found[1] is None:
        return None
    return checked(found[0], found[1])


def checked(latitude: float, longitude: float) -> Position | None:
    """Return a position; None if it is not on the Earth."""
    fits = abs(latitude) <= 90 and abs(longitude) <= 360
    return Position(latitude, longitude) if fits else None


def distance_km(a: Position, b: Position) -> float:
    """Return the great-circle distance (haversine formula) [km]."""
    lat, lon = (math.radians(each) for each in (b.latitude - a.latitude, b.longitude - a.longitude))
    middle = math.cos(math.radians(a.latitude)) * math.cos(math.radians(b.latitude))
    part = math.sin(lat / 2) ** 2 + middle * math.sin(lon / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(part)))


def delay_of(data: Mapping[str, Any]) -> float | None:
    """Return the one-way delay in the attributes of a link [s]; None if there is none.

    Lengths without a unit are in km. Raises InputError for a delay without a unit.
    """
    for name, value in data.items():
        text = str(value).strip()
        if text.lower() in table.MISSING:
            continue
        bare, unit = table.split_name(name, units.TIME)
        if bare.lower().replace("_", "") in _DELAYS:
            number = _finite(value)
            if number is None:
                return units.parse(text, units.TIME)
            if not unit and number:
                raise InputError(f"{name} = {text} of a link has no unit; write it as in '{text} ms'")
            factor = units.factor(unit, units.TIME) if unit else None
            return number * float(factor or 1)
        if name.lower().replace("_", "").replace(" ", "").strip("[]()") in _LENGTHS:
            km = _finite(value)
            if km is None:
                km = units.parse(text, units.LENGTH) / 1000
            if km >= 0:
                return km / SPEED_KM_S
    return None


def _finite(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None
