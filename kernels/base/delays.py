"""Delay statistics of classes of flows: count, sums and histogram of distinct data packets.

A delay is the time from the first sending of data to their first arrival. Jitter is that of RFC 3550, section
6.4.1, in the integers of its appendix A.8: with each packet it moves by a sixteenth towards the difference
between the delays of this packet and the one that arrived before it.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.histogram import STEP_BITS, bins, octave_of
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.sums import add

SHIFT = 7
"""Unit of delays in histograms, 2**7 ns; a delay above 8 us is within 1.6 % of the middle of its bin."""

MOST_CLASSES = 8
"""Maximum number of classes with delay statistics in a network."""


class DelayOut(IntEnum):
    """Outcomes of a class: packets that arrive in the measurement window."""

    PACKETS = 0  # number of distinct data packets
    LATE = 1  # packets with a delay above the bound of their flow
    SUM = 2  # sum of delays [ns], low word
    SUM_HIGH = 3  # high word of that sum (`sums`)
    JITTER = 4  # sum of the flow's jitter at each packet [ns]
    DELAYS = 5  # histogram of delays, up to 275 s
    COLUMNS = DELAYS + bins(26)


class DelayState(IntEnum):
    """Words of scratch of a flow."""

    LATEST = 0  # delay of the latest packet [ns], or NONE
    JITTER = 1  # jitter [ns / 16]
    OCTAVE = 2  # octave of the latest delay counted, mostly also of the next
    SIZE = 3


NONE = -1
BINS = int(DelayOut.COLUMNS - DelayOut.DELAYS)


def prepare(m: Any, state: Any) -> None:
    """Initialise the state of a flow."""
    m[state + DelayState.LATEST] = NONE
    m[state + DelayState.JITTER] = 0
    m[state + DelayState.OCTAVE] = 0


def arrived(m: Any, at: Any, state: Any, delay: Any, bound: Any, counts: Any) -> None:
    """Record the `delay` [ns] of a packet of a flow; above `bound` [ns] it is late.

    `counts` is True in the measurement window; then the packet is counted in the outcomes at word `at`.
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
    """Delay statistics of a flow in registers, for a series of packets, see `arrived`.

    Most delays equal the previous one; such packets are counted together when the delay changes.
    """

    latest: Any
    """Delay of the latest packet [ns]."""
    run: Any
    """Number of packets with the delay `latest` that are not counted yet."""
    jitter: Any
    """Jitter of the flow [ns / 16]."""
    jitters: Any
    """Sum of jitters that is not counted yet [ns]."""


def accumulator_of(m: Any, state: Any) -> Any:
    """Return the delay statistics of a flow in registers."""
    return DelayAccumulator(
        m[state + DelayState.LATEST], np.int64(0), m[state + DelayState.JITTER], np.int64(0)
    )


def accumulate(m: Any, at: Any, state: Any, accumulator: Any, delay: Any, bound: Any) -> Any:
    """Record a delay in the measurement window, not the first of its flow; return the new accumulator."""
    change, run = delay - accumulator.latest, accumulator.run
    jitter = accumulator.jitter - ((accumulator.jitter + 8) >> np.int64(4))
    if change != 0:
        jitter += max(change, -change)
        count(m, at, state, accumulator.latest, run, bound)
        run = np.int64(0)
    return DelayAccumulator(delay, run + 1, jitter, accumulator.jitters + (jitter >> np.int64(4)))


def count(m: Any, at: Any, state: Any, delay: Any, packets: Any, bound: Any) -> None:
    """Count `packets` packets with the same `delay` [ns]; the sum of their delays fits a word."""
    if packets > 0:
        m[at + DelayOut.LATE] += packets * (delay > bound)
        add(m, at + DelayOut.SUM, at + DelayOut.SUM_HIGH, packets * delay)
        m[at + DelayOut.DELAYS + bin_of(m, state, delay)] += packets


def flush(m: Any, at: Any, state: Any, accumulator: Any, bound: Any) -> None:
    """Count what is left in the accumulator, and store it in the state of the flow."""
    count(m, at, state, accumulator.latest, accumulator.run, bound)
    m[state + DelayState.LATEST], m[state + DelayState.JITTER] = accumulator.latest, accumulator.jitter
    m[at + DelayOut.JITTER] += accumulator.jitters


def bin_of(m: Any, state: Any, delay: Any) -> Any:
    """Return the bin of a delay, which is mostly of the same octave as the previous one."""
    value, octave = delay >> np.int64(SHIFT), m[state + DelayState.OCTAVE]
    if value >> octave >> np.int64(STEP_BITS) != 1:
        octave = octave_of(value)
        m[state + DelayState.OCTAVE] = octave
    return min((octave << np.int64(STEP_BITS)) + (value >> octave), np.int64(BINS - 1))


@noinline
def finish(m: Any, at: Any) -> None:
    """Compute the number of packets from the histogram, after the last packet."""
    for k in range(BINS):
        m[at + DelayOut.PACKETS] += m[at + DelayOut.DELAYS + k]
