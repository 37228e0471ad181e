"""Empirical distribution: points of its distribution function, or a list of values.

    value,cumulative          value
    10 ms,0.2                 12 ms
    20 ms,0.9                 9.5 ms
    100 ms,1                  31 ms

A file with two columns has points; the distribution function is linear between them, and the first point has
the probability of its `cumulative`. A file with one column has values that are equally likely.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netcarlo.errors import Faults, InputError, prefixed
from netcarlo.schema import trusted
from netcarlo.schema.document import Document, Location, csv_rows, read_text

MAX_POINTS = 4096
"""Maximum number of points."""

NAME = "empirical"

_COLUMNS = (["value", "cumulative"], ["value"])
_SHAPE = "write {empirical: FILE.csv} with the columns value,cumulative or value"


def read(path: Path) -> list[list[str]]:
    """Return the rows of a file as texts, without its header. Raises InputError."""
    try:
        rows = [row for row in csv_rows(read_text(path).splitlines()) if row]
    except InputError as error:
        raise (error if str(path) in str(error) else prefixed(error, f"{path}: ")) from None
    header = [name.strip() for name in rows[0]] if rows else []
    if header not in _COLUMNS:
        raise InputError(f"{path}: has the columns {','.join(header)[:60]!r}; {_SHAPE}")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise InputError(f"{path}: row {number} has {len(row)} values instead of {len(header)}")
    return rows[1:]


def points(given: Any, number: Callable[[Any], float]) -> tuple[list[float], list[float]]:
    """Return the values and their cumulative probabilities; without probabilities all values are equally
    likely.

    `given` is the name of a file, or the rows that `read` returns; `number` reads a value in SI units. Raises
    InputError without the name of the field.
    """
    if isinstance(given, str):
        trusted.check(Path(given), Path())
    rows = read(Path(given)) if isinstance(given, str) else given
    if not isinstance(rows, list):
        raise InputError(f"has the wrong form; {_SHAPE}")
    if not 1 <= len(rows) <= MAX_POINTS:
        quantiles = "write quantiles, such as 1000 rows of value,cumulative"
        raise InputError(f"has {len(rows)} points; expected 1 to {MAX_POINTS}; {quantiles}")
    lengths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if lengths not in ({1}, {2}):
        raise InputError(f"has the wrong form; {_SHAPE}")
    values = [number(row[0]) for row in rows]
    if not all(map(math.isfinite, values)):
        raise InputError("has an unlimited value; write a number")
    if lengths == {1}:
        return values, []
    try:
        below = [float(row[1]) for row in rows]
    except (TypeError, ValueError):
        raise InputError("has a cumulative probability that is not a number; write 0 to 1") from None
    if values != sorted(values) or below != sorted(below) or not (below[0] >= 0 and below[-1] == 1):
        raise InputError("has points that decrease or do not end at 1; sort them, and end cumulative with 1")
    return values, below


def _text(path: Path) -> str:
    """Return the text of a file, which ends with a newline so that it cannot be mistaken for a file name."""
    return read_text(path).rstrip("\n") + "\n"


_READERS: dict[str, Callable[[Path], Any]] = {NAME: read, "trace": _text}
"""Functions that read a file whose name is given, by the key of the field."""


def inline(document: Document) -> None:
    """Replace the names of data files in a document by their content.

    A stored document then needs no other file. Names are relative to the folder of the document. An axis over
    traces becomes one of cases, named like the files. Raises InputError with line and field, also for a file
    outside the folder (see `trusted`).
    """
    source, faults = Path(document.source), Faults()

    def content(kind: str, name: Any, at: Location) -> Any:
        if not isinstance(name, str) or "\n" in name:
            return name
        try:
            trusted.check(source.parent / name, source)
            document.named[at] = name
            return _READERS[kind](source.parent / name)
        except InputError as error:
            field = ".".join(map(str, at[:-1]))
            faults.lines += prefixed(error, f"{document.where(at)}: {field}: ").lines
            return name

    def traces(value: Any, at: Location) -> Any:
        """Return a trace, a mapping of its columns, a folder or a choice of traces with texts for names."""
        if isinstance(value, str) and "\n" not in value and (source.parent / value).is_dir():
            value = {"choice": [str(Path(value) / name) for name in _names(source.parent / value)]}
        if isinstance(value, dict) and isinstance(value.get("choice"), list):
            every = enumerate(value["choice"])
            return value | {"choice": [traces(one, (*at, "choice", k)) for k, one in every]}
        if isinstance(value, dict) and "file" in value:
            return value | {"file": content("trace", value["file"], at)}
        return content("trace", value, at)

    def walk(value: Any, at: Location) -> None:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            here = (*at, key)
            if key == "trace" and not isinstance(item, list):
                value[key] = traces(item, here)
                continue
            if at == ("axes",):
                value[key] = item = _cases(item, str(key))
            kind = _kind(key)
            if kind and isinstance(item, str):
                value[key] = content(kind, item, here)
            elif kind and isinstance(item, list):  # a column of `zip`
                value[key] = [content(kind, one, here) for one in item]
            elif key == "to" and isinstance(value, dict) and (kind := _kind(value.get("field"))):
                value[key] = content(kind, item, here)
            elif isinstance(item, dict | list):
                walk(item, here)

    walk(document.data, ())
    faults.refuse()


def _names(folder: Path) -> list[str]:
    """Return the names of the files in a folder, in order, without hidden ones."""
    return sorted(file.name for file in folder.iterdir() if file.is_file() and file.name[:1] != ".")


def _kind(field: Any) -> str | None:
    """Return the key of `_READERS` with which a dotted field name ends; None if there is none."""
    last = field.rpartition(".")[2] if isinstance(field, str) else ""
    return last if last in _READERS else None


def _cases(axis: Any, name: str) -> Any:
    """Return an axis over names of traces as cases with these names; return any other axis unchanged."""
    short = not isinstance(axis, dict)
    values = axis if short else axis.get("values")
    field = name if short else axis.get("field", name)
    if not isinstance(field, str) or "." not in field or not _kind(field):
        return axis
    named = values if isinstance(values, list) else [values]
    if not all(isinstance(one, str) and "\n" not in one for one in named) or len({*named}) < len(named):
        return axis
    return {"cases": {one: {field: one} for one in named}}
