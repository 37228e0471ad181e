"""YAML files whose every key remembers its line, so that an error can point at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from netcarlo.errors import InputError

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """The data of a YAML file and the line of each of its keys and list items."""

    data: dict[str, Any]
    source: str
    lines: Mapping[Location, int]

    def where(self, location: Location) -> str:
        """`FILE:LINE` of the deepest part of `location` that the file has."""
        for depth in range(len(location), -1, -1):
            line = self.lines.get(location[:depth])
            if line is not None:
                return f"{self.source}:{line}"
        return self.source


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file; InputError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name and the folder you are in") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a readable file") from None


def read_yaml(path: str | Path) -> Document:
    """Read a YAML file whose top level is a mapping; duplicate keys are refused with their line."""
    source = str(path)
    text = read_text(path)
    try:
        loader = yaml.SafeLoader(text)
        reader = _Reader(loader, source)
        node = loader.get_single_node()
        data = reader.data(node, ()) if node is not None else None
    except RecursionError:
        raise InputError(f"{source}: an alias contains itself; write the value out") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = f"is not YAML ({error.problem})"
        raise InputError(f"{source}{line}: {problem}; check indentation and quotes") from None
    except yaml.YAMLError as error:
        raise InputError(f"{source}: is not YAML ({error}); check for unprintable characters") from None
    if not isinstance(data, dict):
        raise InputError(f"{source}: holds no keys; a file starts with lines such as 'duration: 100 s'")
    return Document(data, source=source, lines=reader.lines)


def read_value(text: str) -> Any:
    """The YAML value of a text given on the command line."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise InputError(f"'{text}' is not a YAML value; put quotes around it") from None


class _Reader:
    """Turns the nodes of a YAML file into data and remembers their lines."""

    def __init__(self, loader: yaml.SafeLoader, source: str) -> None:
        """Read with `loader`, which has the file named `source`."""
        self.lines: dict[Location, int] = {}
        self._loader = loader
        self._source = source
        self._flat: set[int] = set()  # mappings whose merges are done

    def data(self, node: yaml.Node, at: Location) -> Any:
        """The data of a node at a location."""
        self.lines.setdefault(at, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, at)
        if isinstance(node, yaml.SequenceNode):
            return [self.data(item, (*at, i)) for i, item in enumerate(node.value)]
        return self._loader.construct_object(node)

    def _mapping(self, node: yaml.MappingNode, at: Location) -> dict[str, Any]:
        if id(node) not in self._flat:
            self._flat.add(id(node))
            self._refuse_twice(node)
            self._loader.flatten_mapping(node)  # merges `<<: *anchor`; own keys come last
        result = {}
        for key_node, value_node in node.value:
            key, line = self._loader.construct_object(key_node), key_node.start_mark.line + 1
            if not isinstance(key, str):
                where = f"{self._source}:{line}"
                raise InputError(f"{where}: the key {key!r} is not a name; put quotes around it")
            self.lines[(*at, key)] = line
            result[key] = self.data(value_node, (*at, key))
        return result

    def _refuse_twice(self, node: yaml.MappingNode) -> None:
        first: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value in first:
                where = f"{self._source}:{line}: '{key.value}'"
                raise InputError(f"{where} is given twice (first in line {first[key.value]}); remove one")
            if isinstance(key, yaml.ScalarNode):
                first[key.value] = line
