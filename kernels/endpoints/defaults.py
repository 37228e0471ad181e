"""Functions of an association for what a transport does not have: each returns that there is nothing to do.

`contract.Association` describes the functions. `base.bind.stacked` puts them below those of a transport that
leaves some of them out.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER

NONE = -1
"""Number that stands for no packet."""
FULL = -2
"""Number that stands for no packet because more are in flight than there is room for."""


def is_data(p: Any, s: Any, packet: Any) -> Any:
    """Return True: every packet of the sender carries data."""
    return True


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return False: the receiver sends no acknowledgements."""
    return False


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return 0: there are no packets without data."""
    return np.int64(0)


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return 0: the receiver sends nothing."""
    return np.int64(0)


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the number of the packet: traces count data as the sender does."""
    return packet


def show(s: Any, g: Any, trace: Any, n: Any) -> None:
    """Write nothing: the sender has no state to show."""


def transmission_id(s: Any, now: Any) -> Any:
    """Return 0: a packet is sent once."""
    return np.int64(0)


def note_transmission(p: Any, s: Any, packet: Any, copy: Any) -> None:
    """Do nothing: the receiver does not tell copies of a packet apart."""


def note_timestamp(s: Any, packet: Any, sent: Any) -> None:
    """Do nothing: packets carry no timestamps."""


def carries_cwr(s: Any, packet: Any) -> Any:
    """Return False: the sender does not use ECN."""
    return False


def on_echo(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Do nothing: the sender does not use ECN."""


def corrupted(p: Any, s: Any, packet: Any) -> None:
    """Do nothing: a packet with an error is lost."""


def in_order(p: Any, s: Any) -> Any:
    """Return 0: the receiver delivers packets as they arrive."""
    return np.int64(0)


def acked(p: Any, s: Any) -> Any:
    """Return 0: no packet is acknowledged."""
    return np.int64(0)


def finished(s: Any) -> Any:
    """Return False: the sender does not learn that its data have arrived."""
    return False


def data_waiting(p: Any, s: Any) -> Any:
    """Return 0: no data waits at the sender."""
    return np.int64(0)


def resume(p: Any, s: Any, g: Any) -> Any:
    """Return False: a full queue does not stop the sender."""
    return False


def overfull(s: Any) -> Any:
    """Return False: no packet in flight is kept where another one may need the room."""
    return False


def on_ack(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Do nothing: the receiver sends no acknowledgements."""


def due_at_receiver(s: Any) -> Any:
    """Return FOREVER: the receiver has no timer."""
    return np.int64(FOREVER)


def on_delay(p: Any, s: Any) -> Any:
    """Return NONE: the receiver has no timer."""
    return np.int64(NONE)


def probe(p: Any, s: Any, now: Any) -> Any:
    """Return NONE: there are no probe segments."""
    return np.int64(NONE)


def on_probe(p: Any, s: Any, g: Any, constants: Any, now: Any, number: Any) -> None:
    """Do nothing: there are no probe segments."""


def on_notice(p: Any, s: Any, g: Any, constants: Any, now: Any) -> None:
    """Do nothing: a broken route does not concern the sender."""
