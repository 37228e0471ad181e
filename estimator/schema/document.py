"""YAML files in which every key and list item keeps its line number, so that errors can name it.

Files are read by the core schema of YAML 1.2: only `true` and `false` are booleans, so that `on` and `no` are
texts, `010` is ten, and `1:30`, `1_000` and `2001-01-01` are texts.
"""

import csv
import gzip
import io
import math
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml._yaml import CParser
from yaml.composer import Composer
from yaml.resolver import Resolver

from netcarlo.errors import InputError

Location = tuple[str | int, ...]

MAX_BYTES = 1 << 26
"""Maximum size of a text file [byte] (64 MiB)."""
_GZIP = b"\x1f\x8b"
"""First bytes of a gzip file (RFC 1952, section 2.3.1)."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
MAX_NODES = 200_000
"""Maximum number of keys and values of a YAML file; those that an alias repeats count each time."""
MAX_DEPTH = 100
"""Maximum nesting depth of lists and mappings."""
TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep; reduce the nesting"
MAX_NUMBER_LENGTH = 200
"""Maximum length of a number with its unit [characters]."""


@dataclass(frozen=True)
class Document:
    """Data of a YAML file and the line of each of its keys and list items."""

    data: dict[str, Any]
    source: str
    lines: Mapping[Location, int]
    given: Mapping[Location, str] = field(default_factory=dict)
    """Command-line options that set fields of the data, by the location of the field."""
    named: dict[Location, str] = field(default_factory=dict)
    """Names of files whose content replaced the name in the data, by location."""
    rows: dict[Location, list[int]] = field(default_factory=dict)
    """Line of each item of a list that came from a file, by location of the list."""

    def line(self, location: Location) -> int | None:
        """Return the line of the longest prefix of `location` that exists in the file."""
        for depth in range(len(location), -1, -1):
            line = self.lines.get(location[:depth])
            if line is not None:
                return line
        return None

    def where(self, location: Location, written: Location | None = None) -> str:
        """Return `FILE:LINE` of the longest prefix of `location` that exists in the file.

        Options that set this field, or a part of it, come first. A field that an option set has no line,
        because its value is not in the file. `written` is the location as it is in the file, if it is shorter
        there.
        """
        covering = max((at for at in self.given if location[: len(at)] == at), key=len, default=None)
        if covering is not None:
            return f"{self.given[covering]}: {self.source}"
        options = dict.fromkeys(text for at, text in self.given.items() if at[: len(location)] == location)
        line = self.line(location if written is None else written)
        if options and line == self.lines.get(()):
            line = None
        where = self.source if line is None else f"{self.source}:{line}"
        return f"{' '.join(options)}: {where}" if options else where

    def inside(self, key: str) -> "Document":
        """Return the document of the mapping under a top-level key."""
        return Document(
            self.data.get(key, {}),
            self.source,
            {at[1:]: line for at, line in self.lines.items() if at[:1] == (key,)},
            {at[1:]: option for at, option in self.given.items() if at[:1] == (key,)},
            {at[1:]: name for at, name in self.named.items() if at[:1] == (key,)},
            {at[1:]: rows for at, rows in self.rows.items() if at[:1] == (key,)},
        )

    def files(self, location: Location) -> str:
        """Return the names of the files from which the value at a location comes: `links.csv, line 3: `.

        The line is that of the item of a list. Empty if the value is in the document itself.
        """
        found = ""
        for depth in range(1, len(location)):
            at, item = location[:depth], location[depth]
            if at not in self.named:
                continue
            rows = self.rows.get(at, [])
            line = f", line {rows[item]}" if isinstance(item, int) and item < len(rows) else ""
            found += f"{self.named[at]}{line}: "
        return found


def read_text(path: str | Path) -> str:
    """Return the text of a UTF-8 file, which may be compressed by gzip. Raises InputError if it cannot be
    read."""
    content = read_content(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8; save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_content(path: str | Path) -> bytes:
    """Return the content of a file, expanded if it is compressed by gzip. Raises InputError if it cannot be
    read."""
    content = read_bytes(path)
    return _expanded(path, content) if content[:2] == _GZIP else content


def _expanded(path: str | Path, content: bytes) -> bytes:
    """Return the content of a gzip file, at most MAX_BYTES. Raises InputError."""
    try:
        with gzip.open(io.BytesIO(content)) as file:
            found = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: is a damaged gzip file; compress it again") from None
    if len(found) > MAX_BYTES:
        limit = f"{MAX_BYTES >> 20} MiB"
        raise InputError(f"{path}: has over {limit} when expanded, the most that is read; name another file")
    return found


def read_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file of at most `most` bytes. Raises InputError otherwise.

    Pipes and devices are refused, because reading them may never end.
    """
    try:
        # Without O_NONBLOCK, opening a pipe (FIFO) waits for a writer.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(f"{path}: is not a regular file; save its content as a file and name that")
            content = file.read(most + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check its name and the current folder") from None
    except InputError:
        raise
    except IsADirectoryError:
        raise InputError(f"{path}: cannot be read (it is a folder); name a file in it") from None
    except (OSError, ValueError) as error:  # ValueError: an impossible file name
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({reason}); name a readable file") from None
    if len(content) > most:
        raise InputError(f"{path}: is larger than {most >> 20} MiB, the maximum; name a smaller file")
    return content


def csv_rows(lines: Iterable[str], separator: str = ",") -> list[list[str]]:
    """Return the rows of CSV lines, with cells of any length. Raises InputError without the file name."""
    csv.field_size_limit(sys.maxsize)
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise InputError(f"is not CSV ({error}); check its quotes") from None


def title(path: str | Path) -> str:
    """Return the default title of a file: its name without the suffix."""
    return Path(path).stem.encode("utf-8", "replace").decode()


def read_yaml(path: str | Path) -> Document:
    """Read a YAML file whose top level is a mapping. Raises InputError with the line of the fault."""
    source = str(path)
    text = read_text(path)
    reader = _Reader(source)
    try:
        data = reader.read(text)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        problem, remedy = f"is not YAML ({error.problem})", "check indentation and quotes"
        at = error.problem_mark
        if at and "\t" in text.splitlines()[at.line][: at.column + 1]:
            remedy = "replace the tab by spaces"
        raise InputError(f"{source}{line}: {problem}; {remedy}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{source}: is not YAML ({error}); check for unprintable characters") from None
    if not isinstance(data, dict):
        raise InputError(f"{source}: has no keys; write lines such as 'duration: 100 s'")
    return Document(data, source=source, lines=reader.lines)


def read_value(text: str) -> Any:
    """Return the YAML value of a text given on the command line."""
    try:
        return _Reader().read(text)
    except (yaml.YAMLError, UnicodeEncodeError):
        raise InputError(f"'{text}' is not a YAML value; put quotes around it") from None
    except InputError as error:
        raise InputError(f"'{text}' is not a YAML value: {error}") from None


def yaml_text(data: Any) -> str:
    """Return data as YAML text that reads back equal by the rules of YAML 1.2 and 1.1."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def yaml_inline(data: Any) -> str:
    """Return data as YAML text in one line."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=True, width=math.inf
    ).rstrip("\n")


def _integer(text: str) -> int:
    return int(text, 16 if "x" in text else 8 if "o" in text else 10)


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_TAG = "tag:yaml.org,2002:"
_NUMBER = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_SCALARS: dict[str, tuple[re.Pattern[str], str, Any]] = {
    _TAG + name: (re.compile(rf"(?:{pattern})\Z"), first, make)
    for name, pattern, first, make in (
        ("null", "null|Null|NULL|~|", "nN~", lambda text: None),
        ("bool", "true|True|TRUE|false|False|FALSE", "tTfF", lambda text: text.lower() == "true"),
        ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789", _integer),
        ("float", rf"{_NUMBER}|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", "-+.0123456789", _float),
    )
}  # fmt: skip
"""Pattern of a scalar, its first characters, and its conversion, by tag (YAML 1.2.2, section 10.3.2)."""

_MERGE = _TAG + "merge"


class _Loader(Composer, CParser, Resolver):
    """Loader of YAML nodes by the core schema of YAML 1.2, with merge keys (`<<`), on top of libyaml."""

    yaml_implicit_resolvers: dict[str, Any] = {}

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        Resolver.__init__(self)
        self.depth = self.count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        self.count += 1
        if self.depth > MAX_DEPTH:
            raise _Refused(self._line(), TOO_DEEP)
        if self.count > MAX_NODES:
            raise _Refused(self._line(), f"has more than {MAX_NODES} keys and values; write fewer")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def _line(self) -> int:
        mark: Any = self.peek_event()
        return int(mark.start_mark.line) + 1


for _tag, (_pattern, _first, _) in _SCALARS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, [*_first, *([""] if _tag.endswith("null") else [])])
_Loader.add_implicit_resolver(_MERGE, re.compile(r"<<\Z"), ["<"])


class _Dumper(yaml.SafeDumper):
    """Dumper that quotes texts which YAML 1.1 or 1.2 would read as another type, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, (_pattern, _first, _) in _SCALARS.items():
    _Dumper.add_implicit_resolver(_tag, _pattern, [*_first])


class _Refused(Exception):  # noqa: N818
    """Fault of a YAML text, with its line."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.problem = line, problem


_Pairs = dict[str, tuple[yaml.Node, yaml.Node]]
"""Nodes of the keys and values of a mapping, by key."""


class _Reader:
    """Reader that converts a YAML text to data and records the line of each key."""

    def __init__(self, source: str = "") -> None:
        """Create a reader for the file named `source`, or for a value without a file."""
        self.lines: dict[Location, int] = {}
        self._source = source
        self._open: set[int] = set()
        """Identities of the lists and mappings that contain the current node, to detect cycles."""
        self._pairs: dict[int, _Pairs] = {}
        self._count = 0

    def read(self, text: str) -> Any:
        """Return the data of a text. Raises InputError with the line, or yaml.YAMLError."""
        try:
            node = _Loader(text).get_single_node()
            return self._data(node, ()) if node is not None else None
        except yaml.MarkedYAMLError as error:  # libyaml reads ahead of the nodes, and has a limit of its own
            if "nesting depth" not in str(error.problem) or error.problem_mark is None:
                raise
            refused = _Refused(error.problem_mark.line + 1, TOO_DEEP)
        except _Refused as error:
            refused = error
        where = f"{self._source}:{refused.line}: " if self._source else ""
        raise InputError(f"{where}{refused.problem}")

    def _data(self, node: yaml.Node, at: Location) -> Any:
        """Return the data of a node at a location."""
        line = node.start_mark.line + 1
        self.lines.setdefault(at, line)
        self._count += 1
        if self._count > MAX_NODES:
            raise _Refused(line, f"has more than {MAX_NODES} keys and values with aliases; write fewer")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if len(at) > MAX_DEPTH:
            raise _Refused(line, TOO_DEEP)
        if id(node) in self._open:
            raise _Refused(line, "an alias contains itself; write the value itself")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, at)
            _plain(node, "seq")
            return [self._data(item, (*at, i)) for i, item in enumerate(node.value)]
        finally:
            self._open.remove(id(node))

    def _mapping(self, node: yaml.MappingNode, at: Location) -> dict[str, Any]:
        result = {}
        for key, (key_node, value_node) in self._merged(node).items():
            self.lines[(*at, key)] = key_node.start_mark.line + 1
            result[key] = self._data(value_node, (*at, key))
        return result

    def _merged(self, node: yaml.MappingNode) -> _Pairs:
        """Return the keys and values of a mapping, those merged with `<<: *anchor` first."""
        if id(node) in self._pairs:
            return self._pairs[id(node)]
        _plain(node, "map")
        found: _Pairs = {}
        own: _Pairs = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = _scalar(key) if isinstance(key, yaml.ScalarNode) else None
            if not isinstance(name, str):
                said = f" {key.value}" if isinstance(key, yaml.ScalarNode) else ""
                raise _Refused(line, f"the key{said} is not a name; put quotes around it")
            if name in own:
                first = own[name][0].start_mark.line + 1
                raise _Refused(line, f"'{name}' is given twice (first in line {first}); remove one")
            own[name] = key, value
            if key.tag == _MERGE:
                self._merge(value, found)
        self._pairs[id(node)] = found | {name: pair for name, pair in own.items() if pair[0].tag != _MERGE}
        return self._pairs[id(node)]

    def _merge(self, node: yaml.Node, found: _Pairs) -> None:
        """Add the keys of one mapping, or of a list of mappings in order of precedence, to `found`."""
        for one in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            line = one.start_mark.line + 1
            if not isinstance(one, yaml.MappingNode):
                raise _Refused(line, "<< needs a mapping; write <<: *name")
            if id(one) in self._open:
                raise _Refused(line, "an alias contains itself; write the value itself")
            self._open.add(id(one))
            for key, pair in self._merged(one).items():
                found.setdefault(key, pair)
            self._open.remove(id(one))


def _plain(node: yaml.Node, kind: str) -> None:
    """Raise _Refused unless a list or mapping has its default tag."""
    if node.tag != _TAG + kind:
        raise _unknown(node)


def _unknown(node: yaml.Node) -> _Refused:
    tag = node.tag.replace(_TAG, "!!")
    return _Refused(node.start_mark.line + 1, f"is not YAML (the tag {tag} has no meaning here); remove it")


def _scalar(node: yaml.Node) -> Any:
    """Return the value of a scalar node."""
    text, line = str(node.value), node.start_mark.line + 1
    if node.tag in (_TAG + "str", _MERGE):
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise _Refused(line, f"the text {text!r} has an invalid character; remove it")
        return text
    if node.tag not in _SCALARS:
        raise _unknown(node)
    pattern, _, make = _SCALARS[node.tag]
    if len(text) > MAX_NUMBER_LENGTH and make in (_integer, _float):
        allowed = f"expected 1 to {MAX_NUMBER_LENGTH}"
        raise _Refused(line, f"a number has {len(text)} characters; {allowed}; round it")
    if not pattern.match(text):
        kind = node.tag.replace(_TAG, "!!")
        raise _Refused(line, f"is not YAML ('{text}' is not {kind}); remove {kind}")
    return make(text)
