"""Functions of an association for ad hoc networks, where packets overtake each other."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.linux import association
from netcarlo.kernels.linux.state import FIRST, NONE, Tcp


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of an ACK, as `association.size_of_ack` does; an engine asks at every transmission
    of a frame.

    Later ACKs may have arrived earlier, and still later ones need its place in the ring.
    """
    if s[Tcp.NEXT_ACK_ID] - ack_id > p[RowP.RING]:
        s[Tcp.OVERFULL] = 1
    return association.size_of_ack(p, s, ack_id)


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the number of a sender's packet in traces, NONE if it carries no data."""
    return association.sequence_of(p, s, packet) if packet >= FIRST else np.int64(NONE)


def corrupted(p: Any, s: Any, packet: Any) -> None:
    """Do nothing: a packet that reaches the receiver corrupted is lost."""


def on_notice(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Do nothing: the sender does not react to broken links."""
