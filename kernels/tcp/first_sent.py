"""Function of an association for delay statistics: notes when packets are first sent, for `acks.delay_of`."""

from typing import Any

from netcarlo.kernels.base.inline import global_memory
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.tcp.state import Tcp


def note_first_sent(p: Any, s: Any, packet: Any, now: Any) -> None:
    """Note the sending time of a new packet [ns]."""
    global_memory(s)[s[Tcp.SEND_TIMES] + (packet & (p[RowP.RING] - 1))] = now
