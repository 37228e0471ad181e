"""Metrics of the study of TCP over IP mobility (C. Park and Y. Chae, in Korean).

Rates count payload over the whole run; goodput counts every arrival, duplicates included, which is
what the published overheads need (counting distinct packets makes them a percentage point too large).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import EVENT_ACK, EVENT_RECEIVE, EVENT_SEND, EVENT_TIMEOUT, Out, P, Trace
from netcarlo.studies.cells import Cell, Samples

HANDOVERS_S = (10.0, 30.0, 50.0)
"""The radio link goes down: inside a MAP, between MAPs, inside a MAP."""

END_S = 60.0

Events = NDArray[np.float64]


def rate(column: Out) -> Callable[[Cell], Samples]:
    """Packets counted in a column x payload / run length [kbit/s]."""

    def metric(cell: Cell) -> Samples:
        return cell.out(column) * cell.parameter(P.DATA) * 8e6 / cell.parameter(P.END)

    return metric


def overhead(cell: Cell) -> Samples:
    """Retransmission overhead: (sent - received) / received, of the means as in the paper's eq. (1) [%]."""
    received = cell.out(Out.RECEIVED)
    return 100 * ratio(cell.out(Out.SENT) - received, received)


def ratio(part: Samples, whole: Samples) -> Samples:
    """The ratio of two means as samples: their mean is the ratio, their spread its (to first order)."""
    of_means = part.mean() / whole.mean()
    return np.asarray(of_means + (part - of_means * whole) / whole.mean())


def had_timeout(cell: Cell) -> Samples:
    """Runs with a timeout."""
    return np.asarray(cell.out(Out.TIMEOUTS) > 0)


def stuck(cell: Cell) -> Samples:
    """Runs whose congestion window is at most 2 in the mean over its samples."""
    return np.asarray(cell.out(Out.CWND_SUM) <= 2 * 1024 * cell.out(Out.SAMPLES))


def silence(cell: Cell) -> Samples:
    """Longest time between two arrivals [ms]."""
    return cell.out(Out.SILENCE) * 1e-6


def arrivals(events: Events) -> Events:
    """The arrivals of data in order of time."""
    received = events[events[:, Trace.EVENT] == EVENT_RECEIVE]
    return np.asarray(received[np.argsort(received[:, Trace.TIME], kind="stable")])


def after_each(events: Events) -> list[Events]:
    """The events from each handover to the next."""
    ends = (*HANDOVERS_S[1:], END_S)
    time = events[:, Trace.TIME]
    return [events[(time >= a) & (time < b)] for a, b in zip(HANDOVERS_S, ends, strict=True)]


def timeouts(events: Events) -> list[int]:
    """Timeouts after each handover."""
    return [int((part[:, Trace.EVENT] == EVENT_TIMEOUT).sum()) for part in after_each(events)]


def resets(events: Events) -> list[bool]:
    """After each handover: whether a timeout sent the window back to 1 or 2 packets."""
    return [
        bool((part[part[:, Trace.EVENT] == EVENT_TIMEOUT][:, Trace.CWND] <= 2).any())
        for part in after_each(events)
    ]


def reordered(events: Events) -> list[int]:
    """After each handover: packets put out once that arrived after one with a higher number."""
    sent = events[events[:, Trace.EVENT] == EVENT_SEND][:, Trace.SEQUENCE].astype(np.int64)
    once = np.bincount(sent) == 1
    received = arrivals(events)
    number = received[:, Trace.SEQUENCE].astype(np.int64)
    late = received[(number < np.maximum.accumulate(number)) & once[number]]
    return [len(part) for part in after_each(late)]


def recovery(events: Events) -> list[float]:
    """From each link-down until a second brings 9/10 of what the second before it did [s]."""
    times = arrivals(events)[:, Trace.TIME]
    found = []
    for down in HANDOVERS_S:
        before = ((times >= down - 1) & (times < down)).sum()
        starts = times[times > down]
        in_a_second = np.searchsorted(times, starts + 1) - np.searchsorted(times, starts)
        full = starts[in_a_second >= 0.9 * before]
        found.append(float(full[0] - down) if len(full) else END_S - down)
    return found


def kept_window(events: Events) -> list[float]:
    """Smallest window in the 5 s after each link-down over that before it."""
    acks = events[events[:, Trace.EVENT] == EVENT_ACK]
    time, cwnd = acks[:, Trace.TIME], acks[:, Trace.CWND]
    return [
        float(cwnd[(time >= down) & (time < down + 5)].min() / cwnd[time < down][-1]) for down in HANDOVERS_S
    ]


METRICS: dict[str, Callable[[Cell], Samples]] = {
    "goodput_kbps": rate(Out.RECEIVED),
    "bandwidth_kbps": rate(Out.SENT),
    "ror_percent": overhead,
    "timeout_percent": had_timeout,
    "stuck_percent": stuck,
    "silence_ms": silence,
}
"""Metric of a cell -> its values, one per replication."""
