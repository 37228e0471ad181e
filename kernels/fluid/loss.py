"""Reaction of a sender to lost or marked packets: fast recovery, or a wait for the retransmission timer.

A loss is detected a round trip later; further losses until then belong to the same loss event. Whether
duplicate ACKs report it, and how long recovery takes, depends on the TCP variant, the window and the number
of losses. Idea: Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput: a simple model and its
empirical validation" (SIGCOMM 1998); the conditions are those of the packet engine with limited transmit.

`s` and `g` are the words and floats of a flow, `p` the columns of its row; the time `t` and the round trip
`rtt` have the same unit as FlowWord.MIN_RTO.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.exponential import exponential
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.fluid import linux, rack, window
from netcarlo.kernels.fluid.state import (
    ONE,
    ONE_BITS,
    STREAM_LOSS,
    STREAM_MARK,
    STREAM_REPAIR,
    UNIT_BITS,
    FlowFloat,
    FlowWord,
    State,
)
from netcarlo.kernels.senders import NEWRENO, RENO, TAHOE, VEGAS
from netcarlo.kernels.shared.layout import FlowOut

DUPACKS = 3
RTO_PER_RTT = 1.5  # ratio of the timeout (smoothed RTT and four mean deviations) to the RTT
MOST_BACKOFF = 64
VEGAS_LATE = 16
"""Inverse of the relative excess of Vegas' fine-grained timeout over the round trip.

With a window below 16 packets the first duplicate ACK detects the timeout, with one below 32 the second.
"""
BEYOND_REPAIR = 1 << 20
"""Number of lost packets that only the timer can recover."""


MOST_EXPECTED = 1 << 42
"""Upper limit of the losses expected in a window [ONE_BITS]."""


def draw_first(s: Any, p: Any) -> None:
    """Draw when the first loss and the first mark occur (expected numbers, unit exponential)."""
    s[FlowWord.HAZARD] = exponential(p, STREAM_LOSS + s[FlowWord.NUMBER], 0)
    s[FlowWord.MARK_HAZARD] = exponential(p, STREAM_MARK + s[FlowWord.NUMBER], 0)
    s[FlowWord.DRAWS] = 1


def draw_next(s: Any, p: Any) -> None:
    """Draw when the next loss occurs (expected number, unit exponential)."""
    s[FlowWord.HAZARD] += exponential(p, STREAM_LOSS + s[FlowWord.NUMBER], s[FlowWord.DRAWS])
    s[FlowWord.DRAWS] += 1


def lose_first(s: Any, p: Any) -> Any:
    """Lose the next packet, and draw when the following loss occurs; return 1."""
    s[FlowWord.HAZARD] = 0
    draw_next(s, p)
    return np.int64(1)


def lose(s: Any, p: Any, packets: Any, odds: Any) -> Any:
    """Return how many of the next `packets` packets are lost at random, at these odds [ONE_BITS].

    The number of packets between two losses has a geometric distribution, here approximated by an exponential
    one.
    """
    lost = np.int64(0)
    s[FlowWord.HAZARD] -= min(packets * odds, np.int64(MOST_EXPECTED)) << (UNIT_BITS - ONE_BITS)
    while s[FlowWord.HAZARD] < 0 and lost < packets:
        lost += 1
        s[FlowWord.HAZARD] += odds << (UNIT_BITS - ONE_BITS)
        draw_next(s, p)
    if s[FlowWord.HAZARD] < 0:
        s[FlowWord.HAZARD] = 0
        draw_next(s, p)
    return lost


def react(s: Any, g: Any, p: Any, t: Any, rtt: Any, sent: Any, lost: Any, marked: Any) -> None:
    """React to losses and marks [packet, UNIT_BITS] among the packets `sent` in a step [packet, ONE_BITS]."""
    if g[FlowFloat.CWND] >= DUPACKS:
        s[FlowWord.BACKOFF] = 1
    s[FlowWord.HAZARD] -= lost
    hopeless = s[FlowWord.RECOVER] > 0
    s[FlowWord.RECOVER] = max(s[FlowWord.RECOVER] - sent, np.int64(0))
    while s[FlowWord.HAZARD] < 0:
        if s[FlowWord.STATE] != State.LOSS:
            _hit(s, t, rtt)
        s[FlowWord.LOST_IN_ROUND] += BEYOND_REPAIR if hopeless else 1
        draw_next(s, p)
    if marked > 0:
        s[FlowWord.MARK_HAZARD] -= marked
        if s[FlowWord.MARK_HAZARD] < 0:
            s[FlowWord.MARK_HAZARD] += exponential(p, STREAM_MARK + s[FlowWord.NUMBER], s[FlowWord.DRAWS])
            s[FlowWord.DRAWS] += 1
            if s[FlowWord.STATE] == State.OPEN:
                _hit(s, t, rtt)
    if t >= s[FlowWord.UNTIL]:
        if s[FlowWord.STATE] == State.LOSS:
            rto = max(np.int64(rtt * RTO_PER_RTT), s[FlowWord.MIN_RTO]) * s[FlowWord.BACKOFF]
            if linux.has(s[FlowWord.KIND]):  # the minimum is that of the deviation
                rto = (np.int64(rtt) + s[FlowWord.MIN_RTO]) * s[FlowWord.BACKOFF]
            # While queues overflow, a recovery as a whole does not have the loss rate of its packets.
            alone = np.int64(g[FlowFloat.CWND]) - s[FlowWord.LOST_IN_ROUND] == 1
            detect(s, g, p, t, rtt, np.int64(1), lost // max(sent, 1) * (DUPACKS if alone else 1), rto)
            if s[FlowWord.STATE] == State.RTO_WAIT:
                s[FlowWord.BACKOFF] = min(2 * s[FlowWord.BACKOFF], np.int64(MOST_BACKOFF))
        elif s[FlowWord.STATE] == State.RECOVERY:
            s[FlowWord.STATE] = State.OPEN


def suffer(s: Any, t: Any, rtt: Any) -> None:
    """Process drops or marks of single packets by CoDel; the sender detects them `rtt` [step] later."""
    hits = s[FlowWord.HITS]
    if hits > 0:
        if s[FlowWord.STATE] != State.LOSS:
            _hit(s, t, rtt)
        s[FlowWord.LOST_IN_ROUND] += hits * BEYOND_REPAIR if s[FlowWord.RECOVER] > 0 else hits
    elif s[FlowWord.STATE] == State.OPEN:
        _hit(s, t, rtt)
    s[FlowWord.HITS] = 0
    s[FlowWord.ECHOES] = 0


def detect(s: Any, g: Any, p: Any, t: Any, rtt: Any, sent: Any, lost: Any, rto: Any) -> None:
    """Detect at `t` the LOST_IN_ROUND packets lost in a round trip, or marks if none was lost.

    `lost` / `sent` is the loss probability, `rto` the backed-off timeout.
    """
    if s[FlowWord.LOST_IN_ROUND] == 0:
        _obey_mark(s, g, rtt)
    elif linux.has(s[FlowWord.KIND]):
        rack.recover(s, g, p, t, rtt, lost // max(sent, 1), rto)
    else:
        _recover(s, g, p, t, rtt, sent, lost, rto)


def _hit(s: Any, t: Any, rtt: Any) -> None:
    """Start a loss event with a loss or mark, which the sender detects a round trip later."""
    s[FlowWord.STATE] = State.LOSS
    s[FlowWord.LOST_IN_ROUND] = 0
    s[FlowWord.UNTIL] = t + np.int64(rtt + 0.5)


def _obey_mark(s: Any, g: Any, rtt: Any) -> None:
    """Reduce the window after an ECN mark."""
    kind = s[FlowWord.KIND]
    left = window.reduced(g, kind, rtt)
    g[FlowFloat.SSTHRESH] = max(float(int(left)), window.FLOOR)
    g[FlowFloat.CWND] = window.open_to(g, left)
    s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    s[FlowWord.STATE] = State.OPEN


def _recover(s: Any, g: Any, p: Any, t: Any, rtt: Any, sent: Any, lost: Any, rto: Any) -> None:
    """Recover the losses by fast retransmit, or wait for the retransmission timer."""
    kind, hits, cwnd = s[FlowWord.KIND], s[FlowWord.LOST_IN_ROUND], g[FlowFloat.CWND]
    quick = is_recovered(s, g, p, t, sent, lost)
    if quick:
        window.on_fast_retransmit(g, kind, rtt)
        s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
        s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1 if kind != VEGAS else 0
        s[FlowWord.STATE] = State.RECOVERY
        length = np.int64(rtt + 0.5)
        if kind == NEWRENO:  # one loss in a round trip
            length *= hits
        s[FlowWord.UNTIL] = t + length + np.int64(rtt / max(cwnd / DUPACKS, 1.0))
        if kind == NEWRENO and length > rto + np.int64(rtt):  # only the first partial ACK restarts the timer
            quick = False
            rto += np.int64(rtt)
        if kind == RENO and hits > 1:  # fast recovery of Reno repairs only the first loss
            quick = False
            rto += length
    if not quick:
        window.on_timeout(g, kind, rtt)
        s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
        s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
        s[FlowWord.STATE] = State.RTO_WAIT
        s[FlowWord.UNTIL] = t + rto
    hits = min(hits % BEYOND_REPAIR, np.int64(cwnd))
    if kind == TAHOE or not quick:  # go-back-N repeats a packet between any two losses
        between = hits - (2 if kind == RENO else 1)
        s[FlowWord.DUPLICATES_DUE] += max(between, np.int64(0)) << ONE_BITS
        s[FlowWord.RECOVER] = (hits + max(between, np.int64(0)) + 1) << ONE_BITS
    elif kind in (NEWRENO, RENO):
        s[FlowWord.RECOVER] = ONE


def at_risk(s: Any, g: Any) -> Any:
    """Return the number of packets whose loss only the timer can recover.

    These are retransmissions and, where duplicate ACKs are few, packets sent by limited transmit (RFC 3042).
    """
    packets = np.int64(g[FlowFloat.CWND])
    hits = min(s[FlowWord.LOST_IN_ROUND], packets)
    # Vegas has no limited transmit, and today's Linux does not need it.
    few = 0 if s[FlowWord.KIND] == VEGAS or linux.has(s[FlowWord.KIND]) else DUPACKS
    return hits + max(few - (packets - hits), np.int64(0))


def is_recovered(s: Any, g: Any, p: Any, t: Any, sent: Any, lost: Any) -> Any:
    """Return whether duplicate ACKs report the losses and the retransmissions are delivered."""
    cwnd = g[FlowFloat.CWND]
    full = cwnd >= g[FlowFloat.RECEIVE_WINDOW]
    follow = np.int64(cwnd) - s[FlowWord.LOST_IN_ROUND]  # cause dupACKs: limited transmit makes 3 of 1
    if s[FlowWord.KIND] == VEGAS:
        needed = min(np.int64(cwnd) // VEGAS_LATE + 1, np.int64(DUPACKS))
    else:
        needed = np.int64(DUPACKS if full else 1)
    if follow < needed:
        return False
    stream = STREAM_REPAIR + s[FlowWord.NUMBER]
    word, _, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, t)
    chance = lost // max(sent, 1)
    return np.int64(word) >> (32 - ONE_BITS) >= chance
