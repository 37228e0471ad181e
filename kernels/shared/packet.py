"""A packet as a word: links passed, flags, which copy of its number it is, its flow, and that number.

Flow and number share what is left of a word: in a row of many flows there is less room for numbers.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux.transmission_ids import STAMP_BITS
from netcarlo.kernels.shared.state import Word

_HOP_MASK = 31  # bits 0 to 4: links passed
ON_BACKUP_ROUTE = 1 << 4  # the highest bit of links passed: it takes the other route, see `detours`
BACKWARD = 1 << 5  # from the sink: an acknowledgement, the reply to a probe
MARKED = 1 << 6  # data: congestion experienced; acknowledgement: congestion echoed
CWR = 1 << 7  # data: the sender has reduced its window
CONTROL = 1 << 8  # neither data nor an acknowledgement of data: of a handshake, a heartbeat
PROBE = 1 << 9  # a probe segment, or the reply to one
SHORT = CONTROL | PROBE  # both: the last data packet of a flow, shorter than the others by `P.SHORT` bytes
_COPY_SHIFT = 10
_COPY_MASK = (1 << STAMP_BITS) - 1  # which is more than the number of a copy needs
_FLOW_SHIFT = _COPY_SHIFT + STAMP_BITS  # so many bits as `Word.FLOW_BITS` says; the number lies above

NUMBER_BITS = 63 - _FLOW_SHIFT
"""Bits of a number, less those of the number of a flow: 25 where there are 1,024 flows."""

NONE = -1
"""No packet."""
ONE_HOP = 1
"""To add when a link has been passed."""


def pack(m: Any, flow: Any, number: Any, copy: Any) -> Any:
    """A packet of a flow, without flags; `copy`: which one of its number it is, or when it was put out."""
    return (np.int64(number) << m[Word.FLOW_BITS] | flow) << _FLOW_SHIFT | copy << _COPY_SHIFT


def pack_with_time(m: Any, flow: Any, t: Any) -> Any:
    """A datagram that is put out at `t` [ns], which stands in place of its number and copy; without flags."""
    return pack(m, flow, t >> STAMP_BITS & _age_mask(m) >> STAMP_BITS, t & _COPY_MASK)


def age_of(m: Any, word: Any, t: Any) -> Any:
    """How long it has been under way at `t` [ns], up to two hours with 1,024 flows, 39 with 64."""
    return t - (number_of(m, word) << STAMP_BITS | transmission_id(word)) & _age_mask(m)


def _age_mask(m: Any) -> Any:
    return (np.int64(1) << STAMP_BITS + NUMBER_BITS - m[Word.FLOW_BITS]) - 1


def flow_of(m: Any, word: Any) -> Any:
    """The number of its flow."""
    return word >> _FLOW_SHIFT & ((np.int64(1) << m[Word.FLOW_BITS]) - 1)


def hop_of(word: Any) -> Any:
    """Links passed."""
    return word & _HOP_MASK


def transmission_id(word: Any) -> Any:
    """Which copy of the packet of its number it is, see `association.transmission_id`."""
    return word >> _COPY_SHIFT & _COPY_MASK


def number_of(m: Any, word: Any) -> Any:
    """Its number among those of its end; probes have numbers of their own."""
    return word >> _FLOW_SHIFT >> m[Word.FLOW_BITS]


def is_payload(word: Any) -> Any:
    """Return whether the packet of this word is data of the application."""
    return word & (BACKWARD | SHORT) == 0 or is_short(word)


def is_short(word: Any) -> Any:
    """Return whether the packet of this word is the last data packet and shorter than the others."""
    return word & SHORT == SHORT
