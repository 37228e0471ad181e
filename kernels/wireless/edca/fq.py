"""FQ-CoDel for each receiver of a function, and limits of the airtime that leaves it for the hardware (AQL).

Sources: Linux 6, include/net/fq_impl.h, net/mac80211/tx.c (`ieee80211_txq_airtime_check`) and airtime.c
(`ieee80211_calc_expected_tx_airtime`). Each hop of a path has a queue. `at` is the word of a node, `f` of its
function, `a` of an agreement, `entry` of an MSDU.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.aqm import chain
from netcarlo.kernels.base.aqm import fq as fq_codel
from netcarlo.kernels.base.aqm.state import Limits, Queue
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.edca import fates
from netcarlo.kernels.wireless.edca.aggregation import rate_of
from netcarlo.kernels.wireless.edca.msdus import append
from netcarlo.kernels.wireless.edca.state import (
    AGREEMENT_WORDS,
    FUNCTION_COUNTS,
    FUNCTION_WORDS,
    NONE,
    AgreementState,
    FunctionState,
    Msdu,
    function_at,
)
from netcarlo.kernels.wireless.frame import BACKWARD, FLOW_BITS, FLOW_MASK, HOP_MASK, size_of
from netcarlo.kernels.wireless.layout import (
    Agreement,
    CategoryOut,
    Flow,
    Function,
    Node,
    NodeOut,
    Radio,
    Rate,
)
from netcarlo.kernels.wireless.state import NODE_COUNTS, Mac, Word, flow_at, rate_at

_MOST_DROPS = 32
"""Most MSDUs that a full queue drops at once (`fq_flow_drop`)."""
_PACKET = 1024
"""Size of a packet whose duration tells how many MPDUs share a preamble [byte] (`AVG_PKT_SIZE`)."""
_VOICE = 0


def queue_of(m: Any, frame: Any) -> Any:
    """Return the queue of a packet before its next hop."""
    flow = flow_at(m, frame & FLOW_MASK)
    path = m[flow + Flow.BACK_AT] if frame & BACKWARD else m[flow + Flow.FORTH_AT]
    return m[Word.QUEUES] + Queue.SIZE * (path + (frame >> FLOW_BITS & HOP_MASK))


@noinline
def enqueue(m: Any, at: Any, f: Any, a: Any, t: Any, entry: Any) -> None:
    """Enqueue an MSDU that is counted already; drop others if there are too many."""
    frame = m[entry + Msdu.FRAME]
    q = queue_of(m, frame)
    m[entry + Msdu.BYTES] = size_of(m, frame)
    m[f + FunctionState.BACKLOG] += 1
    chain.append(m, q, entry)
    fq_codel.on_arrival(m, a + AgreementState.QUEUES, q, m[Radio.FQ_QUANTUM])
    while m[f + FunctionState.COUNT] > m[f + Function.QUEUE] and m[f + FunctionState.BACKLOG] > 0:
        _drop_from_longest(m, at, f, t)
    release(m, at, t)


@noinline
def _drop_from_longest(m: Any, at: Any, f: Any, t: Any) -> None:
    """Drop half of the queue with the most bytes, at most 32 MSDUs, from its head."""
    q = np.int64(NONE)
    a = m[f + FunctionState.FIRST_AGREEMENT]
    for _ in range(m[f + FunctionState.AGREEMENTS]):
        q = fq_codel.longest(m, a + AgreementState.QUEUES, q)
        a += AGREEMENT_WORDS
    waiting = np.int64(0)
    entry = m[q + Queue.FIRST]
    while entry != NONE and waiting < 2 * _MOST_DROPS:
        waiting += 1
        entry = m[entry + Msdu.NEXT]
    drops: Any = max(waiting // 2, 1)
    for _ in range(drops):
        m[at + NODE_COUNTS + NodeOut.DROPS] += 1
        m[f + FUNCTION_COUNTS + CategoryOut.DROPS] += 1
        fates.drop(m, at, f, t, fates.pop(m, f, q))


@noinline
def release(m: Any, at: Any, t: Any) -> None:
    """Release MSDUs of a node to the hardware, for each receiver as many as its airtime limits allow."""
    f = function_at(m, m[at + Node.FIRST_FUNCTION])
    for _ in range(m[at + Node.FUNCTIONS]):
        if m[f + FunctionState.BACKLOG] > 0:
            a = m[f + FunctionState.FIRST_AGREEMENT]
            for _ in range(m[f + FunctionState.AGREEMENTS]):
                _release_to(m, at, f, a, t)
                a += AGREEMENT_WORDS
        f += FUNCTION_WORDS


def _release_to(m: Any, at: Any, f: Any, a: Any, t: Any) -> None:
    """Release MSDUs to the receiver of an agreement."""
    lists = a + AgreementState.QUEUES
    limits = Limits(m[a + Agreement.TARGET], m[a + Agreement.INTERVAL], np.int64(0))
    while (m[lists] != NONE or m[a + AgreementState.OLD] != NONE) and _may_release(m, at, a):
        entry = fq_codel.dequeue(m, m, at, f, lists, t, limits, m[Radio.FQ_QUANTUM])
        if entry != NONE:
            air = _estimated_air(m, f, a, m[entry + Msdu.BYTES])
            m[entry + Msdu.BYTES] = air
            m[a + AgreementState.RELEASED] += air
            m[at + Mac.RELEASED] += air
            append(m, f, a, t, entry)


def _may_release(m: Any, at: Any, a: Any) -> Any:
    """Return whether another MSDU of an agreement may be released."""
    released = m[a + AgreementState.RELEASED]
    below = m[at + Mac.RELEASED] < m[Radio.AQL_TOTAL] and released < m[Radio.AQL_HIGH]
    return released < m[Radio.AQL_LOW] or below


def _estimated_air(m: Any, f: Any, a: Any, size: Any) -> Any:
    """Return the airtime of a packet, with the part of a preamble that the usual A-MPDU at its rate leaves to
    it [ns]."""
    rate = rate_at(m, rate_of(m, a))
    shift = np.int64(0)
    if m[f + Function.CATEGORY] != _VOICE:
        usual = m[rate + Rate.SYMBOL] * 48 * _PACKET // m[rate + Rate.SIXTH_BITS]
        shift = np.int64(6)
        for most in (20_000, 70_000, 150_000, 250_000, 400_000):
            if usual > most:
                shift -= 1
    air = m[rate + Rate.SYMBOL] * 48 * (size + m[Radio.MAC_OVERHEAD]) // m[rate + Rate.SIXTH_BITS]
    return max(air + (m[rate + Rate.PREAMBLE] >> shift), 1)


@noinline
def on_closed(m: Any, at: Any, a: Any, entry: Any) -> None:
    """Note that a list of MSDUs has left the hardware."""
    while entry != NONE:
        m[a + AgreementState.RELEASED] -= m[entry + Msdu.BYTES]
        m[at + Mac.RELEASED] -= m[entry + Msdu.BYTES]
        entry = m[entry + Msdu.NEXT]
