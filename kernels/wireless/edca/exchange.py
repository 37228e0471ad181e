"""Frame exchanges: reception and answer, success and failure.

Sources: IEEE 802.11-2016, 10.3.2, 10.22.2 and 10.24. `at` is the word of a node, `f` of a function, `a` of
an agreement. NOBODY stands for no node.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import minstrel, nav, rate_control
from netcarlo.kernels.wireless.edca import aggregation, block_ack, scheduler
from netcarlo.kernels.wireless.edca.access import back_off, schedule, widen
from netcarlo.kernels.wireless.edca.frames import CF_END_BYTES
from netcarlo.kernels.wireless.edca.frames import send as send
from netcarlo.kernels.wireless.edca.frames import wait as wait
from netcarlo.kernels.wireless.edca.state import (
    FUNCTION_COUNTS,
    FUNCTION_WORDS,
    IN_PPDU,
    RECEIVED,
    AgreementState,
    FunctionState,
    agreement_at,
    function_at,
)
from netcarlo.kernels.wireless.frame import air_time
from netcarlo.kernels.wireless.layout import (
    FIXED,
    MINSTREL,
    NOBODY,
    Agreement,
    CategoryOut,
    Function,
    Node,
    NodeOut,
    Radio,
    Rate,
)
from netcarlo.kernels.wireless.state import (
    CONCLUDED,
    FRESH,
    NO_EVENT,
    NODE_COUNTS,
    NODE_WORDS,
    NOTHING,
    Frame,
    Mac,
    Wait,
    Word,
    link_at,
    node_at,
    rate_at,
)

_BEST_EFFORT = 2


def receive(m: Any, losses: Any, j: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """Process a complete frame of node i, whose words begin at `sender`, at node j.

    Returns FRESH if MSDUs can be delivered, CONCLUDED for the answer to data or a BlockAckReq, or NOTHING.
    """
    received = np.int64(NOTHING)
    kind = m[sender + Mac.FRAME]
    to = m[sender + Mac.TO]
    decoded = m[at + Node.NEAR] if kind == Frame.DATA else m[at + Node.CONTROL]
    good = m[at + Mac.CORRUPT] == 0 and decoded >> i & 1 != 0
    m[at + Mac.LOCK] = NOBODY
    if good:
        m[at + Mac.RX] = t
        if to == j:
            received = _receive_own(m, losses, at, i, sender, t)
        elif kind == Frame.CF_END:
            m[at + Mac.NAV] = min(m[at + Mac.NAV], t)
            m[at + Mac.HOLDER] = NOBODY
        else:
            before = m[at + Mac.NAV]
            nav.note(m, at, sender, t)
            if m[at + Mac.NAV] > before:
                m[at + Mac.HOLDER] = i if kind in (Frame.DATA, Frame.RTS, Frame.REQUEST) else to
    else:
        if kind == Frame.DATA and to == j:
            if m[at + Mac.CORRUPT] != 0:
                m[at + NODE_COUNTS + NodeOut.COLLIDED] += 1
            else:
                m[at + NODE_COUNTS + NodeOut.NOISE] += m[sender + Mac.MPDUS]
        m[at + Mac.RX] = t + m[Radio.EIFS]
    return received


@noinline
def _receive_own(m: Any, losses: Any, at: Any, i: Any, sender: Any, t: Any) -> Any:
    """Process a frame of node i to the node at word `at`; return as `receive`."""
    kind = m[sender + Mac.FRAME]
    a = m[sender + Mac.AGREEMENT]
    if kind == Frame.DATA:
        if block_ack.receive(m, losses, at + NODE_COUNTS, a) > 0:
            only = m[sender + Mac.MPDUS] == 1
            _answer(m, at, i, sender, t, np.int64(Frame.ACK if only else Frame.BLOCK_ACK))
            _charge_reverse(m, a, m[sender + Mac.AIR], t)
        else:
            m[at + Mac.RX] = t + m[Radio.EIFS]
        return np.int64(FRESH if block_ack.has_news(m, a) else NOTHING)
    if kind == Frame.REQUEST:
        m[a + AgreementState.GIVEN_UP] = m[a + AgreementState.START]
        _answer(m, at, i, sender, t, np.int64(Frame.BLOCK_ACK))
        return np.int64(FRESH if block_ack.has_news(m, a) else NOTHING)
    if kind == Frame.RTS:
        if m[at + Mac.NAV] <= t or m[at + Mac.HOLDER] == i:
            _answer(m, at, i, sender, t, np.int64(Frame.CTS))
    elif kind == m[at + Mac.WAITING]:
        m[at + Mac.TIMEOUT] = NO_EVENT
        m[at + Mac.LATE] = t
        if kind != Frame.CTS:
            _succeed(m, at, kind, t)
            return np.int64(CONCLUDED)
        m[at + Mac.WAITING] = Wait.NOTHING
        m[at + Mac.START] = t + m[Radio.SIFS]
        m[at + Mac.NEXT] = Frame.DATA
    return np.int64(NOTHING)


def _charge_reverse(m: Any, a: Any, time: Any, t: Any) -> None:
    """Charge the agreement opposite to `a`, if there is one, for a PPDU that was received."""
    reverse = m[a + Agreement.REVERSE]
    if reverse != NOBODY:
        b = agreement_at(m, reverse)
        scheduler.charge(m, function_at(m, m[b + Agreement.FUNCTION]), b, time, t)


def _answer(m: Any, at: Any, i: Any, sender: Any, t: Any, kind: Any) -> None:
    """Answer node i after SIFS, unless the node at word `at` is about to send already."""
    if m[at + Mac.START] == NO_EVENT:
        m[at + Mac.START] = t + m[Radio.SIFS]
        m[at + Mac.NEXT] = kind
        m[at + Mac.ANSWER_TO] = i
        rate = m[sender + Mac.RATE]
        if m[sender + Mac.FRAME] == Frame.DATA:
            rate = m[rate_at(m, rate) + Rate.ANSWER]
        m[at + Mac.ANSWER_RATE] = rate
        m[at + Mac.ANSWER_DURATION] = m[sender + Mac.DURATION]
        m[at + Mac.ANSWER_AGREEMENT] = m[sender + Mac.AGREEMENT]


@noinline
def _succeed(m: Any, at: Any, kind: Any, t: Any) -> None:
    """Process the Ack or BlockAck that a node has waited for."""
    f, a = m[at + Mac.FUNCTION], m[at + Mac.AGREEMENT]
    per_mpdu = m[Radio.RETRY_PER_MPDU] != 0
    m[f + FunctionState.CW] = m[f + Function.CW_MIN]
    if kind == Frame.ACK or per_mpdu:
        m[f + FunctionState.RETRIES] = 0
    if m[at + Mac.FRAME] == Frame.REQUEST:
        block_ack.on_answer(m, at, f, a)
    elif m[Radio.RATE_CONTROL] != FIXED:
        _control_rate(m, at, a, np.int64(1), t)
    block_ack.acknowledge(m, at, f, a, np.int64(RECEIVED | IN_PPDU if kind == Frame.ACK else RECEIVED), t)
    if per_mpdu and m[at + Mac.FRAME] == Frame.DATA:
        block_ack.drop(m, (at - m[Word.NODES]) // NODE_WORDS, at, a, m[Radio.SHORT_RETRY], t)
    aggregation.dissolve(m, a)
    m[at + Mac.WAITING] = Wait.SUCCEEDED


@noinline
def _control_rate(m: Any, at: Any, a: Any, answered: Any, t: Any) -> None:
    """Update the rate control of a link by the outcome of a data exchange."""
    link = m[a + Agreement.LINK]
    if m[Radio.RATE_CONTROL] == MINSTREL:
        good = block_ack.acknowledged(m, a) if answered else np.int64(0)
        minstrel.finish(m, link, m[at + Mac.MPDUS], good, answered, t)
    elif answered:
        rate_control.succeeded(m, link_at(m, link))
    else:
        rate_control.failed(m, link_at(m, link))


@noinline
def conclude(m: Any, j: Any, t: Any) -> None:
    """Continue the TXOP of node j after a successful exchange, or back off."""
    at = node_at(m, j)
    m[at + Mac.WAITING] = Wait.NOTHING
    if not _go_on(m, at, t + m[Radio.SIFS], np.int64(Frame.CONTINUE)):
        back_off(m, m[at + Mac.FUNCTION], t)
    schedule(m, j, at)


def _go_on(m: Any, at: Any, t: Any, kind: Any) -> Any:
    """Start the next exchange of a TXOP, CONTINUE or RETRY, at time t if at least a CF-End fits.

    Returns whether it does. It does not if the node has an answer to send.
    """
    end = t + air_time(m, CF_END_BYTES, m[Radio.CF_END_RATE])
    if m[at + Mac.TXOP_END] == 0 or end > m[at + Mac.TXOP_END] or m[at + Mac.START] != NO_EVENT:
        return False
    m[at + Mac.FIRST_EXCHANGE] = 0
    m[at + Mac.START] = t
    m[at + Mac.NEXT] = kind
    return True


@noinline
def time_out(m: Any, j: Any, t: Any) -> None:
    """Process the event of node j at `Phase.TIMEOUT`: a NAV reset, or a missing answer."""
    at = node_at(m, j)
    if m[at + Mac.RESET] == t:
        nav.reset(m, at, t)
    else:
        i = m[at + Mac.LOCK]
        if i != NOBODY:
            sender = node_at(m, i)
            header = m[rate_at(m, m[sender + Mac.RATE]) + Rate.PREAMBLE]
            if m[at + Mac.LOCKED_AT] + header <= t:  # perhaps it is the answer
                m[at + Mac.TIMEOUT] = m[sender + Mac.END]
                schedule(m, j, at)
                return
        _fail(m, j, at, t)
    schedule(m, j, at)


@noinline
def _fail(m: Any, j: Any, at: Any, t: Any) -> None:
    """Retry after a missing answer, or drop MPDUs at the retry limit."""
    f, a, sent = m[at + Mac.FUNCTION], m[at + Mac.AGREEMENT], m[at + Mac.FRAME]
    m[at + Mac.TIMEOUT] = NO_EVENT
    waiting = m[at + Mac.WAITING]
    m[at + Mac.WAITING] = Wait.NOTHING
    m[at + NODE_COUNTS + NodeOut.FAILED] += 1
    m[f + FUNCTION_COUNTS + CategoryOut.UNANSWERED] += 1
    if sent == Frame.DATA:
        m[at + NODE_COUNTS + NodeOut.AIR_FAILED] += m[at + Mac.AIR]
        if m[Radio.RATE_CONTROL] != FIXED:
            _control_rate(m, at, a, np.int64(0), t)
    reset = False
    if sent == Frame.DATA or sent == Frame.RTS:
        reset = _count_failure(m, j, at, f, a, sent, waiting, t)
    elif m[Radio.RETRY_PER_MPDU] == 0:
        reset = _count_unanswered_request(m, at, f, a)
    aggregation.dissolve(m, a)
    if not reset:
        widen(m, f)
    sensing = m[Word.ON_AIR] & m[at + Node.SENSE] != 0
    retries = m[at + Mac.FIRST_EXCHANGE] == 0 and not sensing
    if not (retries and _go_on(m, at, t + m[Radio.SIFS] + m[Radio.SLOT], np.int64(Frame.RETRY))):
        back_off(m, f, t)


def _count_unanswered_request(m: Any, at: Any, f: Any, a: Any) -> Any:
    """Count a BlockAckReq without an answer as ns-3 3.37 does; return whether it reset the contention window.

    It counts as a failure of best effort, whatever its category. If all MPDUs that were sent are closed, so
    that it only moves the window of the receiver, it resets the contention window and the failures.
    """
    resets = not aggregation.has_open(m, a)
    if resets:
        m[f + FunctionState.CW] = m[f + Function.CW_MIN]
    best_effort = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        if m[best_effort + Function.CATEGORY] == _BEST_EFFORT:
            retries = m[best_effort + FunctionState.RETRIES] + 1
            m[best_effort + FunctionState.RETRIES] = 0 if resets else retries
        best_effort += FUNCTION_WORDS
    return resets


def _count_failure(m: Any, j: Any, at: Any, f: Any, a: Any, sent: Any, waiting: Any, t: Any) -> Any:
    """Count the failure of data or an RTS; return whether a drop has reset the contention window."""
    limit = m[Radio.SHORT_RETRY]
    again = sent == Frame.DATA and waiting == Wait.BLOCK_ACK and m[Radio.BAR_AFTER_MISSED] != 0
    dropped = np.int64(0)
    if m[Radio.RETRY_PER_MPDU] != 0:
        if sent == Frame.RTS:
            aggregation.count_try(m, a)
        dropped = block_ack.drop(m, j, at, a, limit, t)
    elif sent == Frame.DATA:
        m[f + FunctionState.RETRIES] += 1
        if not again and m[f + FunctionState.RETRIES] >= limit:
            dropped = block_ack.drop(m, j, at, a, np.int64(0), t)
    if again:
        block_ack.request(m, at, f, a)
    if dropped > 0:
        m[f + FunctionState.RETRIES] = 0
        m[f + FunctionState.CW] = m[f + Function.CW_MIN]
    return dropped > 0
