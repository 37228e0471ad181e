"""A link that goes down and comes back, as hops of paths do.

What comes to it while it is down is dropped; what it holds, or has on the wire, when it goes down is lost.
It comes back with an empty queue and an idle transmitter.  Its outages stand behind the columns of `Link`:
pairs of start and end [ns], in order, none of which meet.  `b` is where the block of the link begins in
scratch `m`, `links` are the links of the row.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.shared.layout import Link
from netcarlo.kernels.shared.state import LinkWord


@noinline
def start(links: Any, m: Any, b: Any) -> None:
    """Before the start: looks out for the first outage."""
    m[b + LinkWord.OUTAGE] = m[b + Link.OUTAGES]
    _load_next(links, m, b)


def is_down(links: Any, m: Any, b: Any, t: Any) -> Any:
    """Whether the link is down when a packet comes at `t` [ns]."""
    return t >= m[b + LinkWord.DOWN] and _update_is_down(links, m, b, t)


def destroys(m: Any, b: Any, departure: Any) -> Any:
    """Whether the link goes down before a packet is at the far end whose transmission ends at `departure`."""
    return departure > m[b + LinkWord.DOWN] - m[b + Link.DELAY]


@noinline
def _update_is_down(links: Any, m: Any, b: Any, t: Any) -> Any:
    while t >= m[b + LinkWord.UP]:
        m[b + LinkWord.FREE] = min(m[b + LinkWord.FREE], m[b + LinkWord.DOWN])
        m[b + LinkWord.HEAD] = m[b + LinkWord.TAIL]
        _load_next(links, m, b)
    return t >= m[b + LinkWord.DOWN]


@noinline
def _load_next(links: Any, m: Any, b: Any) -> None:
    k = m[b + LinkWord.OUTAGE]
    if k < m[b + Link.OUTAGES_END]:
        m[b + LinkWord.DOWN] = links[m[b + LinkWord.NUMBER], 2 * k]
        m[b + LinkWord.UP] = links[m[b + LinkWord.NUMBER], 2 * k + 1]
        m[b + LinkWord.OUTAGE] = k + 1
    else:
        m[b + LinkWord.DOWN] = FOREVER
        m[b + LinkWord.UP] = FOREVER
