"""Descriptions of the accepted values of a field, and of its default, derived from its annotation."""

import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, WithJsonSchema
from pydantic.fields import FieldInfo

from netcarlo.networks.jitter import Jitter
from netcarlo.networks.traces import Trace, Traces
from netcarlo.schema.limit import Limit
from netcarlo.schema.quantity import UNLIMITED, Quantity
from netcarlo.schema.record import Record
from tests.reference.markdown import slug

Titles = Mapping[type[Record], str]
Form = tuple[str, str]
"""Unit or kind of a value, and the allowed values."""

PLAIN: dict[Any, Form] = {
    Jitter: ("s", "a distribution, with `reorder: true` if packets may overtake each other"),
    Trace: (
        "file or folder",
        "a table of time, rate, delay and loss; milliseconds at which a packet may leave; "
        "`{file: FILE, time: COLUMN, rate: COLUMN, ...}`; or `{choice: [...]}`",
    ),
    Traces: ("", ""),
    Path: ("file", "a path relative to the scenario"),
    str: ("text", "any"),
    bool: ("true or false", "any"),
    int: ("whole number", "any"),
    float: ("number", "any"),
    type(None): ("", ""),
}
MANY = {list: "a list of ", tuple: "a list of ", dict: "by name: "}


def form(field: FieldInfo, titles: Titles) -> Form:
    """Return the description of the values of a field; records are named by their `titles`."""
    found = list(_forms(field.annotation, titles, metadata=tuple(field.metadata)))
    units = dict.fromkeys(unit for unit, _ in found if unit)
    allowed = dict.fromkeys(text for _, text in found if text)
    return " or ".join(units), "; or ".join(allowed)


def default(record: type[Record], name: str) -> str:
    """Return the default of a field, as a user would write it."""
    field = record.model_fields[name]
    if name in record.implied:
        return "derived"
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    quantity = next((part for part in field.metadata if isinstance(part, Quantity)), None)
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return "its defaults"
    if quantity:
        number, *unit = str(quantity.show(value)).split(" ")
        return f"`{' '.join([number if number == UNLIMITED else f'{float(number):g}', *unit])}`"
    if isinstance(value, list) and value:
        return ", ".join(f"`{item}`" for item in value)
    if value in ([], {}, ""):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def records(annotation: Any, item: str = "") -> Iterator[tuple[type[Record], str]]:
    """Yield the records that a field may hold, and the path from its name to theirs."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield annotation, item
    between = {list: ".N", dict: ".NAME"}.get(typing.get_origin(annotation) or object, "")
    for part in typing.get_args(annotation):
        yield from records(part, item + between)


def _forms(
    annotation: Any, titles: Titles, many: str = "", metadata: tuple[Any, ...] = ()
) -> Iterator[Form]:
    """Yield the description of each part of an annotation; `many` is the plural noun of a list."""
    if hasattr(annotation, "__metadata__"):
        annotation, metadata = typing.get_args(annotation)[0], (*annotation.__metadata__, *metadata)
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    for part in metadata:
        if isinstance(part, Quantity):
            yield _unit(part), many + _range(part)
            return
        if isinstance(part, WithJsonSchema) and "enum" in (part.json_schema or {}):
            yield "word", ", ".join(f"`{word}`" for word in part.json_schema["enum"])  # type: ignore[index]
            return
    if limits := _limits(metadata):
        for unit, text in _forms(annotation, titles, many):
            yield unit, limits if text == "any" else text
    elif origin is Literal:
        words = ", ".join(f"`{word}`" for word in inside)
        yield PLAIN[int][0] if isinstance(inside[0], int) else "word", words
    elif origin in MANY:
        for part in dict.fromkeys(inside[-1:] if origin is dict else inside):
            yield from _forms(part, titles, MANY[origin])
    elif inside:
        for part in inside:
            yield from _forms(part, titles, many)
    elif annotation in titles:
        yield "record", f"{many}[{titles[annotation]}](#{slug(titles[annotation])})"
    else:
        some = {MANY[list]: ("list", "a list"), MANY[dict]: ("mapping", "by name")}
        unit, text = PLAIN.get(annotation, some.get(many, ("value", "any")))
        yield unit, some[many][1] if unit and many else text


def _unit(quantity: Quantity) -> str:
    return quantity.dimension.unit or ("share" if quantity.dimension.name == "a fraction" else "number")


def _range(quantity: Quantity) -> str:
    words = f"{quantity.low:g} to {quantity.high:g} {quantity.dimension.unit}".strip().replace("e+", "e")
    whole = "whole, " if quantity.whole else ""
    either = f", or `{UNLIMITED}`" if quantity.unlimited else ""
    others = "; or [in another unit](queue-limits.md)" if isinstance(quantity, Limit) else ""
    return f"{whole}{words}{either}{others}{'' if quantity.random else '; not random'}"


def _limits(metadata: tuple[Any, ...]) -> str:
    """Return the limits of a plain number, in words."""
    found: dict[str, Any] = {}
    for part in metadata:
        for constraint in (part, *getattr(part, "metadata", ())):
            for name in ("ge", "gt", "le", "lt"):
                if getattr(constraint, name, None) is not None:
                    found[name] = getattr(constraint, name)
    if "ge" in found and "le" in found:
        return f"{found['ge']:g} to {found['le']:g}".replace("e+", "e")
    words = {"ge": "{:g} or more", "gt": "more than {:g}", "le": "{:g} or less", "lt": "less than {:g}"}
    said = (text.format(found[name]) for name, text in words.items() if name in found)
    return ", ".join(said).replace("e+", "e")
