"""Congestion controls by name, and users' own controls: Python files that run only if they are trusted.

A file may define constants with defaults in one literal, `CONSTANTS = {"increase": 1.0}`; the kernel gets
their values in this order.

Trust applies to the content of a file (its SHA-256). `locate` trusts a file in the folder of the scenario
that names it, `trust` any file that the user names; `check` precedes every import.
"""

import ast
import logging
import os
import re
import shlex
from pathlib import Path

from netcarlo.errors import InputError
from netcarlo.kernels.mptcp.coupled.control import Algorithm
from netcarlo.kernels.senders import BY_NAME, OF_LINUX, WINDOWS
from netcarlo.schema import trusted
from netcarlo.schema.arguments import checked
from netcarlo.schema.document import read_bytes
from netcarlo.schema.trusted import sha256 as sha256

BUILT_IN = WINDOWS
"""Built-in congestion controls besides the standard one."""

CONTROLS_OF_LINUX = tuple(sorted(OF_LINUX, key="cubic".__ne__))
"""Congestion controls of `protocol: linux`, the default first."""

HAVE_SLOW_START = tuple(name for name in CONTROLS_OF_LINUX if BY_NAME[f"linux_{name}"].slow_start)
"""Congestion controls of `protocol: linux` with the option `slow_start`."""

ONLY_LINUX = tuple(name for name in CONTROLS_OF_LINUX if name not in BUILT_IN)
"""Congestion controls that only `protocol: linux` has."""

COUPLED = {algorithm.name.lower(): algorithm for algorithm in Algorithm}
"""Coupled congestion controls, which only `protocol: mptcp` has, with their numbers."""

STANDARD = "standard"
"""Name of the congestion control that a protocol uses by default."""

NAMES = (STANDARD, *dict.fromkeys((*BUILT_IN, *CONTROLS_OF_LINUX)), *COUPLED)
"""Values of `congestion_control` other than file names."""

MAX_BYTES = 1_000_000
"""Maximum size of a congestion control file [byte]."""

_trusted = trusted.contents
_unsaid: set[str] = set()  # trusted because of their folder, and not yet logged


@checked
def trust(what: str | Path) -> None:
    """Trust a file: let a user's Python run, or a data file be read, from any folder.

    `what` is a file, whose current content is trusted, the SHA-256 of a content (64 digits), or the folder of
    a study, whose `claims.py` is trusted. Raises InputError if there is no such file.
    """
    if os.path.isfile(code := Path(what) / "claims.py"):
        what = code
    named = re.fullmatch("[0-9a-f]{64}", str(what).lower())
    python = Path(what).suffix == ".py"
    _trusted.add(named[0] if named else sha256(read(Path(what)) if python else read_bytes(what)))


def trust_text(text: str) -> None:
    """Trust this Python text, which the user has confirmed."""
    _trusted.add(sha256(text.encode()))


def locate(name: str, scenario: Path) -> Path:
    """Return the path of a file that a scenario (its file, or a folder) names, relative to the scenario's
    folder.

    The file is trusted if it lies there or below, links resolved. Raises InputError for a file elsewhere
    unless its content is trusted.
    """
    folder = scenario if scenario.is_dir() else scenario.parent
    path = folder / name
    if os.path.isfile(path):
        content = read(path)
        if not trusted.beside(path, scenario):
            refuse_unless_trusted(path, content, "is outside the folder of the scenario")
        elif (digest := sha256(content)) not in _trusted:
            _trusted.add(digest)
            _unsaid.add(digest)
    return path  # a missing file is reported with the name of the field


def check(path: Path, content: bytes) -> None:
    """Log once that this Python runs. Raises InputError unless it is trusted."""
    refuse_unless_trusted(path, content, "was not loaded with a scenario in its folder")
    if (digest := sha256(content)) in _unsaid:
        _unsaid.discard(digest)
        logging.getLogger(__name__).warning("%s runs with your permissions (SHA-256 %s)", path, digest)


def refuse_unless_trusted(path: Path | str, content: bytes, why: str) -> None:
    """Raise InputError, with the reason, unless the content of a file is trusted."""
    digest = sha256(content)
    if digest not in _trusted:
        what = shlex.quote(str(path)) if holds(Path(path), content) else digest
        raise InputError(
            f"{path}: is Python code that would run with your permissions, and {why} (SHA-256 {digest}); "
            "read it, then add "
            f"--trust {what} (in Python: netcarlo.trust)"
        )


def holds(path: Path, content: bytes) -> bool:
    """Return True if the file exists and has this content."""
    try:
        return read(path) == content
    except InputError:
        return False


def read(path: Path) -> bytes:
    """Return the content of a congestion control file. Raises InputError, also for devices and large
    files."""
    if not os.path.isfile(path):
        raise InputError(f"{str(path)[:200]}: is not a file; name a Python file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        content.decode()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a readable file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8; save it as UTF-8") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: is larger than {MAX_BYTES} bytes, the maximum; shorten it")
    return content


def default_constants(path: Path) -> dict[str, float]:
    """Return the constants of a congestion control file with their defaults; empty if it has none.

    Raises InputError.
    """
    try:
        tree = ast.parse(read(path))
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: is not Python ({error.msg}); correct that line") from None
    except (RecursionError, MemoryError, ValueError):  # nested too deeply; a zero byte
        raise InputError(f"{path}: cannot be parsed as Python; correct it") from None
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
            f"{path}:{node.lineno}: CONSTANTS is not a dictionary of names and numbers; "
            'write CONSTANTS = {"increase": 1.0}'
        ) from None
