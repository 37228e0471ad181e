"""FQ-CoDel in a fluid: a queue with CoDel for each flow and direction, served by max-min fair shares.

Source: RFC 8290, section 4. Deficit round robin gives each backlogged queue the same rate; a queue that needs
less gets what it needs. Above the limit of the link the longest queue drops packets.

A queue has the words and floats of a link (`LinkWord`, `LinkFloat`), and routes refer to it instead of to the
link. Its counters are those of the link.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.fluid import codel, queue
from netcarlo.kernels.fluid.state import (
    ONE_BITS,
    FlowWord,
    LinkFloat,
    LinkWord,
    floats_of_flow,
    floats_of_link,
    words_of_flow,
    words_of_link,
)
from netcarlo.kernels.shared.layout import FQ_CODEL, Link, Shared

MOST_ROUNDS = 32
"""Largest number of iterations for the fair share; each satisfies at least one more queue."""


def prepare(p: Any, links: Any, m: Any, f: Any, free: Any) -> Any:
    """Replace links with FQ-CoDel on the routes of all flows by queues, from word `free` of scratch on.

    Returns the first word after the queues.
    """
    floats = floats_of_flow(p, p[Shared.FLOWS])
    for i in range(p[Shared.FLOWS]):
        s = m[words_of_flow(p, i) :]
        for hop in range(s[FlowWord.HOPS] + s[FlowWord.BACK_HOPS]):
            at = s[FlowWord.ROUTE] + 2 * hop
            of = m[m[at] :]
            if links[m[at] // LinkWord.SIZE, Link.AQM] == FQ_CODEL:
                for word in range(LinkWord.SIZE):
                    m[free + word] = of[word]
                for number in range(LinkFloat.SIZE):
                    f[floats + number] = 0.0
                m[free + LinkWord.FLOATS] = floats
                of[LinkWord.QUEUES] = free
                m[at], m[at + 1] = free, floats
                free += LinkWord.SIZE
                floats += LinkFloat.SIZE
    return free


def serve(p: Any, link: Any, m: Any, f: Any, number: Any, step: Any, inside: Any, left: Any) -> None:
    """Serve the queues of link `number` at the end of a step; arguments as for `queue.serve`."""
    of, due = m[words_of_link(number) :], 0.0
    share = _fair_share(m, of, of[LinkWord.CAPACITY], LinkWord.BACKLOG, LinkWord.BYTES)
    room = _fair_share(m, of, link[Link.QUEUE] << ONE_BITS, LinkWord.QUEUED, LinkWord.ACCEPTED)
    of[LinkWord.QUEUED] = 0
    q = of[LinkWord.QUEUES]
    while q > 0:
        s, g = m[q:], f[m[q + LinkWord.FLOATS] :]
        arrived = s[LinkWord.ARRIVED]
        s[LinkWord.CAPACITY] = max(share, np.int64(1))
        queue.serve(s, g, link, of, room, step.length, inside, left)
        codel.update(p, s, g, link, number, arrived, step)
        of[LinkWord.QUEUED] += s[LinkWord.QUEUED]
        due = max(due, g[LinkFloat.DUE])
        q = m[q + LinkWord.QUEUES]
    f[floats_of_link(number) + LinkFloat.DUE] = due


def _fair_share(m: Any, of: Any, whole: Any, waiting: Any, more: Any) -> Any:
    """Return the max-min fair share of the queues of a link.

    A queue needs the sum of its words `waiting` and `more`. Returns `whole` if it suffices for all queues.
    """
    share = np.int64(0)
    for _ in range(MOST_ROUNDS):
        met, hungry = np.int64(0), np.int64(0)
        q = of[LinkWord.QUEUES]
        while q > 0:
            need = m[q + waiting] + m[q + more]
            if need > share:
                hungry += 1
            else:
                met += need
            q = m[q + LinkWord.QUEUES]
        if hungry == 0:
            return whole
        larger = (whole - met) // hungry
        if larger <= share:
            return share
        share = larger
    return share
