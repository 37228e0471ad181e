"""Markdown of generated pages: tables, anchors and the introduction."""

import re
from collections.abc import Iterable, Sequence

KNOWN = "<!-- Written by `python -m tests.reference` from declarations in `estimator/`; not to be edited. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty one."""
    cells = ([cell.replace("|", r"\|") for cell in row] for row in rows)
    return [_row(head), f"|{'---|' * len(head)}", *map(_row, cells), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def slug(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def page(lines: Iterable[str]) -> str:
    """Return the text of a page."""
    return "\n".join(lines).rstrip() + "\n"
