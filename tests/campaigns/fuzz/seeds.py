"""The shipped YAML files by kind, as trees of pairs, lists and values."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netcarlo.configs
from netcarlo.schema.document import read_yaml
from netcarlo.schema.kinds import of_data

CONFIGS = Path(str(netcarlo.configs.__file__)).parent


@dataclass(frozen=True)
class Raw:
    """A piece of YAML that is written without quotes."""

    text: str


@dataclass(frozen=True)
class Seed:
    """A shipped file: its kind, its path below the configs, and its tree."""

    kind: str
    place: Path
    tree: Any


def seeds() -> list[Seed]:
    """Return all YAML files of netcarlo, ordered by name."""
    return [_seed(path) for path in sorted(CONFIGS.rglob("*.yaml"))]


def _seed(path: Path) -> Seed:
    data = read_yaml(path).data
    return Seed(of_data(data).split()[-1], path.relative_to(CONFIGS), tree(data))


def tree(data: Any) -> Any:
    """Return data with mappings as lists of pairs, so that a key may occur twice."""
    if isinstance(data, dict):
        return tuple([key, tree(item)] for key, item in data.items())
    return [tree(item) for item in data] if isinstance(data, list) else data


def write(node: Any, depth: int = 0) -> str:
    """Return a tree as YAML text in block style, with quotes around every string."""
    pad = "\n" + "  " * depth
    if isinstance(node, tuple):
        if not node:
            return "{}"
        return "".join(f"{pad}{_key(key)}: {write(item, depth + 1)}" for key, item in node)
    if isinstance(node, list):
        return "".join(f"{pad}- {write(item, depth + 1)}" for item in node) if node else "[]"
    return _key(node)


def _key(value: Any) -> str:
    return value.text if isinstance(value, Raw) else json.dumps(value)
