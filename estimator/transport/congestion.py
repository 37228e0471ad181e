"""Congestion controls by name, and users' own: Python files, which are read as text until they are trusted.

The file may name constants and their defaults in one literal, `CONSTANTS = {"increase": 1.0}`; the
kernel gets their values in that order.

What is trusted is a content, by its SHA-256.  `locate` trusts a file that lies with the scenario that names
it, `trust` what the user names; `check` stands before every import.
"""

import ast
import logging
import os
import re
import shlex
from pathlib import Path

from netcarlo.errors import InputError
from netcarlo.kernels.senders import BY_NAME, OF_LINUX, WINDOWS
from netcarlo.schema import trusted
from netcarlo.schema.arguments import checked
from netcarlo.schema.document import read_bytes
from netcarlo.schema.trusted import sha256 as sha256

BUILT_IN = WINDOWS
"""Congestion controls that come with netcarlo besides the standard one."""

CONTROLS_OF_LINUX = tuple(sorted(OF_LINUX, key="cubic".__ne__))
"""Congestion controls of `protocol: linux`, the default first."""

HAVE_SLOW_START = tuple(name for name in CONTROLS_OF_LINUX if BY_NAME[f"linux_{name}"].slow_start)
"""Congestion controls of `protocol: linux` with the option `slow_start`."""

ONLY_LINUX = tuple(name for name in CONTROLS_OF_LINUX if name not in BUILT_IN)
"""Congestion controls that only `protocol: linux` has."""

STANDARD = "standard"
"""The word for the congestion control that a protocol has unless another one is named."""

NAMES = (STANDARD, *dict.fromkeys((*BUILT_IN, *CONTROLS_OF_LINUX)))
"""What `congestion_control` may say beside the name of a file."""

MAX_BYTES = 1_000_000
"""Bytes of a congestion control file."""

_trusted = trusted.contents
_unsaid: set[str] = set()  # trusted for where they lie, and never yet run


@checked
def trust(what: str | Path) -> None:
    """Let a user's Python run, or a data file be read, from wherever it lies.

    `what` is a file, whose present content is trusted, or the SHA-256 of a content (64 digits). Raises
    InputError if there is no such file.
    """
    named = re.fullmatch("[0-9a-f]{64}", str(what).lower())
    python = Path(what).suffix == ".py"
    _trusted.add(named[0] if named else sha256(read(Path(what)) if python else read_bytes(what)))


def trust_text(text: str) -> None:
    """Let this text run, which the user was asked about before."""
    _trusted.add(sha256(text.encode()))


def locate(name: str, scenario: Path) -> Path:
    """The file that a scenario (its file, or a folder) names, looked up in the scenario's folder.

    It is trusted if it lies there or below, links followed.  Raises InputError for a file elsewhere, unless
    its content is trusted.
    """
    folder = scenario if scenario.is_dir() else scenario.parent
    path = folder / name
    if os.path.isfile(path):
        content = read(path)
        if not trusted.beside(path, scenario):
            refuse_unless_trusted(path, content, "lies outside the folder of the scenario")
        elif (digest := sha256(content)) not in _trusted:
            _trusted.add(digest)
            _unsaid.add(digest)
    return path  # what is no file is said with the name of the field


def check(path: Path, content: bytes) -> None:
    """Say once that this Python runs.  Raises InputError unless it is trusted."""
    refuse_unless_trusted(path, content, "was not loaded with a scenario in its folder")
    if (digest := sha256(content)) in _unsaid:
        _unsaid.discard(digest)
        logging.getLogger(__name__).warning("%s is Python and runs as you (SHA-256 %s)", path, digest)


def refuse_unless_trusted(path: Path | str, content: bytes, why: str) -> None:
    """Raise InputError, with the reason, unless the content of a file is trusted."""
    digest = sha256(content)
    if digest not in _trusted:
        what = shlex.quote(str(path)) if holds(Path(path), content) else digest
        raise InputError(
            f"{path}: is Python that would run as you, and {why} (SHA-256 {digest}); read it, then add "
            f"--trust {what} (from Python: netcarlo.trust)"
        )


def holds(path: Path, content: bytes) -> bool:
    """True if the file is there and has this content."""
    try:
        return read(path) == content
    except InputError:
        return False


def read(path: Path) -> bytes:
    """The content of a congestion control file.  Raises InputError, for devices and huge files, too."""
    if not os.path.isfile(path):
        raise InputError(f"{str(path)[:200]}: is no file; name a Python file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        content.decode()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a readable file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8; save it as UTF-8") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: has over {MAX_BYTES} bytes, the most of a congestion control; shorten it")
    return content


def default_constants(path: Path) -> dict[str, float]:
    """The constants of a congestion control file and their defaults; empty if it has none.

    Raises InputError.
    """
    try:
        tree = ast.parse(read(path))
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: is not Python ({error.msg}); correct that line") from None
    except (RecursionError, MemoryError, ValueError):  # nested too deeply; a zero byte
        raise InputError(f"{path}: is not Python that can be read; correct it") from None
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "CONSTANTS" for target in targets):
            assert isinstance(node, ast.Assign)
            return _numbers(node.value, path)
    return {}


def _numbers(node: ast.expr, path: Path) -> dict[str, float]:
    try:
        return {str(name): float(value) for name, value in ast.literal_eval(node).items()}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError):
        raise InputError(
            f"{path}:{node.lineno}: CONSTANTS is no dictionary of names and numbers; "
            'write CONSTANTS = {"increase": 1.0}'
        ) from None
