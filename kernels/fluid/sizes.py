"""Sizes of the packets of a flow over shared links."""

from typing import Any

from netcarlo.kernels.base.parameters import RowP


def data_packet(flow: Any) -> Any:
    """Return the size of a data packet of a flow on the wire [byte]; `flow` are its columns."""
    return flow[RowP.DATA] + flow[RowP.HEADER] + flow[RowP.CHUNK_HEADER]
