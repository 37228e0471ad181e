"""What the ad hoc engine asks of an association besides: there packets overtake each other."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import association
from netcarlo.kernels.linux.state import FIRST, NONE, Tcp


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """As `association.size_of_ack`, which engines ask whenever the packet goes on the air.

    Later ones may have arrived before, and still later ones need its place in the ring.
    """
    if s[Tcp.NEXT_ACK_ID] - ack_id > p[P.RING]:
        s[Tcp.OVERFULL] = 1
    return association.size_of_ack(p, s, ack_id)


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """What a trace calls a packet of the sender: data are numbered from 1, and nothing else."""
    return association.sequence_of(p, s, packet) if packet >= FIRST else np.int64(NONE)


def corrupted(p: Any, s: Any, packet: Any) -> None:
    """A packet that has reached the sink destroyed is lost, and nothing else."""


def on_notice(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """A broken link is no concern of the sender's."""
