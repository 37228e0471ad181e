"""Outcomes of data that a flow's sink receives for the first time: delays, and the best interval."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import DELAY_BINS, DELAY_LOW, FlowOut, Radio
from netcarlo.kernels.wireless.state import FLOW_COUNTS, FlowState

observer: Any = slot("observer")


@noinline
def count(m: Any, at: Any, t: Any, delay: Any) -> None:
    """Count a packet of the flow at word `at` that arrives first now, `delay` [ns] after it was sent."""
    counts = at + FLOW_COUNTS
    m[at + FlowState.DELAY_NS] += delay
    m[counts + FlowOut.DELAY_SUM] += m[at + FlowState.DELAY_NS] // 1000
    m[at + FlowState.DELAY_NS] %= 1000
    m[counts + FlowOut.DELAYS + _delay_bin(delay)] += 1
    observer.on_delivered(m, at, t, delay)
    length = m[Radio.BIN]
    if length > 0 and t >= m[Radio.WARM_UP]:
        number = (t - m[Radio.WARM_UP]) // length
        if number != m[at + FlowState.BIN]:
            m[at + FlowState.BIN] = number
            m[at + FlowState.IN_BIN] = 0
        m[at + FlowState.IN_BIN] += 1
        if m[Radio.WARM_UP] + (number + 1) * length <= m[RowP.END]:
            m[counts + FlowOut.BEST] = max(m[counts + FlowOut.BEST], m[at + FlowState.IN_BIN])


def _delay_bin(delay: Any) -> Any:
    """Return the bin of a delay [ns] in `FlowOut.DELAYS`, four in each octave."""
    octave = np.int64(0)
    rest = max(delay, np.int64(1))
    while rest > 1:
        rest >>= 1
        octave += 1
    quarter = delay >> (octave - 2) & 3 if octave >= 2 else np.int64(0)
    return min(max((octave - DELAY_LOW) * 4 + quarter, 0), DELAY_BINS - 1)
