"""Many flows over shared links, packet by packet.

One thread simulates up to 64 flows, of TCP or SCTP and of UDP, on up to 64 links of any topology.  FIFOs keep
packets in the order in which they will arrive, so the earliest event is the smallest of a few keys: three a
flow and one a link.  Hosts have links of their own, see `hosts`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.shared import agenda, fifo, packet
from netcarlo.kernels.shared.agenda import Event
from netcarlo.kernels.shared.layout import Flow, FlowOut
from netcarlo.kernels.shared.link import Fate, enter
from netcarlo.kernels.shared.report import on_clock, report
from netcarlo.kernels.shared.setup import lay_out
from netcarlo.kernels.shared.state import FlowWord, LinkWord, Word

association: Any = slot("association")
hosts: Any = slot("hosts")
ends: Any = slot("ends")


def simulate(
    p: Any, constants: Any, flows: Any, links: Any, losses: Any, m: Any, f: Any, out: Any, trace: Any
) -> Any:
    """Simulate one row; see `models` for the arguments."""
    lay_out(p, flows, links, losses, m, f)
    means = f[flows.shape[0] * association.FLOATS :]  # mean queues, of RED
    end = p[P.END]
    events = np.int64(0)
    key = agenda.earliest(m)
    while m[Word.FULL] == 0 and agenda.time_of(key) <= end:
        events += 1
        t, kind, i = agenda.time_of(key), agenda.class_of(key), agenda.number_of(key)
        if kind == Event.CLOCK:
            on_clock(p, m, f, t)
        else:
            if kind == Event.HOST:
                following = hosts.on_event(m, m[Word.FLOWS + i], p, constants, losses, f, i, t)
            else:
                following = _on_arrival(p, losses, m, means, kind, i, t)
            agenda.replace(m, kind, i, following)
        key = agenda.earliest(m)
    report(p, flows.shape[0], events, m, out)
    return np.int64(0)


def _on_arrival(p: Any, losses: Any, m: Any, means: Any, kind: Any, i: Any, t: Any) -> Any:
    # A packet comes to the next link of its route; returns when the one behind it does [ns], or NO_EVENT.
    if kind == Event.FAR:
        queue = m[Word.LINKS] + LinkWord.SIZE * i + LinkWord.FIFO
    else:
        queue = m[Word.FLOWS + i] + (FlowWord.TO_LINK if kind == Event.DATA else FlowWord.BACK_TO_LINK)
    word, following = fifo.pop(m, queue)
    _move(p, losses, m, means, word, t)
    return following


def _move(p: Any, losses: Any, m: Any, means: Any, word: Any, t: Any) -> None:
    # A packet enters a link: it is lost, goes to the link behind, or to a host.
    i, hop = packet.flow_of(word), packet.hop_of(word)
    b = m[Word.FLOWS + i]
    back = word & packet.BACKWARD != 0
    if back:
        link, hops = m[b + Flow.BACK + hop], m[b + Flow.BACK_HOPS]
    else:
        link, hops = m[b + Flow.ROUTE + hop], m[b + Flow.HOPS]
    markable = not back and m[b + Flow.ECN] != 0
    fate, far = enter(p, losses, m, means, link, t, ends.size_of(m, b, word), markable)
    if fate & Fate.MARKED:
        word |= packet.MARKED
        m[b + FlowWord.COUNTS + FlowOut.MARKED] += 1
    if fate & (Fate.DROPPED | Fate.LOST):
        _count_loss(m, b, word, fate)
    elif hop + 1 < hops:
        fifo.push(m, link + LinkWord.FIFO, Event.FAR, m[link + LinkWord.NUMBER], far, word + packet.ONE_HOP)
    elif back:
        hosts.return_ack(m, b, i, far, word)
    else:
        hosts.receive(m, b, p, i, link, far, word)


@cold
def _count_loss(m: Any, b: Any, word: Any, fate: Any) -> None:
    counts = b + FlowWord.COUNTS
    if word & packet.BACKWARD:
        m[counts + FlowOut.ACK_DROPS] += word & (packet.PROBE | packet.CONTROL) == 0
    elif packet.is_payload(word):
        m[counts + (FlowOut.DROPS_QUEUE if fate & Fate.DROPPED else FlowOut.DROPS_RANDOM)] += 1
