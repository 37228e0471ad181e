"""Destinations of results: only regular files are ever replaced.

A path may name a regular file or nothing yet, a symbolic link, a pipe (FIFO), a character device such as
`/dev/null`, or a file descriptor such as `/dev/stdout`. A regular file is replaced in one step by a complete
one. A symbolic link stays, and its target is replaced. Pipes, character devices and descriptors are written
into. Everything else is refused: folders, sockets, and block devices, whose content would be lost.
"""

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from netcarlo.errors import InputError, MachineError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Error numbers that mean that the disk is full or cannot be written at all."""

_DESCRIPTORS = re.compile(r"/proc/(\d+)/(?:task/\d+/)?fd")
"""Folder of the open files of a process in `/proc`, with links resolved."""

_LONGEST_CHAIN = 40
"""Maximum number of symbolic links in a chain, as in Linux."""

_REFUSED = {
    stat.S_IFDIR: "is a folder; name a file",
    stat.S_IFBLK: "is a block device, which is never written to; name a file",
    stat.S_IFSOCK: "is a socket, which is never written to; name a file",
}
"""Reason and remedy for each kind of file that is refused."""


@dataclass(frozen=True)
class Destination:
    """Destination of the content of an output file."""

    path: Path
    """Path of the file with links resolved."""
    replaced: bool
    """True if a complete file replaces this one; otherwise the content is written into it."""
    descriptor: int | None = None
    """Descriptor of this process that the path names, if it names one."""

    def receive(self, complete: Path) -> None:
        """Move or copy the content of a complete file to this destination. Raises OSError."""
        if self.replaced:
            with suppress(FileNotFoundError):
                shutil.copymode(self.path, complete)
            os.replace(complete, self.path)
            return
        with complete.open("rb") as source, self._opened() as sink:
            shutil.copyfileobj(source, sink)
            sink.flush()

    def check(self) -> None:
        """Raise OSError if the destination cannot be written to. Changes nothing."""
        if not self.replaced and self.path.is_fifo() and self.descriptor is None:
            _pipes[self.path] = self._opened()
        elif not self.replaced:
            self._opened().close()
        elif self.path.exists() and not os.access(self.path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            check_room(self.path.parent)

    def _opened(self) -> BinaryIO:
        if self.descriptor is not None:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            return open(os.dup(self.descriptor), "wb")
        if self.path in _pipes:
            return _pipes.pop(self.path)
        # With O_NONBLOCK, opening a pipe without a reader fails (ENXIO) instead of blocking forever.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        os.set_blocking(handle, True)
        return open(handle, "wb")


_pipes: dict[Path, BinaryIO] = {}
"""Open pipes that were checked, by path. They stay open because closing one would signal the end to its
reader."""


def destination(path: str | Path) -> Destination:
    """Return the destination of the output file `path`. Raises InputError for a path that cannot be one."""
    try:
        return _followed(Path(path))
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: an impossible file name
        raise write_error(path, error) from None


def _followed(path: Path) -> Destination:
    at = path
    for _ in range(_LONGEST_CHAIN):
        folder = os.path.realpath(at.parent)
        if named := _DESCRIPTORS.fullmatch(folder):
            own = int(named[1]) == os.getpid() and at.name.isdecimal()
            return Destination(at, replaced=False, descriptor=int(at.name) if own else None)
        if not at.is_symlink():
            break
        at = Path(folder, os.readlink(at))
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):  # reported by `check` or when writing
        kind = stat.S_IFREG
    if kind in _REFUSED:
        raise InputError(f"{path}: {_REFUSED[kind]}")
    return Destination(Path(os.path.realpath(at)), replaced=kind == stat.S_IFREG)


def check_file(path: str | Path) -> None:
    """Raise InputError if the output file `path` cannot be written. Changes nothing."""
    to = destination(path)
    try:
        to.check()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise write_error(path, error) from None


def check_folder(folder: str | Path, names: Iterable[str] = ()) -> None:
    """Raise InputError if `folder`, or a file in it with one of these `names`, cannot be created or
    written."""
    try:
        check_room(Path(os.path.realpath(folder)))
    except InputError as error:
        raise InputError(f"output folder {folder}: {error}") from None
    except (OSError, ValueError) as error:
        raise write_error(f"output folder {folder}", error) from None
    for name in names:
        if os.path.lexists(Path(folder, name)):
            check_file(Path(folder, name))


def check_room(folder: Path) -> None:
    """Raise OSError or InputError if no file can be created in a folder, or in its nearest existing
    parent."""
    place = folder.absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise InputError(f"{place} is a file; name a folder you can write to")
    with tempfile.TemporaryFile(dir=place):
        pass


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write text files in UTF-8, creating their folders; none is replaced before all are complete.

    Raises InputError, or MachineError if the disk is full.
    """
    with ExitStack() as stack:
        made = {path: stack.enter_context(_scratch(path)) for path in texts}
        for path, text in texts.items():
            with _refused(path):
                made[path][1].write_text(text, encoding="utf-8")
        for path, (to, scratch) in made.items():
            with _refused(path):
                to.receive(scratch)


def write(path: str | Path, make: Callable[[Path], None]) -> None:
    """Write a file, creating its folder; `make` fills a temporary file, which then replaces the old one.

    Raises InputError, or MachineError if the disk is full.
    """
    with _scratch(Path(path)) as (to, scratch), _refused(path):
        make(scratch)
        to.receive(scratch)


def append(path: Path, text: str) -> None:
    """Append text to a file, creating its folder. Raises the same errors as `write`."""
    to = destination(path)
    with _refused(path):
        to.path.parent.mkdir(parents=True, exist_ok=True)
        with to.path.open("ab") as file:
            file.write(text.encode())


def regular(path: Path) -> Path:
    """Return the regular file that an output path names or will name, with links resolved.

    Raises InputError if the path names something else.
    """
    to = destination(path)
    if not to.replaced:
        raise InputError(f"{path}: is not a regular file; remove it, or name another folder")
    return to.path


@contextmanager
def _scratch(path: Path) -> Iterator[tuple[Destination, Path]]:
    """Yield the destination of a file and the path of a temporary file to fill first.

    The temporary file is on the same file system if it will be moved.
    """
    to = destination(path)
    with ExitStack() as stack:
        with _refused(path):
            if to.replaced:
                to.path.parent.mkdir(parents=True, exist_ok=True)
            beside = to.path.parent if to.replaced else None
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=".netcarlo-", dir=beside))
        yield to, Path(folder, to.path.name)


@contextmanager
def _refused(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from None


def write_error(path: str | Path, error: OSError | ValueError) -> InputError | MachineError:
    """Return the error for a file that cannot be written: its name is wrong, or the disk is full."""
    number = getattr(error, "errno", None)
    reason = os.strerror(number) if number else str(error)
    if number in FULL:
        return MachineError(f"{path}: cannot be written ({reason}); make room and run it again")
    remedy = _REMEDIES.get(number or 0, "name a folder you can write to")
    return InputError(f"{path}: cannot be written ({reason}); {remedy}")


_REMEDIES = {
    errno.ENXIO: "nothing reads from this pipe; start its reader first",
    errno.ELOOP: "its links lead in a circle; name a file",
    errno.ENAMETOOLONG: "write a shorter name",
}
