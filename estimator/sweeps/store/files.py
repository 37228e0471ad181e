"""Files of a store, in a folder or at an fsspec URL. Each file is written atomically."""

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import fsspec
from fsspec.implementations.local import LocalFileSystem

from netcarlo.errors import InputError
from netcarlo.schema.destination import check_folder, regular

ABANDONED_S = 86_400.0
"""Age of a temporary file after which its writer is considered dead [s]."""


class Files:
    """Files below one folder. Paths are relative, with slashes: `chunks/a.parquet`."""

    def __init__(self, url: str | os.PathLike[str]) -> None:
        """Refer to a folder, which need not exist. Raises InputError for a URL that fsspec cannot open."""
        self.url = os.fspath(url)
        try:
            self.filesystem, self.root = fsspec.core.url_to_fs(self.url)
        except Exception as error:  # a driver that is not installed, or lacks options
            reason = str(error).partition("\n")[0]
            raise InputError(
                f"store {self.url}: cannot be opened ({reason}); check the URL, or name a local folder"
            ) from None
        self.local = isinstance(self.filesystem, LocalFileSystem)
        if self.local:
            self.root = os.path.realpath(self.root)

    def check_writable(self) -> None:
        """Raise InputError if this is a local folder that cannot be created or written to."""
        if self.local:
            check_folder(self.root)

    def path(self, name: str) -> str:
        """Return the path of a file within its file system."""
        return f"{self.root}/{name}" if name else str(self.root)

    def names(self, folder: str = "") -> dict[str, int]:
        """Return the sizes [bytes] of the files in `folder` by name, without temporary files; {} if it is
        missing."""
        return {name: size for name, size in self._listed(folder) if not temporary(name)}

    def _listed(self, folder: str) -> Iterator[tuple[str, int]]:
        with self._refused("read"):
            self.filesystem.invalidate_cache()
            try:
                entries = self.filesystem.ls(self.path(folder), detail=True)
            except FileNotFoundError:
                return
            for entry in entries:
                path = PurePosixPath(entry["name"].replace("\\", "/"))
                if path != PurePosixPath(self.path(folder)):  # some object stores also list the folder itself
                    yield path.name, int(entry["size"] or 0)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        with self._refused("read"):
            try:
                if self.local and not stat.S_ISREG(os.stat(self.path(name)).st_mode):
                    raise OSError(errno.EINVAL, f"{name} is not a regular file")
                return bytes(self.filesystem.cat_file(self.path(name)))
            except FileNotFoundError:
                return None

    def write(self, name: str, data: bytes, *, new: bool = False) -> None:
        """Write a file and flush it to the disk. With `new`, do not replace an existing file.

        The data are written to a temporary file in the same folder, which is then renamed. Raises InputError,
        and removes the temporary file, if there is no space or no permission.
        """
        folder, _, last = self.path(name).rpartition("/")
        scratch = f"{folder}/.{last}.{secrets.token_hex(8)}.tmp"
        with self._refused("written"):
            if self.local:
                _write_local(Path(folder), Path(scratch), Path(self.path(name)), data, new)
                return
            self.filesystem.makedirs(folder, exist_ok=True)
            if new and self.filesystem.exists(self.path(name)):
                return
            try:
                self.filesystem.pipe_file(scratch, data)
                self.filesystem.mv(scratch, self.path(name))
            except BaseException:
                if self.filesystem.exists(scratch):
                    self.filesystem.rm_file(scratch)
                raise

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        with self._refused("written"):
            try:
                self.filesystem.rm_file(self.path(name))
            except FileNotFoundError:
                return

    def remove_abandoned(self, folder: str) -> None:
        """Remove temporary files that are older than `ABANDONED_S`, whose writers were killed."""
        for name in [name for name, _ in self._listed(folder) if temporary(name)]:
            try:
                modified = self.filesystem.modified(self.path(f"{folder}/{name}")).timestamp()
            except (FileNotFoundError, NotImplementedError):
                continue
            if time.time() - modified > ABANDONED_S:
                self.remove(f"{folder}/{name}")

    @contextmanager
    def _refused(self, what: str) -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            if self.local and not isinstance(error, OSError):  # remote file systems raise any class
                raise
            raise self._refusal(what, error) from None

    def _refusal(self, what: str, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        number = getattr(error, "errno", None)
        if what == "read":
            return InputError(f"store {self.url}: cannot be read ({reason}); check its name and permissions")
        remedy = (
            "free space" if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "allow writing there"
        )
        return InputError(
            f"store {self.url}: cannot be written ({reason}); finished chunks are stored; {remedy} and "
            "run the same command again"
        )


def temporary(name: str) -> bool:
    """Return True for the name of a temporary file."""
    return name.startswith(".")


def _write_local(folder: Path, scratch: Path, target: Path, data: bytes, new: bool) -> None:
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with open(scratch, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if new:
            _link(scratch, target)
        else:
            os.replace(scratch, regular(target))
    finally:
        scratch.unlink(missing_ok=True)
    _fsync(folder)
    if made:
        _fsync(folder.parent)


def _link(scratch: Path, target: Path) -> None:
    """Give a file its name unless it exists already; a rename would overwrite."""
    try:
        os.link(scratch, target)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not target.exists():
            os.replace(scratch, target)


def _fsync(folder: Path) -> None:
    """Flush the entries of a folder to the disk."""
    if os.name == "nt":  # Windows does so by itself and cannot open folders
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
