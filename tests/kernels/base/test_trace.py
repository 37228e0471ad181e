"""Trace: content of its rows."""

import numpy as np

from netcarlo.kernels.base.layout import EVENT_ACK, Trace
from netcarlo.kernels.base.trace import begin


def test_a_row_is_written_where_there_is_room() -> None:
    trace = np.zeros((2, len(Trace)))
    assert begin(trace, 1, 0.5, EVENT_ACK, 7, 3)
    assert not begin(trace, 2, 0.6, EVENT_ACK, 8, 3)
    assert not trace[0].any()
    expected = {Trace.TIME: 0.5, Trace.EVENT: EVENT_ACK, Trace.SEQUENCE: 7, Trace.PATH: 3}
    assert trace[1].tolist() == [expected.get(column, 0) for column in Trace]
