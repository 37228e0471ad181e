"""Outages of a link, which goes down and comes back, as hops of paths do.

A packet that arrives while the link is down is dropped; packets in its queue or on the wire when it goes down
are lost. It comes back with an empty queue and an idle transmitter. Its outages are stored after the columns
of `Link`: pairs of start and end [ns], in order, without overlap. `b` is where the block of the link begins
in scratch `m`, `links` are the links of the row.
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.shared.layout import Link
from netcarlo.kernels.shared.state import LinkWord


@noinline
def start(links: Any, m: Any, b: Any) -> None:
    """Load the first outage before the start."""
    m[b + LinkWord.OUTAGE] = m[b + Link.OUTAGES]
    _load_next(links, m, b)


def is_down(links: Any, m: Any, b: Any, t: Any) -> Any:
    """Return True if the link is down when a packet arrives at `t` [ns]."""
    return t >= m[b + LinkWord.DOWN] and _update_is_down(links, m, b, t)


def destroys(m: Any, b: Any, departure: Any) -> Any:
    """Return True if the link goes down before a packet whose transmission ends at `departure` is at the
    far end."""
    return departure > m[b + LinkWord.DOWN] - m[b + Link.DELAY]


@noinline
def _update_is_down(links: Any, m: Any, b: Any, t: Any) -> Any:
    """End past outages, load the next one, and return True if the link is down at `t` [ns]."""
    while t >= m[b + LinkWord.UP]:
        m[b + LinkWord.FREE] = min(m[b + LinkWord.FREE], m[b + LinkWord.DOWN])
        m[b + LinkWord.HEAD] = m[b + LinkWord.TAIL]
        _load_next(links, m, b)
    return t >= m[b + LinkWord.DOWN]


@noinline
def _load_next(links: Any, m: Any, b: Any) -> None:
    """Load the next outage."""
    k = m[b + LinkWord.OUTAGE]
    if k < m[b + Link.OUTAGES_END]:
        m[b + LinkWord.DOWN] = links[m[b + LinkWord.NUMBER], 2 * k]
        m[b + LinkWord.UP] = links[m[b + LinkWord.NUMBER], 2 * k + 1]
        m[b + LinkWord.OUTAGE] = k + 1
    else:
        m[b + LinkWord.DOWN] = FOREVER
        m[b + LinkWord.UP] = FOREVER
