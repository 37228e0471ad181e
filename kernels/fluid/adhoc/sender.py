"""A TCP over the route in use, round trip by round trip: its window, what is lost at random, and silences.

Windows are those of the fluid of a path (`fluid.window`); what a loss does is in `reactions`.

`m` and `s` are scratch, `g` the floats of the flow, see `state`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc.layout import Manet, ManetOut
from netcarlo.kernels.adhoc.state import COUNTS, Word
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, P
from netcarlo.kernels.fluid import loss, timer, window
from netcarlo.kernels.fluid.adhoc import chain, exchange, ways
from netcarlo.kernels.fluid.adhoc.errors import give_up, lose
from netcarlo.kernels.fluid.adhoc.reactions import cross, react, round_trip, silence, trip
from netcarlo.kernels.fluid.adhoc.state import AirFloat, AirWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS, PACKET, FlowFloat, FlowWord, State
from netcarlo.kernels.fluid.trouble import Cause, until_trouble
from netcarlo.kernels.fluid.way import Way
from netcarlo.kernels.senders import TAHOE, VEGAS
from netcarlo.kernels.shared.layout import FlowOut

KIND: Any = slot("kind")  # number of the TCP, see `senders`


@noinline
def prepare(m: Any, s: Any, g: Any) -> None:
    """Before the start."""
    s[FlowWord.KIND] = KIND
    s[FlowWord.MIN_RTO] = m[P.MIN_RTO]
    s[FlowWord.STATE] = State.OPEN
    s[FlowWord.LIMIT] = m[P.LIMIT] << ONE_BITS if m[P.LIMIT] < ENDLESS else ENDLESS
    s[FlowWord.DELAYED] = 1 if m[P.ACK_EVERY] > 1 else 0
    window.begin(g, m, 1)
    timer.begin(s, m)


@noinline
def begin(m: Any, s: Any, g: Any, times: Any, places: Any) -> Any:
    """The first route, and the handshake over it: when the first data are put out [ns]."""
    t = ways.find(m, s, times, places, m[P.START])
    if m[P.HANDSHAKE] > 0 and KIND != VEGAS and t < m[P.END]:
        t += trip(m, m[P.HANDSHAKE])
        expires = m[P.START] + timer.length(s, m)
        if expires >= t:
            timer.measure(s, m, m[P.START], t)
        while expires < t:  # a lost SYN: start with one packet
            s[FlowWord.COUNTS + FlowOut.TIMEOUTS] += 1
            g[FlowFloat.CWND] = 1.0
            timer.back_off(s, m)
            expires += timer.length(s, m)
    return t


@noinline
def advance(m: Any, s: Any, g: Any, times: Any, places: Any, losses: Any, t: Any) -> Any:
    """What the flow does from `t` on; until when [ns]."""
    ways.catch_up(m, s, times, places, t)
    if m[Word.ROUTE] == 0 or s[AirWord.BROKEN] > 0:
        return cross(m, s, g, times, places, losses, t)
    if s[AirWord.CHANGED] == 1:
        s[AirWord.CHANGED] = 0
        chain.weigh(m, g, 1.0)
    if s[FlowWord.STATE] == State.REPAIR and t >= s[FlowWord.UNTIL]:
        s[FlowWord.STATE] = State.OPEN
    return _round(m, s, g, times, places, losses, t)


@noinline
def _round(m: Any, s: Any, g: Any, times: Any, places: Any, losses: Any, t: Any) -> Any:
    # A round trip, or the time to what ends it early.
    packets = np.int64(g[FlowFloat.CWND])
    room = m[Manet.QUEUE] + 1 + chain.hops_of(m)
    rtt: Any = round_trip(m, g)
    way = Way(np.int64(g[AirFloat.TRIP]), g[AirFloat.EACH], room, np.int64(0), np.int64(0), np.int64(0))
    repaired = s[FlowWord.UNTIL] if s[FlowWord.STATE] == State.REPAIR else np.int64(0)
    length, part, cause = until_trouble(
        m, way, np.int64(FOREVER), t, packets, rtt, packets << ONE_BITS, s[AirWord.GAP], repaired
    )
    breaks = float(packets) * _breaks(m, g)
    given_up = g[AirFloat.HAZARD] < breaks * part
    if given_up:
        part = g[AirFloat.HAZARD] / breaks
        length = np.int64(part * rtt)
    left: Any = s[FlowWord.LIMIT] - _through(m, s)
    ends = _until_left(packets, part, left, length)  # nodes move no further than that
    until = ways.look(m, s, times, places, t + ends)
    if until < t + ends:
        length = until - t
        part = float(length) / rtt
        cause, given_up = Cause.NOTHING, False
    g[AirFloat.HAZARD] -= breaks * part
    flow: Any = np.int64(float(packets) * part * ONE)
    if flow >= left:
        _complete(m, g, t + _until_left(packets, part, left, length))
        flow = left
        cause, given_up = Cause.NOTHING, False
    twice = max(min(s[FlowWord.TWICE], flow), 0)
    s[FlowWord.TWICE] -= twice
    s[FlowWord.REPEATED] += twice
    m[COUNTS + ManetOut.DROPS_RANDOM] += lose(m, s, losses, max(flow, 0))
    frozen = s[FlowWord.STATE] == State.REPAIR and KIND != TAHOE
    _put_out(m, s, g, flow, rtt, part, t, frozen, np.int64(0))
    t += length
    if given_up:
        t = silence(m, s, g, t, give_up(m, s, g, t), rtt)
    elif cause != Cause.NOTHING:
        t = _suffer(m, s, g, losses, cause, room, t, rtt)
    return t


def _until_left(packets: Any, part: Any, left: Any, length: Any) -> Any:
    # How long it takes to put out what is `left`; at most `length`, which this part of the packets takes.
    flow: Any = np.int64(float(packets) * part * ONE)
    if flow < left:
        return length
    return min(np.int64(float(length) * (float(left) / float(max(flow, 1)))), length)


def _breaks(m: Any, g: Any) -> Any:
    # Links given up per packet; for hidden nodes only if the window lasts as long as their patience.
    lasts = np.int64(g[FlowFloat.CWND]) * exchange.of_data(m)
    return g[AirFloat.NOISE] + (g[AirFloat.HIDDEN] if lasts > exchange.patience(m) else 0.0)


def _through(m: Any, s: Any) -> Any:
    # Distinct packets that have arrived [packet, ONE_BITS].
    gone = m[COUNTS + ManetOut.DROPS_RANDOM] + m[COUNTS + ManetOut.DROPS_QUEUE]
    gone += m[COUNTS + ManetOut.DROPS_ROUTE]
    return s[FlowWord.SENT] - (gone << ONE_BITS) - s[FlowWord.REPEATED]


def _complete(m: Any, g: Any, t: Any) -> None:
    length = np.int64(g[AirFloat.TRIP])
    m[COUNTS + ManetOut.COMPLETED] = t + (length >> 1)
    m[COUNTS + ManetOut.FINISHED] = t + length


def _put_out(
    m: Any, s: Any, g: Any, flow: Any, rtt: Any, rounds: Any, t: Any, frozen: Any, unanswered: Any
) -> None:  # fmt: skip
    # `flow` is put out and acknowledged, but for so many packets; the window grows as in so many round trips.
    s[FlowWord.SENT] += flow
    s[FlowWord.GUARDED] = max(s[FlowWord.GUARDED] - flow, np.int64(0))
    timer.pass_rounds(s, g, m, t, rtt, rounds)
    m[COUNTS + ManetOut.HOPS] += flow * chain.hops_of(m)
    answered = max(flow - (unanswered << ONE_BITS), np.int64(0))
    acked = float(answered >> s[FlowWord.DELAYED]) * PACKET
    window.grow(g, KIND, acked, rtt, rounds, window.clock(t), frozen)


@noinline
def _suffer(m: Any, s: Any, g: Any, losses: Any, cause: Any, room: Any, t: Any, rtt: Any) -> Any:
    # Packets are lost at `t`; returns when the sender has reacted to it [ns].
    if cause == Cause.OVERFLOW:
        g[FlowFloat.CWND] = min(g[FlowFloat.CWND], float(room + 1))
    left = (s[FlowWord.LIMIT] - _through(m, s) + ONE - 1) >> ONE_BITS  # of a finite transfer
    packets, guarded = min(np.int64(g[FlowFloat.CWND]), max(left, np.int64(1))), s[FlowWord.GUARDED] > 0
    _put_out(m, s, g, packets << ONE_BITS, rtt, 1.0, t, False, np.int64(1))
    hits = np.int64(0)
    if cause == Cause.OVERFLOW:
        hits = min(max(packets - room - 1, np.int64(1)), packets)
        m[COUNTS + ManetOut.DROPS_QUEUE] += hits
    at_random = lose(m, s, losses, (packets - hits) << ONE_BITS)
    m[COUNTS + ManetOut.DROPS_RANDOM] += at_random
    s[FlowWord.HITS] = hits + at_random
    if guarded:
        s[FlowWord.HITS] += loss.BEYOND_REPAIR
    return react(m, s, g, losses, cause, t + np.int64(rtt), rtt)


@noinline
def is_done(m: Any) -> Any:
    """True if a finite transfer is over."""
    return m[COUNTS + ManetOut.COMPLETED] != NEVER


@noinline
def report(m: Any, s: Any, out: Any) -> None:
    """What the sender has counted."""
    counts = s[FlowWord.COUNTS :]
    dropped = m[COUNTS + ManetOut.DROPS_RANDOM] + m[COUNTS + ManetOut.DROPS_QUEUE]
    dropped += m[COUNTS + ManetOut.DROPS_ROUTE]
    received = max(s[FlowWord.SENT] - (dropped << ONE_BITS), np.int64(0)) >> ONE_BITS
    distinct = max(_through(m, s), np.int64(0)) >> ONE_BITS
    out[ManetOut.SENT] = received + dropped
    out[ManetOut.RECEIVED] = received
    out[ManetOut.DELIVERED] = distinct
    out[ManetOut.IN_ORDER] = distinct
    out[ManetOut.ACKED] = distinct
    out[ManetOut.RETRANSMITTED] = out[ManetOut.SENT] - distinct
    out[ManetOut.TIMEOUTS] = counts[FlowOut.TIMEOUTS]
    out[ManetOut.FAST_RETRANSMITS] = counts[FlowOut.FAST_RETRANSMITS]
    out[ManetOut.CWND_CUTS] = counts[FlowOut.CWND_CUTS]
    out[ManetOut.HOPS] = m[COUNTS + ManetOut.HOPS] >> ONE_BITS
    out[ManetOut.ARRIVED] = received
    out[ManetOut.FALSE_BREAKS] = s[AirWord.GIVEN_UP] - 1
