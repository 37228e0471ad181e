"""Write the files of a result together: all are complete before the first is replaced."""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netcarlo.schema.destination import write_texts
from netcarlo.schema.output import literal


def write_all(folder: Path, files: Mapping[str, str]) -> None:
    """Write files of these names and texts into `folder`; other files there are left alone.

    No file is ever seen half-written, and none is replaced before all are complete.

    Raises InputError, or MachineError where the disk is full.
    """
    write_texts({Path(os.path.realpath(folder), name): text for name, text in files.items()})


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A CSV file with a header line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: literal(value) for name, value in row.items()} for row in rows)
    return text.getvalue()
