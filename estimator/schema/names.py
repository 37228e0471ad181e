"""Fields by dotted names in the data of a scenario, and what is short for them."""

import copy
import re
from collections.abc import Mapping
from typing import Any

from netcarlo.errors import InputError

LONGEST_NAME = 1000
"""Most characters of the dotted name of a field."""


def in_full(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a scenario with the shorthand `hops:` written as one path."""
    if "hops" not in data:
        return data
    if "paths" in data:
        raise InputError("hops and paths are both given; keep one")
    return {
        ("paths" if key == "hops" else key): ([{"hops": v}] if key == "hops" else v)
        for key, v in data.items()
    }


def with_values(data: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a scenario with the fields of dotted names set to YAML values.

    A `*` stands for every item of a list, as in `paths.*.hops.*.rate`.  Raises InputError where a name
    leads nowhere.
    """
    data = copy.deepcopy(in_full(data))
    every = [(full, value) for name, value in values.items() for full in full_names(data, name)]
    for name, value in every:
        parts = name.split(".")
        at: Any = data
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            if isinstance(at, list):
                if not at:
                    raise InputError(f"{name}: '{parts[i - 1]}' is an empty list; set it as a whole")
                if not part.isdecimal() or int(part) >= len(at):
                    raise InputError(f"{name}: there is no '{part}'; allowed is 0 to {len(at) - 1}")
                key: Any = int(part)
            elif isinstance(at, dict):
                key = part
            else:
                raise InputError(f"{name}: '{parts[i - 1]}' has no fields; set it as a whole")
            if last:
                at[key] = value
            else:
                at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    return data


def full_names(data: Mapping[str, Any], name: str) -> list[str]:
    """The dotted names that a name stands for: `hops` is short for `paths.0.hops`, and `*` is every item."""
    parts = [part for part in re.split(r"[.\[\]]", name) if part]
    if not parts:
        raise InputError("a field to set has no name; write it as transport.window")
    if len(name) > LONGEST_NAME:
        raise InputError(f"a field has a name of {len(name)} characters; allowed is 1 to {LONGEST_NAME}")
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
