"""A packet as a word: the number of its flow, links passed, its flags, its size and its own number."""

from typing import Any

import numpy as np

_HOP_SHIFT = 6  # bits 0 to 5: its flow
_HOP_MASK = 31
BACKWARD = 1 << 11  # an acknowledgement
MARKED = 1 << 12  # data: congestion experienced; acknowledgement: congestion echoed
REDUCED = 1 << 13  # data: the sender has reduced its window
_SIZE_SHIFT = 14
_SIZE_MASK = (1 << 17) - 1
_NUMBER_SHIFT = 31
_FLOW_MASK = 63

ONE_HOP = 1 << _HOP_SHIFT
"""To add when a link has been passed."""


def pack(flow: Any, number: Any, size: Any) -> Any:
    """A data packet, or an acknowledgement with this serial, of so many bytes; without flags."""
    return np.int64(number) << _NUMBER_SHIFT | size << _SIZE_SHIFT | flow


def flow_of(word: Any) -> Any:
    """The number of its flow."""
    return word & _FLOW_MASK


def hop_of(word: Any) -> Any:
    """Links passed."""
    return word >> _HOP_SHIFT & _HOP_MASK


def size_of(word: Any) -> Any:
    """Its size [byte]."""
    return word >> _SIZE_SHIFT & _SIZE_MASK


def number_of(word: Any) -> Any:
    """The number of a data packet, or the serial of an acknowledgement."""
    return word >> _NUMBER_SHIFT
