"""When each copy of a packet was put out, for a sender with timestamps (`linux26`).

The packets of most engines have no room for a timestamp.  They carry the number of the copy instead, and the
sender remembers when it put that out: of a packet's latest COPIES, which are all that there usually are.
"""

from typing import Any

from netcarlo.kernels.base.inline import global_memory
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp.state import Tcp

TRANSMISSION_BITS = 4
TRANSMISSIONS = 1 << TRANSMISSION_BITS
"""Copies of a packet that are told apart."""

_WORDS = 1 + TRANSMISSIONS  # of a packet: the number of its latest copy, and when each was put out [ns]
_ROUNDS = 2  # windows that are remembered: a copy may come when the packets of the next are out


def scratch_words(ring: Any) -> Any:
    """Words of scratch with rings of `ring` packets."""
    return _WORDS * _ROUNDS * ring


def _place(p: Any, begin: Any, packet: Any) -> Any:
    """Where what is known of a packet begins in scratch, that of all packets at word `begin`."""
    return begin + _WORDS * (packet & (_ROUNDS * p[P.RING] - 1))


def record(m: Any, p: Any, begin: Any, packet: Any, now: Any) -> Any:
    """A packet is put out; returns the number of this copy."""
    at = _place(p, begin, packet)
    table = global_memory(m)
    table[at] = 0 if packet > m[Tcp.SND_MAX] else (table[at] + 1) & (TRANSMISSIONS - 1)
    table[at + 1 + table[at]] = now
    return table[at]


def sent_at(m: Any, p: Any, begin: Any, packet: Any, transmission: Any) -> Any:
    """When that copy of a packet was put out [ns]."""
    return global_memory(m)[_place(p, begin, packet) + 1 + transmission]
