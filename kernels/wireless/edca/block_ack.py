"""Window of an agreement: acknowledged and dropped MPDUs at the sender, reordering at the receiver.

Source: IEEE 802.11-2016, 10.24.7 (HT-immediate Block Ack). `at` is the word of the sender's node, `f` of its
function, `a` of the agreement, `mpdu` of an MPDU.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.countdown import lost
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw
from netcarlo.kernels.wireless.edca import fq
from netcarlo.kernels.wireless.edca.msdus import change_count, free_msdus, owe
from netcarlo.kernels.wireless.edca.state import (
    AGREEMENT_WORDS,
    CLOSED,
    DROPPED,
    FRESH,
    IN_PPDU,
    NONE,
    RECEIVED,
    AgreementState,
    FunctionState,
    Mpdu,
    Msdu,
    function_at,
    mpdu_at,
)
from netcarlo.kernels.wireless.forwarding import drop as dropped
from netcarlo.kernels.wireless.forwarding import lose
from netcarlo.kernels.wireless.layout import (
    FIXED,
    STREAM_FRAME,
    Agreement,
    FlowOut,
    Function,
    Link,
    NodeOut,
    Radio,
)
from netcarlo.kernels.wireless.state import NODE_COUNTS, LinkState, Mac, Word, link_at


@noinline
def receive(m: Any, losses: Any, counts: Any, a: Any) -> Any:
    """Receive the MPDUs of a PPDU that was not disturbed; return the number that noise has not destroyed.

    `counts` is the word of the outcomes of the receiving node.
    """
    link = link_at(m, m[a + Agreement.LINK])
    good = np.int64(0)
    by_rate = m[Radio.RATE_CONTROL] != FIXED
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & IN_PPDU:
            stream = STREAM_FRAME + m[a + Agreement.LINK]
            if by_rate:
                noise = _lost_at_rate(m, m[a + Agreement.LINK], link, stream)
            else:
                noise = lost(m, losses, m, link + LinkState.GAP, m[link + Link.LOSS], stream)
            if noise:
                m[counts + NodeOut.NOISE] += 1
            else:
                good += 1
                known = m[mpdu + Mpdu.FLAGS] & RECEIVED
                m[counts + (NodeOut.DUPLICATES if known else NodeOut.RECEIVED)] += 1
                m[mpdu + Mpdu.FLAGS] |= RECEIVED if known else RECEIVED | FRESH
    return good


@noinline
def _lost_at_rate(m: Any, number: Any, link: Any, stream: Any) -> Any:
    """Return whether noise destroys an MPDU, by the chance of the present rate of a link."""
    table = m[Word.PATHS] + m[Radio.ERRORS_AT] - m[Radio.PATHS_AT]
    k = m[link + LinkState.GAPS]
    m[link + LinkState.GAPS] = k + 1
    word, _, _, _ = draw(m[RowP.SEED], m[RowP.SCENARIO], m[RowP.REPLICATION], stream, k)
    return np.int64(word) < m[table + number * m[Radio.RATES] + m[link + Link.RATE]]


def acknowledged(m: Any, a: Any) -> Any:
    """Return the number of MPDUs of the present PPDU that the receiver has."""
    count = np.int64(0)
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        if m[mpdu_at(m, a, number) + Mpdu.FLAGS] & (IN_PPDU | RECEIVED) == IN_PPDU | RECEIVED:
            count += 1
    return count


def has_news(m: Any, a: Any) -> Any:
    """Return whether the receiver can deliver an MPDU, or skip one that the sender has dropped."""
    number = m[a + AgreementState.AWAITED]
    if number >= m[a + AgreementState.NEXT]:
        return False
    received = m[mpdu_at(m, a, number) + Mpdu.FLAGS] & RECEIVED != 0
    return received or number < m[a + AgreementState.GIVEN_UP]


@noinline
def pass_up(m: Any, a: Any) -> Any:
    """Return the next received MPDU in order, or NONE; skip MPDUs that the sender has dropped."""
    found = np.int64(NONE)
    while found == NONE and has_news(m, a):
        mpdu = mpdu_at(m, a, m[a + AgreementState.AWAITED])
        if m[mpdu + Mpdu.FLAGS] & RECEIVED:
            found = mpdu
        m[a + AgreementState.AWAITED] += 1
    return found


@noinline
def reclaim(m: Any, a: Any) -> None:
    """Free the MSDUs and places of MPDUs that neither sender nor receiver needs."""
    f = function_at(m, m[a + Agreement.FUNCTION])
    end = min(m[a + AgreementState.START], m[a + AgreementState.AWAITED])
    while m[a + AgreementState.OLDEST] < end:
        free_msdus(m, f, m[mpdu_at(m, a, m[a + AgreementState.OLDEST]) + Mpdu.FIRST])
        m[a + AgreementState.OLDEST] += 1


@noinline
def acknowledge(m: Any, at: Any, f: Any, a: Any, flags: Any, t: Any) -> None:
    """Close the MPDUs that have all these flags: RECEIVED for a BlockAck, also IN_PPDU for an Ack."""
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & (flags | CLOSED) == flags:
            m[at + NODE_COUNTS + NodeOut.SUCCEEDED] += 1
            _close(m, at, f, a, mpdu, t)
    _advance(m, a)
    if m[f + Function.FQ] != 0:
        fq.release(m, at, t)


def _close(m: Any, at: Any, f: Any, a: Any, mpdu: Any, t: Any) -> None:
    """Remove an MPDU from the queue, and from the PPDU, which does not reach the receiver again."""
    m[mpdu + Mpdu.FLAGS] = m[mpdu + Mpdu.FLAGS] & ~(IN_PPDU | FRESH) | CLOSED
    change_count(m, at, f, -m[mpdu + Mpdu.COUNT], t)
    m[Word.SHRUNK] = m[f + Function.NODE]
    entry = m[mpdu + Mpdu.FIRST]
    if m[f + Function.FQ] != 0:
        fq.on_closed(m, at, a, entry)
    while entry != NONE:
        owe(m, entry, np.int64(1))
        entry = m[entry + Msdu.NEXT]


def _advance(m: Any, a: Any) -> None:
    """Move the sender's window to the first MPDU that is not closed."""
    number = m[a + AgreementState.START]
    while number < m[a + AgreementState.NEXT] and m[mpdu_at(m, a, number) + Mpdu.FLAGS] & CLOSED:
        number += 1
    m[a + AgreementState.START] = number
    if m[a + Agreement.BLOCK_ACK] == 0:  # the receiver has no window
        m[a + AgreementState.GIVEN_UP] = number
        m[a + AgreementState.AWAITED] = max(m[a + AgreementState.AWAITED], number)
    reclaim(m, a)


@noinline
def drop(m: Any, j: Any, at: Any, a: Any, least: Any, t: Any) -> Any:
    """Drop the MPDUs of the PPDU of node j that were sent at least `least` times and are not closed.

    Returns how many. With a Block Ack agreement, a BlockAckReq is then pending.
    """
    f = function_at(m, m[a + Agreement.FUNCTION])
    count = np.int64(0)
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        flags = m[mpdu + Mpdu.FLAGS]
        if flags & IN_PPDU and flags & CLOSED == 0 and m[mpdu + Mpdu.TRIES] >= least:
            count += 1
            m[at + NODE_COUNTS + NodeOut.RETRY_DROPS] += 1
            if flags & RECEIVED == 0:
                m[mpdu + Mpdu.FLAGS] |= DROPPED
                entry = m[mpdu + Mpdu.FIRST]
                while entry != NONE:
                    lose(m, m[entry + Msdu.FRAME], np.int64(FlowOut.RETRY_LOST), j)
                    entry = m[entry + Msdu.NEXT]
            _close(m, at, f, a, mpdu, t)
    if count > 0:
        _advance(m, a)
        if m[a + Agreement.BLOCK_ACK] != 0:
            request(m, at, f, a)
        if m[f + Function.FQ] != 0:
            fq.release(m, at, t)
    return count


@noinline
def drop_first(m: Any, j: Any, at: Any, f: Any, a: Any, t: Any) -> None:
    """Drop the first MSDU of an agreement of node j that is in no MPDU yet."""
    entry = m[a + AgreementState.FIRST]
    m[a + AgreementState.FIRST] = m[entry + Msdu.NEXT]
    m[entry + Msdu.NEXT] = NONE
    m[at + NODE_COUNTS + NodeOut.RETRY_DROPS] += 1
    lose(m, m[entry + Msdu.FRAME], np.int64(FlowOut.RETRY_LOST), j)
    change_count(m, at, f, np.int64(-1), t)
    m[Word.SHRUNK] = m[f + Function.NODE]
    owe(m, entry, np.int64(1))
    if m[f + Function.FQ] != 0:
        fq.on_closed(m, at, a, entry)
    free_msdus(m, f, entry)
    if m[f + Function.FQ] != 0:
        fq.release(m, at, t)


@noinline
def reset(m: Any, at: Any, f: Any, a: Any, t: Any) -> Any:
    """Lose all MSDUs of an agreement that the receiver has not passed up, and begin with an empty window.

    Returns how many of them were in the queue of the sender, received ones included.
    """
    count = np.int64(0)
    for number in range(m[a + AgreementState.OLDEST], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & CLOSED == 0:
            count += m[mpdu + Mpdu.COUNT]
        if number >= m[a + AgreementState.AWAITED] and m[mpdu + Mpdu.FLAGS] & DROPPED == 0:
            _drop_list(m, m[mpdu + Mpdu.FIRST])
        m[mpdu + Mpdu.FLAGS] |= CLOSED
    m[a + AgreementState.START] = m[a + AgreementState.NEXT]
    m[a + AgreementState.AWAITED] = m[a + AgreementState.NEXT]
    m[a + AgreementState.GIVEN_UP] = m[a + AgreementState.NEXT]
    m[a + AgreementState.REQUEST] = 0
    reclaim(m, a)
    entry = m[a + AgreementState.FIRST]
    if entry != NONE:
        count += _drop_list(m, entry)
        m[a + AgreementState.FIRST] = NONE
        free_msdus(m, f, entry)
    change_count(m, at, f, -count, t)
    return count


def _drop_list(m: Any, entry: Any) -> Any:
    """Drop the packets of a list of MSDUs as a full queue does; return how many there are."""
    count = np.int64(0)
    while entry != NONE:
        dropped(m, m[entry + Msdu.FRAME])
        count += 1
        entry = m[entry + Msdu.NEXT]
    return count


def request(m: Any, at: Any, f: Any, a: Any) -> None:
    """Let a function send a BlockAckReq of an agreement before other frames."""
    if m[a + AgreementState.REQUEST] == 0:
        m[at + Mac.REQUESTS] += 1
        m[f + FunctionState.REQUESTS] += 1
    m[a + AgreementState.REQUEST] = 1


def requested(m: Any, f: Any) -> Any:
    """Return the first agreement of a function with a pending BlockAckReq, or NONE."""
    if m[f + FunctionState.REQUESTS] > 0:
        a = m[f + FunctionState.FIRST_AGREEMENT]
        for _ in range(m[f + FunctionState.AGREEMENTS]):
            if m[a + AgreementState.REQUEST] != 0:
                return a
            a += AGREEMENT_WORDS
    return np.int64(NONE)


def on_answer(m: Any, at: Any, f: Any, a: Any) -> None:
    """Note that the BlockAckReq of an agreement was answered."""
    m[a + AgreementState.REQUEST] = 0
    m[at + Mac.REQUESTS] -= 1
    m[f + FunctionState.REQUESTS] -= 1
