"""Routers of listed links: their names and numbers, links back, and parallel links."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from netcarlo.errors import InputError

MAX_ROUTERS = 10_000
"""Upper limit of the number of a router."""
MAX_NAME = 100
"""Maximum length of the name of a router [characters]."""

Pair = tuple[int, int]
"""Numbers of the routers at the start and at the end of a link."""


def router(value: Any) -> int | str:
    """Return the name or the number of a router as written in a file. Raises InputError."""
    if isinstance(value, str) and (name := " ".join(value.split())):
        if name.isdecimal() and name == str(int(name)):
            return router(int(name))
        if len(name) > MAX_NAME:
            raise InputError(f"is a name of {len(name)} characters; expected 1 to {MAX_NAME}")
        return name
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("is not a router; write a name in quotes, such as 'Oslo', or a number from 0")
    if not 0 <= value < MAX_ROUTERS:
        raise InputError(f"is not a router; expected a name, or a number from 0 to {MAX_ROUTERS - 1}")
    return value


Router = Annotated[
    int | str,
    BeforeValidator(router),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_ROUTERS - 1},
                {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
            ]
        }
    ),
]
"""Name or number of a router."""


def router_names(ends: Iterable[tuple[int | str, int | str]]) -> list[int | str]:
    """Return the routers in the order of their numbers.

    If all are written as numbers, this is the order of these. Otherwise routers are numbered in the order in
    which the links name them.
    """
    names = list(dict.fromkeys(name for pair in ends for name in pair))
    numbers = [name for name in names if isinstance(name, int)]
    return [*sorted(numbers)] if len(numbers) == len(names) else names


def reverse_links(ends: Sequence[Pair]) -> list[int]:
    """Return the reverse link of each link; the n-th of several parallel links leads back over the n-th."""
    at = parallel(ends)
    place = {link: (pair, k) for pair, links in at.items() for k, link in enumerate(links)}
    return [at[b, a][k] for (a, b), k in (place[link] for link in range(len(ends)))]


def parallel(ends: Sequence[Pair]) -> dict[Pair, list[int]]:
    """Return the links between each pair of routers, in the order of the list."""
    found: dict[Pair, list[int]] = {}
    for link, pair in enumerate(ends):
        found.setdefault(pair, []).append(link)
    return found
