"""Queues of a node: MSDUs of each EDCA function, in a list for each agreement.

`at` is the word of a node, `f` of a function, `a` of an agreement, `entry` of an MSDU.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm.state import List, Queue
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import minstrel
from netcarlo.kernels.wireless.edca import access, fq, scheduler
from netcarlo.kernels.wireless.edca.msdus import append, change_count
from netcarlo.kernels.wireless.edca.state import (
    AGREEMENT_WORDS,
    DROPPED,
    FUNCTION_COUNTS,
    FUNCTION_WORDS,
    IN_PPDU,
    NONE,
    AgreementState,
    FunctionState,
    Mpdu,
    Msdu,
    agreement_at,
    agreement_of,
    function_at,
    mpdu_at,
)
from netcarlo.kernels.wireless.edca.state import words as words
from netcarlo.kernels.wireless.layout import (
    CATEGORIES,
    NOBODY,
    Agreement,
    CategoryOut,
    Function,
    Link,
    Node,
    NodeOut,
    Radio,
)
from netcarlo.kernels.wireless.state import (
    NODE_COUNTS,
    NODE_WORDS,
    Mac,
    Word,
    link_at,
    node_at,
)
from netcarlo.kernels.wireless.stock import count, enter

COLUMNS = CATEGORIES * CategoryOut.COLUMNS
"""Number of outcomes of a node after those of `NodeOut`."""

_ALL = np.int64(1 << 62)
_MSDU, _MPDU = len(Msdu), len(Mpdu)
_FUNCTION, _AGREEMENT = len(Function), len(Agreement)


@noinline
def set_up(m: Any, network: Any, free: Any) -> Any:
    """Lay out functions and agreements from word `free` on; return the next free word."""
    m[Word.OWED] = 0
    m[Word.SHRUNK] = NOBODY
    m[Word.EARLY] = 0
    for j in range(m[Radio.NODES]):
        m[node_at(m, j) + Mac.HOLDER] = NOBODY
    m[Word.FUNCTIONS] = free
    m[Word.AGREEMENTS] = free + m[Radio.FUNCTIONS] * FUNCTION_WORDS
    end = m[Word.AGREEMENTS] + m[Radio.AGREEMENTS] * AGREEMENT_WORDS
    for word in range(free, end):
        m[word] = 0
    for k in range(m[Radio.FUNCTIONS]):
        end = _set_up_function(m, network, m[Radio.FUNCTIONS_AT] + k * _FUNCTION, function_at(m, k), end)
    for k in range(m[Radio.AGREEMENTS]):
        end = _set_up_agreement(m, network, m[Radio.AGREEMENTS_AT] + k * _AGREEMENT, agreement_at(m, k), end)
    return minstrel.set_up(m, _set_up_queues(m, end))


def _set_up_queues(m: Any, free: Any) -> Any:
    """Lay out the queues of FQ-CoDel, if a function has it."""
    m[Word.QUEUES] = free
    end = free
    for k in range(m[Radio.FUNCTIONS]):
        if m[function_at(m, k) + Function.FQ] != 0:
            end = free + m[Radio.PATH_WORDS] * Queue.SIZE
    for word in range(free, end):
        m[word] = 0
    return end


def _set_up_function(m: Any, network: Any, row: Any, f: Any, free: Any) -> Any:
    for column in range(_FUNCTION):
        m[f + column] = network[row + column]
    m[f + FunctionState.CW] = m[f + Function.CW_MIN]
    end = free + m[f + Function.POOL] * _MSDU
    m[f + FunctionState.FREE] = free if end > free else NONE
    for entry in range(free, end, _MSDU):
        m[entry + Msdu.NEXT] = entry + _MSDU if entry + _MSDU < end else NONE
    return end


def _set_up_agreement(m: Any, network: Any, row: Any, a: Any, free: Any) -> Any:
    for column in range(_AGREEMENT):
        m[a + column] = network[row + column]
    f = function_at(m, m[a + Agreement.FUNCTION])
    if m[f + FunctionState.AGREEMENTS] == 0:
        m[f + FunctionState.FIRST_AGREEMENT] = a
    m[f + FunctionState.AGREEMENTS] += 1
    scheduler.set_up(m, a)
    m[a + AgreementState.MPDUS] = free
    return free + m[a + Agreement.WINDOW] * _MPDU


@noinline
def enqueue(m: Any, j: Any, t: Any, frame: Any) -> Any:
    """Append a packet to a queue of node j at time t; return False if that is full."""
    at = node_at(m, j)
    a = agreement_of(m, frame)
    f = function_at(m, m[a + Agreement.FUNCTION])
    waiting = m[f + FunctionState.COUNT]
    entry = m[f + FunctionState.FREE]
    if (waiting >= m[f + Function.QUEUE] and m[f + Function.FQ] == 0) or entry == NONE:
        m[at + NODE_COUNTS + NodeOut.DROPS] += 1
        m[f + FUNCTION_COUNTS + CategoryOut.DROPS] += 1
        if entry == NONE and (waiting < m[f + Function.QUEUE] or m[f + Function.FQ] != 0):
            m[Word.FULL] = 1
        return False
    m[f + FunctionState.FREE] = m[entry + Msdu.NEXT]
    m[entry + Msdu.FRAME] = frame
    enter(m, frame)
    m[entry + Msdu.ARRIVAL] = t
    m[at + NODE_COUNTS + NodeOut.QUEUED] += 1
    begins = not access.has_work(m, f)
    change_count(m, at, f, np.int64(1), t)
    if m[f + Function.FQ] != 0:
        fq.enqueue(m, at, f, a, t, entry)
    else:
        append(m, f, a, t, entry)
    if begins:
        access.contend(m, j, at, f, t)
    return True


def early(m: Any) -> Any:
    """Return by how much the present packet was complete before the present event [ns]."""
    return m[Word.EARLY]


def set_early(m: Any, time: Any) -> None:
    """Record by how much the present packet was complete before the present event [ns]."""
    m[Word.EARLY] = time


def not_before(t: Any, release: Any) -> Any:
    """Return the time from `t` on at which a leg releases a packet that should leave at `release` [ns]."""
    return max(t, release)


def is_full(m: Any, at: Any, frame: Any) -> Any:
    """Return whether the queue that a packet would join is full."""
    f = function_at(m, m[agreement_of(m, frame) + Agreement.FUNCTION])
    return m[f + FunctionState.COUNT] >= m[f + Function.QUEUE]


@noinline
def sent_frame(m: Any, at: Any, k: Any) -> Any:
    """Return packet `k` of the PPDU that a node sends, or NOBODY."""
    a = m[at + Mac.AGREEMENT]
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & IN_PPDU:
            entry = m[mpdu + Mpdu.FIRST]
            while entry != NONE and k > 0:
                entry = m[entry + Msdu.NEXT]
                k -= 1
            if entry != NONE:
                return m[entry + Msdu.FRAME]
    return np.int64(NOBODY)


@noinline
def count_data(m: Any, j: Any, at: Any, column: Any) -> None:
    """Count data packets that node j holds, up to the next node, in a column of `FlowOut`."""
    f = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        a = m[f + FunctionState.FIRST_AGREEMENT]
        for _ in range(m[f + FunctionState.AGREEMENTS]):
            for number in range(m[a + AgreementState.AWAITED], m[a + AgreementState.NEXT]):
                mpdu = mpdu_at(m, a, number)
                if m[mpdu + Mpdu.FLAGS] & DROPPED == 0:
                    _count_list(m, m[mpdu + Mpdu.FIRST], m[mpdu + Mpdu.COUNT], column)
            _count_list(m, m[a + AgreementState.FIRST], _ALL, column)
            for queues in (0, List.SIZE):
                q = m[a + AgreementState.QUEUES + queues]
                while q != NONE:
                    _count_list(m, m[q + Queue.FIRST], _ALL, column)
                    q = m[q + Queue.NEXT]
            a += AGREEMENT_WORDS
        f += FUNCTION_WORDS


def _count_list(m: Any, entry: Any, most: Any, column: Any) -> None:
    """Count the data packets among at most `most` MSDUs of a list."""
    k = np.int64(0)
    while entry != NONE and k < most:
        count(m, m[entry + Msdu.FRAME], column)
        entry = m[entry + Msdu.NEXT]
        k += 1


def clear(m: Any, at: Any) -> None:
    """Clear the outcomes of the categories of a node: the warm-up ends."""
    f = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        for column in range(CategoryOut.COLUMNS):
            m[f + FUNCTION_COUNTS + column] = 0
        a = m[f + FunctionState.FIRST_AGREEMENT]
        for _ in range(m[f + FunctionState.AGREEMENTS]):
            m[a + AgreementState.AIR] = 0
            a += AGREEMENT_WORDS
        f += FUNCTION_WORDS


def write(m: Any, at: Any, out: Any, to: Any) -> None:
    """Write the outcomes of the categories of a node from column `to` on."""
    f = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        place = to + m[f + Function.CATEGORY] * CategoryOut.COLUMNS
        for column in range(CategoryOut.COLUMNS):
            out[place + column] = m[f + FUNCTION_COUNTS + column]
        f += FUNCTION_WORDS
    j = (at - m[Word.NODES]) // NODE_WORDS
    for k in range(m[Radio.AGREEMENTS]):
        a = agreement_at(m, k)
        if m[link_at(m, m[a + Agreement.LINK]) + Link.TO] == j:
            category = m[function_at(m, m[a + Agreement.FUNCTION]) + Function.CATEGORY]
            out[to + category * CategoryOut.COLUMNS + CategoryOut.AIR_TO] += m[a + AgreementState.AIR]
