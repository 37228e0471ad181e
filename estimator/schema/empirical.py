"""A distribution that was measured: points of its distribution function, or the values themselves.

    value,cumulative          value
    10 ms,0.2                 12 ms
    20 ms,0.9                 9.5 ms
    100 ms,1                  31 ms

A file of two columns has points, between which the function is linear; of all values the first share is the
first point's.  One of one column has values that are equally likely.
"""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError
from netcarlo.schema.document import Document, Location, read_text

MOST = 4096
"""Most points."""

NAME = "empirical"

_COLUMNS = (["value", "cumulative"], ["value"])
_SHAPE = "write {empirical: FILE.csv} with the columns value,cumulative or value"


def read(path: Path) -> list[list[str]]:
    """The rows of a file, as they stand there, without its header.  Raises InputError."""
    rows = [row for row in csv.reader(read_text(path).splitlines()) if row]
    header = [name.strip() for name in rows[0]] if rows else []
    if header not in _COLUMNS:
        raise InputError(f"{path}: has the columns {','.join(header)[:80]!r}; {_SHAPE}")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InputError(f"{path}: row {number} has {len(row)} fields, not {len(header)}; correct it")
    return rows[1:]


def points(given: Any, number: Callable[[Any], float]) -> tuple[list[float], list[float]]:
    """The values and the probabilities not to exceed them; without these they are equally likely.

    `given` is the name of a file or what `read` makes of it; `number` reads a value in SI units.  Raises
    InputError without the field's name.
    """
    rows = read(Path(given)) if isinstance(given, str) else given
    if not isinstance(rows, list):
        raise InputError(f"has the wrong shape; {_SHAPE}")
    if not 1 <= len(rows) <= MOST:
        raise InputError(f"has {len(rows)} points; allowed is 1 to {MOST}; give some, or thin them out")
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if lengths not in ({1}, {2}):
        raise InputError(f"has the wrong shape; {_SHAPE}")
    values = [number(row[0]) for row in rows]
    if not all(map(math.isfinite, values)):
        raise InputError("has a value without limit; write a number there")
    if lengths == {1}:
        return values, []
    try:
        below = [float(row[1]) for row in rows]
    except (TypeError, ValueError):
        raise InputError("has a cumulative probability that is no number; write 0 to 1") from None
    if values != sorted(values) or below != sorted(below) or not (below[0] >= 0 and below[-1] == 1):
        raise InputError("has points that fall or do not end at 1; sort them, and let cumulative end with 1")
    return values, below


def _text(path: Path) -> str:
    """The text of a file, which several lines tell from a name."""
    return read_text(path).rstrip("\n") + "\n"


_READERS: dict[str, Callable[[Path], Any]] = {NAME: read, "trace": _text}
"""What takes the place of the name of a file, by the key before it."""


def inline(document: Document) -> None:
    """Put what stands in the files that a document names, seen from its own folder, in place of their names.

    So what is kept of the document needs no other file.  Raises InputError with line and field.
    """
    folder = Path(document.source).parent

    def walk(value: Any, at: Location) -> None:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if key in _READERS and isinstance(item, str) and "\n" not in item:
                try:
                    value[key] = _READERS[key](folder / item)
                except InputError as error:
                    field = ".".join(map(str, at))
                    raise InputError(f"{document.where((*at, key))}: {field}: {error}") from None
            elif isinstance(item, dict | list):
                walk(item, (*at, key))

    walk(document.data, ())
