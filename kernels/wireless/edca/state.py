"""Words of scratch of EDCA functions, agreements, MPDUs and MSDUs.

The functions and agreements of a row follow the paths; after them lie the MSDUs of each function and the
windows of MPDUs of each agreement. An MPDU of sequence number `n` has the place `n` modulo the window.
NONE stands for no entry.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.aqm.state import Buffer, Queue
from netcarlo.kernels.wireless import minstrel
from netcarlo.kernels.wireless.frame import BACKWARD as _BACKWARD
from netcarlo.kernels.wireless.frame import FLOW_BITS, FLOW_MASK, HOP_MASK
from netcarlo.kernels.wireless.layout import Agreement, CategoryOut, Flow, Function, Radio, WifiRows
from netcarlo.kernels.wireless.state import Word, flow_at

NONE = 0


class FunctionState(IntEnum):
    """Words of an EDCA function, following its columns of `Function`."""

    SLOTS = len(Function)
    """Backoff slots left."""
    SINCE = auto()
    """Time from which on the backoff counts [ns]."""
    DUE = auto()
    """1 if it may transmit at the time at which the medium has become busy."""
    CW = auto()
    """Contention window [slots]."""
    DRAWS = auto()
    """Backoffs drawn."""
    RETRIES = auto()
    """Consecutive failed attempts, as ns-3 counts them."""
    COUNT = auto()
    """MSDUs in the queue, up to their acknowledgement."""
    REQUESTS = auto()
    """Agreements with a pending BlockAckReq."""
    FREE = auto()
    """First free MSDU."""
    FIRST_AGREEMENT = auto()
    """Word of the first agreement."""
    AGREEMENTS = auto()
    """Number of agreements."""
    LIST = auto()
    """First agreement of the list of the scheduler."""
    LIST_END = auto()
    """Last agreement of that list, if it is not empty."""
    BACKLOG = auto()
    """MSDUs in queues of FQ-CoDel."""


FUNCTION_COUNTS = max(FunctionState) + 1
"""First word of the outcomes of a function (`CategoryOut`)."""
FUNCTION_WORDS = FUNCTION_COUNTS + CategoryOut.COLUMNS


class AgreementState(IntEnum):
    """Words of an agreement, following its columns of `Agreement`."""

    FIRST = len(Agreement)
    """First MSDU that is in no MPDU yet."""
    LAST = auto()
    """Last MSDU that is in no MPDU yet."""
    START = auto()
    """Sequence number of the first MPDU that is not acknowledged."""
    NEXT = auto()
    """Sequence number of the next new MPDU."""
    AWAITED = auto()
    """First sequence number that the receiver has not delivered."""
    GIVEN_UP = auto()
    """Sequence number below which the receiver does not wait for missing MPDUs."""
    OLDEST = auto()
    """First sequence number whose place is in use."""
    MPDUS = auto()
    """First word of the window."""
    REQUEST = auto()
    """1 if a BlockAckReq is pending."""
    LISTED = auto()
    """1 if it is in the list of the scheduler."""
    FOLLOWING = auto()
    """Next agreement of that list."""
    DEFICIT = auto()
    """Airtime that it may use in this round [ns]."""
    ACTIVE_AT = auto()
    """Time at which it last had MSDUs, as known to the scheduler [ns]."""
    QUEUES = auto()
    """FQ-CoDel: list of new queues, then of old ones, first and last queue of each."""
    LAST_NEW = auto()
    OLD = auto()
    LAST_OLD = auto()
    RELEASED = auto()
    """Estimated airtime of the MSDUs that are released to the hardware and not closed [ns]."""
    AIR = auto()
    """Airtime of PPDUs with data, counted from the end of the warm-up on [ns]."""


AGREEMENT_WORDS = max(AgreementState) + 1


class Msdu(IntEnum):
    """An MSDU of a function."""

    FRAME = Buffer.PACKET
    """The packet, see `wireless.frame`."""
    ARRIVAL = Buffer.ARRIVED
    """Time of arrival in the queue [ns]."""
    BYTES = Buffer.BYTES
    """With FQ-CoDel: size [byte]; once released to the hardware: estimated airtime [ns]."""
    NEXT = Buffer.NEXT
    """The next MSDU of the agreement, or the next free one."""


class Mpdu(IntEnum):
    """An MPDU in the window of an agreement."""

    FIRST = 0
    """First MSDU of the MPDU."""
    COUNT = 1
    """Number of MSDUs."""
    BYTES = 2
    """Size [byte]."""
    FLAGS = 3
    """Sum of the constants below."""
    END = 5
    """Bytes of the current PPDU up to the end of this MPDU."""
    TRIES = 4
    """Number of attempts, unanswered RTS and internal collisions included."""


RECEIVED = 1
"""Flag: the receiver has the MPDU."""
CLOSED = 2
"""Flag: the MPDU has left the queue, acknowledged or dropped."""
IN_PPDU = 4
"""Flag: the MPDU is part of the PPDU of the current exchange."""
DROPPED = 8
"""Flag: the MPDU was dropped before the receiver had it."""
FRESH = 32
"""Flag: the receiver has the MPDU for the first time since the beginning of the exchange."""
SENT = 16
"""Flag: the MPDU has been transmitted."""

_MPDU = len(Mpdu)


def function_at(m: Any, function: Any) -> Any:
    """Return the word where a function begins."""
    return m[Word.FUNCTIONS] + function * FUNCTION_WORDS


def function_number(m: Any, f: Any) -> Any:
    """Return the number of the function at word `f`."""
    return (f - m[Word.FUNCTIONS]) // FUNCTION_WORDS


def agreement_at(m: Any, agreement: Any) -> Any:
    """Return the word where an agreement begins."""
    return m[Word.AGREEMENTS] + agreement * AGREEMENT_WORDS


def agreement_of(m: Any, frame: Any) -> Any:
    """Return the word of the agreement of the hop that a frame takes next."""
    flow = flow_at(m, frame & FLOW_MASK)
    hop = frame >> FLOW_BITS & HOP_MASK
    path = m[flow + Flow.BACK_AT] if frame & _BACKWARD else m[flow + Flow.FORTH_AT]
    return agreement_at(m, m[m[Word.PATHS] + m[Radio.PATH_WORDS] + path + hop])


def mpdu_at(m: Any, a: Any, number: Any) -> Any:
    """Return the word of the MPDU with a sequence number in the window of the agreement at word `a`."""
    return ring.numbered(m[a + AgreementState.MPDUS], m[a + Agreement.WINDOW] - 1, _MPDU, number)


def words(rows: WifiRows) -> np.ndarray[Any, Any]:
    """Return the words of scratch of the queues of each row [n]."""
    p, net, row = rows.parameters, rows.network, np.arange(len(rows.parameters))
    found = p[:, Radio.FUNCTIONS] * FUNCTION_WORDS + p[:, Radio.AGREEMENTS] * AGREEMENT_WORDS
    for count, begin, record, column, each in (
        (Radio.FUNCTIONS, Radio.FUNCTIONS_AT, Function, Function.POOL, len(Msdu)),
        (Radio.AGREEMENTS, Radio.AGREEMENTS_AT, Agreement, Agreement.WINDOW, len(Mpdu)),
    ):
        for k in range(int(p[:, count].max(initial=0))):
            there = k < p[:, count]
            at = np.where(there, p[:, begin] + k * len(record) + column, 0)
            found += np.where(there, each * net[row, at], 0)
    some = np.zeros(len(row), bool)
    for k in range(int(p[:, Radio.FUNCTIONS].max(initial=0))):
        there = k < p[:, Radio.FUNCTIONS]
        at = np.where(there, p[:, Radio.FUNCTIONS_AT] + k * len(Function) + Function.FQ, 0)
        some |= there & (net[row, at] != 0)
    return np.asarray(found + some * p[:, Radio.PATH_WORDS] * Queue.SIZE + minstrel.words(p))
