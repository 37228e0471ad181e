"""Frames that nodes send each other."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.state import hosts, routes
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP


class Kind(IntEnum):
    """Kind of a frame; kinds from REQUEST on are routing frames."""

    DATA = 0  # data, and other packets of the association to the sink
    ACK = 1  # acknowledgements, and other packets of the association to the source
    PROBE = 2
    REPLY = 3  # reply to a probe
    REQUEST = 4  # route request, broadcast
    ROUTE_REPLY = 5
    ROUTE_ERROR = 6


class Frame(NamedTuple):
    """A frame."""

    head: Any
    """Kind (3 bits), CONTROL (1), number of the current hop (4), number of times that the frame was salvaged
    (4), transmission of the segment (up to PACKET_SHIFT), number of the packet."""
    route: Any
    """Route of the frame; of a route request, the nodes that it has passed so far."""
    load: Any
    """Content of a routing frame.

    A route reply has the route found. Other loads are a number in the type of a route (`routes.packed`): of
    a route error the two nodes of the broken link (8 bits each); of a route request its target (8 bits), time
    to live (1), 1 if a broken link follows (1), that link, and the id of the request.
    """


CONTROL = 1 << 3
"""Bit of DATA and ACK frames that neither carry nor acknowledge data (SYN; SCTP handshake, heartbeats)."""

HOP_SHIFT, SALVAGE_SHIFT, TRANSMISSION_SHIFT = 4, 8, 12
PACKET_SHIFT: Any = slot("packet_shift")
"""Lowest bit of the packet number in `head`. The bits from TRANSMISSION_SHIFT on distinguish its
retransmissions."""
ONE_HOP = 1 << HOP_SHIFT
ONE_SALVAGE = 1 << SALVAGE_SHIFT
NODE_BITS, NODE_MASK = 8, 255
TTL_SHIFT, HAS_BROKEN_SHIFT, FROM_SHIFT, TO_SHIFT, ID_SHIFT = 8, 9, 10, 18, 26
_KIND_MASK, _MASK = 7, 15
_JOURNEY = (_MASK << HOP_SHIFT) | (_MASK << SALVAGE_SHIFT)

_REQUEST_BYTES, _REPLY_BYTES, _ERROR_BYTES, _HOP_BYTES = 12, 8, 16, 4


def words() -> Any:
    """Return the number of words of scratch that hold a frame."""
    return 1 + 2 * routes.WORDS


def read(m: Any, at: Any) -> Any:
    """Return the frame that begins at word `at` of scratch."""
    return Frame(m[at], routes.read(m, at + 1), routes.read(m, at + 1 + routes.WORDS))


def write(m: Any, at: Any, frame: Any) -> None:
    """Write a frame to scratch from word `at` on."""
    m[at] = frame.head
    routes.write(m, at + 1, frame.route)
    routes.write(m, at + 1 + routes.WORDS, frame.load)


def plain(head: Any, route: Any) -> Any:
    """Return a frame without a load."""
    return Frame(head, route, routes.none())


def head_of(kind: Any, number: Any, copy: Any) -> Any:
    """Return the first word of the frame of a packet; `copy` is the transmission of its segment."""
    return number << PACKET_SHIFT | copy << TRANSMISSION_SHIFT | kind


def kind_of(head: Any) -> Any:
    """Return the kind of a frame."""
    return head & _KIND_MASK


def hop_of(head: Any) -> Any:
    """Return the position in its route of the node that has a frame."""
    return head >> HOP_SHIFT & _MASK


def salvages_of(head: Any) -> Any:
    """Return how often a packet has been salvaged (RFC 4728, section 8.3.6)."""
    return head >> SALVAGE_SHIFT & _MASK


def afresh(head: Any) -> Any:
    """Return the first word of a packet that is retransmitted on a new route."""
    return head & ~np.int64(_JOURNEY)


def number_of(head: Any) -> Any:
    """Return the number that the sender or the receiver gave a packet; probes are numbered separately."""
    return head >> PACKET_SHIFT


def transmission_id(head: Any) -> Any:
    """Return the number of the transmission of a segment that a frame carries."""
    return head >> TRANSMISSION_SHIFT & ((1 << PACKET_SHIFT - TRANSMISSION_SHIFT) - 1)


def is_data(head: Any) -> Any:
    """Return whether a frame carries data of the application."""
    return head & (_KIND_MASK | CONTROL) == Kind.DATA


def is_ack(head: Any) -> Any:
    """Return whether a frame acknowledges data."""
    return head & (_KIND_MASK | CONTROL) == Kind.ACK


def goes_forth(head: Any) -> Any:
    """Return whether a frame travels from source to sink."""
    return kind_of(head) == Kind.DATA or kind_of(head) == Kind.PROBE


@noinline
def size_of(m: Any, frame: Any) -> Any:
    """Return the size of the packet of a frame [byte]."""
    kind = kind_of(frame.head)
    if is_data(frame.head):
        whole = m[RowP.DATA] + m[RowP.CHUNK_HEADER] + m[RowP.HEADER]
        return whole - (m[RowP.SHORT] if hosts.is_last(m, frame.head) else 0)
    if kind <= Kind.ACK:
        return hosts.size_of(m, frame.head)
    if kind <= Kind.REPLY:
        return m[RowP.HEADER]
    length = routes.length(frame.route)
    if kind == Kind.REQUEST:
        return _REQUEST_BYTES + _HOP_BYTES * length
    if kind == Kind.ROUTE_REPLY:
        return _REPLY_BYTES + _HOP_BYTES * (length + routes.length(frame.load))
    return _ERROR_BYTES + _HOP_BYTES * length
