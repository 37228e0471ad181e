"""A table of links: columns from, to, rate and delay, with any separator."""

import math

from netcarlo.errors import InputError
from netcarlo.networks.shared.topology import places
from netcarlo.networks.shared.topology.map import Edge, Map
from netcarlo.schema import table, units
from netcarlo.schema.table import Table
from netcarlo.schema.units import Dimension

_WORDS = {
    "from": ("from", "source", "src", "a", "node1", "start", "u", "node_a", "nodea", "from_node", "head"),
    "to": (
        "to", "target", "dst", "dest", "destination", "sink", "b", "node2", "end", "v", "node_b", "nodeb",
        "to_node", "tail",
    ),
    "rate": ("rate", "capacity", "bandwidth", "speed", "bw", "bitrate", "datarate", "linkspeed"),
    "delay": ("delay", "latency", "propagation", "propdelay", "owd"),
    "km": ("km", "length", "distance", "length_km", "distance_km", "lengthkm", "distancekm"),
}  # fmt: skip
"""Names of columns in lower case, without their units."""

_ORDER = ("from", "to", "rate", "delay")
"""Columns of a table without a header."""

SHAPE = "write a header and rows as in from,to,rate,delay and A,B,10 Gbit/s,2 ms"


def links(text: str, *, unit: str, directed: bool) -> Map:
    """Read a table of links.

    A row is a cable with both directions, unless `directed` is true or each row has a row back. Raises
    InputError.
    """
    given = table.read(text)
    found = _columns(given)
    if "from" not in found and given.names:  # a first row with units in its cells is no header
        found = {name: (at, "") for at, name in enumerate(_ORDER[: len(given.names)])}
        lines = [min(given.lines, default=2) - 1, *given.lines]
        given = Table([], [given.names, *given.rows], lines)
        if len(found) < 2 or not any(map(units_in, given.rows[0][2:])):
            columns = ", ".join(given.rows[0])
            raise InputError(f"has no columns of the two routers of a link among {columns!r}; {SHAPE}")
    if not given.rows:
        raise InputError(f"has no links; {SHAPE}")
    if "to" not in found:
        raise InputError(f"has no column of the second router of a link; {SHAPE}")
    rate, delay = (
        _values(given, found, name, dimension, unit if name == "rate" else "")
        for name, dimension in (("rate", units.RATE), ("delay", units.TIME))
    )
    if "delay" not in found and "km" in found:
        cells = given.cells(found["km"][0])
        delay = [None if (km := _number(cell)) is None else km / places.SPEED_KM_S for cell in cells]
    ends = list(zip(given.cells(found["from"][0]), given.cells(found["to"][0]), strict=True))
    for (a, b), line in zip(ends, given.lines, strict=True):
        if not a or not b:
            raise InputError(f"has in line {line} a link without two routers; {SHAPE}")
    pairs = {(a, b) for a, b in ends}
    paired = len(pairs) > 1 and all((b, a) in pairs for a, b in pairs)
    notes = ["each row is one direction, because each has a row back"] if paired and not directed else []
    both = not (directed or paired)
    edges = [Edge(a, b, r, d, both=both) for (a, b), r, d in zip(ends, rate, delay, strict=True)]
    names = dict.fromkeys(name for pair in ends for name in pair)
    return Map({name: name for name in names}, edges, [], notes, {})


def _columns(given: Table) -> dict[str, tuple[int, str]]:
    """Return the columns by what they are: number and unit; empty if the two routers are not among them."""
    if not given.names:
        width = len(given.rows[0]) if given.rows else 0
        return {name: (at, "") for at, name in enumerate(_ORDER[:width])}
    found: dict[str, tuple[int, str]] = {}
    for at, name in enumerate(given.names):
        for key, dimension in (("rate", units.RATE), ("delay", units.TIME)):
            bare, unit = table.split_name(name, dimension)
            if bare.lower().replace(" ", "_") in _WORDS[key]:
                found.setdefault(key, (at, unit))
        for key in ("from", "to", "km"):
            if name.lower().replace(" ", "_").replace("[", "").replace("]", "") in _WORDS[key]:
                found.setdefault(key, (at, ""))
    return found if "from" in found and "to" in found else {}


def units_in(cell: str) -> bool:
    """Return True if a cell is a number, or a number with a unit."""
    return bool(cell) and cell[0].isdigit()


def _values(
    given: Table, found: dict[str, tuple[int, str]], name: str, dimension: Dimension, unit: str
) -> list[float | None]:
    """Return a column in SI units, None where a value is missing."""
    if name not in found:
        return [None] * len(given.rows)
    at, own = found[name]
    values = table.column(given, at, dimension, own or unit).tolist()
    return [None if math.isnan(value) else value for value in values]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
