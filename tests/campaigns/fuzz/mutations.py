"""Mutations of the keys, values and structure of a YAML tree, and of its text."""

import copy
import re
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.campaigns.fuzz.seeds import Raw, Seed, write
from tests.campaigns.fuzz.values import KEYS, LETTERS, UNITS, VALUES


def mutated(seed: Seed, rng: Random, others: list[Seed]) -> tuple[str, set[str]]:
    """Return the text of a seed after one to three mutations, and the words by which a message may name
    them.
    """
    root = [copy.deepcopy(seed.tree)]
    words: set[str] = set()
    for _ in range(rng.choice((1, 1, 2, 3))):
        owner, at, path = rng.choice(list(_places(root)))
        words |= {str(part) for part in path} | _change(owner, at, rng, others)
    text = write(root[0])
    return (_scribbled(text, rng), set()) if rng.random() < 0.08 else (text, words)


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, int, tuple[Any, ...]]]:
    """Yield (list, index, path) of every value; a pair [key, value] has its value at index 1."""
    for i, item in enumerate(node):
        owner, at, here = (item, 1, (*path, item[0])) if isinstance(node, tuple) else (node, i, (*path, i))
        yield owner, at, here
        if isinstance(owner[at], list | tuple):
            yield from _places(owner[at], here)


def _change(owner: Any, at: int, rng: Random, others: list[Seed]) -> set[str]:
    """Change a value; return the words by which a message may name it."""
    value = owner[at]
    nested = isinstance(value, list | tuple)
    number = None if nested else re.search(r"\d+(\.\d+)?", str(value))
    kind = rng.choice(("value", "value", "value", "number", "shape", "shape", "key", "other", "unit"))
    if kind == "number" and number:
        scaled = float(number[0]) * rng.choice((0, -1, 1e-12, 1e-3, 0.5, 2, 10, 1e3, 1e6, 1e12, 1e30))
        owner[at] = Raw(f"{scaled:g}{str(value)[number.end() :]}")
    elif kind == "unit" and number:
        owner[at] = Raw(number[0] + rng.choice(UNITS))
    elif kind == "shape" and nested and value:
        return _reshaped(owner, at, rng)
    elif kind == "shape":
        owner[at] = rng.choice(
            ([value], [value, value], (["values", value],), (["uniform", [value, value]],))
        )
    elif kind == "key" and at == 1 and isinstance(owner[0], str):
        owner[0] = rng.choice((Raw(rng.choice(KEYS)), owner[0][:-1] + rng.choice(("", "x", "ü", "."))))
        return {owner[0].text.strip('"[]') if isinstance(owner[0], Raw) else owner[0]}
    elif kind == "other":
        there, i, _ = rng.choice(list(_places([rng.choice(others).tree])))
        owner[at] = copy.deepcopy(there[i])
    else:
        owner[at] = Raw(rng.choice(VALUES))
    return {_start(owner[at])}


def _reshaped(owner: Any, at: int, rng: Random) -> set[str]:
    """Delete, repeat, swap, wrap or unwrap items or pairs."""
    pairs, items = isinstance(owner[at], tuple), list(owner[at])
    i, k = rng.randrange(len(items)), rng.randrange(len(items))
    words = {str(items[i][0]), str(items[k][0])} if pairs else {str(i)}
    kind = rng.choice(("delete", "repeat", "many", "swap", "wrap", "unwrap", "unknown"))
    if kind == "delete":
        del items[i]
    elif kind == "repeat":
        items.insert(k, copy.deepcopy(items[i]))
    elif kind == "many" and not pairs:
        items *= rng.choice((10, 100, 1000))
    elif kind == "swap" and pairs:
        items[i][1], items[k][1] = items[k][1], items[i][1]
    elif kind == "unknown" and pairs:
        items.append(["unheard_of", 1])
        words = {"unheard_of"}
    owner[at] = tuple(items) if pairs else items
    if kind == "unwrap":
        owner[at] = items[i][1] if pairs else items[i]
    elif kind == "wrap":
        owner[at] = [owner[at]]
    return words


def _scribbled(text: str, rng: Random) -> str:
    """Return the text truncated, or with a character or a line added or removed."""
    at, lines = rng.randrange(len(text) + 1), text.split("\n")
    line = rng.randrange(len(lines))
    before, after = lines[:line], lines[line + 1 :]
    return rng.choice((
        text[:at], text[:at] + text[at + 1 :], text[:at] + rng.choice(LETTERS) + text[at:],
        "\n".join([*before, lines[line], lines[line], *after]),
        "\n".join([*before, " " + lines[line], *after]), "\n".join([*before, *after]),
    ))  # fmt: skip


def _start(node: Any) -> str:
    """Return the beginning of a value, without quotes."""
    while isinstance(node, list | tuple) and node:
        node = node[0]
    return (node.text if isinstance(node, Raw) else str(node)).strip("'\"&{[")[:12]
