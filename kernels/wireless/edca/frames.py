"""Frames of a node: the next frame, and the answer for which it waits afterwards.

Sources: IEEE 802.11-2016, 10.3.2 (acknowledgement, RTS/CTS), 10.22.2 (EDCA, internal collisions, TXOP), 10.24
(Block Ack). `at` is the word of a node, `f` of a function, `a` of an agreement.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import minstrel
from netcarlo.kernels.wireless.edca import access, aggregation, block_ack, scheduler
from netcarlo.kernels.wireless.edca.state import (
    FUNCTION_COUNTS,
    FUNCTION_WORDS,
    IN_PPDU,
    NONE,
    SENT,
    AgreementState,
    FunctionState,
    Mpdu,
    function_at,
    mpdu_at,
)
from netcarlo.kernels.wireless.frame import air_time
from netcarlo.kernels.wireless.layout import (
    MINSTREL,
    NOBODY,
    Agreement,
    CategoryOut,
    Function,
    Link,
    Node,
    NodeOut,
    Radio,
    Rate,
)
from netcarlo.kernels.wireless.state import (
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    AirTime,
    Frame,
    Mac,
    Wait,
    Word,
    link_at,
    rate_at,
)

REQUEST_BYTES = 24
CF_END_BYTES = 20


@noinline
def send(m: Any, at: Any, t: Any) -> None:
    """Begin the transmission of a node at time t: choose its frame, its rate and its duration."""
    kind = m[at + Mac.NEXT] if m[at + Mac.START] == t else np.int64(NOBODY)
    if kind in (Frame.ACK, Frame.CTS, Frame.BLOCK_ACK):
        rate = m[at + Mac.ANSWER_RATE]
        if kind == Frame.BLOCK_ACK:
            time = air_time(m, m[m[at + Mac.ANSWER_AGREEMENT] + Agreement.BA_BYTES], rate)
        else:
            time = m[rate_at(m, rate) + AirTime.ANSWER]
        m[at + Mac.TO] = m[at + Mac.ANSWER_TO]
        m[at + Mac.DURATION] = max(m[at + Mac.ANSWER_DURATION] - m[Radio.SIFS] - time, 0)
    elif kind == Frame.DATA:
        rate, time = _send_data(m, at, t)
    else:
        if kind in (NOBODY, Frame.ACCESS):
            f = _winner(m, at, t)
            m[at + Mac.FUNCTION] = f
            m[at + Mac.FIRST_EXCHANGE] = 1
            m[at + Mac.TXOP_END] = t + m[f + Function.TXOP] if m[f + Function.TXOP] > 0 else 0
        kind, rate, time = _choose(m, at, t)
    m[at + Mac.FRAME] = kind
    m[at + Mac.RATE] = rate
    m[at + Mac.END] = t + time
    m[at + Mac.START] = NO_EVENT
    if kind != Frame.DATA:
        m[at + NODE_COUNTS + NodeOut.AIR_CONTROL] += time
    m[Word.FRAMES] += 1


@noinline
def _winner(m: Any, at: Any, t: Any) -> Any:
    """Return the function that transmits at time t; others that are due have an internal collision."""
    winner = np.int64(NONE)
    f = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        if m[f + FunctionState.DUE] != 0 and access.has_work(m, f):
            if winner == NONE:
                winner = f
            else:
                _collide(m, at, f, t)
        f += FUNCTION_WORDS
    return winner


@noinline
def _collide(m: Any, at: Any, f: Any, t: Any) -> None:
    """Let a function defer to another function of its node that starts at the same time (10.22.2.4)."""
    m[f + FUNCTION_COUNTS + CategoryOut.INTERNAL] += 1
    access.widen(m, f)
    m[f + FunctionState.RETRIES] += 1
    if m[f + FunctionState.COUNT] > 0:
        a = scheduler.next_agreement(m, f, t)
        in_window = m[a + AgreementState.START] < m[a + AgreementState.NEXT]
        j = (at - m[Word.NODES]) // NODE_WORDS
        if m[Radio.RETRY_PER_MPDU] != 0:
            if in_window and _retry_alone(m, j, at, a, m[Radio.SHORT_RETRY], t) > 0:
                m[f + FunctionState.CW] = m[f + Function.CW_MIN]
        elif m[f + FunctionState.RETRIES] >= m[Radio.SHORT_RETRY]:
            if in_window:
                _retry_alone(m, j, at, a, np.int64(0), t)
            else:  # without a sequence number it leaves no hole
                block_ack.drop_first(m, j, at, f, a, t)
            m[f + FunctionState.RETRIES] = 0
            m[f + FunctionState.CW] = m[f + Function.CW_MIN]
    access.back_off(m, f, t)


def _retry_alone(m: Any, j: Any, at: Any, a: Any, least: Any, t: Any) -> Any:
    """Count a failed attempt of the first MPDU of an agreement, and drop it after `least` of them.

    Returns how many were dropped.
    """
    mpdu = mpdu_at(m, a, m[a + AgreementState.START])
    m[mpdu + Mpdu.TRIES] += 1
    m[mpdu + Mpdu.FLAGS] |= IN_PPDU
    dropped = block_ack.drop(m, j, at, a, least, t)
    m[mpdu + Mpdu.FLAGS] &= ~IN_PPDU
    return dropped


@noinline
def _choose(m: Any, at: Any, t: Any) -> Any:
    """Choose the first frame of an exchange: BlockAckReq, RTS, data, or CF-End if nothing fits the TXOP.

    Returns its kind, rate and duration [ns].
    """
    m[at + Mac.WITH_RTS] = 0
    f = m[at + Mac.FUNCTION]
    begins = m[at + Mac.FIRST_EXCHANGE] != 0
    rest = m[at + Mac.TXOP_END] - t
    a = block_ack.requested(m, f)
    if a != NONE:
        rate = m[rate_at(m, aggregation.rate_of(m, a)) + Rate.ANSWER]
        time = air_time(m, REQUEST_BYTES, rate)
        answer = m[Radio.SIFS] + aggregation.block_ack_time(m, a)
        if begins or time + answer <= rest:
            m[at + Mac.AGREEMENT] = a
            m[at + Mac.MPDUS] = 0
            m[at + Mac.TO] = m[link_at(m, m[a + Agreement.LINK]) + Link.TO]
            m[at + Mac.DURATION] = _reserved(m, at, answer, rest - time)
            m[f + FUNCTION_COUNTS + CategoryOut.REQUESTS] += 1
            return np.int64(Frame.REQUEST), rate, time
    elif access.has_work(m, f):
        a = scheduler.next_agreement(m, f, t)
        if m[Radio.RATE_CONTROL] == MINSTREL:
            minstrel.choose(m, m[a + Agreement.LINK], begins, t)
        size = aggregation.build(m, at, f, a, t)
        if size > 0:
            scheduler.on_built(m, f)
            m[at + Mac.AIR] = air_time(m, size, aggregation.rate_of(m, a))
            if size > m[a + Agreement.RTS_THRESHOLD]:
                return _send_rts(m, at, a, rest)
            rate, time = _send_data(m, at, t)
            return np.int64(Frame.DATA), rate, time
    rate = m[Radio.CF_END_RATE]
    m[at + Mac.TO] = NOBODY
    m[at + Mac.DURATION] = 0
    return np.int64(Frame.CF_END), rate, air_time(m, CF_END_BYTES, rate)


def _reserved(m: Any, at: Any, needed: Any, rest: Any) -> Any:
    """Return the time that a frame reserves: what its exchange needs, or the rest of the TXOP [ns]."""
    return max(needed, rest) if m[at + Mac.TXOP_END] > 0 else needed


def _answer_time(m: Any, at: Any, a: Any) -> Any:
    """Return the duration of the answer to the PPDU of a node [ns]."""
    return aggregation.ack_time(m, a) if m[at + Mac.MPDUS] == 1 else aggregation.block_ack_time(m, a)


@noinline
def _send_rts(m: Any, at: Any, a: Any, rest: Any) -> Any:
    """Send an RTS before the built PPDU; return kind, rate and duration of the RTS."""
    rate = aggregation.rts_rate(m, a)
    time = m[rate_at(m, rate) + AirTime.RTS]
    cts = m[rate_at(m, rate) + AirTime.ANSWER]
    needed = 3 * m[Radio.SIFS] + cts + m[at + Mac.AIR] + _answer_time(m, at, a)
    m[at + Mac.TO] = m[link_at(m, m[a + Agreement.LINK]) + Link.TO]
    m[at + Mac.DURATION] = _reserved(m, at, needed, rest - time)
    m[at + NODE_COUNTS + NodeOut.ATTEMPTS] += 1
    m[at + Mac.WITH_RTS] = 1
    return np.int64(Frame.RTS), rate, time


@noinline
def _send_data(m: Any, at: Any, t: Any) -> Any:
    """Send the built PPDU; return its rate and duration [ns]."""
    a, time = m[at + Mac.AGREEMENT], m[at + Mac.AIR]
    counts = m[at + Mac.FUNCTION] + FUNCTION_COUNTS
    m[at + Mac.TO] = m[link_at(m, m[a + Agreement.LINK]) + Link.TO]
    needed = m[Radio.SIFS] + _answer_time(m, at, a)
    m[at + Mac.DURATION] = _reserved(m, at, needed, m[at + Mac.TXOP_END] - t - time)
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & IN_PPDU:
            if m[mpdu + Mpdu.FLAGS] & SENT:
                m[counts + CategoryOut.RETRIED] += 1
            m[mpdu + Mpdu.FLAGS] |= SENT
            m[mpdu + Mpdu.TRIES] += 1
    m[counts + CategoryOut.PPDUS] += 1
    m[counts + CategoryOut.MPDUS] += m[at + Mac.MPDUS]
    m[counts + CategoryOut.AIR] += time
    m[a + AgreementState.AIR] += time
    scheduler.charge(m, m[at + Mac.FUNCTION], a, time, t)
    m[at + NODE_COUNTS + NodeOut.AIR_DATA] += time
    if m[at + Mac.WITH_RTS] == 0:
        m[at + NODE_COUNTS + NodeOut.ATTEMPTS] += 1
    m[at + Mac.WITH_RTS] = 0
    return aggregation.rate_of(m, a), time


def wait(m: Any, at: Any, t: Any) -> None:
    """Wait for the answer to the frame that a node has sent; after a CF-End its function backs off."""
    kind = m[at + Mac.FRAME]
    if kind in (Frame.DATA, Frame.RTS, Frame.REQUEST):
        header = m[rate_at(m, answer_rate(m, at)) + Rate.PREAMBLE]
        if kind == Frame.RTS:
            m[at + Mac.WAITING] = Wait.CTS
        elif kind == Frame.DATA and m[at + Mac.MPDUS] == 1:
            m[at + Mac.WAITING] = Wait.ACK
        else:
            m[at + Mac.WAITING] = Wait.BLOCK_ACK
        m[at + Mac.TIMEOUT] = t + m[Radio.SIFS] + m[Radio.SLOT] + header
        m[at + Mac.LATE] = m[at + Mac.TIMEOUT]
    elif kind == Frame.CF_END:
        access.back_off(m, m[at + Mac.FUNCTION], t)


def answer_rate(m: Any, at: Any) -> Any:
    """Return the rate of the answer to the frame that a node has sent."""
    rate = m[at + Mac.RATE]
    return m[rate_at(m, rate) + Rate.ANSWER] if m[at + Mac.FRAME] == Frame.DATA else rate
