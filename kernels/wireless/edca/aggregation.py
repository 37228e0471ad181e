"""Construction of a PPDU: its MPDUs and their A-MPDU.

Sources: IEEE 802.11-2016, 9.3.2.2 (A-MSDU), 9.7 (A-MPDU), 10.13, 10.22.2.7 (TXOP). `at` is the word of a
node, `f` of a function, `a` of an agreement.
"""

from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless import minstrel
from netcarlo.kernels.wireless.edca.state import (
    CLOSED,
    FRESH,
    IN_PPDU,
    NONE,
    SENT,
    AgreementState,
    Mpdu,
    Msdu,
    mpdu_at,
)
from netcarlo.kernels.wireless.frame import air_time, size_of
from netcarlo.kernels.wireless.layout import MINSTREL, NOBODY, Agreement, Function, Link, Radio, Rate
from netcarlo.kernels.wireless.state import AirTime, Mac, link_at, rate_at

_NEVER = np.int64(1) << 62
_SUBFRAME = 14  # header of a subframe of an A-MSDU [byte]
_LLC = 8  # bytes of `Radio.MAC_OVERHEAD` that belong to the MSDU
_DELIMITER = 4  # delimiter of a subframe of an A-MPDU [byte]


def rate_of(m: Any, a: Any) -> Any:
    """Return the rate of data of an agreement."""
    return m[link_at(m, m[a + Agreement.LINK]) + Link.RATE]


def block_ack_time(m: Any, a: Any) -> Any:
    """Return the duration of a BlockAck [ns]."""
    return air_time(m, m[a + Agreement.BA_BYTES], m[rate_at(m, rate_of(m, a)) + Rate.ANSWER])


def ack_time(m: Any, a: Any) -> Any:
    """Return the duration of an Ack [ns]."""
    return m[rate_at(m, m[rate_at(m, rate_of(m, a)) + Rate.ANSWER]) + AirTime.ANSWER]


def _most_bytes(m: Any, rate: Any, time: Any) -> Any:
    """Return the maximum size of a PPDU that takes at most `time` [ns] at a rate; negative if none does."""
    at = rate_at(m, rate)
    symbols = (time - m[at + Rate.PREAMBLE] - m[at + Rate.EXTENSION]) // m[at + Rate.SYMBOL]
    return (symbols * m[at + Rate.SIXTH_BITS] // 6 - m[at + Rate.EXTRA_BITS]) >> 3


def _padded(size: Any) -> Any:
    """Return a size rounded up to a multiple of four bytes."""
    return (size + 3) & ~3


@noinline
def build(m: Any, at: Any, f: Any, a: Any, t: Any) -> Any:
    """Choose the MPDUs of a PPDU that begins at time t; return its size [byte], 0 if no MPDU fits.

    The first MPDU always fits if it begins a TXOP; later it must only fit the rest of the TXOP. Sets
    `Mac.AGREEMENT`, `Mac.MPDUS` and flags of MPDUs.
    """
    begins = m[at + Mac.FIRST_EXCHANGE] != 0
    rest = _budget(m, at, a, t, ack_time(m, a), _NEVER)
    single = _budget(m, at, a, t, ack_time(m, a), m[Radio.MOST_TIME])
    most = _Budget(np.int64(0), np.int64(0), np.int64(0))
    longest = _NEVER
    sampling = m[Radio.RATE_CONTROL] == MINSTREL and minstrel.samples(m, m[a + Agreement.LINK])
    if m[a + Agreement.BLOCK_ACK] != 0 and m[f + Function.AMPDU] > 0 and not sampling:
        longest = min(m[f + Function.AMPDU], m[a + Agreement.PSDU])
        most = _budget(m, at, a, t, block_ack_time(m, a), m[Radio.MOST_TIME])
        most = _Budget(min(most.most, longest), min(most.announced, longest), most.threshold)
    m[at + Mac.AGREEMENT] = a
    alone = _DELIMITER * m[rate_at(m, rate_of(m, a)) + Rate.DELIMITED]
    size, count, only = np.int64(0), np.int64(0), np.int64(0)
    number = m[a + AgreementState.START]
    fits = True
    while fits and number < m[a + AgreementState.NEXT]:
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & CLOSED == 0:
            length = m[mpdu + Mpdu.BYTES]
            if count == 0:
                fits = begins or _fits(rest, length + alone)
                only = length
                size = _DELIMITER + length
            else:
                longer = _padded(size) + _DELIMITER + length
                fits = _fits(most, longer)
                if fits:
                    size = longer
            if fits:
                m[mpdu + Mpdu.FLAGS] |= IN_PPDU
                m[mpdu + Mpdu.END] = size
                count += 1
        number += 1
    end = min(m[a + AgreementState.START], m[a + AgreementState.AWAITED]) + m[a + Agreement.WINDOW]
    while fits and number < end and m[a + AgreementState.FIRST] != NONE and (count == 0 or most.most > 0):
        length = size_of(m, m[m[a + AgreementState.FIRST] + Msdu.FRAME]) + m[Radio.MAC_OVERHEAD]
        if count == 0:
            fits = begins or _fits(rest, length + alone)
            if fits:
                only = _new_mpdu(m, f, a, single, np.int64(alone), longest)
                size = _DELIMITER + only
        else:
            before = _padded(size) + _DELIMITER
            fits = _fits(most, before + length)
            if fits:
                size = before + _new_mpdu(m, f, a, most, before, longest)
        if fits:
            m[mpdu_at(m, a, number) + Mpdu.END] = size
            count += 1
            number += 1
    m[at + Mac.MPDUS] = count
    if count <= 1:
        size = only + alone if count == 1 else np.int64(0)
    m[at + Mac.SIZE] = size
    return size


class _Budget(NamedTuple):
    """Maximum size of a PPDU [byte]."""

    most: Any
    """Without an RTS."""
    announced: Any
    """With an RTS before it."""
    threshold: Any
    """Size above which an RTS announces it."""


def _budget(m: Any, at: Any, a: Any, t: Any, answer: Any, time: Any) -> Any:
    """Return the maximum size of a PPDU of at most `time` [ns] whose answer ends within the TXOP."""
    rate, threshold = rate_of(m, a), m[a + Agreement.RTS_THRESHOLD]
    if m[at + Mac.TXOP_END] == 0:
        most = _most_bytes(m, rate, time)
        return _Budget(most, most, threshold)
    rest = m[at + Mac.TXOP_END] - t - m[Radio.SIFS] - answer
    most = _most_bytes(m, rate, min(time, rest))
    control = rate_at(m, rts_rate(m, a))
    announced = rest - m[control + AirTime.RTS] - m[control + AirTime.ANSWER] - 2 * m[Radio.SIFS]
    return _Budget(most, _most_bytes(m, rate, min(time, announced)), threshold)


def _fits(budget: Any, size: Any) -> Any:
    """Return whether a PPDU of `size` bytes fits."""
    return size <= (budget.announced if size > budget.threshold else budget.most)


def rts_rate(m: Any, a: Any) -> Any:
    """Return the rate of RTS and CTS of an agreement."""
    return m[Radio.RTS_RATE] if m[Radio.RTS_RATE] != NOBODY else m[rate_at(m, rate_of(m, a)) + Rate.ANSWER]


def _new_mpdu(m: Any, f: Any, a: Any, budget: Any, before: Any, longest: Any) -> Any:
    """Build an MPDU from the next MSDU, and further ones that fit after `before` bytes of a PPDU.

    A PPDU with several MSDUs has at most `longest` bytes. Returns the size of the MPDU [byte].
    """
    entry = m[a + AgreementState.FIRST]
    packet = size_of(m, m[entry + Msdu.FRAME])
    length = packet + m[Radio.MAC_OVERHEAD]
    mpdu = mpdu_at(m, a, m[a + AgreementState.NEXT])
    m[a + AgreementState.NEXT] += 1
    m[mpdu + Mpdu.FIRST] = entry
    m[mpdu + Mpdu.FLAGS] = IN_PPDU
    m[mpdu + Mpdu.TRIES] = 0
    count = np.int64(1)
    if m[f + Function.AMSDU] > 0:
        total = _SUBFRAME + _LLC + packet
        following = m[entry + Msdu.NEXT]
        while following != NONE:
            longer = _padded(total) + _SUBFRAME + _LLC + size_of(m, m[following + Msdu.FRAME])
            whole = m[Radio.MAC_OVERHEAD] - _LLC + longer
            if (
                longer > m[f + Function.AMSDU]
                or before + whole > longest
                or not _fits(budget, before + whole)
            ):
                break
            total, length, entry = longer, whole, following
            count += 1
            following = m[entry + Msdu.NEXT]
    m[a + AgreementState.FIRST] = m[entry + Msdu.NEXT]
    m[entry + Msdu.NEXT] = NONE
    m[mpdu + Mpdu.COUNT] = count
    m[mpdu + Mpdu.BYTES] = length
    return length


@noinline
def count_try(m: Any, a: Any) -> None:
    """Count an attempt of the MPDUs of a PPDU whose RTS was not answered."""
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        mpdu = mpdu_at(m, a, number)
        if m[mpdu + Mpdu.FLAGS] & IN_PPDU:
            m[mpdu + Mpdu.TRIES] += 1


@noinline
def has_open(m: Any, a: Any) -> Any:
    """Return whether an MPDU of an agreement was sent and is not closed."""
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        flags = m[mpdu_at(m, a, number) + Mpdu.FLAGS]
        if flags & SENT and flags & CLOSED == 0:
            return True
    return False


@noinline
def dissolve(m: Any, a: Any) -> None:
    """Clear the flags of the MPDUs of a PPDU after the end of its exchange."""
    for number in range(m[a + AgreementState.START], m[a + AgreementState.NEXT]):
        m[mpdu_at(m, a, number) + Mpdu.FLAGS] &= ~(IN_PPDU | FRESH)
