"""What a sender does when packets are lost or marked: fast recovery, or a wait for its timer.

A loss is known a round trip later; losses until then belong to it.  Whether duplicate ACKs tell of it, and
how long the repair takes, depends on the variant, the window and the number of losses.  Source of the idea:
Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput: a simple model and its empirical validation"
(SIGCOMM 1998); the conditions are those of the packet engine with limited transmit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.fluid.chance import make_exponential
from netcarlo.kernels.fluid.state import (
    BACKOFF,
    DRAWS,
    FLOW_COUNTS,
    HAZARD,
    HIT,
    HITS,
    KIND,
    MARK_HAZARD,
    MIN_RTO,
    ONE_BITS,
    OPEN,
    REPAIR,
    SILENCE,
    STATE,
    STREAM_LOSS,
    STREAM_MARK,
    STREAM_REPAIR,
    TWICE,
    UNTIL,
)
from netcarlo.kernels.fluid.window import FLOOR, MOST, SSTHRESH, W, make_window
from netcarlo.kernels.shared.layout import NEWRENO, RENO, TAHOE, VEGAS, FlowOut

DUPACKS = 3
RTO_PER_RTT = 1.5  # the timer beside the round trip: smoothed RTT and four mean deviations
MOST_BACKOFF = 64
BEYOND_REPAIR = 1 << 20
"""So many lost packets leave a sender nothing but its timer."""


class Loss(NamedTuple):
    """The compiled functions, of the flow `f` with words from `at` and floats from `fl` on; `k` is the time,
    and `rtt` the round trip, in the same unit as MIN_RTO."""

    first: Any
    """`(m, at, p, f)`: before the start."""
    draw: Any
    """`(m, at, p, f)`: a loss has come: draw the next."""
    react: Any
    """`(m, g, at, fl, p, f, k, rtt, sent, lost, marked)`: of what was put out in a step so much was lost or
    marked."""
    conclude: Any
    """`(m, g, at, fl, p, f, k, rtt, sent, lost)`: the round trip in which HITS packets were lost is over;
    `lost` / `sent` is the probability of a loss."""


def make_loss(dev: Callable[[Any], Any]) -> Loss:
    """Compile the reactions to losses for a target."""
    draw = make_draw(dev)
    exponential = make_exponential(dev, draw)
    window = make_window(dev)
    kept, cut, collapse = window.kept, window.cut, window.collapse

    def until_next(p: Any, stream: Any, k: Any) -> Any:
        return exponential(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], stream, k)

    until_next = dev(until_next)

    def first(m: Any, at: Any, p: Any, f: Any) -> None:
        m[at + HAZARD] = until_next(p, STREAM_LOSS + f, 0)
        m[at + MARK_HAZARD] = until_next(p, STREAM_MARK + f, 0)
        m[at + DRAWS] = 1

    def draw_next(m: Any, at: Any, p: Any, f: Any) -> None:
        m[at + HAZARD] += until_next(p, STREAM_LOSS + f, m[at + DRAWS])
        m[at + DRAWS] += 1

    draw_next = dev(draw_next)

    def repaired(m: Any, at: Any, p: Any, f: Any, k: Any, w: Any, full: Any, sent: Any, lost: Any) -> Any:
        # Whether duplicate ACKs tell of the losses and what is sent again arrives.
        follow = np.int64(w) - m[at + HITS]  # packets that cause them; limited transmit makes one into three
        if follow < (DUPACKS if full or m[at + KIND] == VEGAS else 1):
            return False
        word, _, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_REPAIR + f, k)
        chance = lost // max(sent, 1)
        if follow == 1:
            chance *= DUPACKS
        return np.int64(word) >> (32 - ONE_BITS) >= chance

    repaired = dev(repaired)

    def conclude(
        m: Any, g: Any, at: Any, fl: Any, p: Any, f: Any, k: Any, rtt: Any, sent: Any, lost: Any
    ) -> None:
        kind = m[at + KIND]
        w = g[fl + W]
        if m[at + HITS] == 0:  # marks only
            g[fl + SSTHRESH] = max(kept(g, fl, kind, rtt), FLOOR)
            g[fl + W] = max(kept(g, fl, kind, rtt), 1.0)
            m[at + FLOW_COUNTS + FlowOut.CWND_CUTS] += 1
            m[at + STATE] = OPEN
            return
        counts = at + FLOW_COUNTS
        hits = m[at + HITS]
        rto = max(np.int64(rtt * RTO_PER_RTT), m[at + MIN_RTO])
        quick = repaired(m, at, p, f, k, w, w >= g[fl + MOST], sent, lost)
        if quick:
            cut(g, fl, kind, rtt)
            m[counts + FlowOut.FAST_RETRANSMITS] += 1
            m[counts + FlowOut.CWND_CUTS] += 1 if kind != VEGAS else 0
            m[at + STATE] = REPAIR
            length = np.int64(rtt + 0.5)
            if kind == NEWRENO:  # one loss in a round trip
                length *= hits
            m[at + UNTIL] = k + length + np.int64(rtt / max(w / DUPACKS, 1.0))
            if kind == NEWRENO and length > rto:  # the timer does not wait for the last
                quick = False
            if kind == RENO and hits > 1:  # it repairs the first only
                quick = False
                rto += length
        if not quick:
            collapse(g, fl, kind, rtt)
            m[counts + FlowOut.TIMEOUTS] += 1
            m[counts + FlowOut.CWND_CUTS] += 1
            m[at + STATE] = SILENCE
            m[at + UNTIL] = k + rto * m[at + BACKOFF]
            m[at + BACKOFF] = min(2 * m[at + BACKOFF], np.int64(MOST_BACKOFF))
        if kind == TAHOE or not quick:  # it goes back, and repeats a packet between any two losses
            between = min(hits % BEYOND_REPAIR, np.int64(w)) - (2 if kind == RENO else 1)
            m[at + TWICE] += max(between, np.int64(0)) << ONE_BITS

    conclude = dev(conclude)

    def react(
        m: Any, g: Any, at: Any, fl: Any, p: Any, f: Any, k: Any, rtt: Any,
        sent: Any, lost: Any, marked: Any,
    ) -> None:  # fmt: skip
        if g[fl + W] >= DUPACKS:
            m[at + BACKOFF] = 1
        m[at + HAZARD] -= lost
        # Tahoe repairs nothing twice: a loss while it goes over what it has sent needs the timer.
        hopeless = m[at + KIND] == TAHOE and m[at + STATE] == REPAIR
        while m[at + HAZARD] < 0:
            if m[at + STATE] != HIT:
                m[at + STATE] = HIT
                m[at + HITS] = 0
                m[at + UNTIL] = k + np.int64(rtt + 0.5)
            m[at + HITS] += BEYOND_REPAIR if hopeless else 1
            draw_next(m, at, p, f)
        if marked > 0:
            m[at + MARK_HAZARD] -= marked
            if m[at + MARK_HAZARD] < 0:
                m[at + MARK_HAZARD] += until_next(p, STREAM_MARK + f, m[at + DRAWS])
                m[at + DRAWS] += 1
                if m[at + STATE] == OPEN:
                    m[at + STATE] = HIT
                    m[at + HITS] = 0
                    m[at + UNTIL] = k + np.int64(rtt + 0.5)
        if k >= m[at + UNTIL]:
            if m[at + STATE] == HIT:
                conclude(m, g, at, fl, p, f, k, rtt, sent, lost)
            elif m[at + STATE] == REPAIR:
                m[at + STATE] = OPEN

    return Loss(dev(first), draw_next, dev(react), conclude)
