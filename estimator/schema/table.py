"""Tables of text with any separator, with or without a header: rows, columns by name, units in names.

    time_s,rate_kbps          # seconds  Mbit/s         Timestamp;DL_bitrate [kbit/s];RSRP
    0,5000                    0.0   2.5                 2021.03.01_08.00.00;8000;-90
    1,7000                    1.0   3.5                 2021.03.01_08.00.01;-;-88

Lines that are empty or begin with `#` are skipped. A comment directly above the first row is the header if it
has as many cells and the first row has only numbers.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, DecimalException
from typing import NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import units
from netcarlo.schema.document import csv_rows
from netcarlo.schema.units import Dimension

MISSING = frozenset(("", "-", "--", "?", "n/a", "na", "nan", "null", "none"))
"""Cells that stand for a missing value, in lower case."""

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
"""Pattern of a number without a unit."""

_CELL = re.compile(rf"({NUMBER.pattern})\s*(.*)", re.DOTALL)
_IN_BRACKETS = re.compile(r"(.*?)[\s_]*[\[(]\s*([^\])]*?)\s*[\])]\s*")
_LAST_WORD = re.compile(r"(.+?)(?:[\s_.-]+|(?<=[a-z])(?=[A-Z]))([A-Za-z%/]+|%)")

_SPELLINGS = {
    units.RATE.name: {
        f"{prefix.lower()}{bits}": f"{prefix}bit/s"
        for prefix in ("", "k", "M", "G")
        for bits in ("bps", "bit/s", "bits/s", "b/s", "bit")
        if prefix or bits != "bit"
    },
    units.TIME.name: {
        "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "ms": "ms", "msec": "ms",
        "millis": "ms", "milliseconds": "ms", "us": "us", "usec": "us", "micros": "us", "microseconds": "us",
        "ns": "ns", "nsec": "ns", "nanoseconds": "ns", "min": "min", "minutes": "min", "h": "h", "hours": "h",
    },
    units.FRACTION.name: {"%": "%", "pct": "%", "percent": "%", "fraction": "1", "ratio": "1"},
    units.SIZE.name: {
        "b": "B", "byte": "B", "bytes": "B", "kb": "kB", "kbyte": "kB", "kbytes": "kB", "kib": "KiB",
        "mb": "MB", "mbyte": "MB", "mbytes": "MB", "mib": "MiB", "gb": "GB", "gbyte": "GB", "gbytes": "GB",
        "gib": "GiB",
    },
    units.LENGTH.name: {"m": "m", "metre": "m", "metres": "m", "meter": "m", "meters": "m", "km": "km"},
}  # fmt: skip
"""Unit that a spelling in lower case means, by dimension."""


class Table(NamedTuple):
    """Cells of a table as texts."""

    names: list[str]
    """Names of the columns; empty without a header."""
    rows: list[list[str]]
    """Cells of each row, without blanks around them; a row may be short."""
    lines: list[int]
    """Number of the line of each row, from 1."""

    def cells(self, column: int) -> Iterator[str]:
        """Yield the cells of a column; empty where a row is short."""
        for row in self.rows:
            yield row[column] if column < len(row) else ""


def read(text: str) -> Table:
    """Return the table in a text. Raises InputError without the name of the file."""
    comment, kept = "", list[tuple[int, str]]()
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        if line.lstrip().startswith("#"):
            comment = comment if kept else line.lstrip().lstrip("#").strip()
        elif line.strip():
            kept.append((number, line.strip()))
    if not kept:
        return Table([], [], [])
    separator = _separator(kept[0][1])
    rows = _split([line for _, line in kept], separator)
    lines = [number for number, _ in kept]
    names = list[str]()
    if not all(NUMBER.fullmatch(cell) for cell in rows[0]):
        names, rows, lines = rows[0], rows[1:], lines[1:]
    elif comment and len(above := _split([comment], _separator(comment))[0]) == len(rows[0]) > 1:
        names = above
    if separator == ";":
        rows = [[_with_point(cell) for cell in row] for row in rows]
    return Table(names, rows, lines)


def _separator(line: str) -> str:
    """Return what separates the cells of a line: a tab, a semicolon, a comma, or empty for blanks."""
    return next((one for one in "\t;," if one in line), "")


def _split(lines: list[str], separator: str) -> list[list[str]]:
    if not separator:
        return [line.split() for line in lines]
    if not any('"' in line for line in lines):
        return [[cell.strip() for cell in line.split(separator)] for line in lines]
    rows = [[cell.strip() for cell in row] for row in csv_rows(lines, separator)]
    if len(rows) != len(lines):
        raise InputError("has a quote that does not end in its line; write the values without quotes")
    return rows


def _with_point(cell: str) -> str:
    """Return a number with a decimal comma with a point; any other cell unchanged."""
    return cell.replace(",", ".") if re.fullmatch(r"[-+]?\d+,\d+", cell) else cell


def split_name(name: str, dimension: Dimension) -> tuple[str, str]:
    """Return the name of a column without its unit, and the unit as `units` writes it; empty if it has none.

    Raises InputError if the unit may mean bits or bytes.
    """
    for pattern in (_IN_BRACKETS, _LAST_WORD):
        match = pattern.fullmatch(name)
        if match and (unit := meant(match[2], dimension)):
            return match[1].strip(), unit
    return name, ""


def without_unit(name: str, dimension: Dimension) -> str:
    """Return the name of a column without its unit, which may be ambiguous."""
    try:
        return split_name(name, dimension)[0]
    except InputError:
        return name[: -len("Bps")].rstrip(" _-.([")


def meant(unit: str, dimension: Dimension) -> str:
    """Return a unit as `units` writes it; empty if it is none of this dimension.

    A capital B in a rate stands for bytes, as in `MB/s`. Raises InputError for `Bps`, which may be either.
    """
    if dimension is units.RATE and "B" in unit:
        if unit in ("Bps", "BPS"):
            raise InputError(f"has a column in {unit}, which may be bits or bytes; name the unit")
        prefix, found, rest = unit.partition("B")
        return f"{prefix.replace('K', 'k')}B/s" if found and rest in ("/s", "ps") else ""
    return _SPELLINGS.get(dimension.name, {}).get(unit.lower(), "")


def column(table: Table, at: int, dimension: Dimension, unit: str, *, divisor: float = 1.0) -> Floats:
    """Return a column in SI units, NaN where a value is missing.

    A cell may have its own unit; `unit` is that of cells without one, empty if they need one. Raises
    InputError with the number of the line.
    """
    cells = list(table.cells(at))
    if unit and (factor := _factor(unit, dimension)) is not None:
        try:
            return np.array(cells, float) * (float(factor) / divisor)
        except ValueError:  # a cell with a unit, or none
            pass
    factors: dict[str, Decimal | None] = {}
    found = np.empty(len(cells))
    for row, cell in enumerate(cells):
        if cell.lower() in MISSING:
            found[row] = np.nan
            continue
        match = _CELL.fullmatch(cell)
        own = match[2] if match else ""
        if own not in factors:
            factors[own] = _factor(own or unit, dimension)
        exact = factors[own]
        if match is None or exact is None:
            found[row] = _slowly(cell if own or not unit else f"{cell} {unit}", dimension, table.lines[row])
            continue
        try:
            found[row] = float(Decimal(match[1]) * exact)
        except (DecimalException, OverflowError):
            found[row] = np.inf
    return found if divisor == 1 else found / divisor


def _factor(unit: str, dimension: Dimension) -> Decimal | None:
    """Return one `unit` in SI units; None if a single cell has to be read to tell what is wrong with it."""
    if unit == "1" or (not unit and dimension.bare):
        return Decimal(1)
    return units.factor(unit, dimension) if unit else None


def _slowly(cell: str, dimension: Dimension, line: int) -> float:
    try:
        return units.parse(cell, dimension)
    except InputError as error:
        raise InputError(f"has in line {line} the value {cell[:40]!r}, which {error}") from None
