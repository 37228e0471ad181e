"""Access to the radio channel: 802.11 with RTS and CTS, one event per exchange.

Source: IEEE 802.11-1999, clause 9.2, as implemented by ns-2. The outcome of an exchange (RTS, CTS, data, ACK)
is determined when it starts. A node that senses the sender, or has decoded the CTS, defers until the exchange
ends. Transmissions that start in the same slot collide. An RTS is lost at a node that senses another frame at
that time. A node that neither senses the data frame nor could decode the CTS may start during the exchange,
and destroys the frame if its signal is strong enough at the receiver (hidden node). `docs/models/adhoc.md`
compares this with a frame-by-frame engine.

`m` is scratch, `t` the time [ns], `starters` the set of the nodes that start to transmit at that time.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.adhoc import frames
from netcarlo.kernels.adhoc.frames import Kind, hop_of, kind_of
from netcarlo.kernels.adhoc.layout import STREAM_FRAME, Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.motion import position
from netcarlo.kernels.adhoc.state import (
    COUNTS,
    NO_KEY,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    PHASE_BITS,
    Node,
    Outcome,
    Phase,
    Word,
    routes,
    sets,
)
from netcarlo.kernels.adhoc.station import occupy, rekey
from netcarlo.kernels.base.countdown import draw_gap, lost
from netcarlo.kernels.base.inline import noinline

_SENT, _FAILED = NODE_COUNTS + NodeOut.SENT, NODE_COUNTS + NodeOut.FAILED
_TRANSMIT, _RECEIVE = NODE_COUNTS + NodeOut.TRANSMIT, NODE_COUNTS + NodeOut.RECEIVE
_OVERHEAR = NODE_COUNTS + NodeOut.OVERHEAR


def first_gap(m: Any, losses: Any, i: Any) -> None:
    """Draw the number of frames that node i receives before its radio loses the next one."""
    draw_gap(m, losses, m, NODES + i * NODE_WORDS + Node.GAP, m[Manet.FRAME_LOSS], STREAM_FRAME + i)


def _lost(m: Any, losses: Any, i: Any) -> Any:
    """Return whether the radio of node i loses the arriving frame."""
    return lost(m, losses, m, NODES + i * NODE_WORDS + Node.GAP, m[Manet.FRAME_LOSS], STREAM_FRAME + i)


def next_node(m: Any, i: Any) -> Any:
    """Return the next hop of the frame in service at node i."""
    at = NODES + i * NODE_WORDS
    return routes.node(routes.read(m, at + Node.FRAME_ROUTE), hop_of(m[at + Node.FRAME]) + 1)


@noinline
def _undisturbed(m: Any, i: Any, n: Any, starters: Any, t: Any) -> Any:
    """Return whether node n receives the frame of node i despite other nodes that start now (capture)."""
    x, y = position(m, n, t)
    ax, ay = position(m, i, t)
    own = ((ax - x) >> 6) * ((ax - x) >> 6) + ((ay - y) >> 6) * ((ay - y) >> 6)
    for k in range(m[Manet.NODES]):
        if sets.has(starters, k) and k != i and sets.holds(m, NODES + n * NODE_WORDS + Node.SENSE, k):
            bx, by = position(m, np.int64(k), t)
            far = ((bx - x) >> 6) * ((bx - x) >> 6) + ((by - y) >> 6) * ((by - y) >> 6)
            if far * 1024 < m[Manet.CAPTURE] * own:
                return False
    return True


def _clear(m: Any, i: Any, n: Any, starters: Any, t: Any) -> Any:
    """Return the result of `_undisturbed`, quickly where node i starts alone."""
    return _is_alone(starters, i) or _undisturbed(m, i, n, starters, t)


def _is_alone(starters: Any, i: Any) -> Any:
    """Return whether node i is the only node that starts."""
    return sets.equal(starters, sets.add(sets.none(), i))


@noinline
def _decide(m: Any, losses: Any, i: Any, starters: Any, t: Any) -> None:
    """Determine the outcome of the exchange that node i starts."""
    at = NODES + i * NODE_WORDS
    if kind_of(m[at + Node.FRAME]) == Kind.REQUEST:
        sets.write(m, at + Node.HEARD, _listeners(m, losses, i, starters, t))
        m[at + Node.OUTCOME] = Outcome.BROADCAST
        return
    j = next_node(m, i)
    to = NODES + j * NODE_WORDS
    if (
        sets.has(starters, j)
        or m[to + Node.END] < NO_KEY
        or m[to + Node.AIR] > t
        or not sets.holds(m, at + Node.LINK, j)
        or not _clear(m, i, j, starters, t)
        or _lost(m, losses, j)
    ):
        m[at + Node.OUTCOME] = Outcome.NO_RTS
    elif _lost(m, losses, i):
        m[at + Node.OUTCOME] = Outcome.NO_CTS
    elif _lost(m, losses, j):
        m[at + Node.OUTCOME] = Outcome.NO_DATA
    elif _lost(m, losses, i):
        m[at + Node.OUTCOME] = Outcome.NO_ACK
    else:
        m[at + Node.OUTCOME] = Outcome.OK


def _listeners(m: Any, losses: Any, i: Any, starters: Any, t: Any) -> Any:
    """Return the set of nodes that decode the broadcast of node i."""
    at = NODES + i * NODE_WORDS
    heard = sets.none()
    for n in range(m[Manet.NODES]):
        there = NODES + n * NODE_WORDS
        if (
            sets.holds(m, at + Node.LINK, n)
            and not sets.has(starters, n)
            and m[there + Node.END] >= NO_KEY
            and m[there + Node.AIR] <= t
            and _clear(m, i, np.int64(n), starters, t)
            and not _lost(m, losses, np.int64(n))
        ):
            heard = sets.add(heard, n)
    return heard


@noinline
def _broadcast(m: Any, i: Any, starters: Any, t: Any) -> None:
    """Occupy the medium for the broadcast of node i."""
    at = NODES + i * NODE_WORDS
    size = frames.size_of(m, frames.read(m, at + Node.FRAME))
    air = m[Manet.PREAMBLE] + (size + m[Manet.OVERHEAD]) * m[Manet.BROADCAST_BYTE_TIME]
    m[at + Node.END] = t + air
    m[at + _TRANSMIT] += air
    for n in range(m[Manet.NODES]):
        if sets.holds(m, at + Node.SENSE, n) and not sets.has(starters, n):
            there = NODES + n * NODE_WORDS
            free = m[there + Node.AIR] <= t
            decodes = sets.holds(m, at + Node.LINK, n) and free and _clear(m, i, np.int64(n), starters, t)
            if free:
                m[there + (_RECEIVE if sets.holds(m, at + Node.HEARD, n) else _OVERHEAR)] += air
            occupy(m, np.int64(n), t, t + air + (0 if decodes else m[Manet.EIFS]))
            m[there + Node.AIR] = max(m[there + Node.AIR], t + air)


@noinline
def _unicast(m: Any, i: Any, starters: Any, t: Any) -> None:
    """Occupy the medium for the exchange of node i with the next node of its frame."""
    at = NODES + i * NODE_WORDS
    j = next_node(m, i)
    to = NODES + j * NODE_WORDS
    outcome = m[at + Node.OUTCOME]
    cts = outcome != Outcome.NO_RTS
    sent = cts and outcome != Outcome.NO_CTS
    rts, sifs = m[Manet.RTS], m[Manet.SIFS]
    size = frames.size_of(m, frames.read(m, at + Node.FRAME))
    data = m[Manet.PREAMBLE] + (size + m[Manet.OVERHEAD]) * m[Manet.BYTE_TIME]
    end = t + rts + m[Manet.CTS] + data + m[Manet.MAC_ACK] + 3 * sifs
    if outcome != Outcome.OK:
        m[at + _FAILED] += 1
    air_i = rts + (data if sent else 0)
    air_j = (m[Manet.CTS] if cts else 0) + (m[Manet.MAC_ACK] if _sends_ack(outcome) else 0)
    end_i = end - m[Manet.MAC_ACK] - sifs if sent else t + rts
    end_j = end if sent else t + rts + sifs + m[Manet.CTS]
    m[at + Node.END] = end_j
    sensed = sets.read(m, at + Node.SENSE)
    if cts:
        sensed = sets.union(sensed, sets.read(m, to + Node.SENSE))
    sensed = sets.without(sensed, sets.add(starters, i))
    for n in range(m[Manet.NODES]):
        if sets.has(sensed, n):
            there = NODES + n * NODE_WORDS
            free = m[there + Node.AIR] <= t
            if n == j:
                if free:
                    m[there + _RECEIVE] += air_i
                m[there + _TRANSMIT] += air_j
                # After its CTS it waits for the duration of the data frame.
                lasts = end if cts else end_i
                until = end if cts else end_i + m[Manet.EIFS]
            else:
                hears_i = sets.holds(m, at + Node.SENSE, n)
                hears_j = cts and sets.holds(m, to + Node.SENSE, n)
                if free:
                    m[there + _OVERHEAR] += (air_i if hears_i else 0) + (air_j if hears_j else 0)
                warned = (
                    hears_i
                    and sets.holds(m, at + Node.LINK, n)
                    and free
                    and _clear(m, i, np.int64(n), starters, t)
                ) or (hears_j and sets.holds(m, to + Node.LINK, n))
                # A node that neither senses the data frame nor decoded the CTS may start meanwhile.
                answered = t + rts + sifs + m[Manet.CTS]
                lasts = (end_j if hears_j else end_i) if hears_i else answered
                until = end if warned else lasts + m[Manet.EIFS]
                if hears_i and hears_j and not sets.holds(m, to + Node.LINK, n):
                    until = max(until, end_j + m[Manet.EIFS])
            occupy(m, np.int64(n), t, until)
            m[there + Node.AIR] = max(m[there + Node.AIR], lasts)
    m[at + _TRANSMIT] += air_i
    m[at + _RECEIVE] += air_j


def _sends_ack(outcome: Any) -> Any:
    """Return whether an exchange reaches its last frame, the acknowledgement."""
    return outcome == Outcome.OK or outcome == Outcome.NO_ACK


@noinline
def _disturb(m: Any, starters: Any, t: Any) -> None:
    """Destroy data frames in transmission with which the nodes that start now interfere."""
    for i in range(m[Manet.NODES]):
        at = NODES + i * NODE_WORDS
        outcome = m[at + Node.OUTCOME]
        if sets.holds(m, Word.ON_AIR, i) and _sends_ack(outcome):
            j = next_node(m, np.int64(i))
            to = NODES + j * NODE_WORDS
            senses = not sets.is_empty(sets.common(sets.read(m, to + Node.SENSE), starters))
            if senses and not _undisturbed(m, np.int64(i), j, starters, t):
                m[at + _FAILED] += 1 if outcome == Outcome.OK else 0
                m[at + Node.OUTCOME] = Outcome.NO_DATA
                m[to + _TRANSMIT] -= m[Manet.MAC_ACK]
                m[at + _RECEIVE] -= m[Manet.MAC_ACK]


@noinline
def _begin(m: Any, i: Any, starters: Any, t: Any) -> None:
    """Start the transmission of node i."""
    at = NODES + i * NODE_WORDS
    m[COUNTS + ManetOut.EXCHANGES] += 1
    m[at + _SENT] += 1
    kind = kind_of(m[at + Node.FRAME])
    if kind >= Kind.REQUEST:
        m[COUNTS + ManetOut.ROUTING_FRAMES] += 1
    m[at + Node.SLOTS] = 0
    if kind == Kind.REQUEST:
        _broadcast(m, i, starters, t)
    else:
        _unicast(m, i, starters, t)
    m[at + Node.AIR] = max(m[at + Node.AIR], m[at + Node.END])
    m[at + Node.BUSY] = max(m[at + Node.BUSY], m[at + Node.END])
    rekey(m, i)


@noinline
def start(m: Any, losses: Any, i: Any, t: Any) -> Any:
    """Start the transmissions of all nodes whose backoff ends at t, i among them. Return the set of them."""
    starters = sets.none()
    key = t << PHASE_BITS | Phase.START
    for k in range(m[Manet.NODES]):
        if m[m[Word.KEYS] + k] == key:
            starters = sets.add(starters, k)
    on_air = sets.read(m, Word.ON_AIR)
    if not sets.is_empty(on_air):
        _disturb(m, starters, t)
    if _is_alone(starters, i):
        _decide(m, losses, i, starters, t)
        _begin(m, i, starters, t)
    else:
        for k in range(m[Manet.NODES]):
            if sets.has(starters, k):
                _decide(m, losses, np.int64(k), starters, t)
        for k in range(m[Manet.NODES]):
            if sets.has(starters, k):
                _begin(m, np.int64(k), starters, t)
    sets.write(m, Word.ON_AIR, sets.union(on_air, starters))
    return starters
