"""YAML files whose every key remembers its line, so that an error can point at it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from netcarlo.errors import InputError

Location = tuple[str | int, ...]


class Document:
    """The data of a YAML file and the line of each of its keys and list items."""

    def __init__(self, data: dict[str, Any], *, source: str, lines: Mapping[Location, int]) -> None:
        self.data = data
        self.source = source
        self.lines = lines

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
    loader = yaml.SafeLoader(read_text(path))
    try:
        node = loader.get_single_node()
        lines: dict[Location, int] = {}
        data = _data(node, (), loader, lines, source) if node is not None else None
    except RecursionError:
        raise InputError(f"{source}: an alias contains itself; write the value out") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(
            f"{source}{line}: is not YAML ({error.problem}); check indentation and quotes"
        ) from None
    except yaml.YAMLError as error:
        raise InputError(f"{source}: is not YAML ({error}); check for unprintable characters") from None
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise InputError(f"{source}: holds no keys; a file starts with lines such as 'duration: 100 s'")
    return Document(data, source=source, lines=lines)


def read_value(text: str) -> Any:
    """The YAML value of a text given on the command line."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise InputError(f"'{text}' is not a YAML value; put quotes around it") from None


def _data(
    node: yaml.Node, at: Location, loader: yaml.SafeLoader, lines: dict[Location, int], source: str
) -> Any:
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        loader.flatten_mapping(node)  # merges `<<: *anchor`
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise InputError(f"{source}:{line}: the key {key!r} is not a name; put quotes around it")
            if key in result and lines[(*at, key)] != line:
                raise InputError(
                    f"{source}:{line}: '{key}' is given twice (first in line {lines[(*at, key)]}); remove one"
                )
            lines[(*at, key)] = line
            result[key] = _data(value_node, (*at, key), loader, lines, source)
        return result
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, (*at, i), loader, lines, source) for i, item in enumerate(node.value)]
    return loader.construct_object(node)
