"""One round of a fluid TCP or SCTP sender: a window per round trip, until packets are lost.

The same loop simulates a path (`fluid.path`) and the route of an ad hoc network (`fluid.adhoc.sender`). The
slot `network` is the module that computes round trips and their losses. It has these functions:

* `look_ahead(row, t)`: the `Span` from `t` on until something happens.
* `through(row)`: distinct packets delivered so far [packet, ONE_BITS].
* `complete(row, span, flow, left, t)`: record that a finite transfer ends, because `left` of the `flow` of a
  span are its last packets. Returns the length of the span [ns].
* `carry(row, span, flow)`: count hops and random losses of `flow` [packet, ONE_BITS].
* `drop(row, cause, packets, t, rtt)`: count and return the losses in a window of `packets` packets.
* `interrupt(row, span, t)`: react to the event that ends a span at `t`; returns when the next begins [ns].
* `next_loss(row)`: packets that are delivered until the next random loss [packet, ONE_BITS].
* `lose(row, flow)`: send `flow` [packet, ONE_BITS]; count and return its random losses.

`row` is a record of that module. Every such record has the fields `p` (the columns of the row), `s` (the
words of the flow, `FlowWord`) and `g` (its floats, `FlowFloat`).
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import ENDLESS
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.fluid import association, linux, loss, timer, window
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, PACKET, FlowFloat, FlowWord, State
from netcarlo.kernels.senders import ALONE, TAHOE, VEGAS

KIND: Any = slot("kind")
"""Number of the TCP variant, see `senders`; ALONE is SCTP."""
network: Any = slot("network")
"""Module of the network; the docstring of this module lists its functions."""


class Cause(IntEnum):
    """Event that ends a round trip early, or with losses."""

    NOTHING = 0
    RANDOM = 1
    OUTAGE = 2
    OVERFLOW = 3
    GIVEN_UP = 4
    """The MAC of an ad hoc network gives up a link of the route."""


class Span(NamedTuple):
    """A round trip, or the part of one until something happens."""

    packets: Any
    """Window [packet]."""
    rtt: Any
    """Length of a whole round trip, float [ns]."""
    length: Any
    """Length of the span [ns]."""
    part: Any
    """Share of the round trip, and of its window, that lies in the span."""
    cause: Any
    """Event that ends the span, one of `Cause`."""


def until_event(
    p: Any, room: Any, down: Any, t: Any, packets: Any, rtt: Any, expected: Any, hazard: Any, repaired: Any
) -> Any:  # fmt: skip
    """Return the `Span` from `t` [ns] until a packet is lost or the run ends.

    A round trip lasts `rtt` [ns] and carries `packets` packets, of which `expected` losses are expected. The
    next loss occurs when the expected losses reach `hazard` (both in any unit), and an outage begins at
    `down` [ns]. Path and queue hold `room` packets, and no queue overflows before `repaired` [ns].
    """
    length = np.int64(rtt)
    repairs = repaired > t
    if repairs:
        length = min(length, repaired - t)
    cause = Cause.OVERFLOW if packets > room and not repairs else Cause.NOTHING
    part = float(length) / rtt
    if float(hazard) < float(expected) * part:
        part = float(hazard) / float(expected)
        length = np.int64(part * rtt)
        cause = Cause.RANDOM
    if down < t + length:
        length = max(down - t, np.int64(0))
        part = float(length) / rtt
        cause = Cause.OUTAGE
    if t + length > p[RowP.END]:
        length = p[RowP.END] - t
        part = float(length) / rtt
        cause = Cause.NOTHING
    return Span(packets, rtt, length, part, cause)


def prepare(p: Any, s: Any, g: Any) -> None:
    """Initialise the words and floats of a flow with the columns `p`."""
    s[FlowWord.KIND] = KIND
    s[FlowWord.MIN_RTO] = p[ReliableP.MIN_RTO]
    s[FlowWord.STATE] = State.OPEN
    s[FlowWord.LIMIT] = p[RowP.LIMIT] << ONE_BITS if p[RowP.LIMIT] < ENDLESS else ENDLESS
    s[FlowWord.DELAYED] = 1 if p[ReliableP.ACK_EVERY] > 1 and not linux.has(KIND) else 0
    window.begin(g, p, 1)
    if KIND == ALONE:
        association.begin(g, p)
    timer.begin(s, p)


def to_send(s: Any, through: Any) -> Any:
    """Return what remains to be sent if `through` has been delivered [packet, ONE_BITS].

    These are the missing packets, and before them those that will arrive for the second time. Negative if
    more has been delivered than the transfer has.
    """
    missing = s[FlowWord.LIMIT] - through
    return missing + s[FlowWord.DUPLICATES_DUE] if missing > 0 else missing


def in_flight(g: Any) -> Any:
    """Return the window in whole packets [packet]."""
    if KIND == ALONE:
        return association.in_flight(g)
    return np.int64(g[FlowFloat.CWND])


def window_left(s: Any, g: Any, through: Any) -> Any:
    """Return the number of packets of the next window, at least one.

    For a finite transfer it is at most what remains to be sent.
    """
    left = (to_send(s, through) + ONE - 1) >> ONE_BITS
    return min(in_flight(g), max(left, np.int64(1)))


def advance(row: Any, t: Any) -> Any:
    """Simulate a round trip from `t` on, or its part until packets are lost; return when the next begins
    [ns]."""
    s = row.s
    if s[FlowWord.STATE] == State.RECOVERY and t >= s[FlowWord.UNTIL]:
        s[FlowWord.STATE] = State.OPEN
    span = network.look_ahead(row, t)
    length, cause = span.length, span.cause
    flow: Any = np.int64(float(span.packets) * span.part * ONE)
    left = to_send(s, network.through(row))
    if flow >= left:
        length = network.complete(row, span, flow, left, t)
        flow = left
        cause = Cause.NOTHING
    twice = max(min(s[FlowWord.DUPLICATES_DUE], flow), 0)
    s[FlowWord.DUPLICATES_DUE] -= twice
    s[FlowWord.DUPLICATES] += twice
    network.carry(row, span, flow)
    frozen = s[FlowWord.STATE] == State.RECOVERY and KIND != TAHOE
    send(row, flow, flow, span.rtt, span.part, t, frozen)
    t += length
    return network.interrupt(row, span, t) if cause != Cause.NOTHING else t


def send(row: Any, flow: Any, answered: Any, rtt: Any, rounds: Any, t: Any, frozen: Any) -> None:
    """Send `flow` [packet, ONE_BITS] from `t` on, in `rounds` round trips of `rtt` [ns].

    `answered` of it are acknowledged; these ACKs increase the window unless it is `frozen`.
    """
    p, s, g = row.p, row.s, row.g
    s[FlowWord.SENT] += flow
    s[FlowWord.RECOVER] = max(s[FlowWord.RECOVER] - flow, np.int64(0))
    timer.pass_rounds(s, g, p, t, rtt, rounds)
    acked = float(max(answered, np.int64(0)) >> s[FlowWord.DELAYED]) * PACKET
    if KIND == ALONE:
        if not frozen:
            association.grow(g, float(max(answered, np.int64(0))) * PACKET, acked)
            g[FlowFloat.CWND] = min(g[FlowFloat.CWND], g[FlowFloat.RECEIVE_WINDOW])
        return
    window.grow(g, KIND, acked, rtt, rounds, window.clock(t), frozen)


def send_window(row: Any, cause: Any, packets: Any, rtt: Any, t: Any) -> None:
    """Send a window of `packets` packets from `t` on, some of which are lost.

    Sets FlowWord.LOST_IN_ROUND to the number of lost packets.
    """
    s, flow = row.s, packets << ONE_BITS
    guarded = s[FlowWord.RECOVER] > 0 and KIND != ALONE and not linux.has(KIND)
    send(row, flow, flow - ONE, rtt, 1.0, t, False)
    hits = network.drop(row, cause, packets, t, rtt)
    if hits >= packets:  # no later packet can cause a duplicate ACK
        hits = max(hits, np.int64(row.g[FlowFloat.CWND]))
    s[FlowWord.LOST_IN_ROUND] = hits + (loss.BEYOND_REPAIR if guarded else 0)


def lose_retransmission(row: Any) -> Any:
    """Return whether a retransmission, or a packet sent by limited transmit for duplicate ACKs, is lost: ONE
    or 0.

    If one is lost, count it as sent and lost.
    """
    s, needed = row.s, loss.at_risk(row.s, row.g) << ONE_BITS
    if float(s[FlowWord.LOST_IN_ROUND]) >= row.g[FlowFloat.CWND] or network.next_loss(row) >= needed:
        return np.int64(0)
    s[FlowWord.SENT] += network.lose(row, needed) << ONE_BITS
    return np.int64(ONE)


def detect(row: Any, t: Any, rtt: Any, chance: Any) -> None:
    """Detect FlowWord.LOST_IN_ROUND lost packets at `t` [ns]: fast recovery, or a wait for the timer.

    `chance` is the probability that a retransmission is lost [ONE_BITS].
    """
    p, s, g = row.p, row.s, row.g
    cwnd, ssthresh = g[FlowFloat.CWND], g[FlowFloat.SSTHRESH]
    loss.detect(s, g, p, t, rtt, np.int64(1), chance, timer.length(s, p))
    if KIND == ALONE:
        association.react(g, p, cwnd, ssthresh, s[FlowWord.STATE] == State.RECOVERY)
    if s[FlowWord.STATE] == State.RTO_WAIT or KIND == VEGAS:  # Vegas also doubles it at a fast retransmit
        timer.back_off(s, p)
