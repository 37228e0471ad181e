"""Propagation of a packet after its transmission: delay and loss of a trace, jitter, correlated loss.

Packets stay in order: one that would arrive before its predecessor arrives with it. The exception is a jitter
that reorders, which applies to each packet independently.

The correlated loss is that of netem (`get_crandom` and `loss_event` of Linux, `net/sched/sch_netem.c`): each
packet has a number (1 - rho) u + rho x of a uniform one u and the number x of the packet before it, rounded
down to 32 bits, and is lost if it is not above a threshold.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import STREAM_VARYING
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.base.varying import trace
from netcarlo.kernels.base.varying.table import HEAD, JITTER_BITS, STEPS, Head, Varying, first, second

REORDERS: Any = slot("reorders")
"""True if jitter may reorder packets."""

_LOW = np.int64(32 - JITTER_BITS)
_HALF_WORD = np.int64(16)
_HALF_MASK = np.int64((1 << 16) - 1)


@noinline
def arrival(p: Any, table: Any, m: Any, v: Any, stream: Any, t: Any, delay: Any) -> Any:
    """Return the arrival time [ns] of a packet whose transmission ends at time t, and True if it is lost.

    `delay` is the hop's own delay, used if the trace has none.
    """
    at, k, chance = m[v + Varying.TABLE], m[v + Varying.PACKETS], np.int64(0)
    if first(table, at + Head.TRACE) == STEPS:
        trace.seek(table, m, v, t)
        pair = trace.pair_of(m, v, 2) + 1
        delay, chance = first(table, pair), second(table, pair)
    m[v + Varying.PACKETS] = k + 1
    lost: Any = False
    jitters = second(table, at + Head.PERIOD)
    if REORDERS:
        jitters = abs(jitters)
    if jitters + chance + first(table, at + Head.LOSS) > 0:
        w0, w1, w2, w3 = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_VARYING + stream, k)
        lost = np.int64(w1) < chance
        if first(table, at + Head.LOSS) > 0:
            lost = _is_correlated_loss(table, m, v, k, np.int64(w2), np.int64(w3)) or lost
        if jitters > 0:
            word = np.int64(w0)
            pair = at + HEAD + second(table, at + Head.TRACE) * trace.wide(table, at) + (word >> _LOW)
            low = first(table, pair)
            delay += low + ((second(table, pair) - low) * (word & ((np.int64(1) << _LOW) - 1)) >> _LOW)
    if REORDERS and reorders(table, m, v):
        return t + delay, lost
    m[v + Varying.LAST_ARRIVAL] = max(m[v + Varying.LAST_ARRIVAL], t + delay)
    return m[v + Varying.LAST_ARRIVAL], lost


def reorders(table: Any, m: Any, v: Any) -> Any:
    """Return True if packets may overtake each other before the far end."""
    return second(table, m[v + Varying.TABLE] + Head.PERIOD) < 0


def _is_correlated_loss(table: Any, m: Any, v: Any, k: Any, drawn: Any, seed: Any) -> Any:
    """Return True if packet k is lost; `drawn` and `seed` are random 32-bit words."""
    pair = m[v + Varying.TABLE] + Head.LOSS
    rho = second(table, pair)
    if rho > 0:
        before = seed if k == 0 else m[v + Varying.CORRELATED]  # `init_crandom`
        # drawn + (before - drawn) * (rho + 1) / 2**32, in halves, because the product needs 65 bits
        apart, weight = before - drawn, rho + 1
        low = (apart & _HALF_MASK) * weight >> _HALF_WORD
        drawn += ((apart >> _HALF_WORD) * weight + low) >> _HALF_WORD
        m[v + Varying.CORRELATED] = drawn
    return drawn <= first(table, pair)
