"""Result files as text, and tables as CSV and HTML."""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netcarlo.schema.destination import write_texts

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of texts that spreadsheets interpret as formulas."""


def csv_text(frame: "pd.DataFrame") -> str:
    """Return a frame without its index as CSV; texts and column names are made `literal`."""
    plain = frame.set_axis([literal(str(name)) for name in frame.columns], axis=1)
    for at, dtype in enumerate(plain.dtypes):
        if dtype.kind == "O":
            plain.isetitem(at, plain.iloc[:, at].map(literal).array)
    return plain.to_csv(index=False)


def captioned(table: "pd.DataFrame", caption: str, picture: str = "") -> str:
    """Return a table as HTML below a caption and a picture (SVG), for notebooks."""
    rows = table.to_html(float_format=lambda value: f"{value:.4g}", border=0)
    return rows.replace(">", f"><caption>{escape(caption)}<br/>{picture}</caption>", 1)


def literal(value: Any) -> Any:
    """Return a text that no spreadsheet interprets as a formula, by a leading apostrophe unless it is a
    number."""
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
        return value
    except ValueError:
        return f"'{value}"


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, creating its folder; the file is replaced completely or not at all (see
    `destination`).

    Raises InputError, or MachineError if the disk is full.
    """
    write_texts({Path(path): text})
