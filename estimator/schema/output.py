"""Text files of results, and tables as CSV and HTML."""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netcarlo.schema.destination import write_texts

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that spreadsheets take for formulas."""


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
    """Write a text file, whole or not at all (see `destination`); makes its folder.

    Raises InputError, or MachineError where the disk is full.
    """
    write_texts({Path(path): text})
