"""FQ-CoDel in a fluid: a queue with CoDel for each flow and direction, served by max-min fair shares.

Source: RFC 8290, section 4. Deficit round robin gives each queue that is not empty the same rate, and a queue
that needs less no more than it needs. Above the limit of the link the longest queue drops.

A queue has the words and floats of a link (`LinkWord`, `LinkFloat`), and routes lead to it instead of to the
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
"""Most rounds of the search for the fair share; in each at least one more queue has what it needs."""


def prepare(p: Any, links: Any, m: Any, f: Any, free: Any) -> Any:
    """Put queues on the routes of all flows in place of links with FQ-CoDel, from word `free` of scratch on.

    Returns the first word behind them.
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
    # Max-min fair share of the queues of a link: `whole` if that is enough for what they need, which is the
    # sum of two of their words.
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
