"""Functions of the endpoints of a flow for the shared engine: sizes, samples, counters and traces.

`b` is where the block of a flow begins in scratch `m`.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import STATUS_NO_NUMBER, Trace
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.senders import UDP
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.layout import Flow, FlowOut
from netcarlo.kernels.shared.state import FlowWord, Word

association: Any = slot("association")

_ACK_MARGIN = 1 << 16
"""Room for numbers of acknowledgements, which are no more than data packets except for some sent by timers.
"""


def size_of(m: Any, b: Any, word: Any) -> Any:
    """Return the size of a packet [byte]."""
    kind = word & packet.SHORT
    if kind == packet.PROBE:
        return m[b + RowP.HEADER]
    if word & packet.BACKWARD:
        return association.size_of_ack(m[b:], m[b + FlowWord.ASSOCIATION :], packet.number_of(m, word))
    if kind == packet.CONTROL:
        return association.size_of(m[b:], m[b + FlowWord.ASSOCIATION :], packet.number_of(m, word))
    return payload_of(m, b, word) + m[b + RowP.CHUNK_HEADER] + m[b + RowP.HEADER]


def payload_of(m: Any, b: Any, word: Any) -> Any:
    """Return the payload of a data packet [byte]."""
    return m[b + RowP.DATA] - (m[b + RowP.SHORT] if packet.is_short(word) else 0)


@noinline
def prepare(m: Any, b: Any, f: Any, i: Any) -> Any:
    """Prepare association `i` before its start, and return the words that it occupies."""
    p, s, g = m[b:], m[b + FlowWord.ASSOCIATION :], f[i * association.FLOATS :]
    return association.prepare(p, s, g, p[RowP.LIMIT], p[TcpP.CLOCK_PHASE], i, np.int64(association.WORDS))


@noinline
def sample(m: Any, b: Any, f: Any, i: Any) -> None:
    """Sample the window and the round-trip time of a sender."""
    p, s, counts = m[b:], m[b + FlowWord.ASSOCIATION :], b + FlowWord.COUNTS
    m[counts + FlowOut.CWND_SUM] += association.cwnd_of(p, s, f[i * association.FLOATS :])
    m[counts + FlowOut.SAMPLES] += 1
    rtt = s[association.Counter.RTT]
    if rtt > 0:
        add(m, counts + FlowOut.RTT_SUM, counts + FlowOut.RTT_SUM_HIGH, rtt)
        m[counts + FlowOut.RTT_SAMPLES] += 1


@noinline
def count(m: Any, b: Any, sign: Any) -> None:
    """Add the counters of the sender times `sign`: 1 at the end of a flow, -1 at the end of the warm-up."""
    s, counts = m[b + FlowWord.ASSOCIATION :], m[b + FlowWord.COUNTS :]
    counts[FlowOut.SENT] += sign * s[association.Counter.SENT]
    counts[FlowOut.RETRANSMITTED] += sign * s[association.Counter.RETRANSMITTED]
    counts[FlowOut.ACKED] += sign * association.acked(m[b:], s)
    counts[FlowOut.TIMEOUTS] += sign * s[association.Counter.TIMEOUTS]
    counts[FlowOut.FAST_RETRANSMITS] += sign * s[association.Counter.FAST_RETRANSMITS]
    counts[FlowOut.CWND_CUTS] += sign * s[association.Counter.REDUCTIONS]
    counts[FlowOut.HANDSHAKES] += sign * s[association.Counter.HANDSHAKES]
    if association.overfull(s):
        m[Word.STATUS] = 1
    if (s[association.Counter.SENT] + _ACK_MARGIN) >> packet.number_bits(m) != 0:
        m[Word.STATUS] = STATUS_NO_NUMBER


@noinline
def sequence_of(m: Any, b: Any, word: Any) -> Any:
    """Return the number of a packet in traces; for an acknowledgement, the last packet received in order;
    else 0."""
    number = packet.number_of(m, word)
    if m[b + Flow.KIND] == UDP:
        return number
    if word & packet.SHORT != 0 and not packet.is_short(word):
        return np.int64(0)
    if word & packet.BACKWARD:
        return association.cumulative_ack(m[b:], m[b + FlowWord.ASSOCIATION :], number)
    return association.sequence_of(m[b:], m[b + FlowWord.ASSOCIATION :], number)


@noinline
def show(m: Any, b: Any, f: Any, i: Any, trace: Any, n: Any) -> None:
    """Write the state of sender `i` into row n of a trace."""
    s = m[b + FlowWord.ASSOCIATION :]
    association.show(s, f[i * association.FLOATS :], trace, n)
    trace[n, Trace.RTT] = s[association.Counter.RTT] * 1e-9
