"""Empirical distribution: points of its distribution function, or a list of values.

    value,cumulative          value
    10 ms,0.2                 12 ms
    20 ms,0.9                 9.5 ms
    100 ms,1                  31 ms

A file with two columns has points; the distribution function is linear between them, and the first point has
the probability of its `cumulative`. A file with one column has values that are equally likely. `cumulative`
lists the formats that are read.
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import Faults, InputError, prefixed
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import cumulative, flow_list, link_list, movement, programs, trusted
from netcarlo.schema.document import Document, Location, read_text
from netcarlo.schema.notes import Note
from netcarlo.schema.units import Dimension

MAX_POINTS = 4096
"""Maximum number of points from which models draw; longer files are reduced to it."""

NAME = "empirical"

OPTIONS = ("file", "unit")
"""Keys of an empirical distribution that names a file and the unit of its values."""


class Points(NamedTuple):
    """Points of a distribution function, or values that are equally likely."""

    values: list[float]
    """Values in SI units."""
    below: list[float]
    """Cumulative probability of each value; empty if all are equally likely."""
    notes: Sequence[str] = ()
    """Parts of a sentence on how a file was interpreted; the first is empty. Empty without a file."""


def points(
    given: Any, number: Callable[[Any], float], dimension: Dimension, *, unit: Any = None, low: float = 0.0
) -> Points:
    """Return the points of a distribution, or its values if they are equally likely.

    `given` is the name of a file, its text, or rows; `number` reads a value of a row in SI units. `unit` is
    that of values of a file without one. Points with a cumulative probability of 0 below the limit `low` of
    the field are at this limit. Raises InputError without the name of the field.
    """
    if isinstance(given, dict):
        if not {"file"} <= set(given) <= {*OPTIONS} or (unit is not None and "unit" in given):
            raise InputError("has the wrong form; write {empirical: {file: FILE, unit: UNIT}}")
        given, unit = given["file"], given.get("unit", unit)
    if isinstance(given, str) and "\n" not in given:
        trusted.check(Path(given), Path())
        given = _sizes(Path(given))
    if isinstance(given, str):
        found = cumulative.read(given, dimension, "" if unit is None else str(unit))
        return _checked(found.values, found.below, ["", *found.notes], low)
    if unit is not None:
        raise InputError("has a unit and rows; write the unit in each value")
    if not isinstance(given, list):
        raise InputError(f"has the wrong form; {cumulative.SHAPE}")
    if not 1 <= len(given) <= cumulative.MAX_ROWS:
        quantiles = "write quantiles, such as 1000 rows of value,cumulative"
        raise InputError(f"has {len(given)} points; expected 1 to {cumulative.MAX_ROWS}; {quantiles}")
    lengths = {len(row) if isinstance(row, list) else 0 for row in given}
    if lengths not in ({1}, {2}):
        raise InputError(f"has the wrong form; {cumulative.SHAPE}")
    values = np.array([number(row[0]) for row in given])
    if not np.isfinite(values).all():
        raise InputError("has an unlimited value; write a number")
    if lengths == {1}:
        return _checked(values, np.empty(0), [], low)
    try:
        below = np.array([float(row[1]) for row in given])
    except (TypeError, ValueError):
        raise InputError("has a cumulative probability that is not a number; write 0 to 1") from None
    if (np.diff(below) < 0).any() or not (below[0] >= 0 and below[-1] == 1):
        raise InputError("has points that decrease or do not end at 1; sort them, and end cumulative with 1")
    return _checked(values, below, [], low)


def _checked(values: Floats, below: Floats, notes: list[str], low: float) -> Points:
    """Return points in ascending order within the limits of the field, at most MAX_POINTS."""
    if below.size:
        if (np.diff(values) < 0).any():
            raise InputError("has points that decrease or do not end at 1; sort them by value")
        values = np.where(below == 0, np.maximum(values, low), values)
        values = np.maximum.accumulate(values)
    if len(values) > MAX_POINTS:
        values, below, note = cumulative.reduced(values, below, MAX_POINTS)
        notes = [*notes, note] if note else notes
    return Points(values.tolist(), below.tolist(), tuple(notes))


def _sizes(path: Path) -> str:
    programs.refuse(path, "a distribution")
    return _text(path)


def _text(path: Path) -> str:
    """Return the text of a file, which ends with a newline so that it cannot be mistaken for a file name."""
    return read_text(path).rstrip("\n") + "\n"


def _trace(path: Path) -> str:
    programs.refuse(path, "a trace")
    return _text(path)


_READERS: dict[str, Callable[[Path], Any]] = {NAME: _sizes, "trace": _trace}
"""Functions that read a file whose name is given, by the key of the field; the field accepts the text."""


class _Listed(NamedTuple):
    """List that a file describes: its items, and the line of each; no lines if the items have none."""

    items: list[Any]
    lines: list[int]


def _flows(path: Path) -> _Listed:
    programs.refuse(path, "a list of flows")
    found = flow_list.read(read_text(path))
    warnings.warn(f"{path}: {found.summary}", Note, stacklevel=2)
    return _Listed(found.flows, found.lines)


def _nodes(path: Path) -> _Listed:
    programs.refuse(path, "a movement file", programs.MOVEMENT)
    found = movement.parse(read_text(path))
    warnings.warn(f"{path}: {'; '.join([found.summary(), *found.notes])}", Note, stacklevel=2)
    return _Listed(found.stops(), [])


def _links(path: Path) -> _Listed:
    if found := programs.recognised(path):
        remedy = f"run {found.remedy.format(path)}" if found is programs.TOPOLOGY else link_list.SHAPE
        raise InputError(f"{path} is {found.name}, not a table of links; {remedy}")
    links, lines, notes = link_list.items(read_text(path))
    warnings.warn(f"{path}: {'; '.join([f'{len(links)} links', *notes])}", Note, stacklevel=2)
    return _Listed(links, lines)


_LISTS: dict[str, Callable[[Path], _Listed]] = {"flows": _flows, "nodes": _nodes, "links": _links}
"""Functions that read a file whose name is given in place of a list, by the key of the field."""


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
            if kind in _READERS:
                return _READERS[kind](source.parent / name)
            items, document.rows[at] = _LISTS[kind](source.parent / name)
            return items
        except InputError as error:
            if str(name) not in str(error):
                error = prefixed(error, f"{name}: ")
            field = ".".join(map(str, at if kind in _LISTS else at[:-1]))
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
        for key, item in list(value.items()) if isinstance(value, dict) else enumerate(value):
            here = (*at, key)
            given = isinstance(value, dict) and value.get("model") == "given"
            if given and key == "file" and "nodes" not in value and isinstance(item, str):
                value["nodes"] = content("nodes", value.pop("file"), (*at, "nodes"))
                continue
            if key == "trace" and not isinstance(item, list):
                value[key] = traces(item, here)
                continue
            listed = key in ("flows", "links") and isinstance(item, str) and bool(Path(item).suffix)
            if (given and key == "nodes" and isinstance(item, str)) or listed:
                value[key] = content(str(key), item, here)
                continue
            if key == NAME and isinstance(item, dict) and "file" in item:
                item["file"] = content(NAME, item["file"], here)
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
