"""Access to the radio channel: 802.11 with RTS and CTS, one event per exchange.

Source: IEEE 802.11-1999, clause 9.2, in the form of ns-2.  An exchange (RTS, CTS, data, ACK) is decided when
it begins.  Whoever senses the sender, or has decoded the CTS, waits until it is over.  What begins in the
same slot collides, and an RTS is lost on a node that senses another frame at that moment; a node that
senses neither the data frame nor could decode the CTS may begin in the midst of it, and destroys it if its
signal is strong enough at the receiver.  So hidden nodes harm each other.  `docs/models/adhoc.md` compares
this with the frame by frame engine.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.layout import STREAM_BACKOFF, STREAM_FRAME, Manet, ManetOut, NodeOut
from netcarlo.kernels.adhoc.state import (
    ACK,
    BROADCAST,
    CHECK_PHASE,
    COUNTS,
    DATA,
    DELAYED_PHASE,
    DUE_PHASE,
    END_PHASE,
    FRAME_WORDS,
    HOP_SHIFT,
    KEYS,
    LENGTH_BITS,
    N_AIR,
    N_BACKOFFS,
    N_BUSY,
    N_CHECK_AT,
    N_COUNT,
    N_CUR,
    N_CW,
    N_DELAYED_AT,
    N_DUE_AT,
    N_END,
    N_FRAME,
    N_GAP,
    N_GAPS,
    N_HEAD,
    N_HEARD,
    N_LINK,
    N_OUTCOME,
    N_RECEIVED,
    N_RING,
    N_ROUTING_COUNT,
    N_ROUTING_HEAD,
    N_ROUTING_RING,
    N_SENSE,
    N_SINCE,
    N_SLOTS,
    NO_ACK,
    NO_CTS,
    NO_DATA,
    NO_KEY,
    NO_RTS,
    NODE_BITS,
    NODE_COUNTS,
    NODE_MASK,
    NODE_WORDS,
    NODES,
    NUMBER_SHIFT,
    OK,
    ON_AIR,
    PHASE_BITS,
    REQUEST,
    ROUTING_ROOM,
    START_PHASE,
)
from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.loss import make_gap
from netcarlo.kernels.base.philox import make_draw

_GOT = OK, NO_ACK
_KIND = 15
_HOP = 15
_DROPS, _SENT, _FAILED = NODE_COUNTS + NodeOut.DROPS, NODE_COUNTS + NodeOut.SENT, NODE_COUNTS + NodeOut.FAILED
_TRANSMIT, _RECEIVE = NODE_COUNTS + NodeOut.TRANSMIT, NODE_COUNTS + NodeOut.RECEIVE
_OVERHEAR = NODE_COUNTS + NodeOut.OVERHEAR


class Medium(NamedTuple):
    """The compiled functions of the medium; `m` is scratch, `at` where a node's words begin."""

    rekey: Any
    """`(m, i)`: the next event of node i has changed."""
    enqueue: Any
    """`(m, i, t, frame, route, load) -> bool`: a frame waits in node i; False: its queue was full."""
    next_frame: Any
    """`(m, i, t)`: node i takes its next frame into service."""
    backoff: Any
    """`(m, i, t)`: node i draws a backoff for the frame in service."""
    start: Any
    """`(m, losses, i, t) -> mask`: all nodes whose backoff ends at t, i among them, go on the air."""
    next_node: Any
    """`(m, i) -> j`: who is to receive the frame in service."""
    first_gap: Any
    """`(m, losses, i)`: before the start."""


def make_medium(dev: Callable[[Any], Any], place: Any, first: int, size_of: Any) -> Medium:
    """Compile `Medium` for a target; `size_of(m, frame, route, load)` is a packet's size [byte]."""
    draw = make_draw(dev)
    gap = make_gap(dev, draw)

    def rekey(m: Any, i: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        key = np.int64(NO_KEY)
        end = m[at + N_END]
        if end < NO_KEY:
            key = end << PHASE_BITS | END_PHASE
        elif m[at + N_CUR] != 0:
            key = (m[at + N_SINCE] + m[at + N_SLOTS] * m[Manet.SLOT]) << PHASE_BITS | START_PHASE
        if m[at + N_DELAYED_AT] < NO_KEY:
            key = min(key, m[at + N_DELAYED_AT] << PHASE_BITS | DELAYED_PHASE)
        if m[at + N_CHECK_AT] < NO_KEY:
            key = min(key, m[at + N_CHECK_AT] << PHASE_BITS | CHECK_PHASE)
        if m[at + N_DUE_AT] < NO_KEY:
            key = min(key, m[at + N_DUE_AT] << PHASE_BITS | DUE_PHASE)
        m[m[KEYS] + i] = key

    rekey = dev(rekey)

    def difs(m: Any) -> Any:
        return m[Manet.SIFS] + 2 * m[Manet.SLOT]

    difs = dev(difs)

    @cold
    def backoff(m: Any, i: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        number = m[at + N_BACKOFFS]
        m[at + N_BACKOFFS] = number + 1
        a, _, _, _ = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_BACKOFF + i, number)
        m[at + N_SLOTS] = (np.int64(a) * (m[at + N_CW] + 1)) >> 32
        m[at + N_SINCE] = max(t, m[at + N_BUSY]) + difs(m)
        rekey(m, i)

    backoff = dev(backoff)

    @cold
    def next_frame(m: Any, i: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        m[at + N_CUR] = 0
        source = np.int64(0)
        if m[at + N_ROUTING_COUNT] > 0:
            head = m[at + N_ROUTING_HEAD]
            source = m[at + N_ROUTING_RING] + FRAME_WORDS * head
            m[at + N_ROUTING_HEAD] = head + 1 if head + 1 < ROUTING_ROOM else 0
            m[at + N_ROUTING_COUNT] -= 1
        elif m[at + N_COUNT] > 0:
            head = m[at + N_HEAD]
            source = m[at + N_RING] + FRAME_WORDS * head
            m[at + N_HEAD] = head + 1 if head + 1 < m[Manet.QUEUE] else 0
            m[at + N_COUNT] -= 1
        else:
            rekey(m, i)
            return
        for word in range(FRAME_WORDS):
            m[at + N_FRAME + word] = m[source + word]
        m[at + N_CUR] = 1
        m[at + N_RECEIVED] = 0
        backoff(m, i, t)

    next_frame = dev(next_frame)

    @cold
    def enqueue(m: Any, i: Any, t: Any, frame: Any, route: Any, load: Any) -> Any:
        at = m[NODES] + i * NODE_WORDS
        kind = frame & _KIND
        if kind >= REQUEST:
            count, head, room, ring = N_ROUTING_COUNT, N_ROUTING_HEAD, np.int64(ROUTING_ROOM), N_ROUTING_RING
        else:
            count, head, room, ring = N_COUNT, N_HEAD, m[Manet.QUEUE], N_RING
        waiting = m[at + count]
        if waiting >= room:
            m[at + _DROPS] += 1
            if kind == DATA and frame >> NUMBER_SHIFT >= first:
                m[COUNTS + ManetOut.DROPS_QUEUE] += 1
            elif kind == ACK:
                m[COUNTS + ManetOut.ACK_DROPS] += 1
            return False
        slot = m[at + head] + waiting
        to = m[at + ring] + FRAME_WORDS * (slot if slot < room else slot - room)
        m[to] = frame
        m[to + 1] = route
        m[to + 2] = load
        m[at + count] = waiting + 1
        if m[at + N_CUR] == 0 and m[at + N_END] >= NO_KEY:
            next_frame(m, i, t)
        return True

    @cold
    def first_gap(m: Any, losses: Any, i: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        stream = STREAM_FRAME + i
        m[at + N_GAP] = gap(
            losses, m[Manet.FRAME_LOSS], m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], stream, m[at + N_GAPS]
        )
        m[at + N_GAPS] += 1

    first_gap = dev(first_gap)

    def lost(m: Any, losses: Any, i: Any) -> Any:
        at = m[NODES] + i * NODE_WORDS
        if m[at + N_GAP] == 0:
            first_gap(m, losses, i)
            return True
        m[at + N_GAP] -= 1
        return False

    lost = dev(lost)

    def next_node(m: Any, i: Any) -> Any:
        at = m[NODES] + i * NODE_WORDS
        hop = m[at + N_FRAME] >> HOP_SHIFT & _HOP
        return m[at + N_FRAME + 1] >> (LENGTH_BITS + NODE_BITS * (hop + 1)) & NODE_MASK

    next_node = dev(next_node)

    def occupy(m: Any, n: Any, t: Any, until: Any) -> None:
        at = m[NODES] + n * NODE_WORDS
        busy = max(m[at + N_BUSY], until)
        m[at + N_BUSY] = busy
        if m[at + N_CUR] != 0 and m[at + N_END] >= NO_KEY:
            if t > m[at + N_SINCE]:
                m[at + N_SLOTS] -= min(m[at + N_SLOTS], (t - m[at + N_SINCE]) // m[Manet.SLOT])
            m[at + N_SINCE] = busy + difs(m)
            rekey(m, n)

    occupy = dev(occupy)

    @cold
    def undisturbed(m: Any, i: Any, n: Any, starters: Any, t: Any) -> Any:
        # No other starter harms the reception of i's frame at n.
        x, y = place(m, n, t)
        ax, ay = place(m, i, t)
        own = ((ax - x) >> 6) * ((ax - x) >> 6) + ((ay - y) >> 6) * ((ay - y) >> 6)
        for k in range(m[Manet.NODES]):
            if starters >> k & 1 and k != i and m[m[NODES] + n * NODE_WORDS + N_SENSE] >> k & 1:
                bx, by = place(m, np.int64(k), t)
                far = ((bx - x) >> 6) * ((bx - x) >> 6) + ((by - y) >> 6) * ((by - y) >> 6)
                if far * 1024 < m[Manet.CAPTURE] * own:
                    return False
        return True

    undisturbed = dev(undisturbed)

    def clear(m: Any, i: Any, n: Any, starters: Any, t: Any) -> Any:
        return starters == np.int64(1) << i or undisturbed(m, i, n, starters, t)

    clear = dev(clear)

    @cold
    def decide(m: Any, losses: Any, i: Any, starters: Any, t: Any) -> None:
        # What becomes of the exchange that node i begins.
        at = m[NODES] + i * NODE_WORDS
        if m[at + N_FRAME] & _KIND == REQUEST:
            heard = np.int64(0)
            for n in range(m[Manet.NODES]):
                there = m[NODES] + n * NODE_WORDS
                if (
                    m[at + N_LINK] >> n & 1
                    and not starters >> n & 1
                    and m[there + N_END] >= NO_KEY
                    and m[there + N_AIR] <= t
                    and clear(m, i, np.int64(n), starters, t)
                    and not lost(m, losses, np.int64(n))
                ):
                    heard |= np.int64(1) << n
            m[at + N_HEARD] = heard
            m[at + N_OUTCOME] = BROADCAST
            return
        j = next_node(m, i)
        to = m[NODES] + j * NODE_WORDS
        if (
            starters >> j & 1
            or m[to + N_END] < NO_KEY
            or m[to + N_AIR] > t
            or not m[at + N_LINK] >> j & 1
            or not clear(m, i, j, starters, t)
            or lost(m, losses, j)
        ):
            m[at + N_OUTCOME] = NO_RTS
        elif lost(m, losses, i):
            m[at + N_OUTCOME] = NO_CTS
        elif lost(m, losses, j):
            m[at + N_OUTCOME] = NO_DATA
        elif lost(m, losses, i):
            m[at + N_OUTCOME] = NO_ACK
        else:
            m[at + N_OUTCOME] = OK

    decide = dev(decide)

    @cold
    def broadcast(m: Any, i: Any, starters: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        size = size_of(m, m[at + N_FRAME], m[at + N_FRAME + 1], m[at + N_FRAME + 2])
        air = m[Manet.PREAMBLE] + (size + m[Manet.OVERHEAD]) * m[Manet.BROADCAST_BYTE_TIME]
        m[at + N_END] = t + air
        m[at + _TRANSMIT] += air
        for n in range(m[Manet.NODES]):
            if m[at + N_SENSE] >> n & 1 and not starters >> n & 1:
                there = m[NODES] + n * NODE_WORDS
                free = m[there + N_AIR] <= t
                decodes = m[at + N_LINK] >> n & 1 and free and clear(m, i, np.int64(n), starters, t)
                if free:
                    m[there + (_RECEIVE if m[at + N_HEARD] >> n & 1 else _OVERHEAR)] += air
                occupy(m, np.int64(n), t, t + air + (0 if decodes else m[Manet.EIFS]))
                m[there + N_AIR] = max(m[there + N_AIR], t + air)

    broadcast = dev(broadcast)

    @cold
    def unicast(m: Any, i: Any, starters: Any, t: Any) -> None:
        at = m[NODES] + i * NODE_WORDS
        j = next_node(m, i)
        to = m[NODES] + j * NODE_WORDS
        outcome = m[at + N_OUTCOME]
        cts = outcome != NO_RTS
        sent = cts and outcome != NO_CTS
        rts, sifs = m[Manet.RTS], m[Manet.SIFS]
        size = size_of(m, m[at + N_FRAME], m[at + N_FRAME + 1], m[at + N_FRAME + 2])
        data = m[Manet.PREAMBLE] + (size + m[Manet.OVERHEAD]) * m[Manet.BYTE_TIME]
        end = t + rts + m[Manet.CTS] + data + m[Manet.MAC_ACK] + 3 * sifs
        if outcome != OK:
            m[at + _FAILED] += 1
        air_i = rts + (data if sent else 0)
        air_j = (m[Manet.CTS] if cts else 0) + (m[Manet.MAC_ACK] if outcome in _GOT else 0)
        end_i = end - m[Manet.MAC_ACK] - sifs if sent else t + rts
        end_j = end if sent else t + rts + sifs + m[Manet.CTS]
        m[at + N_END] = end_j
        sensed = m[at + N_SENSE]
        if cts:
            sensed |= m[to + N_SENSE]
        sensed &= ~(starters | np.int64(1) << i)
        for n in range(m[Manet.NODES]):
            if sensed >> n & 1:
                there = m[NODES] + n * NODE_WORDS
                free = m[there + N_AIR] <= t
                if n == j:
                    if free:
                        m[there + _RECEIVE] += air_i
                    m[there + _TRANSMIT] += air_j
                    # Having answered it waits for the data frame as long as that would take.
                    lasts = end if cts else end_i
                    until = end if cts else end_i + m[Manet.EIFS]
                else:
                    hears_i = m[at + N_SENSE] >> n & 1
                    hears_j = cts and m[to + N_SENSE] >> n & 1
                    if free:
                        m[there + _OVERHEAR] += (air_i if hears_i else 0) + (air_j if hears_j else 0)
                    warned = (
                        hears_i and m[at + N_LINK] >> n & 1 and free and clear(m, i, np.int64(n), starters, t)
                    ) or (hears_j and m[to + N_LINK] >> n & 1)
                    # Who does not sense the data frame, and has not decoded the CTS, may begin meanwhile.
                    answered = t + rts + sifs + m[Manet.CTS]
                    lasts = (end_j if hears_j else end_i) if hears_i else answered
                    until = end if warned else lasts + m[Manet.EIFS]
                    if hears_i and hears_j and not m[to + N_LINK] >> n & 1:
                        until = max(until, end_j + m[Manet.EIFS])
                occupy(m, np.int64(n), t, until)
                m[there + N_AIR] = max(m[there + N_AIR], lasts)
        m[at + _TRANSMIT] += air_i
        m[at + _RECEIVE] += air_j

    unicast = dev(unicast)

    @cold
    def disturb(m: Any, starters: Any, t: Any) -> None:
        # Data frames that are on the air and destroyed by those who begin now.
        for i in range(m[Manet.NODES]):
            at = m[NODES] + i * NODE_WORDS
            outcome = m[at + N_OUTCOME]
            if m[ON_AIR] >> i & 1 and outcome in _GOT:
                j = next_node(m, np.int64(i))
                to = m[NODES] + j * NODE_WORDS
                if m[to + N_SENSE] & starters != 0 and undisturbed(m, np.int64(i), j, starters, t) == 0:
                    m[at + _FAILED] += 1 if outcome == OK else 0
                    m[at + N_OUTCOME] = NO_DATA
                    m[to + _TRANSMIT] -= m[Manet.MAC_ACK]
                    m[at + _RECEIVE] -= m[Manet.MAC_ACK]

    disturb = dev(disturb)

    @cold
    def begin(m: Any, i: Any, starters: Any, t: Any) -> None:
        # Node i goes on the air.
        at = m[NODES] + i * NODE_WORDS
        m[COUNTS + ManetOut.EXCHANGES] += 1
        m[at + _SENT] += 1
        kind = m[at + N_FRAME] & _KIND
        if kind >= REQUEST:
            m[COUNTS + ManetOut.ROUTING_FRAMES] += 1
        m[at + N_SLOTS] = 0
        if kind == REQUEST:
            broadcast(m, i, starters, t)
        else:
            unicast(m, i, starters, t)
        m[at + N_AIR] = max(m[at + N_AIR], m[at + N_END])
        m[at + N_BUSY] = max(m[at + N_BUSY], m[at + N_END])
        rekey(m, i)

    begin = dev(begin)

    @cold
    def start(m: Any, losses: Any, i: Any, t: Any) -> Any:
        starters = np.int64(0)
        key = t << PHASE_BITS | START_PHASE
        for k in range(m[Manet.NODES]):
            if m[m[KEYS] + k] == key:
                starters |= np.int64(1) << k
        if m[ON_AIR] != 0:
            disturb(m, starters, t)
        if starters == np.int64(1) << i:
            decide(m, losses, i, starters, t)
            begin(m, i, starters, t)
        else:
            for k in range(m[Manet.NODES]):
                if starters >> k & 1:
                    decide(m, losses, np.int64(k), starters, t)
            for k in range(m[Manet.NODES]):
                if starters >> k & 1:
                    begin(m, np.int64(k), starters, t)
        m[ON_AIR] |= starters
        return starters

    return Medium(rekey, dev(enqueue), next_frame, backoff, dev(start), next_node, first_gap)
