"""Frame in a queue or a leg, as one word: its flow, next hop, direction and packet."""

from typing import Any

from netcarlo.kernels.base import ring
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.wireless.layout import MOST_FLOWS, Flow, Rate
from netcarlo.kernels.wireless.state import Mac, Word, flow_at, link_at, rate_at

sizes: Any = slot("sizes")

FLOW_BITS = MOST_FLOWS.bit_length() - 1
_HOP_BITS = 7
_DIRECTION = FLOW_BITS + _HOP_BITS
_PROBE = _DIRECTION + 1
_CONTROL = _PROBE + 1
TRANSMISSION_SHIFT = _CONTROL + 1
PACKET_SHIFT: Any = slot("packet_shift")
"""Lowest bit of the packet number. The bits from TRANSMISSION_SHIFT on distinguish the transmissions of a
packet."""
FLOW_MASK = (1 << FLOW_BITS) - 1
HOP_MASK = (1 << _HOP_BITS) - 1
HOPS = HOP_MASK << FLOW_BITS
"""Mask of the number of the next hop."""
ONE_HOP = 1 << FLOW_BITS
BACKWARD = 1 << _DIRECTION
"""Flag of a packet of the receiver, usually an acknowledgement; its number is that of the answer."""
PROBE = 1 << _PROBE
"""Flag of a probe segment of TCP, or of the reply to it; its number is that of the probe."""
CONTROL = 1 << _CONTROL
"""Flag of a packet that neither carries nor acknowledges data: handshake, heartbeat."""


def is_data(frame: Any) -> Any:
    """Return whether a frame carries data of the application."""
    return frame & (BACKWARD | PROBE | CONTROL) == 0


def is_ack(frame: Any) -> Any:
    """Return whether a frame acknowledges data."""
    return frame & (BACKWARD | PROBE | CONTROL) == BACKWARD


def frame_of(flow: Any, packet: Any, copy: Any) -> Any:
    """Return the frame of a packet of a flow; `copy` is the number of its transmission."""
    return packet << PACKET_SHIFT | copy << TRANSMISSION_SHIFT | flow


def transmission_id(frame: Any) -> Any:
    """Return the number of the transmission of a packet that a frame carries."""
    return frame >> TRANSMISSION_SHIFT & ((1 << PACKET_SHIFT - TRANSMISSION_SHIFT) - 1)


def head_of(m: Any, at: Any) -> Any:
    """Return the frame at the head of the queue of the node at word `at`."""
    return m[ring.first(m, at + Mac.HEAD, 1)]


def link_of(m: Any, frame: Any) -> Any:
    """Return the word of the link that a frame crosses next."""
    flow = flow_at(m, frame & FLOW_MASK)
    hop = frame >> FLOW_BITS & HOP_MASK
    path = m[flow + Flow.BACK_AT] if frame & BACKWARD else m[flow + Flow.FORTH_AT]
    return link_at(m, m[m[Word.PATHS] + path + hop])


@noinline
def size_of(m: Any, frame: Any) -> Any:
    """Return the size of a frame's packet, with the headers of transport and network layer [byte]."""
    return sizes.size_of(m, frame & FLOW_MASK, frame)


def air_time(m: Any, size: Any, rate: Any) -> Any:
    """Return the time on the air of `size` bytes at a rate, preamble included [ns]."""
    at = rate_at(m, rate)
    sixth_bits = m[at + Rate.SIXTH_BITS]
    symbols = (6 * (8 * size + m[at + Rate.EXTRA_BITS]) + sixth_bits - 1) // sixth_bits
    return m[at + Rate.PREAMBLE] + m[at + Rate.SYMBOL] * symbols + m[at + Rate.EXTENSION]
