"""Text of a table that may be wider than the terminal."""

from typing import TYPE_CHECKING

from netcarlo.cli import console

if TYPE_CHECKING:
    import pandas as pd

MOST_RECORDS = 20
"""Maximum number of rows that are printed with a line per value if the table needs many parts."""
MOST_PARTS = 3
"""Maximum number of parts in which so few rows are printed below each other."""


def text(frame: "pd.DataFrame", width: int) -> str:
    """Return a table as text of at most `width` characters, if its columns are not wider.

    A wide table is split into parts, each of which begins with the first column. A few rows with very many
    columns have a line for each value instead.
    """
    parts = _parts(frame, width)
    if len(parts) > MOST_PARTS and len(frame) <= MOST_RECORDS:
        records = (frame.iloc[[k]].T for k in range(len(frame)))
        return "\n\n".join(one.to_string(header=False, float_format=console.number) for one in records)
    return "\n\n".join(parts)


def _parts(frame: "pd.DataFrame", width: int) -> list[str]:
    """Return the table in parts of at most `width` characters, each with as many columns as fit."""
    columns, parts = list(range(frame.shape[1])), list[str]()
    while columns:
        taken = [0, *columns[:1]] if parts else columns[:1]
        for column in columns[1:]:
            if _width(_shown(frame, [*taken, column])) > width:
                break
            taken.append(column)
        columns = columns[len(taken) - bool(parts) :]
        parts.append(_shown(frame, taken))
    return parts or [_shown(frame, [])]


def _shown(frame: "pd.DataFrame", columns: list[int]) -> str:
    return str(frame.iloc[:, columns].to_string(index=False, float_format=console.number))


def _width(shown: str) -> int:
    return max(map(len, shown.splitlines()), default=0)
