"""Packets in the network: at the start and end of counting, and of slots of arriving flows."""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.wireless.frame import FLOW_MASK, is_data
from netcarlo.kernels.wireless.state import FLOW_COUNTS, FlowState, flow_at

ARRIVALS: Any = slot("arrivals")


def count(m: Any, frame: Any, column: Any) -> None:
    """Count a packet in a column of `FlowOut` if it carries data."""
    if is_data(frame):
        m[flow_at(m, frame & FLOW_MASK) + FLOW_COUNTS + column] += 1


def enter(m: Any, frame: Any) -> None:
    """Count a place in a queue or leg that a packet occupies, if flows arrive and depart."""
    if ARRIVALS:
        m[flow_at(m, frame & FLOW_MASK) + FlowState.IN_FLIGHT] += 1


def leave(m: Any, frame: Any) -> None:
    """Count a place that a packet no longer occupies."""
    if ARRIVALS:
        m[flow_at(m, frame & FLOW_MASK) + FlowState.IN_FLIGHT] -= 1
