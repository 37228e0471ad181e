"""Packet word: flags, transmission id, links passed, flow, and packet number.

Links passed and flow have as many bits as the row requires, and the number has the rest: a row of many flows
or long routes has less room for numbers.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.linux.transmission_ids import STAMP_BITS
from netcarlo.kernels.shared.state import Word

ON_BACKUP_ROUTE = 1  # the packet takes the backup route, see `detours`
BACKWARD = 1 << 1  # packet of the sink: an acknowledgement, or the reply to a probe
MARKED = 1 << 2  # data: congestion experienced (CE); acknowledgement: congestion echoed (ECE)
CWR = 1 << 3  # data: the sender has reduced its window
CONTROL = 1 << 4  # neither data nor an acknowledgement of data: a packet of a handshake, or a heartbeat
PROBE = 1 << 5  # probe segment, or the reply to one
SHORT = CONTROL | PROBE
"""Both flags: the last data packet of a flow, `RowP.SHORT` bytes shorter than the others."""
_COPY_SHIFT = 6
_COPY_MASK = (1 << STAMP_BITS) - 1  # mask of the transmission id
_HOP_SHIFT = _COPY_SHIFT + STAMP_BITS
"""Shift of the links passed, which are read at every link. The flow is above them, from bit `Word.FLOW_SHIFT`
on, and the number above it, from bit `Word.NUMBER_SHIFT` on."""
ONE_HOP = 1 << _HOP_SHIFT
"""Increment of the word when a link has been passed."""

WORD_BITS = 63
"""Bits of a word, without its sign."""

NONE = -1
"""Value that stands for no packet."""


def divide(m: Any, flows: Any, hops: Any) -> None:
    """Divide the bits of a word for a row of so many flows, in which a packet passes fewer than `hops` links
    before the last."""
    m[Word.HOP_MASK] = (np.int64(1) << bits_of(hops)) - 1
    m[Word.FLOW_SHIFT] = _HOP_SHIFT + bits_of(hops)
    m[Word.FLOW_MASK] = (np.int64(1) << bits_of(flows)) - 1
    m[Word.NUMBER_SHIFT] = m[Word.FLOW_SHIFT] + bits_of(flows)


def bits_of(count: Any) -> Any:
    """Return the bits of numbers below `count`."""
    bits = np.int64(0)
    while (np.int64(1) << bits) < count:
        bits += 1
    return bits


def number_bits(m: Any) -> Any:
    """Return the bits of a packet number: 25 with 1,024 flows and routes of up to 16 links."""
    return WORD_BITS - m[Word.NUMBER_SHIFT]


def pack(m: Any, flow: Any, number: Any, copy: Any) -> Any:
    """Return a packet word of a flow without flags; `copy` is its transmission id."""
    own = copy << _COPY_SHIFT | np.int64(flow) << m[Word.FLOW_SHIFT]
    return np.int64(number) << m[Word.NUMBER_SHIFT] | own


def pack_with_time(m: Any, flow: Any, t: Any) -> Any:
    """Return the word of a datagram sent at `t` [ns], which replaces its number and transmission id;
    without flags."""
    return pack(m, flow, t >> STAMP_BITS & _age_mask(m) >> STAMP_BITS, t & _COPY_MASK)


def age_of(m: Any, word: Any, t: Any) -> Any:
    """Return the time since a datagram was sent [ns], up to two hours with 1,024 flows and 39 with 64 whose
    routes have up to 16 links."""
    return t - (number_of(m, word) << STAMP_BITS | transmission_id(word)) & _age_mask(m)


def _age_mask(m: Any) -> Any:
    """Return the mask of the sending time in a datagram's word."""
    return (np.int64(1) << STAMP_BITS + number_bits(m)) - 1


def flow_of(m: Any, word: Any) -> Any:
    """Return the number of a packet's flow."""
    return word >> m[Word.FLOW_SHIFT] & m[Word.FLOW_MASK]


def hop_of(m: Any, word: Any) -> Any:
    """Return the links that a packet has passed."""
    return word >> _HOP_SHIFT & m[Word.HOP_MASK]


def transmission_id(word: Any) -> Any:
    """Return the transmission id of a packet, see `association.transmission_id`."""
    return word >> _COPY_SHIFT & _COPY_MASK


def number_of(m: Any, word: Any) -> Any:
    """Return the number of a packet among those of its endpoint; probes are numbered separately."""
    return word >> m[Word.NUMBER_SHIFT]


def is_payload(word: Any) -> Any:
    """Return True if the packet is data of the application."""
    return word & (BACKWARD | SHORT) == 0 or is_short(word)


def is_short(word: Any) -> Any:
    """Return True if the packet is the last data packet and shorter than the others."""
    return word & SHORT == SHORT
