"""Compiled models on disk, identified by a hash of their sources.

Numba's own cache never finds a bound function again, because its key includes the random identity of the
functions in its globals.

Files of the cache are executed, so none may come from others: the folder and its files must belong to the
user, and nobody else may be able to write to them. Each file begins with a checksum.
"""

import functools
import hashlib
import logging
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Collection
from dis import EXTENDED_ARG, hasconst
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import looked_up

KEPT = 1000
"""Maximum number of files in the folder, more than there are models of 0.2 to 3 MB; the oldest are deleted
first."""

Update = Callable[[bytes], object]
"""Method `update` of a hash."""

_COMPILERS = (
    "compile.py", "numba_pipeline.py", "numba_cache.py", "numba_shortcuts.py", "cuda.py",
    "shared_memory.py", "mlir.py",
)  # fmt: skip

_LOADS = frozenset(hasconst)
"""Instructions whose argument is the index of a constant."""

_LIBRARIES = {*sys.stdlib_module_names, "numba", "numpy"}  # a key includes their versions, not their sources


def folder() -> Path:
    """Return the folder of compiled models: `NETCARLO_CACHE`, or `netcarlo` in the user's cache folder."""
    if own := os.environ.get("NETCARLO_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netcarlo"


def writable() -> bool:
    """Return True if files can be stored in the folder, which is created if necessary."""
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return _is_own(folder(), folder().stat()) and os.access(folder(), os.W_OK)


def _is_own(name: Path, state: os.stat_result) -> bool:
    """Return True if a file belongs to the user and nobody else may write to it; warn once if not."""
    if not hasattr(os, "geteuid"):  # Windows, where profiles are their users' own
        return True
    if state.st_uid != os.geteuid():
        _warn(f"{name} belongs to user {state.st_uid}, not to you; set NETCARLO_CACHE to a folder of yours")
    elif state.st_mode & 0o022:
        _warn(f"others can write to {name} (mode {state.st_mode & 0o777:o}); remove it, or chmod go-w it")
    else:
        return True
    return False


@functools.cache
def _warn(reason: str) -> None:
    logging.getLogger(__name__).warning("compiled models are not taken from disk: %s", reason)


def path(model: Any, suffix: str, *versions: object) -> Path:
    """Return the file of a model compiled from its present sources with a compiler of these versions."""
    digest = hashlib.sha256(repr(versions).encode())
    describe(model, digest.update)
    name = re.sub(r"[^a-z0-9]+", "_", model.name.lower())[-40:]
    return folder() / f"{name}-{digest.hexdigest()[:24]}{suffix}"


def describe(model: Any, update: Update, source: Callable[[str | None], bytes] | None = None) -> None:
    """Call `update` with everything from which a model's code is compiled.

    That is the bytecode of each function that the model reaches, and the constants that it reads: a change
    elsewhere in the same file, or of a comment or a docstring, is none.  `source(file)` returns the contents
    of a file of the compilers; b"" if there is none.
    """
    source = source or _source
    update(repr((sys.version_info[:2], model.hot_words)).encode())
    for compiler in _COMPILERS:
        update(source(str(Path(__file__).with_name(compiler))))
    _describe(model.make(lambda function: function), update, set())


def _describe(value: Any, update: Update, seen: set[int], read: Collection[str] | None = None) -> None:
    """Call `update` with a value, and with all that it depends on if it is a function.

    `read` are the attributes that a function reads from it; all are described if it is None.
    """
    if isinstance(value, FunctionType):
        if id(value) in seen:
            return
        seen.add(id(value))
        update(value.__qualname__.encode())
        _describe_code(value.__code__, update)
        update(repr((value.__defaults__, value.__kwdefaults__, getattr(value, "noinline", False))).encode())
        for cell in value.__closure__ or ():
            _describe(cell.cell_contents, update, seen)
        for name, attributes in sorted(looked_up(value.__code__).items()):
            update(name.encode())
            if name in value.__globals__:
                _describe(value.__globals__[name], update, seen, attributes)
    elif isinstance(value, np.ndarray):
        update(value.tobytes())
    elif isinstance(value, ModuleType):
        if value.__name__.partition(".")[0] not in _LIBRARIES:
            members = vars(value)
            chosen = members.keys() - vars(ModuleType("")).keys() if read is None else {*read} & {*members}
            for name in sorted(chosen):
                update(name.encode())
                _describe(members[name], update, seen, read)
    elif isinstance(value, type):
        update(value.__name__.encode())
        members = getattr(value, "__members__", {}) or getattr(value, "_field_defaults", {})
        update(
            repr((getattr(value, "_fields", ()), {name: repr(members[name]) for name in members})).encode()
        )
    elif isinstance(value, tuple):  # functions that belong together; a key must not include addresses
        update(type(value).__name__.encode())
        for item in value:
            _describe(item, update, seen)
    else:
        update(repr(value).encode())


def _describe_code(code: CodeType, update: Update) -> None:
    """Call `update` with what a function does: instructions, the constants that they load, and names.

    An instruction holds the index of its constant. A docstring is a constant that none loads, and it moves
    the indices of others; hence the constants are described, in the order of the instructions.
    """
    instructions, constants = bytearray(code.co_code), []
    for at in range(0, len(instructions), 2):
        if instructions[at] in _LOADS:
            index = instructions[at + 1]
            instructions[at + 1] = 0
            if at and instructions[at - 2] == EXTENDED_ARG:
                index |= instructions[at - 1] << 8
                instructions[at - 1] = 0
            constants.append(code.co_consts[index])
    update(repr((bytes(instructions), code.co_names, code.co_varnames, code.co_freevars)).encode())
    update(repr(code.co_cellvars).encode())
    for constant in constants:
        if isinstance(constant, CodeType):
            _describe_code(constant, update)
        else:
            update(repr(sorted(constant, key=repr) if isinstance(constant, frozenset) else constant).encode())


def _source(file: str | None) -> bytes:
    return Path(file).read_bytes() if file and Path(file).is_file() else b""


def write(file: Path, data: bytes) -> None:
    """Write a file atomically; do nothing if the folder cannot be written."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as draft:
            made = Path(draft) / file.name
            made.touch(mode=0o600)
            made.write_bytes(data)
            os.replace(made, file)
        for old in sorted(file.parent.glob("*-*.*"), key=lambda f: f.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        pass


_HEADER = b"// netcarlo %s\n"  # also a comment of PTX


def _header(file: Path, payload: bytes) -> bytes:
    """Return the header, whose checksum includes the name, so that files cannot be renamed."""
    return _HEADER % hashlib.sha256(file.name.encode() + b"\0" + payload).hexdigest().encode()


def keep(file: Path, payload: bytes) -> None:
    """Store a compiled model after its checksum, as `write` does."""
    write(file, _header(file, payload) + payload)


def read(file: Path) -> bytes | None:
    """Return the contents of a file; None if it is missing, damaged, or writable by others."""
    try:
        if not _is_own(file.parent, file.parent.stat()):
            return None
        with file.open("rb") as opened:
            if not _is_own(file, os.fstat(opened.fileno())):
                return None
            first, payload = opened.readline(100), opened.read()
    except OSError:
        return None
    return payload if first == _header(file, payload) else None


class NumbaFile:
    """Cache of one compiled function in one file, which replaces that of a Numba dispatcher.

    Both methods use private parts of Numba. If one fails, the function is compiled again.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled function, or None if there is none."""
        try:
            from numba.core.compiler import CompileResult

            data = read(self.file)
            return data and CompileResult._rebuild(context, *pickle.loads(data))
        except Exception:
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store a compiled function."""
        try:
            from numba.core.serialize import dumps

            if not result.library.has_dynamic_globals:
                keep(self.file, dumps(result._reduce()))
        except Exception:
            pass
