"""Fields of a scenario by dotted names, such as `paths.0.hops.2.rate`."""

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from netcarlo.errors import InputError, closest, suggest
from netcarlo.schema.limit import Limit, dimension_of
from netcarlo.schema.names import existing
from netcarlo.schema.quantity import Quantity
from netcarlo.schema.record import Record

WORDS = ("name", "description", "live")
"""Fields of a scenario that do not affect results."""

ONE_PATH = "paths.0."
"""Start of the names of hops, which may be omitted."""


def flat(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) of each field that has a value: a number, distribution, text or path."""
    if isinstance(value, Record):
        members = {name: getattr(value, name) for name in type(value).model_fields}
    elif isinstance(value, list):
        members = {str(i): item for i, item in enumerate(value)}
    elif isinstance(value, dict):
        members = value
    else:
        if value is not None:
            yield at, value
        return
    for name, member in members.items():
        yield from flat(member, f"{at}.{name}" if at else name)


def value(record: Any, name: str) -> Any:
    """Return the value of a field. Raises InputError if no field has this name."""
    at, parts = record, name.split(".")
    for k, part in enumerate(parts):
        if isinstance(at, Record) and part in type(at).model_fields:
            at = getattr(at, part)
        elif isinstance(at, dict):
            at = at[part]
        elif isinstance(at, list) and part.isdecimal() and int(part) < len(at):
            at = at[int(part)]
        else:
            raise InputError(f"'{name.removeprefix(ONE_PATH)}' is not a field; {_remedy(at, parts, k)}")
    return at


def quantity(record: Any, name: str) -> Quantity | None:
    """Return the quantity (dimension and limits) of a numeric field in the unit of its value; None for other
    fields.

    Raises InputError if no field has this name.
    """
    found = declared(record, name)
    return found.of(dimension_of(value(record, name))) if isinstance(found, Limit) else found


def declared(record: Any, name: str) -> Quantity | None:
    """Return the quantity of a numeric field in all units that it may have; None for other fields.

    Raises InputError if no field has this name.
    """
    above, _, last = name.rpartition(".")
    try:
        owner = value(record, above) if above else record
    except InputError:
        value(record, name)  # raises an error about the whole name
        raise
    if isinstance(owner, dict):  # the annotation of the mapping applies to its values
        return declared(record, above)
    if isinstance(owner, Record) and last in type(owner).model_fields:
        return _find(type(owner).model_fields[last])
    value(record, name)
    return declared(record, above) if isinstance(owner, list) else None


def _remedy(owner: Any, parts: list[str], k: int) -> str:
    """Return the remedy for part `k` of a name, which `owner` does not have."""
    part = parts[k]
    if isinstance(owner, Record):
        known = type(owner).model_fields
        if (close := closest(part, known)) is None:
            return suggest(part, known)
        written = ".".join([*parts[:k], close, *parts[k + 1 :]]).removeprefix(ONE_PATH)
        return f"did you mean '{written}'?"
    if isinstance(owner, list):
        return existing(parts, k, len(owner))
    return f"'{part}' is not part of a record; name a field such as hops.0.rate"


def _find(annotation: Any) -> Quantity | None:
    if isinstance(annotation, FieldInfo):
        return next(filter(None, map(_find, [*annotation.metadata, annotation.annotation])), None)
    if isinstance(annotation, Quantity):
        return annotation
    inside = [*getattr(annotation, "__metadata__", ()), *typing.get_args(annotation)]
    return next(filter(None, map(_find, inside)), None)


def texts(scenario: Record) -> list[tuple[str, str]]:
    """Return (dotted name, text) of each field that affects results; the texts identify a scenario."""
    return [(name, text(value)) for name, value in flat(scenario) if name.partition(".")[0] not in WORDS]


def text(value: Any) -> str:
    """Return a value of `flat` as text for the identity of a scenario; a file is represented by its
    content."""
    return repr(value.read_bytes()) if isinstance(value, Path) else repr(value)
