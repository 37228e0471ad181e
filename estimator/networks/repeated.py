"""Records that stand for several (`each`), written one by one."""

import copy
from collections.abc import Iterable
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
