"""Sources of flows that arrive and depart, in any engine: what a source draws, and the outcomes of its class.

A source is a Poisson process, or a user who downloads, thinks when all data have arrived, and downloads
again. Gap, size and think time depend only on the replication, the source and the number of the arrival.

`p` are the columns of the row, `s` is the word of scratch `m` where the columns `Source` of source `i` begin,
`w` that of its words `SlotState`.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base import histogram, points
from netcarlo.kernels.base.classes import (
    MEAN_BITS,
    SIZES,
    SLOWDOWN_BITS,
    SMALL,
    TIME_SHIFT,
    ClassOut,
    SizeOut,
)
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw

STREAM_ARRIVAL = 11 << 20  # + source; draw k: the gap before its arrival k
STREAM_SIZE = 10 << 20  # + source; draw k: the size of its arrival k, and how long its user thinks after it


class Source(IntEnum):
    """Columns of a slot that flows use one after the other; 0 for all other flows."""

    PERIODS = 0  # row of `losses` with the probability 1/1024
    CLASS = 1  # class of the flows that use this slot, from 1 on
    SLOTS = 2  # source of arrivals: number of slots that they use, this one and those behind it
    GAP = 3  # Poisson source: mean time between arrivals [ns]; 0: a user, who thinks
    SIZES = 4  # word of `constants` at which the points of the sizes begin [byte]
    THINKS = 5  # user: word of `constants` at which the points of the think times begin [ns]


class SlotState(IntEnum):
    """Words of a slot."""

    NEXT_ARRIVAL = 0  # next arrival at its source [ns], or FOREVER
    ARRIVALS = 1  # arrivals at its source so far
    STARTED = 2  # start of its flow [ns], or NEVER
    FLOW_SIZE = 3  # size of its flow [byte]
    THINK_TIME = 4  # think time of its user after the flow has arrived [ns]


_GAP_BITS = np.int64(10)
"""Fraction bits of the mean gap in which gaps are drawn."""
_TIMES = int(SizeOut.SLOWDOWNS - SizeOut.TIMES)
_SLOWDOWNS = int(SizeOut.COLUMNS - SizeOut.SLOWDOWNS)


def first_arrival(p: Any, constants: Any, losses: Any, m: Any, s: Any, w: Any, i: Any) -> Any:
    """Return the time from the start of a source to its first arrival [ns]."""
    if m[s + Source.GAP] > 0:
        return draw_gap(p, losses, m, s, w, i)
    _, think = draw_size(p, constants, m, s, w, i)
    return think


def draw_gap(p: Any, losses: Any, m: Any, s: Any, w: Any, i: Any) -> Any:
    """Return the exponential time from the latest arrival of a source to the next [ns]."""
    row, k = m[s + Source.PERIODS], m[w + SlotState.ARRIVALS]
    parts = gap(losses, row, p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_ARRIVAL + i, k)
    return ((parts + 1) * m[s + Source.GAP]) >> _GAP_BITS


def draw_size(p: Any, constants: Any, m: Any, s: Any, w: Any, i: Any) -> Any:
    """Return the size of the latest arrival of a source [byte], and the think time of its user after it
    [ns]."""
    k = m[w + SlotState.ARRIVALS]
    w0, w1, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_SIZE + i, k)
    size, think = points.value(constants, m[s + Source.SIZES], np.int64(w0)), np.int64(0)
    if m[s + Source.GAP] == 0:
        think = points.value(constants, m[s + Source.THINKS], np.int64(w1))
    return max(size, np.int64(1)), think


def outcomes_of(m: Any, first: Any, s: Any) -> Any:
    """Return the word at which the outcomes of a flow's class begin; those of all classes do at `first`."""
    return first + (m[s + Source.CLASS] - 1) * ClassOut.COLUMNS


def count_arrival(m: Any, at: Any, size: Any, blocked: Any) -> None:
    """Count the arrival of a flow after the warm-up in the outcomes of its class, which begin at word
    `at`."""
    m[at + ClassOut.ARRIVALS] += 1
    m[at + ClassOut.BLOCKED] += blocked
    m[at + ClassOut.OFFERED] += size


@noinline
def count_completion(
    m: Any, at: Any, w: Any, t: Any, warm_up: Any, packets: Any, ideal: Any
) -> None:  # fmt: skip
    """Count a flow of so many packets that has arrived in full at `t` [ns]; `at` is as in `count_arrival`.

    `ideal` is the time of an ideal transfer [ns], or 0 if slowdowns are not measured.
    """
    started = m[w + SlotState.STARTED]
    if t >= warm_up:
        m[at + ClassOut.COMPLETED] += 1
        m[at + ClassOut.PACKETS] += packets
    if started >= warm_up:
        time = t - started
        at += ClassOut.SIZE
        limit = np.int64(SMALL)
        for _ in range(SIZES - 1):
            if m[w + SlotState.FLOW_SIZE] > limit:
                at += SizeOut.COLUMNS
            limit *= 10
        m[at + SizeOut.FLOWS] += 1
        m[at + SizeOut.TIME] += time
        histogram.count(m, at + SizeOut.TIMES, _TIMES, time >> np.int64(TIME_SHIFT))
        if ideal > 0:
            m[at + SizeOut.SLOWDOWN] += (time << np.int64(MEAN_BITS)) // ideal
            slowdown = (time << np.int64(SLOWDOWN_BITS)) // ideal
            histogram.count(m, at + SizeOut.SLOWDOWNS, _SLOWDOWNS, slowdown)


def close_counts(m: Any, first: Any, classes: Any) -> None:
    """Compute the flows in progress at the end of the warm-up, of all classes."""
    for k in range(classes):
        counts = m[first + k * ClassOut.COLUMNS :]
        ended = counts[ClassOut.COMPLETED] + counts[ClassOut.ACTIVE] + counts[ClassOut.BLOCKED]
        counts[ClassOut.ACTIVE_BEFORE] = ended - counts[ClassOut.ARRIVALS]
