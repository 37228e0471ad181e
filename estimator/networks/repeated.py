"""Expansion of records that describe several parts (`each`)."""

import copy
from collections.abc import Iterable
from typing import Any


def one_by_one(given: Iterable[str], data: dict[str, Any], above: str, size: int) -> dict[str, str]:
    """Replace `each` of the field `above` by a list of this size; returns the source of each given field
    inside."""
    owner: Any = data
    for part in above.split("."):
        owner = owner[int(part)] if isinstance(owner, list) else owner[part]
    written = owner["each"]
    owner["each"] = [copy.deepcopy(written) for _ in range(size)]
    source: dict[str, str] = {}
    for k in range(size):
        new = f"{above}.each.{k}."
        source |= moved(given, f"{above}.each.", new) | moved(given, new, new)
    return source


def moved(given: Iterable[str], old: str, new: str) -> dict[str, str]:
    """Return the given fields below `old`, by their names below `new`."""
    below = [name for name in given if name.startswith(old) and not name[len(old)].isdecimal()]
    return {new + name[len(old) :]: name for name in below}
