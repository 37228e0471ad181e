"""Frames: what the nodes send each other, in three words."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from netcarlo.kernels.adhoc.routes import LENGTH_MASK
from netcarlo.kernels.adhoc.state import hosts
from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P


class Kind(IntEnum):
    """What a frame is; those from REQUEST on are routing."""

    DATA = 0  # and what else an association sends to the sink
    ACK = 1  # and what else it sends to the source
    PROBE = 2
    REPLY = 3  # to a probe
    REQUEST = 4  # for a route, broadcast
    ROUTE_REPLY = 5
    ROUTE_ERROR = 6


class Frame(NamedTuple):
    """A frame."""

    head: Any
    """Its kind (3 bits), CONTROL (1), the hop that it is on (4), how often it was salvaged (4), which copy of
    a segment it is (up to PACKET_SHIFT), number of the packet."""
    route: Any
    """Those of requests: so far."""
    load: Any
    """Of a route reply: the route found.  Of a route error: a broken link, from and to (6 bits each).  Of a
    request: its target (6 bits), time to live (1), whether there is a broken link (1), that, and its id."""


CONTROL = 1 << 3
"""Of DATA and ACK: it neither carries nor acknowledges data (a SYN, the handshake and heartbeats of SCTP)."""

HOP_SHIFT, SALVAGE_SHIFT, TRANSMISSION_SHIFT = 4, 8, 12
PACKET_SHIFT: Any = slot("packet_shift")
"""The bits above are the number of the packet; those from TRANSMISSION_SHIFT on tell its copies apart."""
ONE_HOP = 1 << HOP_SHIFT
ONE_SALVAGE = 1 << SALVAGE_SHIFT
TTL_SHIFT, HAS_BROKEN_SHIFT, FROM_SHIFT, TO_SHIFT, ID_SHIFT = 6, 7, 8, 14, 20
_KIND_MASK, _MASK = 7, 15
_JOURNEY = (_MASK << HOP_SHIFT) | (_MASK << SALVAGE_SHIFT)

_REQUEST_BYTES, _REPLY_BYTES, _ERROR_BYTES, _HOP_BYTES = 12, 8, 16, 4


def read(m: Any, at: Any) -> Any:
    """The frame that begins at a word of scratch."""
    return Frame(m[at], m[at + 1], m[at + 2])


def write(m: Any, at: Any, frame: Any) -> None:
    """Puts a frame into scratch."""
    m[at] = frame.head
    m[at + 1] = frame.route
    m[at + 2] = frame.load


def head_of(kind: Any, number: Any, copy: Any) -> Any:
    """The first word of a packet that is put out, with the number of this copy of its segment."""
    return number << PACKET_SHIFT | copy << TRANSMISSION_SHIFT | kind


def kind_of(head: Any) -> Any:
    """Its kind."""
    return head & _KIND_MASK


def hop_of(head: Any) -> Any:
    """The position in its route of the node that has it."""
    return head >> HOP_SHIFT & _MASK


def salvages_of(head: Any) -> Any:
    """How often it has been salvaged."""
    return head >> SALVAGE_SHIFT & _MASK


def afresh(head: Any) -> Any:
    """The first word of a packet that is put out again, as if for the first time."""
    return head & ~np.int64(_JOURNEY)


def number_of(head: Any) -> Any:
    """Its number among the packets of its end; probes have numbers of their own."""
    return head >> PACKET_SHIFT


def transmission_id(head: Any) -> Any:
    """Which copy of its segment it is."""
    return head >> TRANSMISSION_SHIFT & ((1 << PACKET_SHIFT - TRANSMISSION_SHIFT) - 1)


def is_data(head: Any) -> Any:
    """Whether it is a data segment."""
    return head & (_KIND_MASK | CONTROL) == Kind.DATA


def is_ack(head: Any) -> Any:
    """Whether it is an acknowledgement of data."""
    return head & (_KIND_MASK | CONTROL) == Kind.ACK


def goes_forth(head: Any) -> Any:
    """Whether it goes from source to sink."""
    return kind_of(head) == Kind.DATA or kind_of(head) == Kind.PROBE


@noinline
def size_of(m: Any, frame: Any) -> Any:
    """Its packet [byte]."""
    kind = kind_of(frame.head)
    if is_data(frame.head):
        whole = m[P.DATA] + m[P.CHUNK_HEADER] + m[P.HEADER]
        return whole - (m[P.SHORT] if hosts.is_last(m, frame.head) else 0)
    if kind <= Kind.ACK:
        return hosts.size_of(m, frame.head)
    if kind <= Kind.REPLY:
        return m[P.HEADER]
    length = frame.route & LENGTH_MASK
    if kind == Kind.REQUEST:
        return _REQUEST_BYTES + _HOP_BYTES * length
    if kind == Kind.ROUTE_REPLY:
        return _REPLY_BYTES + _HOP_BYTES * (length + (frame.load & LENGTH_MASK))
    return _ERROR_BYTES + _HOP_BYTES * length
