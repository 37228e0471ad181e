"""Reading of traces in common formats.

* Tables of rows (`steps`): any separator, with units in cells or names, columns found by name or chosen.
* Mahimahi's format (`mahimahi`): one number on each line.
* The history of a Starlink dish as JSON (`starlink`).
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError
from netcarlo.networks.traces import columns, mahimahi, starlink, times
from netcarlo.networks.traces.steps import COLUMNS, steps
from netcarlo.networks.traces.trace import UNITS, Trace, Traces
from netcarlo.schema import programs, table, trusted, units
from netcarlo.schema.document import read_text

CHOICE = "choice"
"""Key of a list of traces of which each replication draws one."""

OPTIONS = ("file", *UNITS, "gap")
"""Keys of a trace that names a file and its columns."""

SHAPE = (
    "write the columns time and some of rate, delay and loss, as in time,rate and below it 0 s,5 Mbit/s and "
    "last the end, 10 s; or Mahimahi's milliseconds"
)


def trace(given: Any) -> Trace | Traces:
    """Return the trace in a file of this name, in a text of several lines, or in a mapping with OPTIONS.

    A mapping with the key CHOICE gives several. Raises InputError.
    """
    if isinstance(given, Trace | Traces):
        return given
    return _several(given) if isinstance(given, Mapping) and CHOICE in given else _one(given)


def _several(given: Mapping[Any, Any]) -> Traces:
    every = given[CHOICE]
    if len(given) > 1 or not isinstance(every, list) or not every:
        raise InputError("needs a list of traces as its only key; write {choice: [a.csv, b.csv]}")
    members = tuple(_one(one) for one in every)
    columns = [", ".join(name for name in COLUMNS if one.mean(name) is not None) for one in members]
    for number, have in enumerate(columns, 1):
        if have != columns[0]:
            found = f"has {columns[0]} in trace 1 and {have} in trace {number}"
            raise InputError(f"{found}; give all the same columns")
    return Traces(members)


def _one(given: Any) -> Trace:
    options: dict[str, str] = {}
    if isinstance(given, Mapping):
        options = {str(key): str(value) for key, value in given.items() if value is not None}
        if others := [key for key in options if key not in OPTIONS]:
            raise InputError(f"has the key {others[0]!r}; expected {', '.join(OPTIONS)}")
        given = options.pop("file", "")
    if not isinstance(given, str) or not given.strip():
        raise InputError(f"is not a trace; name a file, and in it {SHAPE}")
    if "\n" not in given:
        trusted.check(Path(given), Path())
        programs.refuse(given, "a trace")
        given = read_text(given)
    return parse(given, **options)


@functools.lru_cache(maxsize=64)
def parse(text: str, *, gap: str = "", **asked: str) -> Trace:
    """Parse the text of a trace. Raises InputError without the name of the field.

    `asked` names columns of a table (`columns`). After `gap`, such as `5 s`, without a row the rate is 0.
    """
    if text.lstrip().startswith("{"):
        return starlink.parse(text)
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"is empty; {SHAPE}")
    if mahimahi.is_one(lines):
        if asked or gap:
            raise InputError("has one number on each line (Mahimahi) and no columns; write trace: FILE")
        return mahimahi.parse(text, lines)
    given = table.read(text)
    found = columns.chosen(given, asked)
    if not given.rows:
        raise InputError("is a trace without rows; write a row at 0 s and, last, a row with the end")
    limit = units.parse(gap, units.TIME) if gap else None
    at = times.read(given, found["time"].at, found["time"].unit)
    values = {
        name: table.column(given, column.at, COLUMNS[name].dimension, column.unit, divisor=column.divisor)
        for name, column in found.items() if name != "time"
    }  # fmt: skip
    plain = {*given.names} == {"time", *values} and not (asked or gap)
    return steps(at, values, given.lines, gap=limit, text=text if plain else "")
