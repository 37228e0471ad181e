"""Event log of shared links: rows of a trace with the events of packets and the state of their senders.

An event is logged where it is decided, with the time at which it happens, and written afterwards with the
state of the sender at that time, so rows are not in the order of time. The log is at the end of scratch, of
which the engine itself needs the first third (`SCRATCH_FACTOR`); the last two words count entries and rows.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_DROP,
    EVENT_ENTER,
    EVENT_LEAVE,
    EVENT_LOST,
    EVENT_RECOVERY,
    EVENT_SEND,
    EVENT_TIMEOUT,
    STATUS_OK,
    STATUS_TRACE_FULL,
    Carries,
    Trace,
)
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.trace import begin
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import outages, packet
from netcarlo.kernels.shared.layout import Flow, SharedOut
from netcarlo.kernels.shared.link import Fate
from netcarlo.kernels.shared.state import LinkWord, Word, block_of

ends: Any = slot("ends")

DELAYS: Any = slot("delays")
VARYING: Any = slot("varying")

SCRATCH_FACTOR = 3
"""Scratch needed with a trace, as a multiple of that without one."""

_ENTRY_WORDS = 6
"""Words of an entry: time [ns], event, link, packet, bytes, and 1 if the link is down."""
AT_HOST = -1
"""Number that stands for no link."""


@noinline
def prepare(m: Any) -> None:
    """Clear the log before the start."""
    m[m.shape[0] - 1] = 0
    m[m.shape[0] - 2] = 0


@noinline
def log(m: Any, t: Any, event: Any, link: Any, word: Any, size: Any, down: Any) -> None:
    """Log an event at `t` [ns] of a packet of `size` bytes at a link, given by its number, or AT_HOST."""
    count = m[m.shape[0] - 1]
    at = m.shape[0] - 2 - _ENTRY_WORDS * (count + 1)
    if at < m.shape[0] // SCRATCH_FACTOR:
        m[Word.STATUS] = 1
    else:
        m[at] = t
        m[at + 1] = event
        m[at + 2] = link
        m[at + 3] = word
        m[at + 4] = size
        m[at + 5] = down
        m[m.shape[0] - 1] = count + 1


@noinline
def log_at_link(
    p: Any, m: Any, b: Any, t: Any, word: Any, size: Any, fate: Any, arrival: Any, leaves: Any
) -> None:  # fmt: skip
    """Log the fate of a packet that enters the link with block `b` at `t`, or `leaves` its queue then.

    The packet is at the far end at `arrival` [ns]. A loss after the end of the run is logged at the end.
    """
    number = m[b + LinkWord.NUMBER]
    if not leaves:
        log(m, t, EVENT_ENTER, number, word, size, False)
    if fate & Fate.DROPPED:
        log(m, t, EVENT_DROP, number, word, size, VARYING and t >= m[b + LinkWord.DOWN])
    elif fate & Fate.HELD == 0:
        departs = m[b + LinkWord.FREE]
        cut = VARYING and outages.destroys(m, b, departs)
        if cut:
            departs, arrival = min(departs, m[b + LinkWord.DOWN]), m[b + LinkWord.DOWN]
        if departs <= p[RowP.END]:
            log(m, departs, EVENT_LEAVE, number, word, size, False)
        if fate & Fate.LOST:
            log(m, min(arrival, p[RowP.END]), EVENT_LOST, number, word, size, cut)


@noinline
def write_rows(m: Any, f: Any, trace: Any) -> None:
    """Write the logged events; rows are counted even if the trace is full."""
    n = m[m.shape[0] - 2]
    for k in range(m[m.shape[0] - 1]):
        at = m.shape[0] - 2 - _ENTRY_WORDS * (k + 1)
        event, word = m[at + 1], m[at + 3]
        i = packet.flow_of(m, word)
        b = block_of(m, i)
        if begin(trace, n, m[at] * 1e-9, event, np.int64(0), m[at + 2]):
            trace[n, Trace.FLOW] = 4 * i + _carries(word)
            trace[n, Trace.BYTES] = m[at + 4]
            trace[n, Trace.DOWN] = m[at + 5]
            if m[b + Flow.KIND] != UDP and event in (EVENT_SEND, EVENT_ACK, EVENT_TIMEOUT, EVENT_RECOVERY):
                ends.show(m, b, f, i, trace, n)
            if event in (EVENT_TIMEOUT, EVENT_RECOVERY):
                trace[n, Trace.SEQUENCE] = trace[n, Trace.ACKED] + 1
            elif DELAYS and m[b + Flow.KIND] == UDP:
                trace[n, Trace.SEQUENCE] = np.nan  # the time of the datagram replaces its number
            else:
                trace[n, Trace.SEQUENCE] = ends.sequence_of(m, b, word)
        n += 1
    m[m.shape[0] - 2] = n
    m[m.shape[0] - 1] = 0


@noinline
def finish(m: Any, out: Any, trace: Any) -> Any:
    """Return the number of rows, and set the status if there were too many."""
    n = m[m.shape[0] - 2]
    if n > trace.shape[0] and out[SharedOut.STATUS] == STATUS_OK:
        out[SharedOut.STATUS] = STATUS_TRACE_FULL
    return n


def _carries(word: Any) -> Any:
    """Return the kind of a packet (`Carries`)."""
    if word & packet.SHORT != 0 and not packet.is_short(word):
        return np.int64(Carries.CONTROL)
    return np.int64(Carries.ACK if word & packet.BACKWARD else Carries.DATA)
