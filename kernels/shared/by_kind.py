"""Lookup of the functions of shared links by the kind of a flow, where kinds have their own associations."""

from typing import Any

from netcarlo.kernels.base.by_kind import Chosen
from netcarlo.kernels.shared import ends, hosts
from netcarlo.kernels.shared.layout import Flow

OF_HOSTS = "on_event", "next_event", "receive", "return_ack"
OF_ENDS = "size_of", "prepare", "sample", "count", "sequence_of", "show"
CHOSEN: Chosen = {"hosts": (hosts, OF_HOSTS), "ends": (ends, OF_ENDS)}
"""Module and names of these functions by the slot that they fill."""


def kind_of(m: Any, b: Any, *others: Any) -> Any:
    """Return the number of the sender of the flow whose block begins at `b` (`senders`)."""
    return m[b + Flow.KIND]
