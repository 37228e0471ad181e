"""CoDel in a fluid: whole packets are dropped at the times of its control law (RFC 8289, section 5).

CoDel compares the queueing delay at the end of each step with its target. Drops that have become due are
applied to the arrivals of the next step at equal distances, so flows lose packets in proportion to their
rates. A drop is assigned to one flow at once, however little the flow sends: the rest of the packet is
subtracted from what it sends later.

`link` are the words of a link, or of one of its queues, `s` the words of a flow.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.codel import control_law
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.fluid.state import ONE_BITS, STREAM_CODEL, Codel, FlowWord, LinkFloat, LinkWord
from netcarlo.kernels.shared.layout import FlowOut, Link

RECENT_INTERVALS = 16
"""Intervals after which the previous dropping state is forgotten (RFC 8289, section 5.6)."""
_PLACE_BITS = 20
"""Bits of the random position of the first drop of a step."""


def hits(link: Any, flow: Any) -> Any:
    """Return how many packets CoDel drops or marks among the arriving `flow` [packet, ONE_BITS]."""
    c, found = link[LinkWord.CODEL :], np.int64(0)
    if c[Codel.DUE] > 0:
        c[Codel.UNTIL_DROP] -= flow
        while c[Codel.DUE] > 0 and c[Codel.UNTIL_DROP] < 0:
            c[Codel.UNTIL_DROP] += c[Codel.SPACING]
            c[Codel.DUE] -= 1
            found += 1
    return found


def drop(link: Any, s: Any, flow: Any) -> Any:
    """Mark or drop data packets of the arriving `flow` [packet, ONE_BITS].

    Returns the part of `flow` that is dropped [packet, ONE_BITS].
    """
    found = hits(link, flow)
    if s[FlowWord.ECN] and link[LinkWord.MARKING]:
        s[FlowWord.ECHOES] += found
        s[FlowWord.COUNTS + FlowOut.MARKED] += found
    else:
        s[FlowWord.HITS] += found
        s[FlowWord.DEBT] += found << ONE_BITS
    gone = min(s[FlowWord.DEBT], flow)
    s[FlowWord.DEBT] -= gone
    return gone


def update(p: Any, link: Any, g: Any, columns: Any, number: Any, arrived: Any, step: Any) -> None:
    """Update the state of CoDel at the end of `step`, in which `arrived` packets arrived [packet, ONE_BITS].

    `g` are the floats of the link or queue, `columns` those of the link, `number` its number.
    """
    c, now = link[LinkWord.CODEL :], step.begin + step.length
    interval = columns[Link.AQM_INTERVAL]
    wait = np.int64(g[LinkFloat.WAIT] * float(step.length))
    if wait < columns[Link.AQM_TARGET] or _is_short(link, columns[Link.AQM_MTU]):
        c[Codel.FIRST_ABOVE_TIME] = 0
        c[Codel.DROPPING] = 0
        c[Codel.DUE] = 0
    elif c[Codel.FIRST_ABOVE_TIME] == 0:
        c[Codel.FIRST_ABOVE_TIME] = now + interval
    else:
        if c[Codel.DROPPING] == 0 and now >= c[Codel.FIRST_ABOVE_TIME]:
            _enter_dropping(c, interval, c[Codel.FIRST_ABOVE_TIME])
        held = link[LinkWord.QUEUED] >> ONE_BITS
        while c[Codel.DROPPING] != 0 and now >= c[Codel.DROP_NEXT] and c[Codel.DUE] <= held:
            c[Codel.COUNT] += 1
            c[Codel.DUE] += 1
            c[Codel.DROP_NEXT] = control_law(c[Codel.DROP_NEXT], interval, c[Codel.COUNT])
    if c[Codel.DUE] > 0:
        c[Codel.SPACING] = arrived // c[Codel.DUE]
        word, _, _, _ = draw(
            p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_CODEL + number, step.number
        )
        place = np.int64(word) >> (32 - _PLACE_BITS)
        c[Codel.UNTIL_DROP] = (c[Codel.SPACING] * place) >> _PLACE_BITS


def _is_short(link: Any, mtu: Any) -> Any:
    """Return whether at most `mtu` bytes, in whole packets, remain behind a departing packet."""
    held = link[LinkWord.QUEUED] >> ONE_BITS
    return held < 2 or link[LinkWord.BACKLOG] // held * (held - 1) <= mtu << ONE_BITS


def _enter_dropping(c: Any, interval: Any, t: Any) -> None:
    """Enter the dropping state at `t`, at the latest drop rate if the previous state ended recently."""
    before = c[Codel.COUNT] - c[Codel.LAST_COUNT]
    soon = t - c[Codel.DROP_NEXT] < RECENT_INTERVALS * interval
    c[Codel.DROPPING] = 1
    c[Codel.DUE] += 1
    c[Codel.COUNT] = before if before > 1 and soon else np.int64(1)
    c[Codel.DROP_NEXT] = control_law(t, interval, c[Codel.COUNT])
    c[Codel.LAST_COUNT] = c[Codel.COUNT]
