"""Reactions of TCP-Probing and New TCP-Probing over a path to losses and timeouts.

Source: Tsaoussidis and Badr, "TCP-Probing" (ICNP 2000) and its variant for ad hoc networks, in the rules of
the packet engine (`tcp.pausing`, docs/models/probing.md). In a pause no data are sent. It ends with two
answered probes in a row; the window is kept unless one of their round trips is well above the smoothed RTT.

The slot `network` is the module of the path. It has, besides the functions of `round`:

* `answered(row, t)`: when a probe sent at `t` is answered [ns]; FOREVER if an outage or a handover loses it.
* `probe_loss(row)`: probability that a probe or its answer is lost at random.
* `settle(row, begin, until)`: see `arrivals`; a reaction may last many round trips.
* `few(row, packets, holes)`: `packets`, or what a finite transfer has left beside `holes` losses, if less.
* `repair(row, repairs, packets, burst)`: send `repairs` retransmissions and then `packets` new packets, in a
  `burst` at once; count and return the losses among the new packets, among the retransmissions, and those of
  the new packets that a queue drops.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.fluid import loss, timer, window
from netcarlo.kernels.fluid.responses import LossResponse
from netcarlo.kernels.fluid.route import RouteWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, FlowFloat, FlowWord, State
from netcarlo.kernels.senders import NEWRENO
from netcarlo.kernels.shared.layout import FlowOut
from netcarlo.kernels.tcp import rto
from netcarlo.kernels.tcp.pausing import RTT_TOLERANCE

KIND: Any = slot("kind")
"""Number of the TCP variant on which the sender is based, see `senders`."""
RESPONSE: Any = slot("response")
"""Reaction to losses, one of `LossResponse`."""
network: Any = slot("network")
"""Module of the network; the docstring of this module lists its functions."""

MOST_LOSS = 0.99
"""Largest probability of a lost probe for which the length of a pause is computed."""


@noinline
def react(row: Any, t: Any, rtt: Any) -> Any:
    """React to FlowWord.LOST_IN_ROUND losses detected at `t`; return when the sender resumes [ns]."""
    p, s, g = row.p, row.s, row.g
    tail = s[FlowWord.BURST] == 1
    network.settle(row, t - np.int64(rtt), t)
    if not loss.is_recovered(s, g, p, t, np.int64(1), np.int64(0)):
        return on_timeout(row, t + timer.length(s, p), rtt)
    s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
    if RESPONSE == LossResponse.PROBING:
        t = _pause_after_duplicates(row, t, rtt)
    return _recover(row, t, rtt, tail, RESPONSE == LossResponse.PROBING)


@noinline
def on_timeout(row: Any, expires: Any, rtt: Any) -> Any:
    """Process a timeout at `expires`; return when the sender resumes [ns]."""
    tail = row.s[FlowWord.BURST] == 1
    t, kept = _after_timeout(row, expires, rtt)
    return _recover(row, t, rtt, tail, True) if kept else _start_again(row, t)


def _pause_after_duplicates(row: Any, t: Any, rtt: Any) -> Any:
    """Pause at the third duplicate ACK at `t`, and reduce the window if round trips of probes were long.

    Returns when the pause ends [ns]; see `_pause` for `rtt`.
    """
    t, worse = _pause(row, t, rtt)
    if worse:
        window.on_fast_retransmit(row.g, KIND, rtt)
        row.s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    return t


def _after_timeout(row: Any, expires: Any, rtt: Any) -> Any:
    """Process a timeout at `expires`; return when the sender resumes [ns], and whether it keeps its
    window."""
    p, s, g = row.p, row.s, row.g
    s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
    risen = s[FlowWord.RTO] > s[FlowWord.PREVIOUS_RTO] or s[FlowWord.BACKOFF] > 1
    if RESPONSE == LossResponse.NEW_PROBING and not risen:  # taken for a bit error
        timer.back_off(s, p)
        return expires, True
    t, worse = _pause(row, expires, 0.0)
    if worse:
        _fall_back(s, g, p, rtt)
    return t, not worse


def _fall_back(s: Any, g: Any, p: Any, rtt: Any) -> None:
    """Reduce the window and back off the timer as after a retransmission timeout."""
    window.on_timeout(g, KIND, rtt)
    s[FlowWord.COUNTS + FlowOut.CWND_CUTS] += 1
    timer.back_off(s, p)


def _pause(row: Any, since: Any, rtt: Any) -> Any:
    """Send probes from `since` on until two in a row are answered.

    Returns when the pause ends [ns], and whether a round trip of the probes was well above the smoothed RTT.
    The mean delay by probes lost at random, which the timer detects, is added. With packets ahead of it the
    first probe takes a round trip `rtt` [ns], but the queue that they leave empty is refilled at once after
    the pause, so this part does not delay data.
    """
    p, s = row.p, row.s
    every = rto.timeout_of(
        s[FlowWord.RTO], np.int64(1), s[FlowWord.MIN_RTO], p[ReliableP.MAX_RTO], p[TcpP.TICK]
    )
    asked = since
    told = network.answered(row, asked)
    while told == FOREVER and asked < p[RowP.END]:
        asked += max((row.w[RouteWord.UP] - asked + every - 1) // every, np.int64(1)) * every
        told = network.answered(row, asked)
    if told == FOREVER:
        return p[RowP.END], False
    t = network.answered(row, told)
    if t == FOREVER:  # the network fails between both probes
        t = told + every
    worse = _is_long(row, max(told - asked, np.int64(rtt))) or _is_long(row, t - told)
    passes = 1.0 - min(network.probe_loss(row), MOST_LOSS)
    failures = (1.0 - passes * passes) / (passes * passes)
    return t + np.int64(failures * float(every)), worse


def _is_long(row: Any, rtt: Any) -> Any:
    """Return whether the round trip of a probe [ns] is well above the smoothed RTT."""
    ticks = rtt // max(row.p[TcpP.TICK], np.int64(1))
    return ticks * 64 > row.s[FlowWord.SRTT] * (8 + RTT_TOLERANCE)


def _recover(row: Any, t: Any, rtt: Any, tail: Any, burst: Any) -> Any:
    """Repair the losses from `t` on with the kept window; return when the sender continues [ns].

    In each round trip SACK repairs all losses that it knows of, NewReno one, beside as many new packets as
    windows have room for. The first of these windows may be sent in a `burst`, of which a queue drops the
    end. Each repair of NewReno lets the receive window move on to the next loss. If a queue has dropped the
    `tail` of a burst, these losses form a group: the window moves on by a packet within it, and after it by
    its share of the packets after the first loss.

    Only the first partial ACK restarts the timer. A timeout, duplicate ACKs for a lost retransmission
    (TCP-Probing only), and losses among the new packets, once the others are repaired, cause the next
    reaction.
    """
    p, s, g = row.p, row.s, row.g
    one_by_one = KIND == NEWRENO
    cwnd, receivable = np.int64(g[FlowFloat.CWND]), np.int64(g[FlowFloat.RECEIVE_WINDOW])
    holes, fresh = min(s[FlowWord.LOST_IN_ROUND] % loss.BEYOND_REPAIR, cwnd), np.int64(0)
    holes = network.few(row, holes, np.int64(0))
    beyond = cwnd  # packets sent from the first loss on
    group = holes if tail else np.int64(1)
    in_group = group
    trip = row.route.base_rtt
    blocked: Any = False
    while holes > 0 and t < p[RowP.END]:
        if one_by_one and 2 * holes > beyond:
            s[FlowWord.LOST_IN_ROUND] = holes
            return _start_again(row, t)
        expires, reported = t + trip + timer.length(s, p), False
        while holes > 0 and t < expires and not reported:
            room = max(cwnd if burst and not one_by_one else cwnd - holes - fresh, np.int64(1))
            repairs = np.int64(1) if one_by_one else min(holes, room)
            room -= np.int64(0) if one_by_one else repairs
            packets = min(room, max(receivable - beyond, np.int64(0)))
            blocked = packets < room
            packets = network.few(row, packets, holes + fresh)
            if network.answered(row, t) == FOREVER:
                t = expires
            else:
                lost, again, dropped = network.repair(row, repairs, packets, burst)
                beyond += packets
                fresh += lost
                t = network.settle(
                    row, t, t + max(trip, np.int64(float(repairs + packets) * row.route.service))
                )
                if one_by_one and again == 0:
                    in_group -= 1
                    if in_group > 0:
                        beyond -= 1
                    else:
                        beyond -= beyond * group // max(holes + fresh + group - 1, group)
                        in_group = group
                holes -= repairs - again
                if again > 0 and one_by_one and packets >= loss.DUPACKS:
                    reported = True
                elif again > 0:
                    t = expires
                if burst and dropped > 0:
                    group = dropped
                    in_group = min(in_group, group)
            burst = False
        by_timer = holes > 0 and not reported
        if holes == 0 and not one_by_one:
            beyond = packets
        holes, fresh = holes + fresh, np.int64(0)
        if by_timer:
            t, kept = _after_timeout(row, t, rtt)
            burst = True
            if not kept:
                s[FlowWord.LOST_IN_ROUND] = holes
                return _start_again(row, t)
        elif holes > 0:
            s[FlowWord.COUNTS + FlowOut.FAST_RETRANSMITS] += 1
            if RESPONSE == LossResponse.PROBING:
                t = _pause_after_duplicates(row, t, 0.0)
                cwnd, burst = np.int64(g[FlowFloat.CWND]), True
    s[FlowWord.STATE] = State.OPEN
    s[FlowWord.RECOVER] = ONE if one_by_one else 0
    s[FlowWord.BURST] = 1 if blocked else 0
    return t


def _start_again(row: Any, t: Any) -> Any:
    """Go back to the first of FlowWord.LOST_IN_ROUND losses at `t` [ns]; return `t`."""
    row.s[FlowWord.BURST] = 1
    row.s[FlowWord.STATE] = State.OPEN
    _go_back(row.s, row.g)
    return t


def _go_back(s: Any, g: Any) -> None:
    """Retransmit after a timeout; without SACK the whole window after the first loss is sent again."""
    cwnd = np.int64(g[FlowFloat.CWND])
    hits = min(s[FlowWord.LOST_IN_ROUND] % loss.BEYOND_REPAIR, cwnd)
    if KIND == NEWRENO:
        s[FlowWord.DUPLICATES_DUE] += ((cwnd - hits) * hits << ONE_BITS) // (hits + 1)
    s[FlowWord.RECOVER] = (hits + 1) << ONE_BITS
