"""Traces of a hop: its rate, delay and loss over time, or the times at which packets may leave.

    time,rate,delay,loss            0
    0 s,20 Mbit/s,25 ms,0           1
    12 s,5 Mbit/s,40 ms,1 %         1
    15 s                            4

A file with a header is piecewise constant. It has the column time, starting at 0, and some of the others. A
file of whole numbers has Mahimahi's format: one packet of 1500 B may leave in each of these milliseconds, and
two in one that is listed twice. The last line of either format is the end of the trace.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic_core import CoreSchema, core_schema

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Ints
from netcarlo.schema import trusted, units
from netcarlo.schema.document import csv_rows, read_text
from netcarlo.schema.quantity import DAY, Quantity

MAX_LINES = 1 << 17
"""Maximum number of lines of a trace; in Mahimahi's format, of different milliseconds."""

PACKET = 1500
"""Size of a delivery opportunity in a Mahimahi trace [byte]."""

_TIME = Quantity(units.TIME, 0.0, 10 * DAY, random=False)
_COLUMNS = {
    "rate": Quantity(units.RATE, 0.0, 1e12, random=False),
    "delay": Quantity(units.TIME, 0.0, 3600.0, random=False),
    "loss": Quantity(units.FRACTION, 0.0, 1.0, random=False),
}
_LEAST_RATE = 100.0  # [bit/s]; keeps transmission times within the range of the kernel
_SHORTEST = 1e-3
_SHAPE = (
    "write the columns time and some of rate,delay,loss, as in time,rate and below it 0 s,5 Mbit/s and last "
    "the end, 10 s; or Mahimahi's milliseconds"
)


@dataclass(frozen=True)
class Trace:
    """Text of a trace and its parsed content."""

    text: str
    times_s: tuple[float, ...] = field(repr=False)
    """Times at which steps begin, or packets may leave [s]."""
    end_s: float = field(repr=False)
    columns: Mapping[str, tuple[float, ...]] = field(repr=False, compare=False)
    """Values of each step in SI units, by column."""
    packets: Ints | None = field(default=None, repr=False, compare=False)
    """Number of packets that may leave at each time; None without Mahimahi's format."""

    def mean(self, column: str) -> float | None:
        """Return the time average of a column in SI units; None if the trace does not have it."""
        if self.packets is not None:
            return float(8 * PACKET * self.packets.sum() / self.end_s) if column == "rate" else None
        if column not in self.columns:
            return None
        lengths = np.diff([*self.times_s, self.end_s])
        return float((lengths * self.columns[column]).sum() / self.end_s)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Return the schema by which pydantic checks and writes such a field."""
        return core_schema.no_info_plain_validator_function(
            trace,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: None if value is None else value.text
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON Schema: a file name, or the text of a trace."""
        return {"type": "string", "description": "a CSV file of time, rate, delay and loss; or Mahimahi's"}


def trace(given: Any) -> Trace:
    """Return the trace in a file of this name, or in a text of several lines. Raises InputError."""
    if isinstance(given, Trace):
        return given
    if not isinstance(given, str) or not given.strip():
        raise InputError(f"is not a trace; name a file, and in it {_SHAPE}")
    if "\n" in given:
        return parse(given)
    trusted.check(Path(given), Path())
    return parse(read_text(given))


@functools.lru_cache(maxsize=64)
def parse(text: str) -> Trace:
    """Parse the text of a trace. Raises InputError without the name of the field."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    mahimahi = bool(lines) and lines[0][1].isdecimal()
    if len(lines) < (1 if mahimahi else 2):
        raise InputError(f"has {len(lines)} lines; expected 2 to {MAX_LINES}; write a line with the end")
    if not mahimahi and len(lines) > MAX_LINES:
        longer = "write the mean rate, delay and loss of longer steps, so that the trace lasts as long"
        raise InputError(f"has {len(lines)} lines; expected 2 to {MAX_LINES}; {longer}")
    return _milliseconds(text, lines) if mahimahi else _steps(text, lines)


def _milliseconds(text: str, lines: list[tuple[int, str]]) -> Trace:
    for number, line in lines:
        if not line.isdecimal() or int(line) > 1000 * _TIME.high:
            allowed = f"expected a whole number of ms from 0 to {1000 * _TIME.high:.0f}"
            raise InputError(f"has '{line[:20]}' in line {number}; {allowed}")
    every = [int(line) for _, line in lines]
    for k in range(1, len(every)):
        if every[k] < every[k - 1]:
            raise InputError(f"has a decreasing time in line {lines[k][0]}; sort the lines")
    if every[-1] == 0:
        raise InputError("is a trace that ends at 0 ms; write a later last line")
    times, packets = np.unique(every, return_counts=True)
    if len(times) > MAX_LINES:
        steps = "write columns time,rate with the mean rate of each 100 ms, 120 kbit/s for each packet in it"
        raise InputError(f"has {len(times)} different milliseconds; expected 2 to {MAX_LINES}; {steps}")
    return Trace(text, tuple((times / 1000).tolist()), every[-1] / 1000, {}, packets)


def _steps(text: str, lines: list[tuple[int, str]]) -> Trace:
    names = [name.strip() for name in lines[0][1].split(",")]
    others = [name for name in names if name != "time"]
    if "time" not in names or not others or len({*names}) < len(names) or not {*others} <= {*_COLUMNS}:
        raise InputError(f"is a trace with the columns {lines[0][1][:60]!r}; {_SHAPE}")
    if len(lines) < 3:
        raise InputError("is a trace of one line; write a step at 0 s and, last, a line with the end")
    rows = csv_rows(line for _, line in lines[1:])
    if len(rows) != len(lines) - 1:
        raise InputError("has a quote that does not end in its line; write the values without quotes")
    times: list[float] = []
    columns: dict[str, list[float]] = {name: [] for name in others}
    for row, (number, _) in enumerate(lines[1:]):
        fields = dict(zip(names, (cell.strip() for cell in rows[row]), strict=False))
        times.append(_read(_TIME, fields.get("time"), "time", number))
        least = times[-2] + 1e-9 if row else 0.0
        if times[-1] < least or (row == 0 and times[0] > 0):
            remedy = "; write one row for each time, with the mean of its values" if row else ""
            found = f"has the time {fields['time']} in line {number}; times must start at 0 s and increase"
            raise InputError(found + remedy)
        if row < len(lines) - 2:
            for name in others:
                columns[name].append(_read(_COLUMNS[name], fields.get(name), name, number))
    if times[-1] < _SHORTEST:
        raise InputError("is a trace that ends before 1 ms; write a later last line")
    rates = columns.get("rate", [_LEAST_RATE])
    if not any(rates):
        raise InputError("is a trace whose rate is always 0; raise one")
    if any(0 < rate < _LEAST_RATE for rate in rates):
        raise InputError("has a rate below 100 bit/s; expected 0, or 100 bit/s or more")
    return Trace(text, tuple(times[:-1]), times[-1], {name: tuple(of) for name, of in columns.items()})


def _read(quantity: Quantity, given: str | None, name: str, number: int) -> float:
    try:
        if not given:
            raise InputError("is missing; add it")
        return float(quantity.validate(given))  # type: ignore[arg-type]
    except InputError as error:
        raise InputError(f"has in line {number} a {name} that {error}") from None


def check_end(given: Trace | None, repeat: bool | None, name: str, duration_s: float) -> None:
    """Raise InputError if a run lasts longer than its trace, which does not repeat."""
    if given is not None and not repeat and given.end_s < duration_s:
        ends = f"ends at {units.show(given.end_s, units.TIME)}, before duration"
        raise InputError(f"{name} {ends}; write repeat: true, or shorten duration")

