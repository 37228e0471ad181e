"""Locks that let one process create a file of the cache folder while others wait and load the result.

Workers of a test run or of Dask, and commands in two terminals, often need the same model at the same time.
The lock is `flock` on an empty file beside the file to be created, so it ends with the process that holds it.
Without `flock` (Windows, some network file systems) two processes may create the same file, as `cache.write`
allows.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from netcarlo.kernels.runtime import cache

if sys.platform != "win32":
    import fcntl

PATIENCE_S = 300.0
"""Maximum wait for another process [s], longer than any compilation. That process may be suspended."""

POLL_S = 0.05
"""Interval between two attempts to get a lock [s]."""

_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """Wait until no other process or thread creates a file of the cache folder, and lock it.

    Does nothing if the file exists, on entry or while it waits. Check again before creating the file.
    """
    lock = _lock_of(file)
    number = None if file.exists() else _acquired(file, lock)
    try:
        yield
    finally:
        if number is not None:
            with suppress(OSError):
                lock.unlink()  # waiting processes notice, and open the new file
            _release(number)


def is_locked(file: Path) -> bool:
    """Return True if another process or thread is creating a file of the cache folder."""
    if sys.platform == "win32":
        return False
    try:
        number = os.open(_lock_of(file), _FLAGS)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        return isinstance(error, BlockingIOError)
    _release(number)
    return False


def _lock_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.lock")


def _acquired(file: Path, lock: Path) -> int | None:
    """Return the descriptor of the locked file; None if the file to make exists or there is no lock."""
    if sys.platform == "win32" or not cache.writable():
        return None
    deadline = time.monotonic() + PATIENCE_S
    while not file.exists() and time.monotonic() < deadline:
        try:
            number = os.open(lock, _FLAGS | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(lock, number):
                return number
            _release(number)
        except BlockingIOError:
            os.close(number)
            time.sleep(POLL_S)
        except OSError:  # a file system without locks
            os.close(number)
            return None
    return None


def _is_still(lock: Path, number: int) -> bool:
    """Return True if an open lock file still has its name; the last holder removes the file."""
    try:
        return os.path.samestat(lock.stat(), os.fstat(number))
    except FileNotFoundError:
        return False


def _release(number: int) -> None:
    with suppress(OSError):
        assert sys.platform != "win32"
        fcntl.flock(number, fcntl.LOCK_UN)  # also for processes forked meanwhile
    os.close(number)
