"""Files that a document may make netcarlo read: those in its folder, and those that the user trusts.

A scenario, sweep or plan may come from a stranger. The files that it names must lie in its folder or below,
links resolved. The user must trust any other file: `--trust FILE`, or `netcarlo.trust`. Trust applies to the
content of a file (its SHA-256), so it ends when the file changes.
"""

import hashlib
import shlex
from pathlib import Path

from netcarlo.errors import InputError
from netcarlo.schema.document import read_bytes

contents: set[str] = set()
"""SHA-256 of each trusted content."""


def sha256(content: bytes) -> str:
    """Return the SHA-256 of a content, 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def beside(path: Path, source: Path) -> bool:
    """Return True if a file lies in the folder of a document (a file or a folder) or below, links
    resolved."""
    real = path.resolve()
    homes = [source] if source.is_dir() else [source.parent, source.resolve().parent]
    return any(real.is_relative_to(home.resolve()) for home in homes)


def check(path: Path, source: Path) -> None:
    """Raise InputError for a file that a document must not read. The message shows none of the content."""
    try:
        if beside(path, source) or (contents and sha256(read_bytes(path)) in contents):
            return
    except (OSError, ValueError, RuntimeError):
        pass  # impossible file name, circular links or unreadable file
    raise InputError(
        f"{str(path)[:200]}: is outside the folder of the file that refers to it; if you trust it, add "
        "--trust "
        f"{shlex.quote(str(path))} (in Python: netcarlo.trust)"
    )
