"""Outcomes of a fluid over a path."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import NEVER, STATUS_OK, Out
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.sums import add_times
from netcarlo.kernels.fluid.arrivals import lost
from netcarlo.kernels.fluid.state import ONE_BITS, FlowWord
from netcarlo.kernels.shared.layout import FlowOut


def sample(p: Any, cwnd: Any, out: Any, before: Any, now: Any, rtt: Any) -> None:
    """Sample window [packet] and round trip [ns] at (k + 1/2) sampling intervals, from `before` to `now`
    [ns].

    A round trip that takes longer than the whole run is never measured.
    """
    half = p[RowP.SAMPLE] >> 1
    count = (now + half) // p[RowP.SAMPLE] - (before + half) // p[RowP.SAMPLE]
    out[Out.SAMPLES] += count
    add_times(out, Out.CWND_SUM, Out.CWND_SUM_HIGH, count, np.int64(cwnd * 1024.0))
    if rtt <= p[RowP.END] - p[RowP.START]:
        out[Out.RTT_SAMPLES] += count
        add_times(out, Out.RTT_SUM, Out.RTT_SUM_HIGH, count, np.int64(rtt))


def report(p: Any, m: Any, out: Any) -> None:
    """Write the outcomes of a flow with the words `m` to `out`, which already has the drops."""
    if out[Out.COMPLETED] > p[RowP.END]:
        out[Out.COMPLETED] = NEVER
    dropped = lost(out)
    through = (m[FlowWord.SENT] - (dropped << ONE_BITS)) >> ONE_BITS
    arrived = m[FlowWord.SENT] - (dropped << ONE_BITS) - m[FlowWord.AFTER_END]
    received = max(arrived, np.int64(0)) >> ONE_BITS
    distinct = max(arrived - m[FlowWord.DUPLICATES], np.int64(0)) >> ONE_BITS
    counts = m[FlowWord.COUNTS :]
    out[Out.STATUS] = STATUS_OK
    out[Out.RECEIVED] = received
    out[Out.DELIVERED] = distinct
    out[Out.IN_ORDER] = distinct
    out[Out.ACKED] = distinct
    out[Out.SENT] = max(through, received) + dropped
    out[Out.RETRANSMITTED] = dropped + received - distinct
    out[Out.TIMEOUTS] = counts[FlowOut.TIMEOUTS]
    out[Out.FAST_RETRANSMITS] = counts[FlowOut.FAST_RETRANSMITS]
    out[Out.CWND_CUTS] = counts[FlowOut.CWND_CUTS]
    out[Out.FIRST_RX] = NEVER
    out[Out.LAST_RX] = NEVER
    out[Out.RESUME_TX] = NEVER
    out[Out.RESUME_RX] = NEVER
