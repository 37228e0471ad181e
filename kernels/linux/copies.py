"""When a copy of a packet was put out, where packets have no room for a whole timestamp.

They carry its last bits; the rest is that of the copy put out last, which the sender remembers.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.clocks import US
from netcarlo.kernels.linux.state import ACK_OF_SYN, Packet, Tcp, packet_at

STAMP_BITS = 18
"""Over four minutes: more than lies between two copies of a packet that are on their way."""
_MASK = (1 << STAMP_BITS) - 1


def transmission_id(s: Any, now: Any) -> Any:
    """What tells the copy of a packet put out now from others."""
    return clocks.timestamp_of(s, now) & _MASK


def note_transmission(p: Any, s: Any, packet: Any, copy: Any) -> None:
    """That copy of a packet is about to arrive: it is not newer than the one put out last."""
    if packet != ACK_OF_SYN:  # whose timestamp nobody needs
        newest = clocks.timestamp_of(s, (s[packet_at(p, s, packet) + Packet.SENT] + 1) * US)
        stamp = newest - ((newest - copy) & _MASK)
        s[Tcp.RCV_TSVAL] = stamp * MS - s[Tcp.CLOCK_PHASE]
