"""Channel: transmissions on the air, their reception, and collisions."""

from typing import TYPE_CHECKING

from netcarlo.kernels.wireless.layout import NodeOut
from tests.twins.wireless.clock import Clock, Phase, Turn
from tests.twins.wireless.frames import Kind, Transmission

if TYPE_CHECKING:
    from tests.twins.wireless.node import Node
    from tests.twins.wireless.world import World


def members(mask: int) -> set[int]:
    """Return the nodes of a mask."""
    return {node for node in range(64) if mask >> node & 1}


class Channel:
    def __init__(self, world: "World") -> None:
        self.world = world
        self.on_air: dict[int, Transmission] = {}  # by sender
        self.frames = 0  # sent so far

    def sensed(self, station: "Node") -> set[int]:
        """Return the transmitting nodes that the station senses."""
        return self.on_air.keys() & station.sense

    def start(self, starting: list["Node"]) -> None:
        """Start the transmissions of all these nodes at the same time."""
        now = self.world.simulation.now
        before = set(self.on_air)
        batch: dict[int, Transmission] = {}
        for station in starting:
            if not before & station.sense:
                station.freeze(now)
            if station.lock is not None:  # it aborts the reception
                if station.lock.kind == Kind.DATA and station.lock.to == station.number:
                    station.count(NodeOut.COLLIDED)
                station.lock = None
            station.forget_reception()
            batch[station.number] = station.transmit()
        self.on_air |= batch
        self.frames += len(batch)
        for number, transmission in batch.items():
            clock = Clock(self.world.simulation, Phase.END, number)
            clock.at(transmission.end, Turn.FIRST, self.end, number)
        for station in self.world.stations:
            heard = {n: batch[n] for n in batch.keys() & station.sense}
            if station.number not in self.on_air and heard:
                self._hear(station, heard, before & station.sense)
            for transmission in heard.values():
                for_it = transmission.kind == Kind.DATA and transmission.to == station.number
                if for_it and station.lock is not transmission:
                    station.count(NodeOut.COLLIDED)

    def _hear(self, station: "Node", heard: dict[int, Transmission], others: set[int]) -> None:
        """Process the start of frames at a station that does not send; `others` were on the air before."""
        if not others:
            station.sense_first(self.world.simulation.now)
        if station.lock is not None:
            if heard.keys() & station.disturbs(station.lock):
                station.corrupt = True
            return
        near = heard.keys() & station.near
        candidate = None
        if len(near) == 1 and not others & station.near:
            candidate = heard[near.pop()]
        elif not near and len(heard) == 1 and not others:
            candidate = next(iter(heard.values()))
        if candidate is not None:
            rest = (heard.keys() | others) - {candidate.sender}
            station.lock = candidate
            station.corrupt = bool(rest & station.disturbs(candidate))
            station.disturbed = 0
            station.nav_reset.stop()  # the frame may be the one that the RTS announced

    def end(self, number: int) -> None:
        """End the transmission of node `number`."""
        now = self.world.simulation.now
        transmission = self.on_air.pop(number)
        self.world.stations[number].sent(transmission)
        for station in self.world.stations:
            if number not in station.sense or station.number in self.on_air:
                continue
            if station.lock is transmission:
                station.lock = None
                good = self._decoded(station, transmission)
                station.end_reception(good=good)
                if good:
                    station.receive(transmission)
            if not self.sensed(station):
                station.quiet = now

    def _decoded(self, station: "Node", transmission: Transmission) -> bool:
        """Return True if the station can decode the frame that it received to the end."""
        mine = transmission.kind == Kind.DATA and transmission.to == station.number
        within = station.control if transmission.is_control else station.near
        if not mine:
            return not station.corrupt and transmission.sender in within
        assert transmission.frame is not None
        link = self.world.links[transmission.frame.link]
        if station.corrupt and link.disturbance_destroys(station.disturbed):
            station.count(NodeOut.COLLIDED)
            return False
        if transmission.sender not in within:
            station.count(NodeOut.NOISE, transmission.frame.parts)
            return False
        return station.survives_noise(transmission)
