"""What follows a frame: its reception, the answer, the end of an exchange or its failure.

Source: IEEE 802.11-2007, 9.2.5 to 9.2.8 (virtual carrier sense, RTS/CTS, acknowledgement, retransmission).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.loss import make_gap
from netcarlo.kernels.base.philox import make_draw
from netcarlo.kernels.wireless.layout import (
    NOBODY,
    STREAM_DISTURBED,
    STREAM_FRAME,
    Link,
    NodeOut,
    Radio,
    Rate,
)
from netcarlo.kernels.wireless.rate_control import make_rate_control
from netcarlo.kernels.wireless.state import (
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
    DISTURBED,
    DISTURBED_SINCE,
    DURATION,
    END,
    FAILED,
    FRAME,
    HEAD,
    HEAD_RECEIVED,
    L_ENDURED,
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
from netcarlo.kernels.wireless.station import Station

_ONE = np.int64(1)


class Exchange(NamedTuple):
    """The compiled functions; NOBODY stands for no node and no frame."""

    end: Any
    """`(m, losses, j, t) -> (left, reached, frame)`: the event of node j at END_PHASE.  A frame left the
    queue of node `left`; `frame` has reached node `reached` for the first time."""
    time_out: Any
    """`(m, j, t) -> (left, frame)`: the event at TIMEOUT_PHASE.  `frame` was given up and never received."""
    conclude: Any
    """`(m, j, t)`: to be called for the node that a frame has left, when its senders have filled the room."""
    first_gap: Any
    """`(m, losses, link)`: prepare the noise of a link."""


def make_exchange(dev: Callable[[Any], Any], station: Station) -> Exchange:
    """Compile for a target."""
    settle, back_off = station.settle, station.back_off
    link_of, disturb = station.link_of, station.disturb
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
        most = m[Radio.GATEWAY_BURST] if j == m[Radio.NODES] - 1 else m[Radio.BURST]
        if m[at + WAITING] == SUCCEEDED:
            m[at + BURST] += 1
        else:
            m[at + BURST] = most
        m[at + WAITING] = 0
        if m[at + BURST] < most and m[at + COUNT] > 0:
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
    def endure(m: Any, losses: Any, at: Any, link: Any) -> Any:
        # Whether a data frame on this link survives its disturbance.
        row = m[link + Link.FRAGILITY]
        if row == 0:
            return False
        number = (link - m[LINKS]) // LINK_WORDS
        most = gap(
            losses, row - 1, m[P.SEED], m[P.SCENARIO], m[P.REPLICATION],
            STREAM_DISTURBED + number, m[link + L_ENDURED],
        )  # fmt: skip
        m[link + L_ENDURED] += 1
        return (m[at + DISTURBED] + 999) // 1000 <= most

    endure = dev(endure)

    @cold
    def receive_data(m: Any, losses: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
        # The node has heard all of a data frame that node i sent to it; returns whether it is good.
        counts = at + NODE_COUNTS
        frame = m[m[sender + RING] + m[sender + HEAD]]
        link = link_of(m, frame)
        if m[at + CORRUPT] != 0 and not endure(m, losses, at, link):
            m[counts + NodeOut.COLLIDED] += 1
            return False
        good = m[at + NEAR] >> i & 1 != 0
        if good:
            if m[link + L_GAP] == 0:
                first_gap(m, losses, (link - m[LINKS]) // LINK_WORDS)
                good = False
            else:
                m[link + L_GAP] -= 1
        if not good:
            m[counts + NodeOut.NOISE] += 1
            return False
        answer(m, at, i, sender, t, np.int64(ACK))
        return True

    receive_data = dev(receive_data)

    @cold
    def receive_control(m: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
        # A good RTS, CTS or ACK for the node; returns whether it ends an exchange.
        kind = m[sender + FRAME]
        if kind == RTS:
            if m[at + NAV] <= t:
                answer(m, at, i, sender, t, np.int64(CTS))
        elif kind == m[at + WAITING]:
            if kind == ACK:
                succeed(m, at, t)
                return True
            m[at + WAITING] = 0
            m[at + TIMEOUT] = NO_EVENT
            m[at + LATE] = t
            proceed(m, at, t)
        return False

    receive_control = dev(receive_control)

    @cold
    def note_rts(m: Any, at: Any, sender: Any, t: Any) -> None:
        # The NAV that an RTS set is given up unless something follows.
        own = m[RATES] + m[sender + RATE] * RATE_WORDS
        cts = m[m[RATES] + m[own + Rate.ANSWER] * RATE_WORDS + R_ANSWER_TIME]
        m[at + RESET] = t + 2 * (m[Radio.SIFS] + m[Radio.SLOT]) + cts
        m[at + NAV_OF_RTS] = m[at + NAV]

    note_rts = dev(note_rts)

    @cold
    def end(m: Any, losses: Any, i: Any, t: Any) -> Any:
        sender = m[NODES] + i * NODE_WORDS
        on_air = m[ON_AIR] & ~(_ONE << i)
        m[ON_AIR] = on_air
        m[sender + END] = NO_EVENT
        m[sender + TX] = t
        kind = m[sender + FRAME]
        to = m[sender + TO]
        nav = t + m[sender + DURATION]
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
        at = m[NODES] - NODE_WORDS
        for j in range(m[Radio.NODES]):
            at += NODE_WORDS
            sense = m[at + SENSE]
            if sense >> i & 1 == 0:
                continue
            quiet = on_air & sense == 0
            if quiet:
                m[at + NODE_COUNTS + NodeOut.BUSY] += t - m[at + BUSY_SINCE]
            if on_air >> j & 1:
                continue
            lock = m[at + LOCK]
            if m[at + CORRUPT] != 0 and lock != NOBODY:
                locked = m[m[NODES] + lock * NODE_WORDS + FRAME]
                mask = disturb(m, at, locked) & ~(_ONE << lock)
                if lock == i:
                    if on_air & mask != 0:
                        m[at + DISTURBED] += t - m[at + DISTURBED_SINCE]
                elif mask >> i & 1 and on_air & mask == 0:
                    m[at + DISTURBED] += t - m[at + DISTURBED_SINCE]
            if lock == i:
                m[at + LOCK] = NOBODY
                if kind == DATA and to == j:
                    good = receive_data(m, losses, at, i, sender, t)
                    if good:
                        if m[sender + HEAD_RECEIVED] == 0:
                            m[sender + HEAD_RECEIVED] = 1
                            m[at + NODE_COUNTS + NodeOut.RECEIVED] += 1
                            reached = np.int64(j)
                            frame = m[m[sender + RING] + m[sender + HEAD]]
                        else:
                            m[at + NODE_COUNTS + NodeOut.DUPLICATES] += 1
                else:
                    decoded = m[at + NEAR] if kind == DATA else m[at + CONTROL]
                    good = m[at + CORRUPT] == 0 and decoded >> i & 1 != 0
                    if good and to == j:
                        if receive_control(m, at, i, sender, t):
                            left = np.int64(j)
                    elif good and nav > m[at + NAV]:
                        m[at + NAV] = nav
                        if kind == RTS:
                            note_rts(m, at, sender, t)
                m[at + RX] = t + m[Radio.SIFS] if good else t + m[Radio.EIFS] - 2 * m[Radio.SLOT]
            if quiet:
                m[at + QUIET] = t
            if m[at + COUNT] > 0 or m[at + START] != NO_EVENT or m[at + RESET] != NO_EVENT:
                settle(m, j, at)
        settle(m, i, sender)
        return left, reached, frame

    return Exchange(dev(end), dev(time_out), dev(conclude), first_gap)
