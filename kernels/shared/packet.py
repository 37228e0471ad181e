"""Packet word: links passed, flags, transmission id, flow, and packet number.

Flow and number share the remaining bits of a word: a row of many flows has less room for numbers.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux.transmission_ids import STAMP_BITS
from netcarlo.kernels.shared.state import Word

_HOP_MASK = 31  # mask of the links passed, bits 0 to 4
ON_BACKUP_ROUTE = 1 << 4  # highest bit of the links passed: the packet takes the backup route, see `detours`
BACKWARD = 1 << 5  # packet of the sink: an acknowledgement, or the reply to a probe
MARKED = 1 << 6  # data: congestion experienced (CE); acknowledgement: congestion echoed (ECE)
CWR = 1 << 7  # data: the sender has reduced its window
CONTROL = 1 << 8  # neither data nor an acknowledgement of data: a packet of a handshake, or a heartbeat
PROBE = 1 << 9  # probe segment, or the reply to one
SHORT = CONTROL | PROBE
"""Both flags: the last data packet of a flow, `RowP.SHORT` bytes shorter than the others."""
_COPY_SHIFT = 10
_COPY_MASK = (1 << STAMP_BITS) - 1  # mask of the transmission id
_FLOW_SHIFT = _COPY_SHIFT + STAMP_BITS
"""Shift of the flow, which has as many bits as `Word.FLOW_BITS` says; the number is above it."""

NUMBER_BITS = 63 - _FLOW_SHIFT
"""Bits of a packet number plus those of a flow number; a number has 25 bits with 1,024 flows."""

NONE = -1
"""Value that stands for no packet."""
ONE_HOP = 1
"""Increment of the word when a link has been passed."""


def pack(m: Any, flow: Any, number: Any, copy: Any) -> Any:
    """Return a packet word of a flow without flags; `copy` is its transmission id."""
    return (np.int64(number) << m[Word.FLOW_BITS] | flow) << _FLOW_SHIFT | copy << _COPY_SHIFT


def pack_with_time(m: Any, flow: Any, t: Any) -> Any:
    """Return the word of a datagram sent at `t` [ns], which replaces its number and transmission id;
    without flags."""
    return pack(m, flow, t >> STAMP_BITS & _age_mask(m) >> STAMP_BITS, t & _COPY_MASK)


def age_of(m: Any, word: Any, t: Any) -> Any:
    """Return the time since a datagram was sent [ns], up to two hours with 1,024 flows and 39 with 64."""
    return t - (number_of(m, word) << STAMP_BITS | transmission_id(word)) & _age_mask(m)


def _age_mask(m: Any) -> Any:
    """Return the mask of the sending time in a datagram's word."""
    return (np.int64(1) << STAMP_BITS + NUMBER_BITS - m[Word.FLOW_BITS]) - 1


def flow_of(m: Any, word: Any) -> Any:
    """Return the number of a packet's flow."""
    return word >> _FLOW_SHIFT & ((np.int64(1) << m[Word.FLOW_BITS]) - 1)


def hop_of(word: Any) -> Any:
    """Return the links that a packet has passed."""
    return word & _HOP_MASK


def transmission_id(word: Any) -> Any:
    """Return the transmission id of a packet, see `association.transmission_id`."""
    return word >> _COPY_SHIFT & _COPY_MASK


def number_of(m: Any, word: Any) -> Any:
    """Return the number of a packet among those of its endpoint; probes are numbered separately."""
    return word >> _FLOW_SHIFT >> m[Word.FLOW_BITS]


def is_payload(word: Any) -> Any:
    """Return True if the packet is data of the application."""
    return word & (BACKWARD | SHORT) == 0 or is_short(word)


def is_short(word: Any) -> Any:
    """Return True if the packet is the last data packet and shorter than the others."""
    return word & SHORT == SHORT
