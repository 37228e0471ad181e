"""Measurements of an MPTCP connection: arrivals, losses, trace, samples of window and RTT."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import NEVER, STATUS_TRACE_FULL, Out, Subflows, Trace
from netcarlo.kernels.base.parameters import MptcpP, RowP
from netcarlo.kernels.base.sums import add
from netcarlo.kernels.base.trace import begin
from netcarlo.kernels.linux.state import FIRST, Tcp
from netcarlo.kernels.mptcp.state import Conn, Sub, dsn_at, subflow_at
from netcarlo.kernels.path.hops import QUEUE_FULL
from netcarlo.kernels.path.subflows.state import Word

association: Any = slot("association")


def count_loss(p: Any, s: Any, out: Any, fate: Any, forward: Any, number: Any) -> None:
    """Count a packet of subflow `s` lost on its path: data, or an acknowledgement of data."""
    if forward and number >= FIRST:
        out[Out.DROPS_QUEUE - QUEUE_FULL + fate] += 1
    elif not forward and association.is_ack(p, s, number):
        out[Out.ACK_DROPS] += 1


@noinline
def count_arrival(m: Any, s: Any, out: Any, t: Any, sent: Any) -> None:
    """Count the arrival at time t of data sent at `sent` [ns] over subflow `s`."""
    s[Sub.ARRIVED] += 1
    if out[Out.FIRST_RX] == NEVER:
        out[Out.FIRST_RX] = t
    else:
        out[Out.SILENCE] = max(out[Out.SILENCE], t - out[Out.LAST_RX])
    out[Out.LAST_RX] = t
    if out[Out.RESUME_RX] == NEVER and t > m[Word.FIRST_OUTAGE]:
        out[Out.RESUME_RX] = t
        out[Out.RESUME_TX] = sent


@noinline
def sample(p: Any, m: Any, out: Any, until: Any) -> None:
    """Take the samples that are due by `until` [ns]: sum of the windows, RTT of the first subflow."""
    while m[Word.NEXT_SAMPLE] <= until:
        window = np.int64(0)
        for path in range(p[MptcpP.SUBFLOWS]):
            window += m[subflow_at(path) + Tcp.CWND]
        add(out, Out.CWND_SUM, Out.CWND_SUM_HIGH, min(window, p[RowP.WINDOW]) << 10)
        rtt = m[subflow_at(0) + Tcp.SRTT_NS]
        if rtt > 0:
            add(out, Out.RTT_SUM, Out.RTT_SUM_HIGH, rtt)
            out[Out.RTT_SAMPLES] += 1
        out[Out.SAMPLES] += 1
        m[Word.NEXT_SAMPLE] += p[RowP.SAMPLE]


@noinline
def note(m: Any, g: Any, out: Any, trace: Any, t: Any, event: Any, sequence: Any, path: Any) -> None:
    """Add a row to the trace, with the state of a subflow, unless the trace is full."""
    n = m[Word.TRACED]
    if begin(trace, n, t * 1e-9, event, sequence, path):
        association.show(m[subflow_at(path) :], g, trace, n)
        trace[n, Trace.ACKED] = m[Conn.SND_UNA]
        m[Word.TRACED] = n + 1
    else:
        out[Out.STATUS] = STATUS_TRACE_FULL


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the number of a data packet in traces, which count from 1."""
    return s[dsn_at(p, s, packet)] + 1


SUBFLOWS = len(Out)
"""First column of `Subflows`, which `FurtherSubflows` follows."""


@noinline
def report(p: Any, m: Any, out: Any) -> None:
    """Write the outcomes."""
    for path in range(p[MptcpP.SUBFLOWS]):
        s = m[subflow_at(path) :]
        out[Out.HANDSHAKES] += s[association.Counter.HANDSHAKES]
        out[Out.TIMEOUTS] += s[association.Counter.TIMEOUTS]
        out[Out.FAST_RETRANSMITS] += s[association.Counter.FAST_RETRANSMITS]
        out[Out.CWND_CUTS] += s[association.Counter.REDUCTIONS]
        out[Out.SENT] += s[association.Counter.SENT]
        out[Out.RETRANSMITTED] += s[association.Counter.RETRANSMITTED]
        out[Out.RECEIVED] += s[Sub.ARRIVED]
        out[Out.SENT_ALTERNATE] += s[association.Counter.SENT] if path > 0 else 0
        out[SUBFLOWS + Subflows.DELIVERED + path] = s[Sub.IN_ORDER]
    out[SUBFLOWS + Subflows.REINJECTED] = m[Conn.REINJECTED]
    out[SUBFLOWS + Subflows.REORDERED] = m[Conn.REORDERED]
    out[SUBFLOWS + Subflows.STALE] = m[Conn.STALES]
    out[Out.IN_ORDER] = m[Conn.RCV_NXT]
    out[Out.DELIVERED] = m[Conn.RCV_NXT] + m[Conn.OUT_OF_ORDER]
    out[Out.ACKED] = m[Conn.SND_UNA]
