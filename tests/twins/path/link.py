"""Packets, and the links that carry, delay, drop and destroy them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.varying import Varying


@dataclass(eq=False)
class Packet:
    """Packet in flight; hosts use `content`."""

    kind: str  # "data", "ack", or control: "syn", "heartbeat", ...
    size: int  # on the wire [byte]
    content: Any
    path: int = 0
    sent: int = -1  # when its host put it out [ns]
    order: int = -1  # rank in the order of sending, among all packets
    more: bool = False  # others come to the application with it at once
    last_hop: int = -1  # transmission and propagation on the hop it is on, or was on last [ns]
    doomed: bool = False  # it will be lost at the end of the hop by the hop's trace


class Server:
    """Transmitter of packets with a finite queue."""

    def __init__(
        self, simulation: Simulation, *, byte_time: int, limit: int, arrival_first: bool,
        varying: Varying | None = None,
    ) -> None:
        self.simulation = simulation
        self.arrival_first = arrival_first  # a departure is processed after a simultaneous arrival
        self.byte_time = byte_time
        self.limit = limit
        self.varying = varying
        self.empty()

    def empty(self) -> None:
        """Discard the packets in queue and transmission."""
        self.free_at = self.simulation.now  # packets handed over before were sent
        self.queue: list[int] = []  # departures of the packets that wait or are in transmission

    def drops(self, size: int) -> bool:
        """Return True if a packet is dropped by the policer or a full queue."""
        policed = self.varying is not None and self.varying.is_policed(self.simulation.now, size)
        return policed or self.is_full()

    def is_full(self) -> bool:
        since = self.simulation.now if self.arrival_first else self.simulation.now + 1
        self.queue = [departure for departure in self.queue if departure >= since]
        return self.byte_time > 0 and 0 < self.limit <= len(self.queue)

    def serve(self, size: int) -> int:
        """Accept a packet; return the duration of its transmission, which ends at `free_at`."""
        duration = (size * self.byte_time + 2**19) >> 20
        end = max(self.simulation.now, self.free_at) + duration
        if self.varying:
            _, end = self.varying.transmission(self.simulation.now, self.free_at, size, duration)
        self.free_at = end
        self.queue.append(self.free_at)
        return duration


class CrossTraffic:
    """Cross traffic at a constant rate: from `first` on at the interval `every` [ns] (0: none)."""

    def __init__(
        self, simulation: Simulation, take: Callable[[int], None], *, every: int, size: int, first: int
    ) -> None:
        self.simulation = simulation
        self.take = take
        self.every = every
        self.size = size
        if every:
            simulation.at(first, Rank.CROSS, self._arrive)

    def _arrive(self) -> None:
        self.take(self.size)
        self.simulation.at(self.simulation.now + self.every, Rank.CROSS, self._arrive)


class Link:
    """One direction of a hop: a FIFO server with a finite queue, then a wire, then random loss."""

    def __init__(
        self, simulation: Simulation, *, byte_time: int, delay: int, limit: int, gaps: Iterator[int] | None,
        lost: Callable[[Packet, str], None], arrival_first: bool, tick: int = 0, tick_phase: int = 0,
        varying: Varying | None = None,
    ) -> None:
        self.simulation = simulation
        self.varying = varying
        self.server = Server(
            simulation, byte_time=byte_time, limit=limit, arrival_first=arrival_first, varying=varying
        )
        self.delay = delay
        self.tick = tick  # the far end lets packets go at `tick_phase` + k * `tick` only; 0: at once
        self.tick_phase = tick_phase
        self.gaps = gaps
        self.survivors_left = next(gaps) if gaps is not None else -1
        self.lost = lost
        self.deliver: Callable[[Packet], None] = lambda packet: None
        self.rank = Rank.HOP  # of the arrivals at the far end
        self.by_order = True  # simultaneous arrivals: in order of sending, not of entering the link
        self.wire: list[tuple[int, Packet]] = []  # arrival of each packet not yet at the far end
        self.outages_now = 0
        self.reorders = varying is not None and varying.of.reorders
        self.outages: list[tuple[int, int]] = []  # what will come, for links that reorder
        self.stays: list[list[int]] = []  # from when until when each packet was held

    def held_until(self, end: int) -> int:
        """Return the total time that packets were held up to a time [ns]."""
        return sum(max(min(until, end) - since, 0) for since, until in self.stays)

    def accept(self, packet: Packet) -> None:
        """Accept a packet now."""
        if self.outages_now:
            self.lost(packet, "outage")
        elif self.server.drops(packet.size):
            self.lost(packet, "queue")
        else:
            packet.last_hop = self.server.serve(packet.size) + self.delay
            self.stays.append([self.simulation.now, self.server.free_at])
            at_far_end, packet.doomed = self.server.free_at + self.delay, False
            if self.varying:
                at_far_end, packet.doomed = self.varying.arrival(self.server.free_at, self.delay)
            arrival = (self.release(at_far_end), packet)
            self.wire.append(arrival)
            if self.reorders and not packet.doomed and not self.destroys(arrival[0]):
                packet.doomed = self.is_lost()  # the k-th that is handed over, whenever it arrives
            order = None if self.rank == Rank.HOP or not self.by_order else packet.order
            self.simulation.at(arrival[0], self.rank, self._arrive, arrival, order=order)

    def destroys(self, arrival: int) -> bool:
        """Return True if an outage begins before the arrival of a packet that is sent now."""
        return any(self.simulation.now < start < arrival for start, _ in self.outages)

    def is_lost(self) -> bool:
        """Return True if the next packet is lost at random."""
        if self.survivors_left == 0 and self.gaps is not None:
            self.survivors_left = next(self.gaps)
            return True
        self.survivors_left -= 1
        return False

    def release(self, time: int) -> int:
        """Return the time at which a packet is released that reaches the far end at this time."""
        if self.tick == 0:
            return time
        ticks = math.ceil(Fraction(time - self.tick_phase, self.tick))
        return self.tick_phase + ticks * self.tick

    def accept_cross(self, size: int) -> None:
        """Accept a packet of cross traffic now; it leaves the path after the hop."""
        if not self.outages_now and not self.server.drops(size):
            self.server.serve(size)

    def _arrive(self, arrival: tuple[int, Packet]) -> None:
        if arrival not in self.wire:
            return  # destroyed in transit
        self.wire.remove(arrival)
        packet = arrival[1]
        if packet.doomed or (not self.reorders and self.is_lost()):
            self.lost(packet, "random")
        else:
            self.deliver(packet)

    def go_down(self) -> None:
        """Begin an outage: packets in queue and wire are lost, except those that arrive at this instant."""
        self.outages_now += 1
        now = self.simulation.now
        doomed = [packet for time, packet in self.wire if time > now]
        self.wire = [(time, packet) for time, packet in self.wire if time == now]
        self.server.empty()
        if self.varying:
            self.varying.empty(now)
        self.stays = [[since, min(until, now)] for since, until in self.stays]
        for packet in doomed:
            self.lost(packet, "destroyed")

    def come_up(self) -> None:
        """End an outage, with an empty queue and an idle server."""
        self.outages_now -= 1


class Path:
    """Hops in tandem between a sender and a receiver, each a link in either direction."""

    def __init__(self, number: int, forward: list[Link], backward: list[Link]) -> None:
        self.number = number
        self.forward = forward  # from the sender on
        self.backward = backward  # from the receiver on
        self.reorders = any(link.reorders for link in forward + backward)
        self.newest = -1  # order of the newest data that have arrived
        self.late: Callable[[], None] = lambda: None  # called for data that arrive after newer ones
        for chain in (forward, backward):
            for link, next_link in pairwise(chain):
                link.deliver = next_link.accept

    def connect(self, receiver: Callable[[Packet], None], sender: Callable[[Packet], None]) -> None:
        """Set the receiver of data at the far end and that of acknowledgements at the sender."""

        def arrive(packet: Packet) -> None:
            if packet.kind == "data":
                if packet.order < self.newest:
                    self.late()
                self.newest = max(self.newest, packet.order)
            receiver(packet)

        for link in self.forward + self.backward:
            link.by_order = not self.reorders
        self.forward[-1].deliver = arrive
        self.forward[-1].rank = Rank.DATA
        self.backward[-1].deliver = sender
        self.backward[-1].rank = Rank.ACK

    def in_flight(self) -> int:
        """Return the number of data packets in flight."""
        return sum(packet.kind == "data" for link in self.forward for _, packet in link.wire)

    def send(self, packet: Packet) -> None:
        """Send a packet to the receiver."""
        self._start(packet, self.forward[0])

    def send_back(self, packet: Packet) -> None:
        """Send a packet to the sender."""
        self._start(packet, self.backward[0])

    def _start(self, packet: Packet, link: Link) -> None:
        packet.path = self.number
        packet.sent = link.simulation.now
        packet.order = link.simulation.next_order()
        link.accept(packet)
