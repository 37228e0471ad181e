"""Rows of a trace."""

import numpy as np

from netcarlo.kernels.base.layout import EVENT_ACK, Trace
from netcarlo.kernels.base.trace import begin, show_sender


def test_a_row_is_written_where_there_is_room() -> None:
    trace = np.zeros((2, len(Trace)))
    assert begin(trace, 1, 0.5, EVENT_ACK, 7, 3)
    show_sender(trace, 1, 2.5, 10, 0.2, 6)
    assert not begin(trace, 2, 0.6, EVENT_ACK, 8, 3)
    assert not trace[0].any()
    expected = {
        Trace.TIME: 0.5, Trace.EVENT: EVENT_ACK, Trace.SEQUENCE: 7, Trace.PATH: 3,
        Trace.CWND: 2.5, Trace.SSTHRESH: 10, Trace.RTO: 0.2, Trace.ACKED: 6,
    }  # fmt: skip
    assert trace[1].tolist() == [expected.get(column, 0) for column in Trace]
