"""Delays of classes of flows: a count, sums and a histogram, of distinct data packets that arrive.

A delay is the time from when data is first put out until it first arrives.  Jitter is that of RFC 3550,
section 6.4.1, in the integers of its appendix A.8: with each packet of a flow it goes a sixteenth of the way
to the difference between its delay and that of the packet that arrived before it.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.histogram import STEP_BITS, bins, octave_of
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.sums import add

SHIFT = 7
"""Delays are counted in 2**7 ns: one from 8 us on is within 1.6 % of the middle of its bin."""

MOST_CLASSES = 8
"""Of a network."""


class DelayOut(IntEnum):
    """A class, of the packets that arrive in the window of measurement."""

    PACKETS = 0
    LATE = 1  # of those, took longer than the bound of their flow
    SUM = 2  # of delays [ns] ...
    SUM_HIGH = 3  # ... and what exceeds a word of it [2**63 ns]
    JITTER = 4  # sum of the jitter of the flow at each packet [ns]
    DELAYS = 5  # histogram, up to 275 s
    COLUMNS = DELAYS + bins(26)


class DelayState(IntEnum):
    """The words of a flow."""

    LATEST = 0  # delay of its latest packet [ns], or NONE
    JITTER = 1  # [ns / 16]
    OCTAVE = 2  # that of its latest packet that was counted, and of most that follow
    SIZE = 3


NONE = -1
BINS = int(DelayOut.COLUMNS - DelayOut.DELAYS)


def prepare(m: Any, state: Any) -> None:
    """Before the first packet of a flow."""
    m[state + DelayState.LATEST] = NONE
    m[state + DelayState.JITTER] = 0
    m[state + DelayState.OCTAVE] = 0


def arrived(m: Any, at: Any, state: Any, delay: Any, bound: Any, counts: Any) -> None:
    """A packet of a flow took `delay` [ns]; it is late above a `bound` [ns].

    It `counts` in the outcomes at `at` of its class, or comes before the window.
    """
    jitter, latest = m[state + DelayState.JITTER], m[state + DelayState.LATEST]
    if latest != NONE:
        change = delay - latest
        jitter += max(change, -change) - ((jitter + 8) >> np.int64(4))
    m[state + DelayState.LATEST] = delay
    m[state + DelayState.JITTER] = jitter
    if counts:
        m[at + DelayOut.LATE] += delay > bound
        add(m, at + DelayOut.SUM, at + DelayOut.SUM_HIGH, delay)
        m[at + DelayOut.JITTER] += jitter >> np.int64(4)
        m[at + DelayOut.DELAYS + bin_of(m, state, delay)] += 1


class DelayAccumulator(NamedTuple):
    """What of a flow is in registers where one packet after the other arrives: see `arrived`.

    Most take as long as the one before; those are counted together when one does not.
    """

    latest: Any
    run: Any
    """Packets that took as long and are not counted yet."""
    jitter: Any
    jitters: Any
    """Sum that is not counted yet."""


def accumulator_of(m: Any, state: Any) -> Any:
    """A flow as it is."""
    return DelayAccumulator(
        m[state + DelayState.LATEST], np.int64(0), m[state + DelayState.JITTER], np.int64(0)
    )


def accumulate(m: Any, at: Any, state: Any, accumulator: Any, delay: Any, bound: Any) -> Any:
    """As `arrived`, of a packet that counts and is not the first: the meter afterwards."""
    change, run = delay - accumulator.latest, accumulator.run
    jitter = accumulator.jitter - ((accumulator.jitter + 8) >> np.int64(4))
    if change != 0:
        jitter += max(change, -change)
        count(m, at, state, accumulator.latest, run, bound)
        run = np.int64(0)
    return DelayAccumulator(delay, run + 1, jitter, accumulator.jitters + (jitter >> np.int64(4)))


def count(m: Any, at: Any, state: Any, delay: Any, packets: Any, bound: Any) -> None:
    """So many packets of a flow took `delay` [ns] each, which in all are less than a word holds."""
    if packets > 0:
        m[at + DelayOut.LATE] += packets * (delay > bound)
        add(m, at + DelayOut.SUM, at + DelayOut.SUM_HIGH, packets * delay)
        m[at + DelayOut.DELAYS + bin_of(m, state, delay)] += packets


def flush(m: Any, at: Any, state: Any, accumulator: Any, bound: Any) -> None:
    """A flow as it is now; all is counted."""
    count(m, at, state, accumulator.latest, accumulator.run, bound)
    m[state + DelayState.LATEST], m[state + DelayState.JITTER] = accumulator.latest, accumulator.jitter
    m[at + DelayOut.JITTER] += accumulator.jitters


def bin_of(m: Any, state: Any, delay: Any) -> Any:
    """The bin of a delay: mostly of the same octave as that before."""
    value, octave = delay >> np.int64(SHIFT), m[state + DelayState.OCTAVE]
    if value >> octave >> np.int64(STEP_BITS) != 1:
        octave = octave_of(value)
        m[state + DelayState.OCTAVE] = octave
    return min((octave << np.int64(STEP_BITS)) + (value >> octave), np.int64(BINS - 1))


@noinline
def finish(m: Any, at: Any) -> None:
    """When all have arrived: count them."""
    for k in range(BINS):
        m[at + DelayOut.PACKETS] += m[at + DelayOut.DELAYS + k]
