"""Frames and their transmission times."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from tests.twins.path.link import Packet


class Kind(IntEnum):
    DATA = 0
    ACK = 1
    PROBE = 2
    REPLY = 3  # to a probe
    REQUEST = 4
    ROUTE_REPLY = 5
    ROUTE_ERROR = 6


@dataclass(frozen=True)
class Discovery:
    """Content of a route request."""

    dest: int
    spreads: bool  # False: for neighbours only
    number: int
    broken: tuple[int, int] | None  # a link that is known to be broken


@dataclass(frozen=True)
class Frame:
    kind: Kind
    route: tuple[int, ...]  # for a request: the path so far
    hop: int = 0  # index in the route of the node that sends it
    salvages: int = 0
    packet: Packet | None = None  # packet of a host, if any
    load: Any = ()  # reply: route; error: broken link; request: a Discovery

    @property
    def is_routing(self) -> bool:
        return self.kind >= Kind.REQUEST

    @property
    def is_data(self) -> bool:
        """True if the frame counts as a data segment."""
        return self.packet is not None and self.packet.kind == "data"

    @property
    def next_node(self) -> int | None:
        return None if self.kind == Kind.REQUEST else self.route[self.hop + 1]

    def moved_on(self) -> "Frame":
        return replace(self, hop=self.hop + 1)


def size(frame: Frame, p: Any) -> int:
    """Return the size without network and MAC headers [byte]."""
    if frame.kind == Kind.REQUEST:
        return 12 + 4 * len(frame.route)
    if frame.kind == Kind.ROUTE_REPLY:
        return 8 + 4 * len(frame.route) + 4 * len(frame.load)
    if frame.kind == Kind.ROUTE_ERROR:
        return 16 + 4 * len(frame.route)
    assert frame.packet is not None
    if frame.kind in (Kind.PROBE, Kind.REPLY):
        return int(p.HEADER)
    return frame.packet.size


def on_air(frame: Frame, p: Any, net: Any) -> int:
    """Return the transmission time of the frame, without RTS, CTS and ACK [ns]."""
    byte_time = net.BROADCAST_BYTE_TIME if frame.kind == Kind.REQUEST else net.BYTE_TIME
    return int(net.PREAMBLE + (size(frame, p) + net.OVERHEAD) * byte_time)
