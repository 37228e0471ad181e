"""Route of a flow in one direction: an optional wired leg, radio links, an optional wired leg."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.twins.path.link import Packet

if TYPE_CHECKING:
    from tests.twins.wireless.frames import Frame
    from tests.twins.wireless.node import Node
    from tests.twins.wireless.world import World

Lost = Callable[[Packet, str], None]
NOBODY = -1


class Route:
    """Route whose places pass packets on without delay."""

    def __init__(
        self, world: "World", *, before: int, links: list[int], after: int,
        arrive: Callable[[Packet], None], lost: Lost, agreements: list[int],
    ) -> None:  # fmt: skip
        self.world = world
        self.before = before
        self.links = links
        self.agreements = agreements  # agreements of the same hops (EDCA)
        self.after = after
        self.arrive = arrive
        self.lost = lost

    def send(self, packet: Packet) -> None:
        self._through(self.before, packet, self._to_radio)

    def cross(self, frame: "Frame") -> None:
        """Process a frame that has crossed its link."""
        if frame.hop + 1 < len(self.links):
            self._to_station(frame.packet, frame.hop + 1)
        else:
            self._through(self.after, frame.packet, self.arrive)

    def _to_radio(self, packet: Packet) -> None:
        self._to_station(packet, 0)

    def _to_station(self, packet: Packet, hop: int) -> None:
        if not self._station(hop).enqueue(packet, self, hop):
            self.lost(packet, "source" if hop == 0 else "relay")

    def _station(self, hop: int) -> "Node":
        return self.world.stations[self.world.tables.links[self.links[hop]].FROM]

    @property
    def first_node(self) -> int:
        return self._station(0).number

    def entrance(self, hop: int) -> Any:
        """Return the queue before a hop."""
        return self._station(hop).entrance(self, hop)

    def _through(self, leg: int, packet: Packet, deliver: Callable[[Packet], None]) -> None:
        packet.more = False
        if leg == NOBODY:
            deliver(packet)
        elif not self.world.legs[leg].enter(packet, deliver):
            self.lost(packet, "leg")
