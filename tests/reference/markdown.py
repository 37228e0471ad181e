"""Tables, anchors and the words with which a generated page begins."""

import re
from collections.abc import Iterable, Sequence

KNOWN = "<!-- Written by `python -m tests.reference` from declarations in `estimator/`; not to be edited. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table, and an empty one."""
    cells = ([cell.replace("|", r"\|") for cell in row] for row in rows)
    return [_row(head), f"|{'---|' * len(head)}", *map(_row, cells), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def slug(title: str) -> str:
    """The anchor that Markdown makes of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def page(lines: Iterable[str]) -> str:
    """The text of a page."""
    return "\n".join(lines).rstrip() + "\n"
