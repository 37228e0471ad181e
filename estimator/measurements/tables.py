"""Tables of measured values (a row for each run), or of values over time (a column of times).

Columns are found by their names, with the unit in the name or in the cells:

    run,goodput_mbps,rtt_ms,loss %         time_s,goodput_mbps,rtt_ms
    1,9.41,44.1,0.02                       0,8.7,41
    2,9.38,45.0,0.03                       1,9.5,44

A column may also have the name of an outcome of netcarlo. The last interval is as long as the one before.
"""

import math
import re

import numpy as np

from netcarlo.errors import InputError
from netcarlo.measurements.record import QUANTITIES, SUMS, Curve, Measurement
from netcarlo.networks.outcome import dimension
from netcarlo.schema import table, units
from netcarlo.schema.table import Table
from netcarlo.schema.units import Dimension
from netcarlo.simulation.outcomes import MEANING

WORDS = {
    "goodput_bps": {"goodput", "throughput", "rate", "bitrate", "bandwidth", "bps"},
    "mean_rtt_s": {"rtt", "srtt", "ping", "latency"},
    "retransmitted": {"retransmits", "retransmitted", "retransmissions", "retransmit", "retr", "rexmit"},
    "loss_ratio": {"loss", "losses", "lossratio", "plr", "lost"},
    "mean_delay_s": {"delay", "owd"},
    "jitter_s": {"jitter"},
    "mean_cwnd_packets": {"cwnd"},
}
"""Words in the name of a column, by the quantity that it is; the first one that fits."""
TIME = {"time", "t", "timestamp", "seconds", "elapsed", "start"}
"""Words in the name of a column of times."""


def parse(text: str, source: str) -> list[Measurement]:
    """Return the runs in a table: one for each row, or one over time. Raises InputError without the file's
    name."""
    given = table.read(text)
    if not given.names:
        raise InputError("has no line of column names; write one such as time_s,goodput_mbps,rtt_ms")
    found, unused = _columns(given)
    if not found:
        names = ", ".join(given.names)
        known = ", ".join(QUANTITIES)
        raise InputError(
            f"has no column with a quantity among {names[:200]!r}; name one of {known}, with a unit, as in "
            "goodput_mbps or rtt_ms"
        )
    if not given.rows:
        raise InputError("has a header but no rows; add a row for each run, or for each interval")
    faults, values = list[str](), {}
    for outcome, at in found.items():
        try:
            values[outcome] = _values(given, at, outcome)
        except InputError as error:
            faults += [f"column {given.names[at]!r} {line}" for line in error.lines]
    if faults:
        raise InputError(*faults)
    notes = (f"Columns without a known quantity are left out: {', '.join(unused)}",) if unused else ()
    when = [
        at
        for at, name in enumerate(given.names)
        if _words(name, units.TIME) & TIME and at not in found.values()
    ]
    if when:
        return [_over_time(given, when[0], values, source, notes)]
    several = len(given.rows) > 1
    return [
        Measurement(
            source=f"{source}, line {line}" if several else source, program="a table", start_s=math.nan,
            end_s=math.nan, notes=notes,
            values={name: float(column[k]) for name, column in values.items() if math.isfinite(column[k])},
            missing={name: "no column of the table" for name in QUANTITIES if name not in values},
        )
        for k, line in enumerate(given.lines)
    ]  # fmt: skip


def _columns(given: Table) -> tuple[dict[str, int], list[str]]:
    """Return the column of each quantity, and the names of the others. Raises InputError."""
    found: dict[str, int] = {}
    unused = list[str]()
    for at, name in enumerate(given.names):
        outcome = _quantity(name)
        if outcome is None:
            if not _words(name, units.TIME) & (TIME | {"run", "id", "name"}):
                unused.append(name)
        elif outcome in found:
            both = f"{given.names[found[outcome]]!r} and {name!r}"
            raise InputError(f"has two columns for {outcome}: {both}; remove or rename one")
        else:
            found[outcome] = at
    return found, unused


def _quantity(name: str) -> str | None:
    """Return the outcome that a column has; None if it is of no known quantity."""
    bare = name.strip()
    if bare in QUANTITIES or bare in MEANING:
        return bare
    for outcome, words in WORDS.items():
        if words & _words(bare, _dimension(outcome)):
            return outcome
    return None


def _words(name: str, of: Dimension) -> set[str]:
    bare = table.without_unit(name, of)
    parts = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bare).lower())
    return {*parts, "".join(parts)}


def _dimension(outcome: str) -> Dimension:
    return units.FRACTION if outcome == "loss_ratio" else dimension(outcome)


def _values(given: Table, at: int, outcome: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return a column in SI units, NaN where a value is missing."""
    of, name = _dimension(outcome), given.names[at].strip()
    if of in (units.RATE, units.TIME):
        own = {units.RATE: "bit/s", units.TIME: "s"}[of] if name == outcome else table.split_name(name, of)[1]
        if not own and any(table.NUMBER.fullmatch(cell) for cell in given.cells(at)):
            example = "goodput_mbps" if of is units.RATE else f"{name}_ms"
            raise InputError(f"has numbers without a unit; name it in the header, as in {example}")
        return np.asarray(table.column(given, at, of, own), float)
    unit = table.split_name(name, of)[1] or "1"
    return np.asarray(table.column(given, at, of, unit), float)


def _over_time(
    given: Table, at: int, values: dict[str, "np.ndarray[tuple[int], np.dtype[np.float64]]"], source: str,
    notes: tuple[str, ...],
) -> Measurement:  # fmt: skip
    unit = table.split_name(given.names[at], units.TIME)[1] or "s"
    times = np.asarray(table.column(given, at, units.TIME, unit), float)
    wrong = np.flatnonzero(~(np.diff(times, prepend=-math.inf) > 0))
    if len(wrong):
        line = given.lines[int(wrong[0])]
        raise InputError(f"line {line}: the time is missing or does not increase; sort the rows")
    if len(times) < 2:
        raise InputError("has one row over time; a curve needs two or more")
    starts = times - times[0]
    ends = np.append(starts[1:], 2 * starts[-1] - starts[-2])
    curves = {name: Curve(starts, ends, column) for name, column in values.items()}
    totals = {
        name: float(np.nansum(one.values)) if name in SUMS else one.mean() for name, one in curves.items()
    }  # fmt: skip
    return Measurement(
        source=source, program="a table over time", start_s=0.0, end_s=float(ends[-1]), curves=curves,
        notes=notes,
        values={name: value for name, value in totals.items() if math.isfinite(value)},
        missing={name: "no column of the table" for name in QUANTITIES if name not in totals},
    )  # fmt: skip
