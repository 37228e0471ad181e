"""Delays of data by class of flows in a fluid, see `base.delays`.

Packets sent in a step (on a path: in a round trip) have the one-way delay without queues plus the queueing
delay of that step. Only whole packets are counted; the remainder is counted in the next step. Packets of a
fluid do not differ from one another, so there is no jitter.

`s` are the words of a flow in scratch `m`, `flow` its columns.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base import delays
from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.delays import BINS, SHIFT, DelayOut
from netcarlo.kernels.base.histogram import bin_of
from netcarlo.kernels.base.layout import NEVER, Hop
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.sums import add_times
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.fluid.sizes import data_packet
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowWord, words_of_flow
from netcarlo.kernels.shared.layout import Flow, Link, Shared


def one_way(flow: Any, links: Any) -> Any:
    """Return the one-way delay of a flow's data without queues [ns]."""
    data = data_packet(flow)
    total = flow[Flow.SOURCE_DELAY] + flow[Flow.SINK_DELAY]
    total += on_wire(data, flow[Flow.ACCESS]) + on_wire(data, flow[Flow.SINK])
    for hop in range(flow[Flow.HOPS]):
        link = flow[Flow.ROUTE + hop]
        total += links[link, Link.DELAY] + on_wire(data, links[link, Link.BYTE_TIME])
    return total


def prepare(p: Any, flows: Any, links: Any, m: Any, free: Any) -> None:
    """Initialise the outcomes, which begin at word `free`."""
    for word in range(free, free + p[Shared.DELAY_CLASSES] * DelayOut.COLUMNS):
        m[word] = 0
    for i in range(p[Shared.FLOWS]):
        s, number = m[words_of_flow(p, i) :], flows[i, Flow.DELAY_CLASS]
        s[FlowWord.OUTCOMES] = free + (number - 1) * DelayOut.COLUMNS if number > 0 else 0


def carried(p: Any, m: Any, s: Any, flow: Any, through: Any, begin: Any, wait: Any) -> None:
    """Count delivered packets, sent from `begin` [ns] on with a queueing delay of `wait` [ns].

    `through` is their number [packet, ONE_BITS].
    """
    delay, at = s[FlowWord.ONE_WAY] + wait, s[FlowWord.OUTCOMES]
    if at > 0 and p[Shared.WARM_UP] <= begin + delay <= p[RowP.END]:
        part = s[FlowWord.REMAINDER] + through
        packets = part >> ONE_BITS
        s[FlowWord.REMAINDER] = part & (ONE - 1)
        _count(m, at, packets, delay, flow[Flow.BOUND])


def _count(m: Any, at: Any, packets: Any, delay: Any, bound: Any) -> None:
    """Count `packets` packets with a one-way delay of `delay` [ns] each."""
    if delay > bound:
        m[at + DelayOut.LATE] += packets
    add_times(m, at + DelayOut.SUM, at + DelayOut.SUM_HIGH, packets, delay)
    m[at + DelayOut.DELAYS + min(bin_of(delay >> np.int64(SHIFT)), np.int64(BINS - 1))] += packets


def prepare_path(hops: Any, m: Any, at: Any, size: Any) -> None:
    """Initialise the outcomes of a path, which begin at word `at`, for packets of `size` bytes."""
    m[FlowWord.OUTCOMES] = at
    for word in range(at, at + DelayOut.COLUMNS):
        m[word] = 0
    for hop in range(hops.shape[1]):
        if hops[0, hop, Hop.PRESENT] != 0:
            m[FlowWord.ONE_WAY] += on_wire(size, hops[0, hop, Hop.BYTE_TIME]) + hops[0, hop, Hop.DELAY]


def passed(p: Any, m: Any, distinct: Any, wait: Any) -> None:
    """Count the packets delivered by a path since the previous call.

    `distinct` is their total so far [packet]; the latest one had a queueing delay of `wait` [ns].
    """
    packets = distinct - m[FlowWord.REMAINDER]
    if packets > 0:
        m[FlowWord.REMAINDER] = distinct
        _count(m, m[FlowWord.OUTCOMES], packets, m[FlowWord.ONE_WAY] + wait, p[RowP.LATE])


def report_path(m: Any, out: Any) -> None:
    """Write the outcomes of a path to the beginning of `out`."""
    at = m[FlowWord.OUTCOMES]
    delays.finish(m, at)
    m[at + DelayOut.JITTER] = NEVER
    for column in range(DelayOut.COLUMNS):
        out[column] = m[at + column]


def report(p: Any, m: Any, begin: Any, out: Any) -> None:
    """Write the outcomes from word `begin` on to `out`, following those of classes of arriving flows."""
    at = p[Shared.CLASSES] * ClassOut.COLUMNS
    for k in range(p[Shared.DELAY_CLASSES]):
        delays.finish(m, begin + k * DelayOut.COLUMNS)
        m[begin + k * DelayOut.COLUMNS + DelayOut.JITTER] = NEVER
    for column in range(p[Shared.DELAY_CLASSES] * DelayOut.COLUMNS):
        out[at + column] = m[begin + column]
