"""A link in a step: its queue fills and drains, and what finds it full is dropped; RED drops before.

Source of RED: Floyd and Jacobson, "Random early detection gateways for congestion avoidance" (IEEE/ACM
Transactions on Networking 1(4), 1993); drops are spread evenly, as in the packet engine.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.sums import make_add
from netcarlo.kernels.fluid.state import (
    ACCEPTED,
    ARRIVED,
    BACKLOG,
    BYTES,
    CAPACITY,
    EARLY,
    HELD,
    LINK_COUNTS,
    LINK_FLOATS,
    LINK_WORDS,
    MARKING,
    MEAN,
    ONE,
    ONE_BITS,
    SHARE,
    TAIL,
    WAIT,
)
from netcarlo.kernels.shared.layout import DROP_TAIL, RED_MARKS, Link, LinkOut


def make_queue(dev: Callable[[Any], Any]) -> Any:
    """Compile `serve(m, g, links, link, step, inside)`: a step of `step` ns ends, of which so many lie inside
    the window of measurement."""
    add = make_add(dev)

    def red(m: Any, g: Any, links: Any, link: Any, step: Any) -> None:
        a = link * LINK_WORDS
        mean = link * LINK_FLOATS + MEAN
        heard = float(m[a + ARRIVED]) / ONE
        if m[a + HELD] == 0 and links[link, Link.RED_PACKET] > 0:
            heard = max(heard, float(step) / float(links[link, Link.RED_PACKET]))
        weight = heard / float(1 << links[link, Link.RED_WEIGHT])
        if weight > 0.0:
            g[mean] += (float(m[a + HELD]) / ONE - g[mean]) / ((1.0 + weight) / weight)
        least = float(links[link, Link.RED_LEAST])
        most = float(links[link, Link.RED_MOST])
        top = float(links[link, Link.RED_PROBABILITY]) / 65536.0
        certain = 2.0 * most if links[link, Link.RED_GENTLE] else most
        m[a + MARKING] = 1 if links[link, Link.RED] == RED_MARKS and g[mean] < certain else 0
        if g[mean] < least:
            m[a + EARLY] = 0
        elif g[mean] >= certain:
            m[a + EARLY] = ONE
        else:
            often = top * (g[mean] - least) / (most - least)
            if g[mean] >= most:
                often = (g[mean] - most) * (1.0 - top) / most + top
            m[a + EARLY] = np.int64(2.0 / (1.0 + 1.0 / often) * ONE) if often > 0.0 else 0

    red = dev(red)

    def serve(m: Any, g: Any, links: Any, link: Any, step: Any, inside: Any) -> None:
        a = link * LINK_WORDS
        counts = a + LINK_COUNTS
        came = m[a + BYTES]
        accepted = m[a + ACCEPTED]
        capacity = m[a + CAPACITY]
        backlog = m[a + BACKLOG] + came
        held = m[a + HELD] + accepted
        served = min(backlog, capacity)
        if served == backlog:
            held = np.int64(0)
        else:
            held -= np.int64(float(held) / (float(backlog) / float(served)))
        backlog -= served
        dropped = np.int64(0)
        m[a + TAIL] = 0
        room = links[link, Link.QUEUE] << ONE_BITS
        if room > 0 and held > room and accepted > 0:
            dropped = min(held - room, accepted)
            share = float(dropped) / float(accepted)
            m[a + TAIL] = np.int64(share * ONE)
            held -= dropped
            backlog = max(backlog - np.int64(share * float(came)), np.int64(0))
        m[a + BACKLOG] = backlog
        m[a + HELD] = held
        m[a + SHARE] = np.int64(float(capacity) / float(came) * ONE) if came > capacity else np.int64(ONE)
        g[link * LINK_FLOATS + WAIT] = float(backlog) / float(capacity)
        if links[link, Link.RED] != DROP_TAIL:
            red(m, g, links, link, step)
        early = m[a + ARRIVED] - accepted
        m[counts + LinkOut.ARRIVALS] += m[a + ARRIVED]
        m[counts + LinkOut.DROPS] += dropped + early
        m[counts + LinkOut.EARLY] += early
        wait = np.int64(g[link * LINK_FLOATS + WAIT] * float(step))
        m[counts + LinkOut.WAIT_MOST] = max(m[counts + LinkOut.WAIT_MOST], wait)
        if inside > 0:
            m[counts + LinkOut.BUSY] += np.int64(float(served) / float(capacity) * float(inside))
            waited = (held >> ONE_BITS) * step + ((held & (ONE - 1)) * step >> ONE_BITS)
            add(m, counts + LinkOut.QUEUE_SUM, counts + LinkOut.QUEUE_SUM_HIGH, waited)
        m[a + ARRIVED] = 0
        m[a + ACCEPTED] = 0
        m[a + BYTES] = 0

    return dev(serve)
