"""Writing results: checked before the work, all of a file or nothing of it."""

import errno
import os
import tempfile
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netcarlo.errors import InputError, MachineError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that spreadsheets take for formulas."""


def check_writable(folder: str | Path) -> None:
    """Raise InputError if no file can be made in `folder`, or in the folder it would be made in."""
    place = Path(folder).absolute()
    try:
        while not place.exists():
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        if os.path.exists(place) and not os.path.isdir(place):
            remedy = "name a folder you can write to"
            raise InputError(f"output folder {folder}: {place} is a file; {remedy}") from None
        raise unwritten(f"output folder {folder}: {place}", error) from None


def unwritten(path: str | Path, error: OSError) -> InputError | MachineError:
    """What to raise for a file that cannot be written: the folder is wrong, or the machine is full."""
    if error.errno in _FULL:
        return MachineError(f"{path}: cannot be written ({error.strerror}); make room and run it again")
    return InputError(f"{path}: cannot be written ({error.strerror}); name a folder you can write to")


def csv_text(frame: "pd.DataFrame") -> str:
    """A frame without its index as CSV, with its texts and the names of its columns `literal`."""
    plain = frame.set_axis([literal(str(name)) for name in frame.columns], axis=1)
    for at, dtype in enumerate(plain.dtypes):
        if dtype.kind == "O":
            plain.isetitem(at, plain.iloc[:, at].map(literal).array)
    return plain.to_csv(index=False)


def captioned(table: "pd.DataFrame", caption: str, picture: str = "") -> str:
    """A table as HTML under a caption and a picture (SVG): what a notebook shows of a result."""
    rows = table.to_html(float_format=lambda value: f"{value:.4g}", border=0)
    return rows.replace(">", f"><caption>{escape(caption)}<br/>{picture}</caption>", 1)


def literal(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula: an apostrophe goes before one that is no number."""
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
        return value
    except ValueError:
        return f"'{value}"


def write_text(path: str | Path, text: str) -> None:
    """Write a file under a temporary name and then rename it; makes its folder.

    Raises InputError, or MachineError where the disk is full.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise unwritten(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
