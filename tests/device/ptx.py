"""Parser of PTX as numba-cuda writes it: functions, each a list of statements.

Source: NVIDIA, "Parallel Thread Execution ISA", version 9.0.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

VERSION = "8.0"
"""PTX version that every driver for CUDA 12 loads."""


class UnknownError(Exception):
    """PTX without a known translation."""


Place = tuple[tuple[str, int], ...]
"""Place in the source: a file and a line, preceded by those of the calls inlined there."""


class Statement(str):
    """Statement of a function, without the semicolon."""

    place: Place = ()
    """Source place, known in PTX with lines (`lines.ptx`)."""


class Function(NamedTuple):
    """Kernel, or function that one calls."""

    name: str
    is_kernel: bool
    parameters: int
    returns: bool
    statements: list[Statement]
    """Statements in order: "label:", "{", "}", a declaration, or an instruction."""


def read(text: str) -> list[Function]:
    """Return the functions of a module. Raises UnknownError for another version or layout of PTX."""
    version = re.search(r"^\.version (\S+)$", text, re.M)
    if not version or version[1] != VERSION:
        raise UnknownError(f".version {version[1] if version else 'missing'}, not {VERSION}")
    found: list[Function] = []
    depth, head = 0, ""
    for statement in _statements(text):
        depth += {"{": 1, "}": -1}.get(statement, 0)
        if depth == 0:
            head = "" if statement == "}" else statement
        elif depth == 1 and statement == "{":
            found.append(_function(head))
        else:
            found[-1].statements.append(statement)
    return found


def shared(text: str) -> dict[str, int]:
    """Return the bytes of each variable in shared memory. Raises UnknownError for one of another kind."""
    found, depth = dict[str, int](), 0
    for statement in _statements(text):
        depth += {"{": 1, "}": -1}.get(statement, 0)
        if ".shared" in statement.split():
            parts = re.fullmatch(r"(?:\.visible )?\.shared \.align 8 \.b8 (\w+)\[(\d+)\]", statement)
            if depth or not parts:
                raise UnknownError(statement)
            found[parts[1]] = int(parts[2])
    return found


def _statements(text: str) -> Iterator[Statement]:
    text = re.sub(r"//.*", "", text)
    files = dict(re.findall(r'^\s*\.file\s+(\d+) "(.*)"$', text, re.M))
    text = re.sub(r"^\s*\.(version|target|address_size|file)\s.*$", "", text, flags=re.M)
    places, place = dict[str, Place](), Place()
    # Braces stand alone on their lines; those of an operand, such as {%f1, %f2}, do not.
    for piece in re.split(r";|^(\s*[{}])\s*$|^(\s*\$?\w+:)|^(\s*\.loc\s.*)$", text, flags=re.M):
        if piece and (found := re.fullmatch(_LINE, piece.strip())):
            place = (*places.get(found[4], ()), (files[found[2]], int(found[3])))
            places[found[1]] = place
        elif piece and piece.strip():
            statement = Statement(" ".join(piece.split()))
            statement.place = place
            yield statement


_LINE = r"\.loc\s+((\d+) (\d+) \d+)(?:, function_name [^,]+, inlined_at (\d+ \d+ \d+))?"


def _function(head: str) -> Function:
    is_kernel = ".entry" in head
    name = re.search(r"\.entry (\w+)" if is_kernel else r"\.func (?:\([^)]*\) )?(\w+)", head)
    if not name:
        raise UnknownError(head)
    parameters = re.findall(rf"\.param (?:\.align \d+ )?\.(\w+) {name[1]}_param_(\d+)", head)
    if [int(number) for _, number in parameters] != list(range(len(parameters))):
        raise UnknownError(head)
    if is_kernel and {kind for kind, _ in parameters} - {"u64"}:
        raise UnknownError(head)
    return Function(name[1], is_kernel, len(parameters), "func_retval0" in head, [])
