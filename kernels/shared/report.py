"""Measurements of the shared engine: samples, and the outcomes of a row.

Counters count events from the end of the warm-up on. `_end_warm_up` resets those of links and senders.
Arrivals at sinks and transmissions of links are known in advance; they are counted when they become known,
unless their time is in the warm-up.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import agenda, fifo, packet
from netcarlo.kernels.shared.aqm import discipline
from netcarlo.kernels.shared.layout import NO_AQM, Flow, FlowOut, Link, LinkOut, Shared, SharedOut
from netcarlo.kernels.shared.samples import take_samples
from netcarlo.kernels.shared.state import Fifo, FlowWord, LinkWord, Word, block_of

ends: Any = slot("ends")

AQM: Any = slot("aqm")


@noinline
def on_clock(p: Any, m: Any, f: Any, t: Any) -> None:
    """Take samples at `t` [ns]; the first are due at the end of the warm-up, before any other event then."""
    if t == p[Shared.WARM_UP]:
        _end_warm_up(p, m)
    for i in range(p[Shared.FLOWS]):
        take_samples(p, m, f, i, t)
    agenda.set_clock(m, t + p[RowP.SAMPLE])


@noinline
def _end_warm_up(p: Any, m: Any) -> None:
    """Reset all counters at the end of the warm-up."""
    m[Word.HORIZON] = p[RowP.END]
    for i in range(p[Shared.LINKS]):
        counts = m[m[Word.LINKS] + LinkWord.SIZE * i + LinkWord.COUNTS :]
        counts[LinkOut.ARRIVALS_BEFORE] = counts[LinkOut.ARRIVALS]
        for column in (
            LinkOut.ARRIVALS, LinkOut.DROPS, LinkOut.DROPS_BEFORE, LinkOut.EARLY, LinkOut.MARKS, LinkOut.LOST,
        ):  # fmt: skip
            counts[column] = 0
    for i in range(p[Shared.FLOWS]):
        b = block_of(m, i)
        counts = m[b + FlowWord.COUNTS :]
        for counter in (
            FlowOut.SENT, FlowOut.RETRANSMITTED, FlowOut.ACKED, FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM,
            FlowOut.ACK_DROPS, FlowOut.MARKED, FlowOut.TIMEOUTS, FlowOut.FAST_RETRANSMITS, FlowOut.CWND_CUTS,
            FlowOut.HANDSHAKES,
        ):  # fmt: skip
            counts[counter] = 0
        if m[b + Flow.KIND] != UDP:
            ends.count(m, b, np.int64(-1))


@noinline
def report(p: Any, max_flows: Any, events: Any, m: Any, out: Any) -> None:
    """Write the outcomes after so many events besides arrivals at links; links follow `max_flows` flows."""
    for column in range(len(out)):
        out[column] = 0
    out[SharedOut.EVENTS] = events
    for i in range(p[Shared.LINKS]):
        link = m[Word.LINKS] + LinkWord.SIZE * i
        out[SharedOut.EVENTS] += m[link + LinkWord.COUNTS + LinkOut.ARRIVALS]
        out[SharedOut.EVENTS] += m[link + LinkWord.COUNTS + LinkOut.ARRIVALS_BEFORE]
        _count_in_flight(m, link + LinkWord.FIFO)
        if AQM and m[link + Link.AQM] != NO_AQM:
            discipline.report(p, m, link)
        at = SharedOut.COLUMNS + FlowOut.COLUMNS * max_flows + LinkOut.COLUMNS * i
        for column in range(LinkOut.COLUMNS):
            out[at + column] = m[link + LinkWord.COUNTS + column]
    for i in range(p[Shared.FLOWS]):
        _count_in_flight(m, block_of(m, i) + FlowWord.TO_LINK)
    for i in range(p[Shared.FLOWS]):
        b = block_of(m, i)
        counts = m[b + FlowWord.COUNTS :]
        counts[FlowOut.IN_FLIGHT] += m[b + FlowWord.ARRIVING_AFTER_END]
        if m[b + Flow.KIND] != UDP:
            ends.count(m, b, np.int64(1))
        ended = counts[FlowOut.RECEIVED] + counts[FlowOut.DROPS_QUEUE] + counts[FlowOut.DROPS_RANDOM]
        counts[FlowOut.IN_FLIGHT_BEFORE] = ended + counts[FlowOut.IN_FLIGHT] - counts[FlowOut.SENT]
        for column in range(FlowOut.COLUMNS):
            out[SharedOut.COLUMNS + FlowOut.COLUMNS * i + column] = counts[column]
    out[SharedOut.STATUS] = m[Word.STATUS]


@noinline
def _count_in_flight(m: Any, queue: Any) -> None:
    """Count the data packets in a FIFO as in flight."""
    for entry in range(m[queue + Fifo.HEAD], m[queue + Fifo.TAIL]):
        word = fifo.packet_at(m, queue, entry)
        b = block_of(m, packet.flow_of(m, word))
        if word & packet.BACKWARD == 0 and packet.is_payload(word):
            m[b + FlowWord.COUNTS + FlowOut.IN_FLIGHT] += 1
