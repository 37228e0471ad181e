"""Records that stand for several (`each`), written one by one."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any


def one_by_one(given: Iterable[str], data: dict[str, Any], above: str, size: int) -> dict[str, str]:
    """Write `each` of the field `above` out as a list of this size; where the given fields in it are from."""
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
    """Given fields below `old`, under the names they have below `new`."""
    below = [name for name in given if name.startswith(old) and not name[len(old)].isdecimal()]
    return {new + name[len(old) :]: name for name in below}


def described(field: str, items: Sequence[Any]) -> list[tuple[str, Any]]:
    """The records of a list, by the name of their fields, where an item may be one, or say what `each` of
    several is: a record of all, which is there once, or a list of them."""
    found: list[tuple[str, Any]] = []
    for g, item in enumerate(items):
        each = getattr(item, "each", None)
        if each is None:
            found.append((f"{field}.{g}", item))
        elif isinstance(each, list):
            found += [(f"{field}.{g}.each.{k}", record) for k, record in enumerate(each)]
        else:
            found.append((f"{field}.{g}.each", each))
    return found
