"""Transmission ids: shortened timestamps of packets, where a packet has no room for a whole one.

A packet carries the last bits of its timestamp. The rest follows from its latest transmission, which the
sender remembers.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.clocks import US
from netcarlo.kernels.linux.state import ACK_OF_SYN, Packet, Tcp, packet_at

STAMP_BITS = 18
"""Bits of a transmission id: milliseconds of over four minutes, longer than two copies of a packet are in
flight."""
_MASK = (1 << STAMP_BITS) - 1


def transmission_id(s: Any, now: Any) -> Any:
    """Return the transmission id of a packet that is sent now."""
    return clocks.timestamp_of(s, now) & _MASK


def note_transmission(p: Any, s: Any, packet: Any, copy: Any) -> None:
    """Note the timestamp of a packet that is about to arrive, from its id; it is not newer than the
    latest one."""
    if packet != ACK_OF_SYN:  # its timestamp is not used
        newest = clocks.timestamp_of(s, (s[packet_at(p, s, packet) + Packet.SENT] + 1) * US)
        stamp = newest - ((newest - copy) & _MASK)
        s[Tcp.RCV_TSVAL] = stamp * MS - s[Tcp.CLOCK_PHASE]
