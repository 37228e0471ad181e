"""Observer of the delays of data, see `base.one_flow`."""

from typing import Any

from netcarlo.kernels.base import delays, one_flow
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.delays import DelayState
from netcarlo.kernels.base.parameters import RowP

association: Any = slot("association")

STATE: Any = slot("delay_state")
"""Word of scratch where the state of the flow begins, which the first word of the outcomes follows."""

COLUMNS = WORDS = one_flow.WORDS
OUTCOMES = int(DelayState.SIZE)


def prepare(m: Any, free: Any) -> Any:
    """Initialise the statistics; return the next free word."""
    m[STATE + OUTCOMES] = free
    return one_flow.prepare(m, STATE, free)


def on_delivered(p: Any, m: Any, s: Any, t: Any, packet: Any) -> None:
    """Record the delay of new data in a packet that arrives at time t [ns]."""
    on_delay(p, m, association.delay_of(p, s, t, packet))


def on_delay(p: Any, m: Any, delay: Any) -> None:
    """Record the delay [ns] of new data."""
    one_flow.arrived(p, m, STATE, m[STATE + OUTCOMES], delay)


def begin_series(m: Any) -> Any:
    """Return the statistics of the flow in registers."""
    return delays.accumulator_of(m, STATE)


def on_delay_in_series(p: Any, m: Any, series: Any, delay: Any) -> Any:
    """Record a delay [ns] of the fast path; return the new statistics."""
    return delays.accumulate(m, m[STATE + OUTCOMES], STATE, series, delay, p[RowP.LATE])


def end_series(p: Any, m: Any, series: Any) -> None:
    """Store the statistics."""
    delays.flush(m, m[STATE + OUTCOMES], STATE, series, p[RowP.LATE])


def report(m: Any, out: Any, at: Any) -> Any:
    """Write the outcomes (`DelayOut`); return the next column."""
    one_flow.report(m, m[STATE + OUTCOMES], out, at)
    return at + COLUMNS
