"""Reading of distributions as they are published: sizes or times with cumulative shares, or a list of values.

    0 0             value,cumulative       1744.68         # size, CDF
    4000 20         0 B,0                  1 0.025         1 1 0
    20000 70        4000 B,0.2             2 0.05          6 1 0.15
    200000 100      200000 B,1             20000 1         6667 1 1

The separator may be anything that `table` knows, and units may be in cells or in names. Shares that end near
100 are percent. A number alone in the first line is the mean (Homa) or the number of lines. Of three columns
without a header, the one in the middle is ignored (ns-2).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import table, units
from netcarlo.schema.table import Table
from netcarlo.schema.units import Dimension

MAX_ROWS = 100_000
"""Maximum number of rows of a file."""

PACKET = 1460
"""Size of a packet in files whose sizes are in packets [byte]: the payload of TCP over Ethernet."""

SHAPE = "write {empirical: FILE} with the columns value,cumulative or value"

_SHARES = re.compile(r"cumul|cdf|share|prob|percent|fraction|quantile|%|^p$|^f(\(x\))?$", re.IGNORECASE)
_VALUES = re.compile(r"value|size|bytes|length|packets|time|delay|duration|gap", re.IGNORECASE)
_PACKETS = re.compile(r"pac?kets?|pkts?|segments?", re.IGNORECASE)
_UNIT = r"%|[kKMGT]?i?B|bytes?|[num]?s|sec|min|h|k?m|packets?|pkts?|[kMG]?bit/s|[kMG]bps"
"""Pattern of units in tables whose separators are blanks."""
_END = 1e-3
"""Relative difference of the last share from 1 that counts as rounding."""
_FALL = 0.02
"""Largest decrease of a share that counts as a misprint."""


class Published(NamedTuple):
    """Content of a file."""

    values: Floats
    """Values in SI units, in the order of the file."""
    below: Floats
    """Share of values up to each; empty if all values are equally likely."""
    notes: Sequence[str]
    """Assumptions and changes when the file was read."""


def read(text: str, dimension: Dimension, unit: str = "") -> Published:
    """Return the content of a file; `unit` is that of values without one. Raises InputError with the line."""
    text, alone = without_first(_with_close_units(text))
    given = table.read(text)
    if given.names and all(re.match(r"[-+.]?\d", name) for name in given.names):
        line = next(n for n, one in enumerate(text.lstrip("\ufeff").splitlines(), 1) if _holds(one))
        given = Table([], [given.names, *given.rows], [line, *given.lines])
    if not given.rows:
        raise InputError(f"has no rows; {SHAPE}")
    if len(given.rows) > MAX_ROWS:
        raise InputError(f"has {len(given.rows)} rows; expected at most {MAX_ROWS}; write quantiles")
    notes = list[str]()
    at, share = _columns(given, notes)
    width = len(given.names) or len(given.rows[0])
    for row, line in zip(given.rows, given.lines, strict=True):
        if len(row) != width:
            count = "1 value" if len(row) == 1 else f"{len(row)} values"
            raise InputError(f"has {count} in line {line}; expected {width}; {SHAPE}")
    found = _values(given, at, dimension, unit, notes)
    below = np.empty(0) if share is None else _below(given, share, notes)
    if alone and alone != len(found):
        notes.append(f"a mean of {alone:.6g} in the first line, in the file's unit")
    return Published(found, below, notes)


def _with_close_units(text: str) -> str:
    """Return the text of a file separated by blanks without the blanks between numbers and their units."""
    if any(_holds(line) and re.search("[\t;,]", line) for line in text.splitlines()):
        return text
    return re.sub(rf"(?m)(^|(?<=[ ]))({table.NUMBER.pattern}) +({_UNIT})(?=\s|$)", r"\2\3", text)


def _holds(line: str) -> bool:
    """Return True if a line is neither empty nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def without_first(text: str) -> tuple[str, float]:
    """Return the text without a number that is alone in its first line, and this number or 0.

    A list of values keeps its first one.
    """
    lines = text.lstrip("\ufeff").splitlines()
    held = [k for k, line in enumerate(lines) if _holds(line)][:2]
    if len(held) < 2 or len(re.split(r"[\s,;]+", lines[held[1]].strip())) < 2:
        return text, 0.0
    try:
        found = float(lines[held[0]])
    except ValueError:
        return text, 0.0
    lines[held[0]] = ""
    return "\n".join(lines), found


def _columns(given: Table, notes: list[str]) -> tuple[int, int | None]:
    """Return the columns of values and of shares; the latter is None in a list of values."""
    names, width = given.names, len(given.names) or len(given.rows[0])
    shown = f"has the columns {','.join(names)[:60]!r}" if names else f"has {width} columns"
    if width == 1:
        return 0, None
    if not names and width == 3:
        notes.append("the second of three columns left out")
        return 0, 2
    if width == 2:
        return (1, 0) if names and _SHARES.search(names[0]) and not _SHARES.search(names[1]) else (0, 1)
    shares = [k for k, name in enumerate(names) if _SHARES.search(name)]
    values = [k for k, name in enumerate(names) if k not in shares and _VALUES.search(name)]
    if len(shares) != 1 or len(values) != 1:
        raise InputError(f"{shown}; {SHAPE}")
    return values[0], shares[0]


def _values(given: Table, at: int, dimension: Dimension, unit: str, notes: list[str]) -> Floats:
    """Return the column of values in SI units."""
    named = ""
    if given.names:
        packets = _PACKETS.search(given.names[at]) if dimension is units.SIZE else None
        named = "packets" if packets else table.split_name(given.names[at], dimension)[1]
    size, packet = dimension is units.SIZE, 1.0
    if size and _PACKETS.fullmatch(unit or named):
        unit, packet = "B", float(PACKET)
        notes.append(f"sizes in packets of {PACKET} B")
    elif size and unit and unit[:1].isdigit():  # a unit such as 1442 B
        packet, unit = units.parse(unit, dimension), "B"
        notes.append(f"sizes in units of {packet:g} B")
    elif unit and not (dimension.bare and unit == "1") and units.factor(unit, dimension) is None:
        remedy = f"write {dimension.unit}, or another unit of {dimension.name}"
        raise InputError(f"has the unknown unit {unit!r}; {remedy}")
    elif not unit and named:
        unit = named
    elif size and not unit:
        unit = "B"
        if any(table.NUMBER.fullmatch(cell) and float(cell) for cell in given.cells(at)):
            notes.append("sizes in bytes")
    found = table.column(given, at, dimension, unit, divisor=1 / packet)
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        raise InputError(f"has no value in line {given.lines[wrong[0]]}; correct or remove the line")
    return found


def _below(given: Table, at: int, notes: list[str]) -> Floats:
    """Return the column of cumulative shares, which end at 1."""
    cells = list(given.cells(at))
    try:
        below = table.column(given, at, units.FRACTION, "1")
    except InputError:
        share = re.compile(rf"{table.NUMBER.pattern}\s*%?")
        row = next(k for k, cell in enumerate(cells) if not share.fullmatch(cell))
        raise InputError(
            f"has in line {given.lines[row]} the cumulative probability {cells[row][:40]!r}, which is not a "
            "number; write 0 to 1"
        ) from None
    if np.isnan(below).any():
        line = given.lines[int(np.argmax(np.isnan(below)))]
        raise InputError(f"has no cumulative probability in line {line}; correct or remove the line")
    last = float(below[-1])
    if abs(last - 100) <= 100 * _END and "%" not in cells[-1]:
        below, last = below / 100, last / 100
        notes.append("shares in percent")
    if not abs(last - 1) <= _END:
        total = float(below.sum())
        each = min(abs(total - 1), abs(total / 100 - 1)) <= _END
        how = "they add up to 1: write running sums" if each else "end them with 1 or 100 %"
        raise InputError(f"has cumulative probabilities that do not end at 1, but at {last:.6g}; {how}")
    if last != 1:
        notes.append(f"the last share, {last:.6g}, taken for 1")
    highest = np.maximum.accumulate(below)
    falls = highest - below
    if falls.max(initial=0.0) > _FALL or below[0] < 0:
        line = given.lines[int(np.argmax(falls))]
        raise InputError(f"has points that decrease in line {line}; sort them, and end cumulative with 1")
    if count := int((falls[:-1] > 0).sum()):
        rows = "1 share" if count == 1 else f"{count} shares"
        notes.append(f"{rows} below the one before, by up to {falls.max():.3g}, raised to it")
    highest = np.minimum(highest, 1.0)
    highest[-1] = 1.0
    return np.asarray(highest)


def reduced(values: Floats, below: Floats, most: int) -> tuple[Floats, Floats, str]:
    """Return at most `most` points of a distribution function, and a note with the error; empty if it is 0.

    Without shares the values are equally likely, and the function has a step at each. The points that remain
    divide the values into parts of equal weight. The weight of a part is its probability plus its share of
    the mean, so that the tails of heavy-tailed distributions keep their points.
    """
    if not below.size:
        steps, counts = np.unique(values, return_counts=True)
        upper = np.cumsum(counts) / len(values)
        values = np.repeat(steps, 2)
        below = np.stack([np.append(0.0, upper[:-1]), upper], axis=1).reshape(-1)
        below[-1] = 1.0
    if len(values) <= most:
        return values, below, ""
    shares = np.diff(below, prepend=0.0)
    sums = shares * (values + np.append(values[0], values[:-1])) / 2
    weight = np.cumsum(shares) + np.cumsum(sums) / max(float(sums.sum()), 1e-300)
    cuts = np.searchsorted(weight, np.linspace(0, weight[-1], most // 2 - 1))
    cuts = np.minimum(cuts, len(values) - 1)
    kept = np.unique(np.concatenate([[0], np.maximum(cuts - 1, 0), cuts, [len(values) - 1]]))
    found, shares_kept = values[kept], below[kept]
    before, after = mean(values, below), mean(found, shares_kept)
    last = np.diff(values, append=np.inf) > 0  # of equal values
    off = float(np.abs(np.interp(values, found, shares_kept) - below)[last].max())
    change = f"mean {100 * (after / before - 1):+.2g} %" if before else "mean unchanged"
    return found, shares_kept, f"reduced to {len(kept)} points ({change}, shares by up to {100 * off:.2g} %)"


def mean(values: Floats, below: Floats) -> float:
    """Return the mean of a distribution function that is linear between points, exactly."""
    shares = np.diff(below, prepend=0.0)
    return float((shares * (values + np.append(values[0], values[:-1])) / 2).sum())
