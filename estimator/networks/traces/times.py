"""Times of the rows of a table: since the start, since 1970, or date and time of day."""

import re
from datetime import datetime, timedelta

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import table, units
from netcarlo.schema.table import Table

_DATE = re.compile(
    r"(\d{4})[-./_](\d\d?)[-./_](\d\d?)[T_ ,]+(\d\d?)[:._-](\d\d)[:._-](\d\d(?:[.,]\d+)?)"
    r"\s*(Z|UTC|[-+]\d\d:?\d\d)?"
)
_CLOCK = re.compile(r"(\d\d?):(\d\d):(\d\d(?:[.,]\d+)?)")
_EPOCHS = ((1e8, 1e10, "s"), (1e11, 1e13, "ms"), (1e14, 1e16, "us"), (1e17, 1e19, "ns"))
"""Ranges of numbers without a unit that are times since 1970 (1973 to 2286), and their units."""

_HALF_A_DAY = 43_200.0
_LARGE = 1e6  # [s]; the difference of larger floats is exact to 1 us at best


def read(given: Table, at: int, unit: str) -> Floats:
    """Return the times of the rows [s] of the column `at`, from the first.

    `unit` is that of numbers without one; if it is empty, they must be times since 1970. Raises InputError
    with the number of the line.
    """
    cells = list(given.cells(at))
    for row, cell in enumerate(cells):
        if cell.lower() in table.MISSING:
            raise InputError(f"has no time in line {given.lines[row]}; remove the line")
    first = cells[0]
    if _DATE.fullmatch(first):
        times = np.array([_date(cell, given.lines[row]) for row, cell in enumerate(cells)])
    elif _CLOCK.fullmatch(first):
        times = np.array([_clock(cell, given.lines[row]) for row, cell in enumerate(cells)])
        times += 2 * _HALF_A_DAY * np.cumsum(np.diff(times, prepend=times[0]) < -_HALF_A_DAY)
    else:
        times = table.column(given, at, units.TIME, unit or _epoch(first))
    if not np.isfinite(times).all():
        line = given.lines[int(np.argmin(np.isfinite(times)))]
        raise InputError(f"has a time in line {line} that is not a number; correct it")
    since = times - times[0]
    return np.asarray(since if abs(times[0]) < _LARGE else np.round(since, 6))


def _epoch(cell: str) -> str:
    """Return the unit of a number that is a time since 1970; empty for any other cell."""
    try:
        value = float(cell)
    except ValueError:
        return ""
    return next((unit for low, high, unit in _EPOCHS if low <= value < high), "")


def _date(cell: str, line: int) -> float:
    match = _DATE.fullmatch(cell)
    try:
        if match is None:
            raise ValueError(cell)
        year, month, day, hour, minute = map(int, match.groups()[:5])
        at = datetime(year, month, day, hour, minute)
    except ValueError:
        example = "write a date as 2024-05-01 08:00:00.25"
        raise InputError(f"has the time {cell[:40]!r} in line {line}; {example}") from None
    zone = match[7] or ""
    ahead = 0.0
    if zone[:1] in "+-" and zone:
        ahead = (int(zone[1:3]) * 60 + int(zone[-2:])) * (60 if zone[0] == "+" else -60)
    seconds = (at - datetime(1970, 1, 1)) / timedelta(seconds=1)
    return seconds + float(match[6].replace(",", ".")) - ahead


def _clock(cell: str, line: int) -> float:
    match = _CLOCK.fullmatch(cell)
    if match is None:
        raise InputError(f"has the time {cell[:40]!r} in line {line}; write a time of day as 08:00:00.25")
    return 3600.0 * int(match[1]) + 60.0 * int(match[2]) + float(match[3].replace(",", "."))
