"""Columns of a table that are time, rate, delay and loss: those that the user names, or found by their names.

A user names a column and, where neither its name nor its cells have one, its unit, and may divide it:
`DL_bitrate kbit/s`, `ping ms / 2`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from netcarlo.errors import InputError
from netcarlo.networks.traces.trace import UNITS
from netcarlo.schema import table, units
from netcarlo.schema.table import Table
from netcarlo.schema.units import Dimension

_WORDS = {
    "time": {
        "time", "times", "timestamp", "timestamps", "t", "ts", "date", "datetime", "epoch", "unixtime",
        "elapsed",
    },
    "loss": {"loss", "losses", "plr", "lossrate", "packetloss", "droprate", "per"},
    "delay": {"delay", "owd", "onewaydelay"},
    "rate": {"rate", "bitrate", "datarate", "throughput", "bandwidth", "bw", "capacity", "goodput"},
}  # fmt: skip
"""Words in the name of a column, by the column of a trace that it is; the first one that fits."""

TWO_COLUMNS = {"time": "s", "rate": "Mbit/s"}
"""Units of a table of two columns without a header (as Pensieve's)."""


class Column(NamedTuple):
    """A column of a table."""

    at: int
    """Number of the column, from 0."""
    unit: str
    """Unit of its cells that have none; empty if there is no such unit."""
    divisor: float = 1.0
    """Number by which its values are divided."""


def chosen(given: Table, asked: Mapping[str, str]) -> dict[str, Column]:
    """Return the columns of a trace in a table, by name; `asked` are those that the user names.

    Raises InputError with what to write.
    """
    width = len(given.rows[0]) if given.rows else 0
    if not given.names:
        if width != 2 or asked:
            raise InputError(f"has {width} columns and no header; {_remedy(given)}")
        return {name: Column(at, unit) for at, (name, unit) in enumerate(TWO_COLUMNS.items())}
    found = {name: _named(given, name, text) for name, text in asked.items()}
    taken = {column.at for column in found.values()}
    for name, candidates in _candidates(given.names).items():
        free = [at for at in candidates if at not in taken]
        if name in asked or not free or (asked and name != "time"):
            continue
        if len(free) > 1:
            names = ", ".join(given.names[at] for at in free)
            raise InputError(f"has several columns for the {name} ({names}); {_remedy(given)}")
        found[name] = Column(free[0], table.split_name(given.names[free[0]], UNITS[name])[1])
    if "time" not in found or len(found) < 2:
        what = "no column of times" if "time" not in found else "no column of rates, delays or losses"
        columns = ", ".join(given.names)
        raise InputError(f"has {what} among {columns[:120]!r}; {_remedy(given)}")
    return dict(sorted(found.items(), key=lambda each: each[1].at))


def _named(given: Table, name: str, text: str) -> Column:
    """Return the column that `text` names: a name of the header, a unit, and `/ N`."""
    matches = [at for at, header in enumerate(given.names) if header and text.startswith(header)]
    if not matches:
        near = ", ".join(given.names)
        raise InputError(f"has no column that begins {name}: {text!r}; its columns are {near[:200]}")
    at = max(matches, key=lambda k: len(given.names[k]))
    match = re.fullmatch(r"\s*(.*?)\s*(?:/\s*(\d+(?:\.\d*)?))?\s*", text[len(given.names[at]) :])
    unit = match[1] if match else ""
    divisor = float(match[2]) if match and match[2] else 1.0
    if unit and not _is_unit(unit, UNITS[name]):
        example = {"time": "s", "rate": "kbit/s", "delay": "ms", "loss": "%"}[name]
        wrong = f"has the unit {unit!r} in {name}: {text!r}"
        raise InputError(f"{wrong}; write it as in {name}: {given.names[at]} {example}")
    if divisor == 0:
        raise InputError(f"is divided by 0 in {name}: {text!r}; write another number")
    unit = unit and (table.meant(unit, UNITS[name]) or unit)
    return Column(at, unit or table.split_name(given.names[at], UNITS[name])[1], divisor)


def _is_unit(unit: str, dimension: Dimension) -> bool:
    return bool(table.meant(unit, dimension)) or units.factor(unit, dimension) is not None


def _candidates(names: list[str]) -> dict[str, list[int]]:
    """Return the candidate columns of the table for each column of a trace."""
    found: dict[str, list[int]] = {name: [] for name in _WORDS}
    for at, name in enumerate(names):
        for role, words in _WORDS.items():
            bare = table.without_unit(name, UNITS[role])
            parts = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare).lower())
            if words & {*parts, "".join(parts)}:
                found[role].append(at)
                break
    return found


def _remedy(given: Table) -> str:
    """Return what to write if the names do not identify the columns."""
    if not given.names:
        return "write a header with units, as in time_s,rate_mbps,delay_ms"
    likely = _candidates(given.names)
    at, rate = ((likely[name] or [k])[0] for name, k in (("time", 0), ("rate", len(given.names) - 1)))
    unit = "" if table.split_name(given.names[rate], units.RATE)[1] else " kbit/s"
    written = f"{{file: FILE, time: {given.names[at]}, rate: {given.names[rate]}{unit}}}"
    return f"name the columns and, where they have none, their units, as in trace: {written}"
