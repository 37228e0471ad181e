"""Fields of a scenario by dotted names, and the short forms of these names."""

import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from netcarlo.errors import Faults, InputError, prefixed
from netcarlo.schema.document import Document, Location

MAX_NAME_LENGTH = 1000
"""Maximum length of the dotted name of a field [characters]."""


def expanded(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a scenario with the short form `hops:` written as one path."""
    if "hops" not in data or "scenario" in data:
        return data
    if "paths" in data:
        raise InputError("hops and paths are both given; keep one")
    return {
        ("paths" if key == "hops" else key): ([{"hops": v}] if key == "hops" else v)
        for key, v in data.items()
    }


def with_values(data: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a scenario with fields, given by dotted names, set to YAML values.

    A `*` stands for every item of a list, as in `paths.*.hops.*.rate`. Raises InputError for a name that does
    not exist.
    """
    data = copy.deepcopy(expanded(data))
    every = [(name, full, value) for name, value in values.items() for full in full_names(data, name)]
    for given, full, value in every:
        name = full.removeprefix("paths.0.") if given.startswith("hops") else full  # as the user wrote it
        parts = full.split(".")
        at: Any = data
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            if isinstance(at, list):
                if not at:
                    raise InputError(f"{name}: '{parts[i - 1]}' is an empty list; set it as a whole")
                if not part.isdecimal() or int(part) >= len(at):
                    remedy = existing(parts, i, len(at))
                    raise InputError(f"{name}: item '{part}' does not exist; {remedy}")
                key: Any = int(part)
            elif isinstance(at, dict):
                key = part
            else:
                raise InputError(f"{name}: '{parts[i - 1]}' has no fields; set it as a whole")
            if isinstance(at, dict) and at.get(key) is None and not last and parts[i + 1].isdecimal():
                lists = ", ".join(each for each in at if isinstance(at[each], list | dict)) or "none"
                raise InputError(
                    f"{name}: there is no list '{part}'; set it as a whole, or name a field of one that "
                    f"exists: {lists}"
                )
            if last:
                at[key] = value
            else:
                at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    return data


def existing(parts: list[str], i: int, count: int) -> str:
    """Return how many items the list before part `i` of a field has, and the field of the last one."""
    written = ".".join([*parts[:i], str(count - 1), *parts[i + 1 :]]).removeprefix("paths.0.")
    items = "one item" if count == 1 else f"items 0 to {count - 1}"
    return f"'{parts[i - 1]}' has {items}; write {written}"


Set = Callable[[dict[str, Any], str, Any], tuple[dict[str, Any], list[Location]]]
"""Function that sets a field: takes data, a dotted name and a value; returns the new data and the
locations that were set."""


def with_options(
    document: Document, values: Mapping[str, Any], set_one: Set | None = None, *, above: str = ""
) -> tuple[dict[str, Any], Document]:
    """Return the data of a document with fields set by options, and a document that knows these options.

    `set_one` sets one field (default: `set_field`). `above` precedes the names in the options. Raises
    InputError with a line for each option whose field does not exist.
    """
    data, faults = copy.deepcopy(document.data), Faults()
    given: dict[Location, str] = {}
    for name, value in values.items():
        option = option_text(above + name, value)
        try:
            data, places = (set_one or set_field)(data, name, value)
            given |= dict.fromkeys(places, option)
        except InputError as error:
            faults.lines += prefixed(error, f"{option}: {document.source}: ").lines
    faults.refuse()
    return data, replace(document, given=given)


def split_options(document: Document, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options about a sweep or plan, and those about its scenario in a file of its own.

    The latter have the names of the fields in that file.
    """
    if not isinstance(document.data.get("scenario"), str):
        return dict(values), {}
    inside = {name: value for name, value in values.items() if name.startswith(SCENARIO)}
    own = {name: value for name, value in values.items() if name not in inside}
    return own, {name.removeprefix(SCENARIO): value for name, value in inside.items()}


SCENARIO = "scenario."
"""Start of the names of fields of the scenario of a sweep or plan."""


def set_field(data: dict[str, Any], name: str, value: Any) -> tuple[dict[str, Any], list[Location]]:
    """Set a field of a scenario, or of the scenario inside `data`. Returns the data and the locations that
    were set."""
    head, _, rest = name.partition(".")
    inside: Any = data.get("scenario") if head == "scenario" and rest else None
    if isinstance(inside, dict):
        changed, places = set_field(inside, rest, value)
        return {**data, "scenario": changed}, [("scenario", *place) for place in places]
    data = with_values(data, {name: value})
    return data, [place_of(full) for full in full_names(data, name)]


def place_of(name: str) -> Location:
    """Return the location that a dotted name refers to."""
    return tuple(int(part) if part.isdecimal() else part for part in name.split("."))


def option_text(name: str, value: Any) -> str:
    """Return the command-line option that sets a field to a value."""
    return f"--set {name}={value_text(value)}"


def value_text(value: Any) -> str:
    """Return a YAML value in one short line."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def full_names(data: Mapping[str, Any], name: str) -> list[str]:
    """Return the full dotted names of a name: `hops` is short for `paths.0.hops`, and `*` stands for every
    item."""
    parts = [part for part in re.split(r"[.\[\]]", name) if part]
    if not parts:
        raise InputError("a field to set has no name; write it as transport.window")
    if parts[0] == "scenario" and len(parts) > 1 and "scenario" not in data:
        remedy = f"write {'.'.join(parts[1:])}"
        raise InputError(f"{name}: fields of a scenario are named without 'scenario.'; {remedy}")
    if len(name) > MAX_NAME_LENGTH:
        raise InputError(f"a field has a name of {len(name)} characters; expected 1 to {MAX_NAME_LENGTH}")
    found: list[tuple[list[str], Any]] = [([], data)]
    for part in [*(["paths", "0"] if parts[0] == "hops" else []), *parts]:
        deeper = []
        for names, at in found:
            items = at if isinstance(at, list) else []
            for key in map(str, range(len(items))) if part == "*" else [part]:
                inside = items[int(key)] if key.isdecimal() and int(key) < len(items) else None
                deeper.append(([*names, key], at.get(key) if isinstance(at, dict) else inside))
        found = deeper
    if not found:
        raise InputError(f"{name}: there is no list for '*'; name the field as a whole")
    return [".".join(names) for names, _ in found]
