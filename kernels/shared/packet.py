"""A packet as a word: its flow, links passed, flags, which copy of its number it is, and that number."""

from typing import Any

import numpy as np

from netcarlo.kernels.linux.copies import STAMP_BITS

_HOP_SHIFT = 6  # bits 0 to 5: its flow
_HOP_MASK = 31
BACKWARD = 1 << 11  # from the sink: an acknowledgement, the reply to a probe
MARKED = 1 << 12  # data: congestion experienced; acknowledgement: congestion echoed
REDUCED = 1 << 13  # data: the sender has reduced its window
CONTROL = 1 << 14  # neither data nor an acknowledgement of data: of a handshake, a heartbeat
PROBE = 1 << 15  # a probe segment, or the reply to one
_COPY_SHIFT = 16
_COPY_MASK = (1 << STAMP_BITS) - 1  # which is more than the number of a copy needs
_NUMBER_SHIFT = _COPY_SHIFT + STAMP_BITS
_FLOW_MASK = 63
_STAMP_MASK = (1 << 63 - _COPY_SHIFT) - 1

DETOURED = 1 << 10  # the highest bit of links passed: it takes the other route, see `detours`

ONE_HOP = 1 << _HOP_SHIFT
"""To add when a link has been passed."""


def pack(flow: Any, number: Any, copy: Any) -> Any:
    """A packet of a flow, without flags; `copy`: which one of its number it is, or when it was put out."""
    return np.int64(number) << _NUMBER_SHIFT | copy << _COPY_SHIFT | flow


def stamp(flow: Any, t: Any) -> Any:
    """A datagram that is put out at `t` [ns], without a number and flags."""
    return (t & _STAMP_MASK) << _COPY_SHIFT | flow


def age(word: Any, t: Any) -> Any:
    """How long it has been under way at `t` [ns], up to 39 hours."""
    return t - (word >> _COPY_SHIFT) & _STAMP_MASK


def flow_of(word: Any) -> Any:
    """The number of its flow."""
    return word & _FLOW_MASK


def hop_of(word: Any) -> Any:
    """Links passed."""
    return word >> _HOP_SHIFT & _HOP_MASK


def copy_of(word: Any) -> Any:
    """Which copy of the packet of its number it is, see `association.copy_of`."""
    return word >> _COPY_SHIFT & _COPY_MASK


def number_of(word: Any) -> Any:
    """Its number among those of its end; probes have numbers of their own."""
    return word >> _NUMBER_SHIFT


def is_payload(word: Any) -> Any:
    """Whether it is data of the application."""
    return word & (BACKWARD | CONTROL | PROBE) == 0
