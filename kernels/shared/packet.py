"""A packet as a word: its flow, links passed, flags, which copy it is or how many SACK blocks, its number."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp.copies import COPIES, COPY_BITS

_HOP_SHIFT = 6  # bits 0 to 5: its flow
_HOP_MASK = 31
BACKWARD = 1 << 11  # an acknowledgement, or the reply to a probe
MARKED = 1 << 12  # data: congestion experienced; acknowledgement: congestion echoed
REDUCED = 1 << 13  # data: the sender has reduced its window
SYN = 1 << 14  # the first packet of a handshake
PROBE = 1 << 15  # a probe segment, or the reply to one
_DETAIL_SHIFT = 16
_DETAIL_MASK = COPIES - 1
_NUMBER_SHIFT = _DETAIL_SHIFT + COPY_BITS
_FLOW_MASK = 63

ONE_HOP = 1 << _HOP_SHIFT
"""To add when a link has been passed."""


def pack(flow: Any, number: Any, detail: Any) -> Any:
    """A packet of a flow, without flags; `detail`: of data which copy, of an acknowledgement SACK blocks."""
    return np.int64(number) << _NUMBER_SHIFT | detail << _DETAIL_SHIFT | flow


def flow_of(word: Any) -> Any:
    """The number of its flow."""
    return word & _FLOW_MASK


def hop_of(word: Any) -> Any:
    """Links passed."""
    return word >> _HOP_SHIFT & _HOP_MASK


def detail_of(word: Any) -> Any:
    """Of data which copy of the packet it is, of an acknowledgement how many SACK blocks it has."""
    return word >> _DETAIL_SHIFT & _DETAIL_MASK


def number_of(word: Any) -> Any:
    """The number of a data packet or a probe, or the serial of an acknowledgement."""
    return word >> _NUMBER_SHIFT


def is_payload(word: Any) -> Any:
    """Whether it is data of the application."""
    return word & (BACKWARD | SYN | PROBE) == 0


def size_of(m: Any, b: Any, word: Any) -> Any:
    """Its size [byte]; its flow begins at word `b` of scratch `m`."""
    if word & PROBE:
        return m[b + P.HEADER]
    if word & BACKWARD:
        return m[b + P.ACK] + m[b + P.SACK_BLOCK] * detail_of(word)
    if word & SYN:
        return m[b + P.HANDSHAKE]
    return m[b + P.DATA] + m[b + P.HEADER]
