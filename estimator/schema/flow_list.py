"""Reading of flow lists in the formats of data-centre simulators: source, sink, size and start of each.

    2                                  source,sink,bytes,start_ms
    0 1 3 100 200000 0.1               0,1,200000,100
    1 0 3 100 50000 0.2                1,0,50000,200

The format on the left is that of HPCC: the number of flows, and for each the source, the sink, the priority,
the port, the size in bytes and the start in seconds. A table with a header has its columns in any order.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from netcarlo.errors import InputError
from netcarlo.schema import cumulative, table, units
from netcarlo.schema.table import Table

MAX_FLOWS = 65_536
"""Maximum number of flows of a list."""

SHAPE = "write a table with the columns source,sink,bytes,start"

_NAMES = {
    "source": r"source|src|from|sender",
    "sink": r"sink|dst|dest|destination|to|receiver",
    "bytes": r"bytes|size|flow[ _]?size|length",
    "packets": r"packets|pkts",
    "start": r"start|start[ _]?time|time|arrival|arrival[ _]?time",
    "class": "class",
    "protocol": "protocol",
    "congestion_control": "congestion_control",
}
"""Pattern of the names of a column, without its unit, by field of a flow."""
_TEXTS = ("class", "protocol", "congestion_control")
_HEADLESS = {
    3: ("source", "sink", "bytes"),
    4: ("source", "sink", "bytes", "start"),
    6: ("source", "sink", "", "", "bytes", "start"),
}
"""Fields of the columns of a table without a header, by their number; those of HPCC last."""
_UNITS = {"bytes": units.SIZE, "start": units.TIME}
_DEFAULTS = {"bytes": "B", "start": "s"}
"""Units of fields whose columns name none."""


class FlowList(NamedTuple):
    """Flows of a file."""

    flows: list[dict[str, Any]]
    """Fields of each flow."""
    summary: str
    """Sentence about what was read."""
    lines: list[int]
    """Line of each flow in the file."""


class _Column(NamedTuple):
    at: int
    unit: str


def read(text: str) -> FlowList:
    """Return the flows in the text of a file. Raises InputError with the line."""
    text, count = cumulative.without_first(text)
    given = table.read(text)
    rows = len(given.rows)
    if not rows:
        raise InputError(f"has no flows; {SHAPE}")
    if count > rows or count != int(count):
        raise InputError(f"says that it has {count:g} flows and has {rows}; correct the first line")
    cut = ""
    if count and count < rows:
        cut = f"; the last {rows - int(count)} lines left out, because the first line is {count:g}"
        given = Table(given.names, given.rows[: int(count)], given.lines[: int(count)])
    if len(given.rows) > MAX_FLOWS:
        raise InputError(f"has {len(given.rows)} flows; expected at most {MAX_FLOWS}")
    columns = _columns(given)
    fields = {field: _cells(given, field, column) for field, column in columns.items()}
    flows = [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]
    return FlowList(flows, _summary(given, columns, flows) + cut, given.lines)


def _columns(given: Table) -> dict[str, _Column]:
    """Return the columns by field of a flow."""
    width = len(given.names) or len(given.rows[0])
    for row, line in zip(given.rows, given.lines, strict=True):
        if len(row) != width:
            raise InputError(f"has {len(row)} values in line {line}; expected {width}; {SHAPE}")
    if not given.names:
        if width not in _HEADLESS:
            raise InputError(f"has {width} columns without a header; {SHAPE}")
        names = enumerate(_HEADLESS[width])
        return {field: _Column(at, _DEFAULTS.get(field, "")) for at, field in names if field}
    found: dict[str, _Column] = {}
    for at, name in enumerate(given.names):
        for field, pattern in _NAMES.items():
            plain, unit = table.split_name(name, _UNITS[field]) if field in _UNITS else (name, "")
            whole = re.fullmatch(pattern, name.strip(), re.IGNORECASE)
            if not whole and not re.fullmatch(pattern, plain.strip(), re.IGNORECASE):
                continue
            if field in found:
                both = f"{given.names[found[field].at]}, {name}"
                raise InputError(f"has several columns for the {field} ({both}); keep one")
            found[field] = _Column(at, unit or _DEFAULTS.get(field, ""))
    missing = [name for name in ("source", "sink") if name not in found]
    if missing or not {"bytes", "packets"} & {*found}:
        raise InputError(f"has the columns {','.join(given.names)[:60]!r}; {SHAPE}")
    return found


def _cells(given: Table, field: str, column: _Column) -> list[Any]:
    """Return the values of a column as a scenario writes them."""
    cells = list(given.cells(column.at))
    if field in _TEXTS:
        return cells
    if field in ("source", "sink") and not all(table.NUMBER.fullmatch(cell) for cell in cells):
        return [int(cell) if cell.isdecimal() else cell for cell in cells]  # names of routers
    if field in _UNITS:
        values = table.column(given, column.at, _UNITS[field], column.unit)
    else:
        values = table.column(given, column.at, units.PLAIN, "1")
    whole = field != "start"
    wrong = ~np.isfinite(values) | (values < 0) | (whole & (values != np.rint(values)))
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "a whole number" if whole else "a number"
        there = f"has in line {given.lines[row]} the {field} {cells[row]!r}"
        raise InputError(f"{there}; expected {what} of 0 or more")
    if field in _UNITS:
        return [units.show(value, _UNITS[field]) for value in values.tolist()]
    return [int(value) for value in values]


def _summary(given: Table, columns: Mapping[str, _Column], flows: list[dict[str, Any]]) -> str:
    parts = ["1 flow" if len(flows) == 1 else f"{len(flows)} flows"]
    if "bytes" in columns:
        sizes = sum(units.parse(flow["bytes"], units.SIZE) for flow in flows)
        parts.append(f"{sizes:.0f} B in total")
    if "start" in columns:
        starts = [units.parse(flow["start"], units.TIME) for flow in flows]
        parts.append(f"starts from {min(starts):.6g} to {max(starts):.6g} s")
    text = ", ".join(parts)
    if not given.names:
        names = _HEADLESS[len(given.rows[0])]
        text += f"; columns read as {', '.join(name or '(left out)' for name in names)}"
        return text
    used = {column.at for column in columns.values()}
    left = [name for at, name in enumerate(given.names) if at not in used]
    return f"{text}; left out: {', '.join(left)}" if left else text
