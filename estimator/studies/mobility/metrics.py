"""Metrics of the study of TCP over IP mobility (C. Park and Y. Chae, in Korean).

Rates count payload over the whole run. Goodput counts every received packet, including duplicates, because
only this is consistent with the published overheads (with distinct packets they are one percentage point too
large).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import EVENT_ACK, EVENT_RECEIVE, EVENT_SEND, EVENT_TIMEOUT, Out, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.studies.cells import Cell, Samples

HANDOVERS_S = (10.0, 30.0, 50.0)
"""Times of the handovers: inside a MAP, between MAPs, inside a MAP [s]."""

END_S = 60.0
"""End of a run [s]."""

Events = NDArray[np.float64]


def rate(column: Out) -> Callable[[Cell], Samples]:
    """Return a metric: the packets counted in a column, times payload, over the duration [kbit/s]."""

    def metric(cell: Cell) -> Samples:
        return cell.out(column) * cell.parameter(RowP.DATA) * 8e6 / cell.parameter(RowP.END)

    return metric


def overhead(cell: Cell) -> Samples:
    """Return the retransmission overhead (sent - received) / received of the means, equation (1) of the paper
    [%]."""
    received = cell.out(Out.RECEIVED)
    return 100 * ratio(cell.out(Out.SENT) - received, received)


def ratio(part: Samples, whole: Samples) -> Samples:
    """Return the ratio of two means as samples with its mean and, to first order, its standard deviation."""
    of_means = part.mean() / whole.mean()
    return np.asarray(of_means + (part - of_means * whole) / whole.mean())


def had_timeout(cell: Cell) -> Samples:
    """Return True for each run with a timeout."""
    return np.asarray(cell.out(Out.TIMEOUTS) > 0)


def stuck(cell: Cell) -> Samples:
    """Return True for each run with a mean congestion window of at most 2 packets."""
    return np.asarray(cell.out(Out.CWND_SUM) <= 2 * 1024 * cell.out(Out.SAMPLES))


def silence(cell: Cell) -> Samples:
    """Return the longest time between two received packets [ms]."""
    return cell.out(Out.SILENCE) * 1e-6


def arrivals(events: Events) -> Events:
    """Return the events of received data in order of time."""
    received = events[events[:, Trace.EVENT] == EVENT_RECEIVE]
    return np.asarray(received[np.argsort(received[:, Trace.TIME], kind="stable")])


def after_each(events: Events) -> list[Events]:
    """Return the events between each handover and the next."""
    ends = (*HANDOVERS_S[1:], END_S)
    time = events[:, Trace.TIME]
    return [events[(time >= a) & (time < b)] for a, b in zip(HANDOVERS_S, ends, strict=True)]


def timeouts(events: Events) -> list[int]:
    """Return the number of timeouts after each handover."""
    return [int((part[:, Trace.EVENT] == EVENT_TIMEOUT).sum()) for part in after_each(events)]


def resets(events: Events) -> list[bool]:
    """Return True for each handover after which a timeout reduced the window to 1 or 2 packets."""
    return [
        bool((part[part[:, Trace.EVENT] == EVENT_TIMEOUT][:, Trace.CWND] <= 2).any())
        for part in after_each(events)
    ]


def reordered(events: Events) -> list[int]:
    """Return the number of reordered packets after each handover, without retransmitted ones."""
    sent = events[events[:, Trace.EVENT] == EVENT_SEND][:, Trace.SEQUENCE].astype(np.int64)
    once = np.bincount(sent) == 1
    received = arrivals(events)
    number = received[:, Trace.SEQUENCE].astype(np.int64)
    late = received[(number < np.maximum.accumulate(number)) & once[number]]
    return [len(part) for part in after_each(late)]


def recovery(events: Events) -> list[float]:
    """Return the time from each handover until the rate over 1 s is 9/10 of that in the second before it
    [s]."""
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
    """Return the ratio of the smallest window in the 5 s after each handover to the window before it."""
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
"""Metrics by name: functions that return the values in a cell, one per replication."""
