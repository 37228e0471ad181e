"""Writes the files of a study together: all complete in a temporary folder first, then renamed into place."""

import csv
import io
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netcarlo.schema.output import literal, unwritten


def write_all(folder: Path, files: Mapping[str, str]) -> None:
    """Write files of these names and texts into `folder`; other files there are left alone.

    No file is ever seen half-written, and none is replaced before all are complete.

    Raises InputError, or MachineError where the disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".netcarlo-", dir=folder) as stage:
            for name, text in files.items():
                Path(stage, name).write_text(text, encoding="utf-8")
            for name in files:
                os.replace(Path(stage, name), folder / name)
    except OSError as error:
        raise unwritten(f"output folder {folder}", error) from None


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A CSV file with a header line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: literal(value) for name, value in row.items()} for row in rows)
    return text.getvalue()
