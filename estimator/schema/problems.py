"""Translation of pydantic's errors into messages for users, one line for each fault of a file."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from netcarlo.errors import InputError
from netcarlo.schema import unsupported
from netcarlo.schema.document import Document, Location


@dataclass(frozen=True)
class Wrong:
    """A value that was found wrong before pydantic checks its field; the check then fails with `text`.

    It replaces the value in the data, so that pydantic reports all other faults as well.
    """

    text: str
    value: str = ""
    """Value as shown in the message, ` = 'dctcp'`."""
    at: Location = ()
    """Location of the fault within the field."""
    meant: str | None = None
    """Field that an unknown name probably refers to."""


LIMITS = {
    "greater_than_equal": "is out of range; expected {ge} or more",
    "greater_than": "is out of range; expected more than {gt}",
    "less_than_equal": "is out of range; expected {le} or less",
    "less_than": "is out of range; expected less than {lt}",
    "too_short": "has too few items; expected at least {min_length} item{s}",
    "too_long": "has too many items; expected at most {max_length} items",
    "string_too_short": "is too short; expected at least {min_length} characters",
    "string_too_long": "is too long; expected at most {max_length} characters",
    "finite_number": "is not finite; write a number such as 0.5",
    "int_parsing_size": "has too many digits; write a smaller whole number",
}
"""Messages about values of the right type but outside the limits, by pydantic's error type."""

SHAPES = {
    "string_type": "a text",
    "string_sub_type": "a text",
    "string_unicode": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "path_type": "the name of a file",
    "none_required": "null",
}
"""Expected type of a value, by pydantic's error type."""

_HOW = {
    "a text": "write a text in quotes",
    "a whole number": "write one such as 3",
    "a number": "write one such as 0.5",
    "true or false": "write true or false",
    "a list": "write each item on a line that begins with '- '",
    "a mapping": "write lines such as 'name: value'",
    "the name of a file": "write one such as own.py",
    "null": "remove it",
}

WORDS = {
    "literal_error": "is not an allowed word",
    "union_tag_invalid": "is of an unknown kind",
    "union_tag_not_found": "is of an unknown kind",
    "is_instance_of": "is of the wrong kind",
    "value_error": "has its own message",
    "missing": "is missing",
    "extra_forbidden": "is an unknown field",
}
"""Descriptions of the other error types that have their own messages, see `_said`."""


class _Problem(NamedTuple):
    """An error of pydantic with its location in the user's file."""

    at: Location
    union: Location | None
    """Location of the value if the error is about one of several allowed types of it; else None."""
    kind: str
    value: Any
    context: Mapping[str, Any]


def explain(error: ValidationError, document: Document | None = None) -> InputError:
    """Return all faults of a failed validation, one line each, in the order of the file."""
    problems = _one_each(map(_problem, error.errors(include_url=False)))
    meant = {(*p.at[:-1], p.value.meant) for p in problems if isinstance(p.value, Wrong) and p.value.meant}
    found = [
        (location, line)
        for p in problems
        if not (p.kind == "missing" and p.at in meant)
        for location, line in _lines(p, document)
    ]
    if document is not None:
        found.sort(key=lambda each: document.line(as_written(each[0], document)) or 0)
    return InputError(*(_where(location, document) + line for location, line in found))


def _problem(error: Any) -> _Problem:
    # Remove tags of unions (<tag>) and pydantic's names of branches, which the user did not write.
    at = tuple(part for part in error["loc"] if not str(part).startswith("<"))
    branch = next((k for k, part in enumerate(at) if _BRANCH.fullmatch(str(part))), None)
    shown = tuple(part for part in at if not _BRANCH.fullmatch(str(part)))
    union = None if branch is None else at[:branch]
    return _Problem(shown, union, error["type"], error["input"], error.get("ctx") or {})


_BRANCH = re.compile(
    r"str|int|float|bool|constrained-\w+|"
    r"(list|dict|tuple|literal|nullable|union|lax-or-strict|json-or-python|function-\w+|is-instance)\[.*\]"
)


def _one_each(problems: Iterable[_Problem]) -> list[_Problem]:
    """Reduce the errors about a value with several allowed types to those about the type that it has."""
    found: dict[object, list[_Problem]] = {}
    for k, problem in enumerate(problems):
        found.setdefault(k if problem.union is None else problem.union, []).append(problem)
    return [problem for several in found.values() for problem in _fitting(several)]


def _fitting(several: list[_Problem]) -> list[_Problem]:
    if len(several) == 1:
        return several
    deepest = max(len(problem.at) for problem in several)
    inside = [problem for problem in several if len(problem.at) == deepest]
    shaped = [problem for problem in inside if problem.kind not in SHAPES and problem.kind != "literal_error"]
    if shaped:
        return shaped
    if deepest > min(len(problem.at) for problem in several):  # faults inside the items of a list
        return inside
    shapes = [SHAPES.get(problem.kind) or str(problem.context.get("expected", "")) for problem in inside]
    words = " or ".join(filter(None, dict.fromkeys(shapes)))
    return [inside[0]._replace(kind="shapes", context={"allowed": words})]


def _lines(problem: _Problem, document: Document | None) -> Iterator[tuple[Location, str]]:
    """Yield location and message of a fault; an error of several records has several."""
    at, kind, value = problem.at, problem.kind, problem.value
    if isinstance(value, Wrong):
        location = (*at, *value.at)
        yield location, f"{_dotted(location, document)}{value.value} {value.text}"
        return
    name = _dotted(at, document)
    named = document and _file_of(as_written(at, document), document)
    given = named or brief(value)
    error = problem.context.get("error")
    name = (document.files(at) if document else "") + name
    if kind == "value_error" and isinstance(error, InputError):
        for line in error.lines:
            if line.startswith(_VERBS):
                yield at, f"{name} = {given} {line}" if at else line
            else:  # the message starts with a field of the record
                deeper = (*at, *_start(line))
                files = document.files(deeper) if document else ""
                known = document is not None and as_written(deeper, document) in document.lines
                if known and not at:
                    line = f"{_dotted(deeper, document)} {line.partition(' ')[2]}"
                yield (deeper if files or known else at), files + (f"{name}.{line}" if at else line)
        return
    if kind == "missing":
        yield at, f"{name} is missing; add it"
        return
    shown = f"{name} = {given}" if at else given
    yield at, f"{shown} {_said(problem)}"


def _start(message: str) -> Location:
    """Return the location with which a message starts, such as that of `links.2 (A to B) has`."""
    first, *_ = message.split(maxsplit=1)
    return tuple(int(part) if part.isdecimal() else part for part in first.split("."))


def _file_of(at: Location, document: Document) -> str:
    """Return the name of the file from which the value at a location comes, or a part of it; else empty."""
    inside = [(place, name) for place, name in document.named.items() if place[: len(at)] == at]
    names = [name for place, name in inside if len(place) <= len(at) + 2]
    return names[0] if at and len(names) == 1 else ""


_VERBS = ("is ", "has ", "needs ", "cannot ", "starts ")


def _said(problem: _Problem) -> str:
    kind, value, context = problem.kind, problem.value, problem.context
    if kind in LIMITS:
        return LIMITS[kind].format(**context, s="" if context.get("min_length") == 1 else "s")
    if kind == "shapes":
        return f"is not allowed; write {context['allowed']}"
    if kind in SHAPES:
        shape = SHAPES[kind]
        more = _several(value) if shape == "a list" and isinstance(value, dict) else ""
        return f"is not {shape}; {_HOW[shape]}{more}"
    if kind == "literal_error":
        among = unsupported.STANDARDS if "802.11g" in context["expected"] else unsupported.PROTOCOLS
        if found := unsupported.known(value, among):
            return f"is not supported: {found.what}; {found.remedy}. Supported: {context['expected']}"
        return f"is not allowed; expected {context['expected']}"
    if kind == "value_error":
        return f"is invalid: {context['error']}"
    return "is not allowed here; see its field in docs/reference/fields.md"


def _several(given: Mapping[str, Any]) -> str:
    """Return the advice for a mapping that is written where a list is expected."""
    if {"count", "each"} & given.keys():
        return ", here [{count: ..., each: ...}]"
    return f"; for a single item write [{{{next(iter(given), '')}: ...}}]"


def _where(location: Location, document: Document | None) -> str:
    return f"{document.where(location, as_written(location, document))}: " if document else ""


def as_written(location: Location, document: Document) -> Location:
    """Return a full location as it is written in a document, where `hops:` at the top is short for one
    path."""
    if location[:3] == ("paths", 0, "hops") and ("hops",) in document.lines:
        return location[2:]
    return location


def _dotted(location: Location, document: Document | None) -> str:
    """Return the dotted name of a location, as the user wrote it in the document."""
    return ".".join(map(str, as_written(location, document) if document else location))


def _flow(value: Any) -> str:
    """Return a mapping or list in a line, as in a file; texts without quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return value if isinstance(value, str) else repr(value)


def brief(value: Any) -> str:
    """Return a value as text for a message, at most 80 characters."""
    text = _flow(value) if isinstance(value, dict | list) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
