"""A station's access to the channel: carrier sense, backoff, the start of its frames.

Source: IEEE 802.11-2007, 9.2 (DCF).  Which stations a node senses, decodes and is disturbed by are masks; a
node's next event is kept as one number, time and phase, that the engine compares.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.wireless.layout import NOBODY, STREAM_BACKOFF, Flow, Link, NodeOut, Radio, Rate
from netcarlo.kernels.wireless.state import (
    ACK,
    AIR,
    ANSWER_DURATION,
    ANSWER_RATE,
    ANSWER_TO,
    BACKWARD,
    BURSTS,
    BUSY_SINCE,
    CORRUPT,
    COUNT,
    COUNTED_AT,
    CTS,
    CW,
    DATA,
    DATA_RATE,
    DISTURB_CONTROL,
    DISTURB_DATA,
    DISTURBED,
    DISTURBED_SINCE,
    DRAWS,
    DURATION,
    END,
    END_PHASE,
    FLOW_BITS,
    FLOW_MASK,
    FLOW_WORDS,
    FLOWS,
    FRAME,
    HEAD,
    HOP_MASK,
    LATE,
    LINK_WORDS,
    LINKS,
    LOCK,
    LOCKED_AT,
    NAV,
    NEAR,
    NEXT,
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    ON_AIR,
    PATHS,
    QUEUE,
    QUIET,
    R_ANSWER_TIME,
    R_RTS_TIME,
    RATE,
    RATE_WORDS,
    RATES,
    RESET,
    RING,
    RTS,
    RX,
    SELF,
    SENSE,
    SINCE,
    SLOTS,
    START,
    START_OF_KEYS,
    START_PHASE,
    TIMEOUT,
    TIMEOUT_PHASE,
    TO,
    TX,
    WAITING,
    WITH_RTS,
)

_ONE = np.int64(1)


class Station(NamedTuple):
    """The compiled functions; `m` is scratch, `at` the first word of node `j`."""

    settle: Any
    """`(m, j, at)`: the node's next event."""
    freeze: Any
    """`(m, at, t)`: the channel becomes busy: the slots that have passed are counted."""
    back_off: Any
    """`(m, j, at, t)`: draw a backoff."""
    enqueue: Any
    """`(m, j, t, frame) -> bool`: a frame comes to the queue; False: it is full."""
    link_of: Any
    """`(m, frame) -> int`: the word of the link that a frame takes next."""
    disturb: Any
    """`(m, at, kind) -> mask`: nodes that destroy a frame of this kind at the node."""
    air_time: Any
    """`(m, bytes, rate) -> int`: of a frame [ns]."""
    begin: Any
    """`(m, j, t)`: the event at START_PHASE: node j, and all that begin in this very moment, send."""


def make_station(dev: Callable[[Any], Any], size_of_packet: Any) -> Station:
    """Compile for a target; `size_of_packet(m, frame)` [byte]."""
    draw = make_draw(dev)

    def countdown(m: Any, at: Any) -> Any:
        # When the backoff begins to count.
        base = max(max(m[at + TX], m[at + QUIET]), max(m[at + NAV], m[at + LATE])) + m[Radio.SIFS]
        return max(m[at + SINCE], max(m[at + RX], base) + 2 * m[Radio.SLOT])

    countdown = dev(countdown)

    @cold
    def settle(m: Any, j: Any, at: Any) -> None:
        key = min(
            min(m[at + END] << 2 | END_PHASE, m[at + START] << 2 | START_PHASE),
            min(m[at + TIMEOUT], m[at + RESET]) << 2 | TIMEOUT_PHASE,
        )
        if (
            m[at + COUNT] > 0
            and m[at + WAITING] == 0
            and m[at + START] == NO_EVENT
            and m[at + END] == NO_EVENT
            and m[ON_AIR] & m[at + SENSE] == 0
        ):
            access = countdown(m, at) + m[at + SLOTS] * m[Radio.SLOT]
            key = min(key, access << 2 | START_PHASE)
        m[START_OF_KEYS + j] = key

    settle = dev(settle)

    def freeze(m: Any, at: Any, t: Any) -> None:
        slots = m[at + SLOTS]
        if slots > 0:
            begin = countdown(m, at)
            slot = m[Radio.SLOT]
            if t > begin:
                passed = slots
                if t - begin < slots * slot:
                    passed = np.int64(float(t - begin) / float(slot))  # exact, and faster than of integers
                m[at + SLOTS] = slots - passed
                m[at + SINCE] = begin + passed * slot

    freeze = dev(freeze)

    @cold
    def back_off(m: Any, j: Any, at: Any, t: Any) -> None:
        word, _, _, _ = draw(m[P.SEED], m[P.SCENARIO], m[P.REPLICATION], STREAM_BACKOFF + j, m[at + DRAWS])
        m[at + DRAWS] += 1
        m[at + SLOTS] = (np.int64(word) * (m[at + CW] + 1)) >> 32
        m[at + SINCE] = t

    back_off = dev(back_off)

    @cold
    def enqueue(m: Any, j: Any, t: Any, frame: Any) -> Any:
        at = m[NODES] + j * NODE_WORDS
        counts = at + NODE_COUNTS
        waiting = m[at + COUNT]
        if waiting >= m[at + QUEUE]:
            m[counts + NodeOut.DROPS] += 1
            return False
        m[counts + NodeOut.QUEUED] += 1
        m[counts + NodeOut.QUEUE_SUM] += waiting * (t - m[at + COUNTED_AT])
        m[at + COUNTED_AT] = t
        place = m[at + HEAD] + waiting
        m[m[at + RING] + (place if place < m[at + QUEUE] else place - m[at + QUEUE])] = frame
        waiting += 1
        m[at + COUNT] = waiting
        m[counts + NodeOut.QUEUE_MOST] = max(m[counts + NodeOut.QUEUE_MOST], waiting)
        if waiting == 1 and m[at + WAITING] == 0:
            sensing = m[ON_AIR] & m[at + SENSE] != 0 or m[at + END] != NO_EVENT
            if not sensing:
                freeze(m, at, t)
            if m[at + SLOTS] == 0:
                if sensing or m[at + NAV] > t:
                    back_off(m, j, at, t)
                else:
                    m[at + SINCE] = max(m[at + SINCE], t + m[Radio.SIFS] + 2 * m[Radio.SLOT])
            settle(m, j, at)
        return True

    enqueue = dev(enqueue)

    def link_of(m: Any, frame: Any) -> Any:
        flow = m[FLOWS] + (frame & FLOW_MASK) * FLOW_WORDS
        hop = frame >> FLOW_BITS & HOP_MASK
        path = m[flow + Flow.BACK_AT] if frame & BACKWARD else m[flow + Flow.FORTH_AT]
        return m[LINKS] + m[m[PATHS] + path + hop] * LINK_WORDS

    link_of = dev(link_of)

    def air_time(m: Any, size: Any, rate: Any) -> Any:
        at = m[RATES] + rate * RATE_WORDS
        half_bits = m[at + Rate.HALF_BITS]
        symbols = (2 * (8 * size + m[at + Rate.EXTRA_BITS]) + half_bits - 1) // half_bits
        return m[at + Rate.PREAMBLE] + m[at + Rate.SYMBOL] * symbols + m[at + Rate.EXTENSION]

    air_time = dev(air_time)

    @cold
    def choose(m: Any, at: Any, t: Any) -> None:
        # What node at word `at` puts on the air now, and for how long.
        sifs = m[Radio.SIFS]
        counts = at + NODE_COUNTS
        kind = m[at + NEXT] if m[at + START] == t else np.int64(NOBODY)
        if kind in (ACK, CTS):
            rate = m[at + ANSWER_RATE]
            time = m[m[RATES] + rate * RATE_WORDS + R_ANSWER_TIME]
            m[at + TO] = m[at + ANSWER_TO]
            m[at + DURATION] = m[at + ANSWER_DURATION] - sifs - time if kind == CTS else 0
        else:
            frame = m[m[at + RING] + m[at + HEAD]]
            link = link_of(m, frame)
            size = size_of_packet(m, frame) + m[Radio.MAC_OVERHEAD]
            if kind == NOBODY or m[at + DATA_RATE] == NOBODY:  # an exchange begins
                m[at + DATA_RATE] = m[link + Link.RATE]
                m[at + WITH_RTS] = 0
            rate = m[at + DATA_RATE]
            own = m[RATES] + rate * RATE_WORDS
            answer = m[RATES] + m[own + Rate.ANSWER] * RATE_WORDS
            time = air_time(m, size, rate)
            m[at + TO] = m[link + Link.TO]
            m[at + DURATION] = sifs + m[answer + R_ANSWER_TIME]
            m[at + AIR] = time
            if kind == NOBODY:
                kind = np.int64(DATA)
                if size > m[Radio.RTS_THRESHOLD]:
                    kind = np.int64(RTS)
                    m[at + DURATION] += 2 * sifs + m[answer + R_ANSWER_TIME] + time
                    rate = m[own + Rate.ANSWER]
                    time = m[answer + R_RTS_TIME]
                    m[at + WITH_RTS] = 1
                elif m[Radio.PROTECTION] != NOBODY and m[own + Rate.DSSS] == 0:
                    kind = np.int64(SELF)
                    m[at + DURATION] += sifs + time
                    rate = m[Radio.PROTECTION]
                    time = m[m[RATES] + rate * RATE_WORDS + R_ANSWER_TIME]
                    m[at + TO] = NOBODY
            if kind == RTS or (kind == DATA and m[at + WITH_RTS] == 0):
                m[counts + NodeOut.ATTEMPTS] += 1
        m[at + FRAME] = kind
        m[at + RATE] = rate
        m[at + END] = t + time
        m[at + START] = NO_EVENT
        if kind == DATA:
            m[counts + NodeOut.AIR_DATA] += time
        else:
            m[counts + NodeOut.AIR_CONTROL] += time
        m[BURSTS] += 1

    choose = dev(choose)

    @cold
    def missed(m: Any, j: Any, i: Any) -> None:
        # Node j does not receive what node i sends.
        sender = m[NODES] + i * NODE_WORDS
        if m[sender + FRAME] == DATA and m[sender + TO] == j:
            m[m[NODES] + j * NODE_WORDS + NODE_COUNTS + NodeOut.COLLIDED] += 1

    missed = dev(missed)

    def disturb(m: Any, at: Any, kind: Any) -> Any:
        return m[at + DISTURB_DATA] if kind == DATA else m[at + DISTURB_CONTROL]

    disturb = dev(disturb)

    def listen(m: Any, j: Any, at: Any, t: Any, before: Any, batch: Any) -> None:
        # The nodes of `batch` begin to send at time t; node j, which does not, hears some of them.
        heard = batch & m[at + SENSE]
        others = before & m[at + SENSE]
        if others == 0:
            freeze(m, at, t)
        i = m[at + LOCK]
        if i != NOBODY:
            mask = disturb(m, at, m[m[NODES] + i * NODE_WORDS + FRAME])
            if heard & mask != 0:
                if others & mask & ~(_ONE << i) == 0:
                    m[at + DISTURBED_SINCE] = t
                m[at + CORRUPT] = 1
        else:
            near = heard & m[at + NEAR]
            chosen = near if near != 0 else heard
            stronger = others & m[at + NEAR] if near != 0 else others
            if chosen & (chosen - 1) == 0 and stronger == 0:
                i = np.int64(0)
                while chosen >> i & 1 == 0:
                    i += 1
                m[at + LOCK] = i
                m[at + LOCKED_AT] = t
                m[at + DISTURBED] = 0
                m[at + DISTURBED_SINCE] = t
                mask = disturb(m, at, m[m[NODES] + i * NODE_WORDS + FRAME])
                m[at + CORRUPT] = 1 if (heard | others) & ~chosen & mask != 0 else 0
                if m[at + RESET] != NO_EVENT:
                    m[at + RESET] = NO_EVENT
                    settle(m, j, at)
        if m[START_OF_KEYS + j] & 3 == START_PHASE and m[at + START] == NO_EVENT:  # it contended
            settle(m, j, at)

    listen = dev(listen)

    @cold
    def begin(m: Any, j: Any, t: Any) -> None:
        n = m[Radio.NODES]
        key = m[START_OF_KEYS + j]
        before = m[ON_AIR]
        batch = _ONE << j
        last = j
        for i in range(j + 1, n):
            if m[START_OF_KEYS + i] == key:
                batch |= _ONE << i
                last = np.int64(i)
        on_air = before | batch
        m[ON_AIR] = on_air
        at = m[NODES] + j * NODE_WORDS
        for i in range(j, last + 1):
            if batch >> i & 1:
                if before & m[at + SENSE] == 0:
                    freeze(m, at, t)
                if m[at + LOCK] != NOBODY:
                    missed(m, i, m[at + LOCK])
                    m[at + LOCK] = NOBODY
                m[at + RX] = min(m[at + RX], t + m[Radio.SIFS])
                choose(m, at, t)
                settle(m, i, at)
            at += NODE_WORDS
        at = m[NODES]
        for i in range(n):
            sense = m[at + SENSE]
            if batch & sense != 0:
                if before & sense == 0:
                    m[at + BUSY_SINCE] = t
                if on_air >> i & 1 == 0:
                    listen(m, i, at, t, before, batch)
            at += NODE_WORDS
        at = m[NODES] + j * NODE_WORDS
        for i in range(j, last + 1):
            if batch >> i & 1:
                to = m[at + TO]
                if to != NOBODY and m[m[NODES] + to * NODE_WORDS + LOCK] != i:
                    missed(m, to, i)
            at += NODE_WORDS

    return Station(settle, freeze, back_off, enqueue, link_of, disturb, air_time, dev(begin))
