"""What is done ahead of its time, because nothing can come before it.

Events need an order only where they meet: at a link, at a host.  A host meets the acknowledgements of its own
flow alone, in their order; so one is taken when it enters its last link, unless the timer goes off before.
A link that gets all its packets from one other (the way back of a dumbbell: from the sinks behind the way
forth) gets them in the order in which that one sends them; so a packet enters as soon as its time is
known, if it comes before anything that the other link can take next.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.wire import on_wire
from netcarlo.kernels.shared import fifo
from netcarlo.kernels.shared.layout import UDP, Flow, Link, Shared
from netcarlo.kernels.shared.state import Fifo, FlowWord, LinkWord, Word

PAUSES: Any = slot("pauses")

association: Any = slot("association")

_NOWHERE = 0
_MANY = -1


@cold
def prepare(p: Any, m: Any) -> None:
    """Where this holds, when all flows and links are laid out."""
    for i in range(p[Shared.FLOWS]):
        b = m[Word.FLOWS + i]
        size, ack = m[b + P.DATA] + m[b + P.CHUNK_HEADER] + m[b + P.HEADER], m[b + P.ACK]
        if m[b + Flow.KIND] != UDP:
            if m[b + P.HANDSHAKE] > 0:
                size = min(size, m[b + P.HANDSHAKE])
            if PAUSES:
                size, ack = min(size, m[b + P.HEADER]), min(ack, m[b + P.HEADER])
            time = on_wire(size, m[b + Flow.ACCESS]) + m[b + Flow.SOURCE_DELAY]
            m[b + FlowWord.AHEAD] = m[b + P.ACK_EVERY] == 1 and time > 0
        at_once = m[b + Flow.KIND] == UDP or m[b + P.ACK_EVERY] == 1
        before, time = np.int64(_MANY), np.int64(0)
        for hop in range(m[b + Flow.HOPS]):
            link = m[b + Flow.ROUTE + hop]
            _feed(m, link, before if at_once else np.int64(_MANY), time, size)
            before, time = link, _passes(m, link, size)
        time += on_wire(size, m[b + Flow.SINK]) + on_wire(ack, m[b + Flow.SINK_BACK])
        time += 2 * m[b + Flow.SINK_DELAY]
        for hop in range(m[b + Flow.BACK_HOPS]):
            link = m[b + Flow.BACK + hop]
            _feed(m, link, before if at_once else np.int64(_MANY), time, ack)
            before, time = link, _passes(m, link, ack)


def _passes(m: Any, link: Any, size: Any) -> Any:
    # How long a packet that finds a link idle takes to its far end [ns].
    return on_wire(size, m[link + Link.BYTE_TIME]) + m[link + Link.DELAY]


@cold
def _feed(m: Any, link: Any, feeder: Any, time: Any, size: Any) -> None:
    # Packets of at least `size` bytes come to a link, `time` [ns] or more after a feeder began to send them.
    before = m[link + LinkWord.FEEDER]
    if before == _NOWHERE:
        m[link + LinkWord.FEEDER], m[link + LinkWord.LOOKAHEAD] = feeder, time
    elif before != feeder:
        m[link + LinkWord.FEEDER] = _MANY
    if _passes(m, link, size) == 0:  # what happens at the same time has an order of its own
        m[link + LinkWord.FEEDER] = _MANY
    m[link + LinkWord.LOOKAHEAD] = min(m[link + LinkWord.LOOKAHEAD], time)


def may_enter(p: Any, m: Any, link: Any, t: Any) -> Any:
    """Whether nothing can enter a link before `t` [ns]."""
    feeder = m[link + LinkWord.FEEDER]
    return (
        feeder > 0
        and t < m[feeder + LinkWord.FREE] + m[link + LinkWord.LOOKAHEAD]
        and m[link + LinkWord.PENDING] == 0
        and t <= p[P.END]
    )


def is_due(m: Any, b: Any, following: Any, t: Any) -> Any:
    """Whether something does happen at the hosts of a flow at `t` [ns], or its timer has been set anew."""
    return m[b + FlowWord.AHEAD] == 0 or following <= t


def may_go_on(p: Any, m: Any, b: Any, following: Any) -> Any:
    """Whether next, at `following` [ns], an acknowledgement comes that has waited behind a timer."""
    arrives = following == fifo.due(m, b + FlowWord.TO_SOURCE)
    return m[b + FlowWord.AHEAD] != 0 and arrives and following <= p[P.END]


def may_take(p: Any, m: Any, b: Any, t: Any) -> Any:
    """Whether nothing can happen at the sender of a flow before an acknowledgement arrives at `t` [ns]."""
    queue = b + FlowWord.TO_SOURCE
    return (
        m[b + FlowWord.AHEAD] != 0
        and m[queue + Fifo.HEAD] == m[queue + Fifo.TAIL]
        and t <= min(association.due(m[b + FlowWord.ASSOCIATION :]), p[P.END])
    )
