"""Radio link to the host: a queue at each router, and one process of random loss."""

from collections.abc import Iterator

from tests.twins.path.engine import Simulation
from tests.twins.path.link import Server


class Radio:
    """Transmitter of the radio link, with an empty queue at every new router."""

    def __init__(
        self, simulation: Simulation, *, byte_time: int, delay: int, limit: int, gaps: Iterator[int] | None,
        arrival_first: bool,
    ) -> None:
        self.server = Server(simulation, byte_time=byte_time, limit=limit, arrival_first=arrival_first)
        self.delay = delay
        self.gaps = gaps
        self.survivors_left = next(gaps) if gaps is not None else -1
        self.place = 0

    def transmit(self, size: int, place: int) -> tuple[int, bool] | None:
        """Send a packet at place number `place` now.

        Returns its arrival at the host and whether it is lost at random, or nothing if the queue is full.
        """
        if place != self.place:
            self.place = place
            self.server.empty()
        if self.server.is_full():
            return None
        self.server.serve(size)
        lost = self.survivors_left == 0
        self.survivors_left = next(self.gaps) if lost and self.gaps else self.survivors_left - 1
        return self.server.free_at + self.delay, lost

    def accept_cross(self, size: int) -> None:
        """Accept a packet of cross traffic at the router that the host uses."""
        if not self.server.is_full():
            self.server.serve(size)
