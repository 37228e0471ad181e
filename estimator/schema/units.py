"""Units in user input: `0.5 Mbit/s`, `200 ms`, `1500 B`, `1 %`, `45 packets`.

Inside netcarlo every number is a float in SI units: seconds, bit/s, bytes, packets, metres, fractions.
"""

import math
import re
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from netcarlo.errors import InputError
from netcarlo.schema.document import MAX_NUMBER_LENGTH

if TYPE_CHECKING:
    import pint

_DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = u- = µ- = μ-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
second = [time] = s = sec
minute = 60 * second = min
hour = 3600 * second = h
day = 24 * hour
week = 7 * day
year = 365 * day
month = year / 12
byte = [information] = B
bit = byte / 8
bps = bit / second
metre = [length] = m = meter
packet = [packet] = pkt
bdp = [bandwidth_delay] = BDP
joule = [energy] = J
watt = joule / second = W
percent = 0.01 = %
permille = 0.001 = ‰
"""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Dimension:
    """Dimension of a quantity: its name, SI unit and an example; `bare` if a number without a unit is
    accepted."""

    name: str
    unit: str
    example: str
    bare: bool = False

    @property
    def usual(self) -> tuple[str, ...]:
        """Units that a number without one may have."""
        return ("s", "ms") if self.unit == "s" else (self.example.split(" ", 1)[-1],)


RATE = Dimension("a rate", "bit/s", "0.5 Mbit/s")
TIME = Dimension("a time", "s", "200 ms")
DAY = 86400.0
YEAR = 365 * DAY
"""A year [s], in which 99.9 % are all but 8.76 h."""
SIZE = Dimension("a size", "B", "1500 B")
FREQUENCY = Dimension("a number per time", "/s", "20 /s")
LENGTH = Dimension("a length", "m", "100 m")
SPEED = Dimension("a speed", "m/s", "10 m/s")
POWER = Dimension("a power", "W", "0.8 W")
ENERGY = Dimension("an energy", "J", "1000 J")
PACKETS = Dimension("a number of packets", "packets", "45 packets", bare=True)
BDP = Dimension("a number of bandwidth-delay products", "BDP", "0.5 BDP")
FRACTION = Dimension("a fraction", "", "1 %", bare=True)
PLAIN = Dimension("a number", "", "3", bare=True)


_BITS = ("bit", "bps", "B", "byte", "bytes", "bits")
_SPELT = (
    *(prefix + unit for unit in _BITS for prefix in ("", "k", "M", "G", "T", "Ki", "Mi")),
    *("s", "ms", "us", "ns", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour", "hours"),
    *("day", "days", "week", "weeks", "month", "months", "year", "years"),
    *("m", "km", "cm", "metre", "meter", "packet", "packets", "pkt", "percent", "permille", "BDP", "bdp"),
)
"""Correct spellings of units. There is no millibit."""


@cache
def _meant(unit: str) -> str:
    """Return the unit that was probably intended by one with letters in the wrong case; empty if there is
    none."""
    found = []
    for part in re.split(r"(\W+)", unit):
        near = [known for known in _SPELT if known.casefold() == part.casefold()]
        if part in _SPELT or not near:
            found.append(part)
        elif part.endswith("b"):  # a small b may mean bits or bytes: suggest bits
            found.append(f"{near[0][:-1]}bit")
        else:
            found.append(near[0])
    meant = "".join(found)
    return "" if meant == unit else meant


def meant(unit: str) -> str:
    """Return the unit that was probably intended by one with letters in the wrong case; empty if there is
    none."""
    return _meant(unit)


@cache
def _registry() -> "pint.UnitRegistry[Decimal]":
    import pint  # takes 0.1 s

    # Decimal, so that `7 %` is exactly the float 0.07.
    registry: pint.UnitRegistry[Decimal] = pint.UnitRegistry(None, non_int_type=Decimal)
    registry.load_definitions(_DEFINITIONS.strip().splitlines())
    return registry


@lru_cache(maxsize=1024)
def _factor(unit: str, dimension: Dimension) -> Decimal | None:
    """Return one `unit` in the SI unit of `dimension`; None if it has another dimension."""
    if any(letter.isdigit() for letter in unit):  # powers are not supported
        raise ValueError(unit)
    registry = _registry()
    given, wanted = (
        registry.parse_units(f"1{text}" if text.startswith("/") else text) for text in (unit, dimension.unit)
    )
    one = registry.Quantity(Decimal(1), given)
    return Decimal(one.to(wanted).magnitude) if one.is_compatible_with(wanted) else None


def factor(unit: str, dimension: Dimension) -> Decimal | None:
    """Return one `unit` in the SI unit of a dimension; None if `parse` refuses it."""
    try:
        return None if _meant(unit) else _factor(unit, dimension)
    except Exception:  # pint raises many types of errors for invalid units
        return None


def is_in(text: str, dimension: Dimension) -> bool:
    """Return True if a text is a number with a unit of a dimension."""
    unit = _NUMBER.sub("", text.strip(), count=1).strip()
    return unit not in ("", text.strip()) and factor(unit, dimension) is not None


def parse(value: object, dimension: Dimension) -> float:
    """Return the float in SI units of a user's value: a number or a text such as `200 ms`.

    Packets, fractions and plain numbers need no unit; for other dimensions only 0 needs none. Raises
    InputError without the name of the field, which the caller adds.
    """
    help_ = f"write {dimension.name} such as '{dimension.example}'"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"is not {dimension.name}; {help_}")
    try:
        text = str(value).strip()
    except ValueError:  # Python does not print integers of more than 4300 digits
        raise InputError(f"is too large; {help_}") from None
    if len(text) > MAX_NUMBER_LENGTH:
        allowed = f"expected 1 to {MAX_NUMBER_LENGTH}"
        raise InputError(f"has {len(text)} characters, too many for {dimension.name}; {allowed}; {help_}")
    match = _NUMBER.match(text)
    if match is None:
        raise InputError(f"is not {dimension.name}; {help_}")
    unit = text[match.end() :].strip()
    try:
        number = Decimal(match[0])
    except DecimalException:
        raise InputError(f"is too large; {help_}") from None
    meant = ""
    if not unit:
        if number and not dimension.bare:
            given = " or ".join(f"'{text} {unit}'" for unit in dimension.usual)
            raise InputError(f"has no unit; write {dimension.name} such as {given}")
        factor: Decimal | None = Decimal(1)
    else:
        if meant := _meant(unit):
            help_ = f"did you mean '{meant}'? {help_}"
        try:
            factor = _factor(unit, dimension)
        except Exception:  # pint raises many types of errors for invalid units
            raise InputError(f"has the unknown unit '{unit}'; {help_}") from None
    if factor is None:
        raise InputError(f"has the wrong unit '{unit}'; {help_}{_in_packets(text, dimension)}")
    if meant:
        raise InputError(f"has the unit '{unit}'; {help_}")
    try:
        result = float(number * factor)
    except (DecimalException, OverflowError):
        result = math.inf
    if not math.isfinite(result):
        raise InputError(f"is too large; {help_}")
    return result


PACKET = 1500
"""Packet size assumed when a message converts bytes to packets [byte]."""


def _in_packets(text: str, dimension: Dimension) -> str:
    """Return the end of a message that converts a size to packets; empty for any other value."""
    if dimension is not PACKETS:
        return ""
    try:
        count = max(1, round(parse(text, SIZE) / PACKET))
    except InputError:
        return ""
    return f"; {text} of packets of {PACKET} B are '{count} packets'"


def show(value: float, dimension: Dimension) -> str:
    """Return the exact text of a float in SI units; `parse` reads it back to the same float."""
    number = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
    return f"{number} {dimension.unit}".strip()


_STEPS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("u", 1e-6))
"""Prefixes of units in messages, largest first."""


def percent(share: float) -> str:
    """Return a fraction as text for a message: `0.001 %`."""
    return f"{100 * share:.10g} %"


def readable(value: float, dimension: Dimension) -> str:
    """Return a limit of a rate, time or size for a message, with a prefix: `1 us`, `10 Gbit/s`.

    `parse` reads it back to the same float.
    """
    if dimension is TIME and value >= YEAR and value % YEAR == 0:
        return f"{value / YEAR:g} years"
    for prefix, factor in _STEPS if dimension in (RATE, TIME, SIZE) else ():
        wrong = factor > 1 if dimension is TIME else factor < 1
        if not wrong and value >= factor and 0 < value / factor < 1e6:
            text = f"{value / factor:g} {prefix}{dimension.unit}"
            if "." not in text and parse(text, dimension) == value:
                return text
    return show(value, dimension)
