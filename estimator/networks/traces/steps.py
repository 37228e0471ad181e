"""Piecewise constant traces: rate, delay and loss of each row hold until the time of the next one.

* Times are counted from the first row.
* A last row without values is the end. Otherwise the last row lasts as long as the one before it.
* Rows with the same time become one row with the mean of their values.
* A missing value is that of the row before. Rows before the first value are left out.
* Rates below 100 bit/s are 0.
* Beyond `gap` after a row, the rate is 0 until the next one.
"""

from collections.abc import Mapping

import numpy as np

from netcarlo.errors import InputError
from netcarlo.networks.traces.trace import MAX_LINES, Trace
from netcarlo.numerics.arrays import Floats
from netcarlo.schema import units
from netcarlo.schema.quantity import DAY, Quantity

TIME = Quantity(units.TIME, 0.0, 10 * DAY, random=False)
"""Times of a trace."""
COLUMNS = {
    "rate": Quantity(units.RATE, 0.0, 1e12, random=False),
    "delay": Quantity(units.TIME, 0.0, 3600.0, random=False),
    "loss": Quantity(units.FRACTION, 0.0, 1.0, random=False),
}
"""Values of a trace."""

_LEAST_RATE = 100.0  # [bit/s]; keeps transmission times within the range of the kernel
_SHORTEST = 1e-3


def steps(
    times: Floats,
    columns: Mapping[str, Floats],
    lines: list[int],
    *,
    gap: float | None = None,
    text: str = "",
) -> Trace:
    """Return the trace of rows in SI units, NaN where a value is missing. Raises InputError with the line.

    `times` begin at 0, `lines` are their numbers in the file. `text` is that of the file if the
    trace keeps it.
    """
    if (falls := np.flatnonzero(np.diff(times) < 0)).size:
        raise InputError(f"has a decreasing time in line {lines[falls[0] + 1]}; sort the rows by time")
    table, notes = np.array([columns[name] for name in columns]), list[str]()
    missing = np.isnan(table).all(axis=0)
    ends = len(times) > 1 and bool(missing[-1])
    _check(table, columns, lines)
    if missing.all():
        raise InputError("is a trace without values; write a rate, delay or loss in each row")
    end = float(times[-1])
    if ends:
        times, table, missing = times[:-1], table[:, :-1], missing[:-1]
    for name, empty in zip(columns, np.isnan(table).all(axis=1), strict=True):
        if empty:
            raise InputError(f"has no {name} in any row; choose another column, or leave the {name} out")
    first = int(np.argmin(missing))
    if first:
        notes.append(f"{first} {'row' if first == 1 else 'rows'} before the first value left out")
        times, table, end = times[first:] - times[first], table[:, first:], end - float(times[first])
    times, table, equal = _merged(times, table)
    if equal:
        notes.append(f"{equal} {'row' if equal == 1 else 'rows'} with the time of the row before averaged")
    if not ends:
        if len(times) < 2:
            raise InputError("is a trace of one row; write a second one with the time of its end")
        end += float(times[-1] - times[-2])
        notes.append(f"the last row lasts as long as the one before it, to {end:.6g} s")
    table, filled = _filled(table)
    if filled:
        notes.append(f"{filled} missing {'value' if filled == 1 else 'values'} taken from the row before")
    found = dict(zip(columns, table, strict=True))
    if gap is not None and "rate" in found:
        times, found, gaps = _silenced(times, found, end, gap)
        notes.append(f"rate 0 in {gaps} {'gap' if gaps == 1 else 'gaps'} longer than {gap:.6g} s")
    if "rate" in found:
        low = (found["rate"] > 0) & (found["rate"] < _LEAST_RATE)
        if low.any():
            notes.append(f"{int(low.sum())} rates below 100 bit/s are 0")
            found["rate"] = np.where(low, 0.0, found["rate"])
        if not found["rate"].any():
            raise InputError("is a trace whose rate is always 0; raise one")
    if len(times) > MAX_LINES:
        longer = "write the mean rate, delay and loss of longer steps, so that the trace lasts as long"
        raise InputError(f"has {len(times)} steps; expected at most {MAX_LINES}; {longer}")
    if end < _SHORTEST:
        raise InputError("is a trace that ends before 1 ms; write a later last line")
    if end > TIME.high:
        raise InputError(f"lasts {end:.6g} s; expected at most {TIME.high:.0f} s; cut it")
    values = {name: tuple(of.tolist()) for name, of in found.items()}
    return Trace(text, tuple(times.tolist()), end, values, notes=tuple(notes))


def _check(table: Floats, columns: Mapping[str, Floats], lines: list[int]) -> None:
    for name, of in zip(columns, table, strict=True):
        least, most = COLUMNS[name].low, COLUMNS[name].high
        wrong = np.flatnonzero(~np.isnan(of) & ~((of >= least) & (of <= most)))
        if wrong.size:
            unit = COLUMNS[name].dimension
            shown, low, high = (units.show(float(x), unit) for x in (of[wrong[0]], least, most))
            raise InputError(f"has in line {lines[wrong[0]]} the {name} {shown}; expected {low} to {high}")


def _merged(times: Floats, table: Floats) -> tuple[Floats, Floats, int]:
    """Return rows with distinct times, each the mean of rows with equal time, and the number removed."""
    starts = np.flatnonzero(np.concatenate([[True], np.diff(times) >= 1e-9]))
    if len(starts) == len(times):
        return times, table, 0
    known = ~np.isnan(table)
    sums = np.add.reduceat(np.where(known, table, 0.0), starts, axis=1)
    counts = np.add.reduceat(known.astype(float), starts, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
    return times[starts], means, len(times) - len(starts)


def _filled(table: Floats) -> tuple[Floats, int]:
    """Return a table with each missing value replaced by that of the row before, or by the first known one,
    and the number of replaced values."""
    missing = np.isnan(table)
    if not missing.any():
        return table, 0
    at = np.where(missing, 0, np.arange(table.shape[1]))
    np.maximum.accumulate(at, axis=1, out=at)
    found = np.take_along_axis(table, at, axis=1)
    for row, of in enumerate(found):  # before the first known value of a column
        known = of[~np.isnan(of)]
        found[row] = np.where(np.isnan(of), known[0] if known.size else 0.0, of)
    return found, int(missing.sum())


def _silenced(
    times: Floats, columns: Mapping[str, Floats], end: float, gap: float
) -> tuple[Floats, dict[str, Floats], int]:
    """Return the steps with a rate of 0 later than `gap` [s] after each row, and the number of gaps."""
    long = np.flatnonzero(np.diff([*times, end]) > gap)
    at = np.concatenate([times, times[long] + gap])
    order = np.argsort(at, kind="stable")
    found = {name: np.concatenate([of, np.zeros(len(long)) if name == "rate" else of[long]])[order]
             for name, of in columns.items()}  # fmt: skip
    return at[order], found, len(long)
