"""Published numbers of a study (`published.csv`)."""

import math
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import Literal

from netcarlo.errors import Faults, InputError, prefixed
from netcarlo.schema import trusted
from netcarlo.schema.document import csv_rows, read_text
from netcarlo.schema.record import Record
from netcarlo.studies.selection import Value, Where, matches, value

_OWN = ("metric", "unit", "published", "step", "kind")
"""Columns of `published.csv` that are not conditions or places."""


class Published(Record):
    """Published number."""

    place: dict[str, str]
    """Place in the paper, such as the number of the table."""
    conditions: dict[str, Value]
    """Value of each condition."""
    metric: str
    """Name of the metric."""
    unit: str
    """Unit of the number."""
    text: str
    """Number as printed."""
    step: float
    """Value of one unit of the last printed digit."""
    kind: Literal["printed", "at_least", "read_off", "claim", "input"]
    """Kind of the number. An `input` is a parameter of the scenario and does not count as a result."""

    @property
    def value(self) -> float:
        """Published number as a float."""
        return float(self.text)

    def matches(self, where: Where) -> bool:
        """Return True if this number is one of those that `where` selects."""
        return matches({**self.place, **self.conditions, "metric": self.metric}, where)


def read_published(
    path: Path, conditions: Collection[str], units: Mapping[str, str]
) -> tuple[list[tuple[int, Published]], list[str]]:
    """Return the numbers of `published.csv` with their lines, and the faults of other lines.

    `units` are the default units of metrics.
    """
    faults = Faults()
    header, rows = [""], list[list[str]]()
    with faults:
        trusted.check(path, path.parent)
        header, *rows = csv_rows(read_text(path).splitlines(keepends=True)) or [[]]
    if faults.lines:
        return [], faults.lines
    header = [name.strip() for name in header]
    if missing := [name for name in ("metric", "published", *conditions) if name not in header]:
        return [], [f"{path}:1: has no column '{name}'; add it to this line" for name in missing]
    found = []
    for line, row in enumerate(rows, start=2):
        if any(row) and not row[0].startswith("#"):
            try:
                found.append((line, _number(dict(_paired(header, row)), conditions, units)))
            except InputError as error:
                faults.lines += prefixed(error, f"{path}:{line}: ").lines
    return found, faults.lines


def _paired(header: list[str], row: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the cells of a row with the names of their columns."""
    if len(row) != len(header):
        remedy = "write one for each column of the first line; put texts with commas in quotes"
        raise InputError(f"has {len(row)} cells; expected {len(header)}; {remedy}")
    return zip(header, map(str.strip, row), strict=True)


def _number(row: dict[str, str], conditions: Collection[str], units: Mapping[str, str]) -> Published:
    """Return the published number of a row."""
    text, metric = row["published"], row["metric"]
    try:
        exponent = Decimal(text).as_tuple().exponent
        step = float(row.get("step") or Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0))
        fine = math.isfinite(float(text)) and math.isfinite(step) and step > 0
    except (DecimalException, ValueError):
        fine = False
    if not fine:
        given = f"published = '{text}'" + (f", step = '{row['step']}'" if row.get("step") else "")
        raise InputError(
            f"{given}: expected a number, and a step above 0; write 21.5 without a unit, and 0.1"
        )
    return Published.check(
        {
            "place": {name: cell for name, cell in row.items() if name not in (*_OWN, *conditions)},
            "conditions": {name: value(row[name]) for name in conditions if row[name]},
            "metric": metric,
            "unit": row.get("unit") or units.get(metric, ""),
            "text": text,
            "step": step,
            "kind": row.get("kind") or "printed",
        }
    )
