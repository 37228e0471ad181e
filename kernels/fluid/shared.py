"""Fluid model of flows over shared links: differential equations of windows, queues and loss rates.

One thread integrates a network of any number of flows and links in steps of half the shortest round trip. It
reads the rows of the packet engine for shared links and writes the same outcomes.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import STATUS_OK
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid import codel, delays, flow, fq, queue
from netcarlo.kernels.fluid.state import (
    ONE_BITS,
    FlowFloat,
    FlowWord,
    LinkFloat,
    LinkWord,
    floats_of_link,
    words_of_flow,
    words_of_link,
)
from netcarlo.kernels.fluid.window import clock
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared.layout import (
    CODEL,
    FQ_CODEL,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
    of_classes,
)

AQM: Any = slot("aqm")
DELAYS: Any = slot("delays")

STEPS_PER_RTT = 2  # steps per shortest round trip
SHORTEST_STEP = 1_000_000  # shortest step [ns]
LONGEST_STEP = 25_000_000  # longest step [ns]


def scratch_words(rows: SharedRows, *, delays: bool, aqm: bool) -> tuple[int, int]:
    """Return the words of int64 scratch and of float64 memory that any row of `rows` needs."""
    flows, links = rows.flows.shape[1], rows.links.shape[1]
    hops = rows.flows[..., Flow.HOPS] + rows.flows[..., Flow.BACK_HOPS]
    on_routes = int(hops.sum(axis=1).max(initial=0))
    queues = on_routes if aqm else 0
    words = (links + queues) * LinkWord.SIZE + flows * FlowWord.SIZE + 2 * on_routes
    words += of_classes(rows) if delays else 0
    return words, (links + queues) * LinkFloat.SIZE + flows * FlowFloat.SIZE


def simulate(
    p: Any, constants: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    length = _length_of_step(p, flows, links)
    free = _prepare(p, flows, links, losses, m, f, length)
    if DELAYS:
        delays.prepare(p, flows, links, m, free)
    for column in range(len(out)):
        out[column] = 0
    steps = (p[RowP.END] + length - 1) // length
    warm = (p[Shared.WARM_UP] - 1) // length  # the step at whose end counting begins
    one_way = np.int64(0)
    for i in range(p[Shared.FLOWS]):
        one_way = max(one_way, m[words_of_flow(p, i) + FlowWord.ONE_WAY])
    next_sample = p[Shared.WARM_UP]
    for k in range(steps):
        begin = k * length
        sampled = begin >= next_sample
        if sampled:
            next_sample += p[RowP.SAMPLE]
        step = flow.Step(k, begin, length, clock(begin), sampled)
        for i in range(p[Shared.FLOWS]):
            if flow.is_due(m[words_of_flow(p, i) :], k):
                flow.advance(p, flows[i], losses, m, f, i, step)
            else:
                m[words_of_flow(p, i) + FlowWord.THROUGH] = 0
        inside = min(begin + length, p[RowP.END]) - max(begin, p[Shared.WARM_UP])
        left = max(p[RowP.END] - begin - length, np.int64(0))
        due = 0.0
        for i in range(p[Shared.LINKS]):
            if AQM and links[i, Link.AQM] == FQ_CODEL:
                fq.serve(p, links[i], m, f, i, step, inside, left)
            else:
                s, g, room = m[words_of_link(i) :], f[floats_of_link(i) :], links[i, Link.QUEUE] << ONE_BITS
                arrived = s[LinkWord.ARRIVED]
                queue.serve(s, g, links[i], s, room, length, inside, left)
                if AQM and links[i, Link.AQM] == CODEL:
                    codel.update(p, s, g, links[i], i, arrived, step)
            due += f[floats_of_link(i) + LinkFloat.DUE]
        latest = begin + length + one_way + np.int64(due * float(length))
        if latest > p[RowP.END] or (k <= warm and latest > p[Shared.WARM_UP]):
            for i in range(p[Shared.FLOWS]):
                flow.settle(p, m, f, i, step)
        if k == warm and p[Shared.WARM_UP] > 0:
            _end_warm_up(p, flows, m, out)
    _report(p, flows, m, FlowWord.AFTER_END, out)
    if DELAYS:
        behind = flows.shape[0] * FlowOut.COLUMNS + links.shape[0] * LinkOut.COLUMNS
        delays.report(p, m, free, out[SharedOut.COLUMNS + behind :])
    out[SharedOut.STATUS] = STATUS_OK
    out[SharedOut.EVENTS] = steps * p[Shared.FLOWS]
    return 0


def _length_of_step(p: Any, flows: Any, links: Any) -> Any:
    """Return the length of a step: half the shortest round trip of a TCP or SCTP flow, within limits [ns]."""
    shortest = np.int64(LONGEST_STEP * STEPS_PER_RTT)
    for i in range(p[Shared.FLOWS]):
        if flows[i, Flow.KIND] != UDP:
            shortest = min(shortest, flow.round_trip(flows[i], links))
    return max(shortest // STEPS_PER_RTT, np.int64(SHORTEST_STEP))


def _prepare(p: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, step: Any) -> Any:
    """Initialise scratch and float memory; return the first free word of scratch."""
    free = p[Shared.LINKS] * LinkWord.SIZE + p[Shared.FLOWS] * FlowWord.SIZE
    for word in range(free):
        m[word] = 0
    for i in range(p[Shared.LINKS]):
        queue.prepare(m[words_of_link(i) :], f[floats_of_link(i) :], links[i], losses, step)
    for i in range(p[Shared.FLOWS]):
        free = flow.prepare(p, flows[i], links, m, f, i, free, step)
    if AQM:
        free = fq.prepare(p, links, m, f, free)
    return free


def _end_warm_up(p: Any, flows: Any, m: Any, out: Any) -> None:
    """Start counting: store the counters of the warm-up in `out`."""
    _report(p, flows, m, FlowWord.AFTER_WARM_UP, out)
    for i in range(p[Shared.LINKS]):
        counts = m[words_of_link(i) + LinkWord.COUNTS :]
        counts[LinkOut.ARRIVALS_BEFORE] = counts[LinkOut.ARRIVALS]
        counts[LinkOut.WAIT_MAX] = 0


def _report(p: Any, flows: Any, m: Any, later: Any, out: Any) -> None:
    """Write to `out` the counters minus the values that `out` holds."""
    for i in range(p[Shared.FLOWS]):
        s = m[words_of_flow(p, i) :]
        flow.report(p, s, flows[i], s[later], out[SharedOut.COLUMNS + i * FlowOut.COLUMNS :])
    first_link = SharedOut.COLUMNS + flows.shape[0] * FlowOut.COLUMNS
    for i in range(p[Shared.LINKS]):
        queue.report(m[words_of_link(i) :], out[first_link + i * LinkOut.COLUMNS :])
