"""Packets that are in the network when counting begins or ends."""

from typing import Any

from netcarlo.kernels.wireless.frame import FLOW_MASK, is_data
from netcarlo.kernels.wireless.state import FLOW_COUNTS, flow_at


def count(m: Any, frame: Any, column: Any) -> None:
    """Count a packet in a column of `FlowOut` if it carries data."""
    if is_data(frame):
        m[flow_at(m, frame & FLOW_MASK) + FLOW_COUNTS + column] += 1
