"""What follows a frame: its reception, the answer, the end of an exchange or its failure.

Source: IEEE 802.11-2007, 9.2.5 to 9.2.8 (virtual carrier sense, RTS/CTS, acknowledgement, retransmission).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import P
from netcarlo.kernels.loss import make_gap
from netcarlo.kernels.philox import make_draw
from netcarlo.kernels.wifi.layout import NOBODY, STREAM_FRAME, Link, NodeOut, Radio, Rate
from netcarlo.kernels.wifi.rate_control import make_rate_control
from netcarlo.kernels.wifi.state import (
    ACK,
    AIR,
    ANSWER_DURATION,
    ANSWER_RATE,
    ANSWER_TO,
    BURST,
    BUSY_SINCE,
    CONTROL,
    CORRUPT,
    COUNT,
    COUNTED_AT,
    CTS,
    CW,
    DATA,
    DATA_RATE,
    DURATION,
    END,
    FAILED,
    FRAME,
    HEAD,
    HEAD_RECEIVED,
    L_GAP,
    L_LOSSES,
    LATE,
    LINK_WORDS,
    LINKS,
    LOCK,
    LOCKED_AT,
    LONG,
    NAV,
    NAV_OF_RTS,
    NEAR,
    NEXT,
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    NODES,
    ON_AIR,
    QUEUE,
    QUIET,
    R_ANSWER_TIME,
    RATE,
    RATE_WORDS,
    RATES,
    RESET,
    RING,
    RTS,
    RX,
    SELF,
    SENSE,
    SHORT,
    START,
    SUCCEEDED,
    TIMEOUT,
    TO,
    TX,
    WAITING,
    WITH_RTS,
)
from netcarlo.kernels.wifi.station import Station

_ONE = np.int64(1)


class Exchange(NamedTuple):
    """The compiled functions; NOBODY stands for no node and no frame."""

    end: Any
    """`(m, losses, j, t) -> (left, reached, frame)`: the event of node j at END_PHASE.  A frame left the queue of
    node `left`; `frame` has reached node `reached` for the first time."""
    time_out: Any
    """`(m, j, t) -> (left, frame)`: the event at TIMEOUT_PHASE.  `frame` was given up and never received."""
    conclude: Any
    """`(m, j, t)`: to be called for the node that a frame has left, when its senders have filled the room."""
    first_gap: Any
    """`(m, losses, link)`: prepare the noise of a link."""


def make_exchange(dev: Callable[[Any], Any], station: Station) -> Exchange:
    """Compile for a target."""
    settle, back_off, link_of = station.settle, station.back_off, station.link_of
    succeeded, failed = make_rate_control(dev)
    gap = make_gap(dev, make_draw(dev))

    @cold
    def first_gap(m: Any, losses: Any, link: Any) -> None:
        at = m[LINKS] + link * LINK_WORDS
        m[at + L_GAP] = gap(
            losses, m[at + Link.LOSS], m[P.SEED], m[P.SCENARIO], m[P.REPLICATION],
            STREAM_FRAME + link, m[at + L_LOSSES],
        )  # fmt: skip
        m[at + L_LOSSES] += 1

    first_gap = dev(first_gap)

    def pop(m: Any, at: Any, t: Any) -> None:
        counts = at + NODE_COUNTS
        waiting = m[at + COUNT]
        m[counts + NodeOut.QUEUE_SUM] += waiting * (t - m[at + COUNTED_AT])
        m[at + COUNTED_AT] = t
        head = m[at + HEAD] + 1
        m[at + HEAD] = head if head < m[at + QUEUE] else 0
        m[at + COUNT] = waiting - 1
        m[at + SHORT] = 0
        m[at + LONG] = 0
        m[at + CW] = m[Radio.CW_MIN]
        m[at + HEAD_RECEIVED] = 0

    pop = dev(pop)

    @cold
    def succeed(m: Any, at: Any, t: Any) -> None:
        succeeded(m, link_of(m, m[m[at + RING] + m[at + HEAD]]))
        m[at + NODE_COUNTS + NodeOut.SUCCEEDED] += 1
        m[at + WAITING] = SUCCEEDED
        m[at + TIMEOUT] = NO_EVENT
        m[at + LATE] = t
        pop(m, at, t)

    succeed = dev(succeed)

    @cold
    def conclude(m: Any, j: Any, t: Any) -> None:
        at = m[NODES] + j * NODE_WORDS
        if m[at + WAITING] == SUCCEEDED:
            m[at + BURST] += 1
        else:
            m[at + BURST] = m[Radio.BURST]
        m[at + WAITING] = 0
        if m[at + BURST] < m[Radio.BURST] and m[at + COUNT] > 0:
            m[at + START] = t + m[Radio.SIFS]
            m[at + NEXT] = DATA
            m[at + DATA_RATE] = NOBODY
        else:
            m[at + BURST] = 0
            back_off(m, j, at, t)
        settle(m, j, at)

    @cold
    def time_out(m: Any, j: Any, t: Any) -> Any:
        at = m[NODES] + j * NODE_WORDS
        if m[at + RESET] == t:
            m[at + RESET] = NO_EVENT
            if m[at + NAV] == m[at + NAV_OF_RTS]:
                m[at + NAV] = t
            settle(m, j, at)
            return np.int64(NOBODY), np.int64(NOBODY)
        i = m[at + LOCK]
        if i != NOBODY:
            sender = m[NODES] + i * NODE_WORDS
            header = m[m[RATES] + m[sender + RATE] * RATE_WORDS + Rate.PREAMBLE]
            if m[at + LOCKED_AT] + header <= t:  # perhaps it is the answer
                m[at + TIMEOUT] = m[sender + END]
                settle(m, j, at)
                return np.int64(NOBODY), np.int64(NOBODY)
        counts = at + NODE_COUNTS
        awaited = m[at + WAITING]
        m[at + TIMEOUT] = NO_EVENT
        m[at + WAITING] = 0
        m[at + BURST] = 0
        m[counts + NodeOut.FAILED] += 1
        frame = m[m[at + RING] + m[at + HEAD]]
        if awaited == ACK:
            m[counts + NodeOut.AIR_FAILED] += m[at + AIR]
            failed(m, link_of(m, frame))
        if awaited == ACK and m[at + WITH_RTS] != 0:
            m[at + LONG] += 1
        else:
            m[at + SHORT] += 1
        lost = np.int64(NOBODY)
        if m[at + SHORT] >= m[Radio.SHORT_RETRY] or m[at + LONG] >= m[Radio.LONG_RETRY]:
            m[counts + NodeOut.RETRY_DROPS] += 1
            if m[at + HEAD_RECEIVED] == 0:
                lost = frame
            pop(m, at, t)
            m[at + WAITING] = FAILED
            return np.int64(j), lost
        m[at + CW] = min(2 * m[at + CW] + 1, m[Radio.CW_MAX])
        back_off(m, j, at, t)
        settle(m, j, at)
        return np.int64(NOBODY), lost

    def answer(m: Any, at: Any, i: Any, sender: Any, t: Any, kind: Any) -> None:
        if m[at + START] == NO_EVENT:
            m[at + START] = t + m[Radio.SIFS]
            m[at + NEXT] = kind
            m[at + ANSWER_TO] = i
            m[at + ANSWER_RATE] = m[m[RATES] + m[sender + RATE] * RATE_WORDS + Rate.ANSWER]
            m[at + ANSWER_DURATION] = m[sender + DURATION]

    answer = dev(answer)

    def proceed(m: Any, at: Any, t: Any) -> None:
        # The data follows a CTS.
        m[at + START] = t + m[Radio.SIFS]
        m[at + NEXT] = DATA

    proceed = dev(proceed)

    @cold
    def receive(m: Any, losses: Any, j: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
        # Node j has heard all of the frame of node i; returns as `Exchange.end`.
        left = np.int64(NOBODY)
        reached = np.int64(NOBODY)
        frame = np.int64(NOBODY)
        kind = m[sender + FRAME]
        mine = m[sender + TO] == j
        counts = at + NODE_COUNTS
        good = m[at + CORRUPT] == 0
        if not good:
            if kind == DATA and mine:
                m[counts + NodeOut.COLLIDED] += 1
        else:
            decodable = m[at + NEAR] if kind == DATA else m[at + CONTROL]
            good = decodable >> i & 1 != 0
            if kind == DATA and mine:
                if good:
                    head = m[m[sender + RING] + m[sender + HEAD]]
                    link = link_of(m, head)
                    if m[link + L_GAP] == 0:
                        first_gap(m, losses, (link - m[LINKS]) // LINK_WORDS)
                        good = False
                    else:
                        m[link + L_GAP] -= 1
                if not good:
                    m[counts + NodeOut.NOISE] += 1
        if not good:
            m[at + RX] = t + m[Radio.EIFS] - 2 * m[Radio.SLOT]
            return left, reached, frame
        m[at + RX] = t + m[Radio.SIFS]
        if not mine:
            nav = t + m[sender + DURATION]
            if nav > m[at + NAV]:
                m[at + NAV] = nav
                if kind == RTS:
                    own = m[RATES] + m[sender + RATE] * RATE_WORDS
                    cts = m[m[RATES] + m[own + Rate.ANSWER] * RATE_WORDS + R_ANSWER_TIME]
                    m[at + RESET] = t + 2 * (m[Radio.SIFS] + m[Radio.SLOT]) + cts
                    m[at + NAV_OF_RTS] = nav
        elif kind == DATA:
            answer(m, at, i, sender, t, ACK)
            if m[sender + HEAD_RECEIVED] == 0:
                m[sender + HEAD_RECEIVED] = 1
                m[counts + NodeOut.RECEIVED] += 1
                reached = j
                frame = m[m[sender + RING] + m[sender + HEAD]]
            else:
                m[counts + NodeOut.DUPLICATES] += 1
        elif kind == RTS:
            if m[at + NAV] <= t:
                answer(m, at, i, sender, t, CTS)
        elif kind == m[at + WAITING]:
            if kind == CTS:
                m[at + WAITING] = 0
                m[at + TIMEOUT] = NO_EVENT
                m[at + LATE] = t
                proceed(m, at, t)
            else:
                succeed(m, at, t)
                left = j
        return left, reached, frame

    receive = dev(receive)

    @cold
    def end(m: Any, losses: Any, i: Any, t: Any) -> Any:
        sender = m[NODES] + i * NODE_WORDS
        m[ON_AIR] &= ~(_ONE << i)
        m[sender + END] = NO_EVENT
        m[sender + TX] = t
        kind = m[sender + FRAME]
        if kind in (DATA, RTS):
            own = m[RATES] + m[sender + RATE] * RATE_WORDS
            header = m[m[RATES] + m[own + Rate.ANSWER] * RATE_WORDS + Rate.PREAMBLE]
            m[sender + WAITING] = ACK if kind == DATA else CTS
            m[sender + TIMEOUT] = t + m[Radio.SIFS] + m[Radio.SLOT] + header
            m[sender + LATE] = m[sender + TIMEOUT]
        elif kind == SELF:
            proceed(m, sender, t)
        left = np.int64(NOBODY)
        reached = np.int64(NOBODY)
        frame = np.int64(NOBODY)
        for j in range(m[Radio.NODES]):
            at = m[NODES] + j * NODE_WORDS
            if m[at + SENSE] >> i & 1 == 0:
                continue
            quiet = m[ON_AIR] & m[at + SENSE] == 0
            if quiet:
                m[at + NODE_COUNTS + NodeOut.BUSY] += t - m[at + BUSY_SINCE]
            if m[ON_AIR] >> j & 1:
                continue
            if m[at + LOCK] == i:
                m[at + LOCK] = NOBODY
                a, b, c = receive(m, losses, j, at, i, sender, t)
                if a != NOBODY:
                    left = a
                if b != NOBODY:
                    reached = b
                    frame = c
            if quiet:
                m[at + QUIET] = t
            settle(m, j, at)
        settle(m, i, sender)
        return left, reached, frame

    return Exchange(dev(end), dev(time_out), dev(conclude), first_gap)
