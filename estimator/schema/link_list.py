"""Tables of links: columns from, to, rate, and delay or length, with any separator.

    from,to,rate,delay              Source;Target;capacity [Mbit/s];length_km
    Oslo,Bern,10 Gbit/s,9 ms        Oslo;Bern;10000;1800

A row is a cable with both directions, unless the file has a row for each direction.
"""

import math
from typing import Any, NamedTuple

from netcarlo.errors import InputError
from netcarlo.schema import rate_labels, table, units
from netcarlo.schema.table import Table
from netcarlo.schema.units import Dimension

SPEED_KM_S = 200_000.0
"""Speed of light in fibre, two thirds of that in vacuum [km/s]."""

MAX_ROWS = 10_000
"""Maximum number of links of a table."""

SHAPE = "write a header and rows as in from,to,rate,delay and Oslo,Bern,10 Gbit/s,9 ms"

_NAMES = {
    "from": ("from", "source", "src", "a", "node1", "start", "u", "node_a", "nodea", "from_node"),
    "to": (
        "to", "target", "dst", "dest", "destination", "sink", "b", "node2", "end", "v", "node_b", "nodeb",
        "to_node",
    ),
    "rate": ("rate", "capacity", "bandwidth", "speed", "bw", "bitrate", "datarate", "linkspeed"),
    "delay": ("delay", "latency", "propagation", "propdelay", "owd"),
    "km": ("km", "length", "distance", "length_km", "distance_km", "lengthkm", "distancekm"),
}  # fmt: skip
"""Names of columns in lower case, without their units."""

_ORDER = ("from", "to", "rate", "delay")
"""Columns of a table without a header."""


class Row(NamedTuple):
    """A link of a table."""

    a: str
    b: str
    """Routers at its start and at its end."""
    rate_bps: float | None
    """Bit rate; None if it is missing."""
    delay_s: float | None
    """One-way delay; None if it is missing."""
    line: int
    """Number of its line, from 1."""


class LinkList(NamedTuple):
    """Links of a table."""

    rows: list[Row]
    both: bool
    """True if each row is a cable with both directions."""
    notes: list[str]
    """Sentences about what was assumed or left out."""


class _Column(NamedTuple):
    at: int
    unit: str = ""


def read(text: str, *, unit: str = "", directed: bool = False) -> LinkList:
    """Return the links in the text of a file.

    `unit` is that of rates without a unit. A row is one direction if `directed` is true, or if each row has a
    row for the reverse direction. Raises InputError with the line.
    """
    given, columns = _columns(table.read(text))
    if len(given.rows) > MAX_ROWS:
        raise InputError(f"has {len(given.rows)} links; expected at most {MAX_ROWS}")
    if "rate" in columns:
        given = _without_labels(given, columns["rate"].at)
    rate = _values(given, columns, "rate", units.RATE, unit)
    delay = _values(given, columns, "delay", units.TIME)
    if "delay" not in columns and "km" in columns:
        delay = [None if km is None else km / SPEED_KM_S for km in _lengths(given, columns["km"])]
    ends = list(zip(given.cells(columns["from"].at), given.cells(columns["to"].at), strict=True))
    for (a, b), line in zip(ends, given.lines, strict=True):
        if not a or not b:
            raise InputError(f"line {line}: a link needs two routers; {SHAPE}")
    pairs = {*ends}
    paired = len(pairs) > 1 and all((b, a) in pairs for a, b in pairs)
    notes = []
    if paired and not directed:
        notes.append("each row is one direction, because each link has a row for its reverse direction")
    used = {column.at for column in columns.values()}
    if left := [name for at, name in enumerate(given.names) if at not in used]:
        notes.append(f"columns left out: {', '.join(left)}")
    rows = [Row(*each) for each in zip(*zip(*ends, strict=True), rate, delay, given.lines, strict=True)]
    return LinkList(rows, not (directed or paired), notes)


def items(text: str) -> tuple[list[dict[str, Any]], list[int], list[str]]:
    """Return the links of a file as a scenario writes them, the line of each, and notes.

    Raises InputError with the line.
    """
    found, links, lines = read(text), list[dict[str, Any]](), list[int]()
    for row in found.rows:
        if row.rate_bps is None or row.delay_s is None:
            missing = "rate" if row.rate_bps is None else "delay"
            raise InputError(f"line {row.line}: {row.a} to {row.b} has no {missing}; {SHAPE}")
        fields = {"rate": units.show(row.rate_bps, units.RATE), "delay": units.show(row.delay_s, units.TIME)}
        for ends in ([row.a, row.b], [row.b, row.a])[: 1 + found.both]:
            links.append({"ends": ends, **fields})
            lines.append(row.line)
    return links, lines, found.notes


def _columns(given: Table) -> tuple[Table, dict[str, _Column]]:
    """Return the table, and its columns by meaning. Raises InputError if it has no links."""
    if not given.rows and not given.names:
        raise InputError(f"has no links; {SHAPE}")
    found = _by_name(given.names)
    if not found:  # a first row with rates in its cells is no header
        if given.names:
            if len(given.names) < 3 or not any(cell[:1].isdigit() for cell in given.names[2:]):
                named = ", ".join(given.names)
                raise InputError(f"has no columns with the two routers of a link among {named!r}; {SHAPE}")
            lines = [min(given.lines, default=2) - 1, *given.lines]
            given = Table([], [given.names, *given.rows], lines)
        found = {name: _Column(at) for at, name in enumerate(_ORDER[: len(given.rows[0])])}
    if not given.rows:
        raise InputError(f"has no links; {SHAPE}")
    if "to" not in found:
        raise InputError(f"has no column with the second router of a link; {SHAPE}")
    return given, found


def _by_name(names: list[str]) -> dict[str, _Column]:
    """Return the columns by meaning; empty if the two routers are not among them."""
    found: dict[str, _Column] = {}
    for at, name in enumerate(names):
        for key, dimension in (("rate", units.RATE), ("delay", units.TIME)):
            bare, unit = table.split_name(name, dimension)
            if bare.lower().replace(" ", "_") in _NAMES[key]:
                found.setdefault(key, _Column(at, unit))
        for key in ("from", "to", "km"):
            if name.lower().replace(" ", "_").replace("[", "").replace("]", "") in _NAMES[key]:
                found.setdefault(key, _Column(at))
    return found if "from" in found and "to" in found else {}


def _without_labels(given: Table, at: int) -> Table:
    """Return the table with labels such as `OC-3` in a column of rates replaced by numbers."""
    rows = []
    for row in given.rows:
        label = row[at] if at < len(row) and not table.NUMBER.fullmatch(row[at]) else ""
        rate = rate_labels.of_text(label)
        rows.append(row if rate is None else [*row[:at], units.show(rate, units.RATE), *row[at + 1 :]])
    return given._replace(rows=rows)


def _values(
    given: Table, columns: dict[str, _Column], name: str, dimension: Dimension, unit: str = ""
) -> list[float | None]:
    """Return a column in SI units, None where a value is missing."""
    if name not in columns:
        return [None] * len(given.rows)
    column = columns[name]
    values = table.column(given, column.at, dimension, column.unit or unit).tolist()
    return [None if math.isnan(value) else value for value in values]


def _lengths(given: Table, column: _Column) -> list[float | None]:
    """Return a column of lengths [km], None where one is missing; a number without a unit is in km."""
    values = (table.column(given, column.at, units.LENGTH, "km") / 1000).tolist()
    return [None if math.isnan(value) else value for value in values]
