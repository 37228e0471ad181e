"""Send times of the transmissions of each packet, for a sender with timestamps (`linux26`).

Packets of most engines have no room for a timestamp. They carry a transmission id instead, and the sender
keeps the send time of each id: of the latest TRANSMISSIONS transmissions of a packet, rarely exceeded.
"""

from typing import Any

from netcarlo.kernels.base.inline import global_memory
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.tcp.state import Tcp

TRANSMISSION_BITS = 4
"""Bits of a transmission id."""
TRANSMISSIONS = 1 << TRANSMISSION_BITS
"""Number of transmissions of a packet that have distinct ids."""

_WORDS = 1 + TRANSMISSIONS  # of a packet: id of its latest transmission, then the send time of each id [ns]
_ROUNDS = 2  # windows kept: a packet may arrive when the next window is in flight


def scratch_words(ring: Any) -> Any:
    """Return the words of scratch with rings of `ring` packets."""
    return _WORDS * _ROUNDS * ring


def _place(p: Any, begin: Any, packet: Any) -> Any:
    """Return the word where the record of a packet begins; the table begins at word `begin`."""
    return begin + _WORDS * (packet & (_ROUNDS * p[RowP.RING] - 1))


def record(m: Any, p: Any, begin: Any, packet: Any, now: Any) -> Any:
    """Record the sending of a packet; return the id of this transmission."""
    at = _place(p, begin, packet)
    table = global_memory(m)
    table[at] = 0 if packet > m[Tcp.SND_MAX] else (table[at] + 1) & (TRANSMISSIONS - 1)
    table[at + 1 + table[at]] = now
    return table[at]


def sent_at(m: Any, p: Any, begin: Any, packet: Any, transmission: Any) -> Any:
    """Return the send time of a transmission of a packet [ns]."""
    return global_memory(m)[_place(p, begin, packet) + 1 + transmission]
