"""Route of a data packet from the MAP over access routers to the host."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from netcarlo.kernels.base.layout import HIMIPV6, S_BINDING, S_MIP, Out
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation
from tests.twins.path.link import Packet
from tests.twins.path.mobility import NEVER, Time
from tests.twins.path.mobility.radio import Radio
from tests.twins.path.mobility.timelines import Timeline


@dataclass(eq=False)
class MobilePacket:
    """Packet, or a copy of it, in the access network."""

    packet: Packet
    tunnelled: bool = False  # at some time
    copied: bool = False  # there is, or can be, a copy for the next place
    copy: bool = False  # this is the MAP's copy for this place
    twin: bool = False  # the router has tunnelled a copy
    waited: bool = False  # at this router


class Access:
    """Network between the MAP and the host: routes of packets, and packets in flight.

    `timelines` are those of the handovers; `astray` are the times, for each place, at which packets are lost
    there.
    """

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters,
        timelines: Sequence[Timeline], astray: Sequence[Sequence[tuple[Time, Time]]], radio: Radio,
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.parameters = parameters
        self.timelines = timelines
        self.radio = radio
        self.routers = [Router(self, place, astray[place]) for place in range(len(timelines) + 1)]
        self.deliver: Callable[[Packet], None] = lambda packet: None
        self.on_the_way: list[MobilePacket] = []

    # The MAP.

    def on_map(self, packet: Packet) -> None:
        """Process a packet of the sender that passes the MAP now."""
        now = self.simulation.now
        place, detour, tunnelled = self.destination(packet.sent, now)
        traveller = MobilePacket(packet, tunnelled=tunnelled)
        if tunnelled:
            self.count(Out.TUNNELLED, traveller)
        arrival = now + self.parameters.MAP_TO_AR + detour
        if self.parameters.HANDOVER in (S_MIP, HIMIPV6) and place < len(self.timelines):
            traveller.copied = self.timelines[place].copy <= now
        self.schedule(traveller, place, arrival)
        if traveller.copied and self.parameters.HANDOVER == S_MIP:
            self.count(Out.COPIES, traveller)
            copy = replace(traveller, copied=False, copy=True)
            self.schedule(copy, place + 1, arrival + self.timelines[place].detour)

    def destination(self, sent: int, now: int) -> tuple[int, int, bool]:
        """Return the place, the additional delay [ns], and whether a tunnel between MAPs is used."""
        known_to_sender = [k + 1 for k, line in enumerate(self.timelines) if line.at_sender <= sent]
        first = max(known_to_sender, default=0)
        place, detour, tunnelled = first, 0, False
        for k in range(first, len(self.timelines)):
            line = self.timelines[k]
            if line.at_map <= now:
                place = k + 1
                if line.inter:
                    detour += line.detour
                    tunnelled = True
            elif line.inter:
                break  # this MAP knows nothing of what happens under the next one
        return place, detour, tunnelled

    # Links between routers, and the radio link.

    def schedule(self, traveller: MobilePacket, place: int, arrival: Time) -> None:
        """Schedule the arrival at a router (or never: then wait)."""
        self.on_the_way.append(traveller)
        if arrival <= self.parameters.END:
            rank = Rank.TUNNELLED if traveller.tunnelled else Rank.HOP
            self.simulation.at(int(arrival), rank, self._reach, traveller, place)

    def _reach(self, traveller: MobilePacket, place: int) -> None:
        self.on_the_way.remove(traveller)
        self.routers[place].reach(traveller)

    def schedule_arrival(self, traveller: MobilePacket, arrival: int, lost: bool) -> None:
        """Schedule the arrival at the host, or the loss just before."""
        self.on_the_way.append(traveller)
        self.simulation.at(arrival, Rank.DATA, self._land, traveller, lost)

    def _land(self, traveller: MobilePacket, lost: bool) -> None:
        self.on_the_way.remove(traveller)
        if lost:
            self.outcomes.lost(traveller.packet, "random")
        else:
            self.deliver(traveller.packet)

    def count(self, column: Out, traveller: MobilePacket) -> None:
        """Count data packets only."""
        if traveller.packet.kind == "data":
            self.outcomes.add(column)


class Router:
    """Access router during one stay of the host, which arrives by one handover and leaves by the next."""

    def __init__(self, access: Access, place: int, astray: Sequence[tuple[Time, Time]]) -> None:
        self.access = access
        self.place = place
        self.astray = astray
        self.came = access.timelines[place - 1] if place > 0 else None
        self.leaves = access.timelines[place] if place < len(access.timelines) else None
        self.room = access.parameters.BUFFER  # for those who wait for the host to come
        self.room_to_keep = access.parameters.BUFFER  # for those who missed it
        self.last_tunnelled = 0
        self.open = False  # to packets sent to the new address, while the tunnel still brings others

    def reach(self, traveller: MobilePacket) -> None:
        """Process a packet that is at the router now (again, if it has waited)."""
        if self.came is not None and self.must_wait(traveller, self.came):
            return
        now = self.access.simulation.now
        if any(begin <= now < end for begin, end in self.astray):
            self.access.outcomes.lost(traveller.packet, "handover")
        elif self.leaves is not None:
            self.deliver_or_send_on(traveller, self.leaves)
        else:
            flight = self.to_radio(traveller)
            if flight is not None:
                self.access.schedule_arrival(traveller, *flight)

    def must_wait(self, traveller: MobilePacket, line: Timeline) -> bool:
        """Return True if the host is not here yet, or other packets come first."""
        now = self.access.simulation.now
        if traveller.tunnelled:
            self.last_tunnelled = now
        release = line.release
        if traveller.copy:
            release = max(release, line.hold)
        if line.settle and not traveller.tunnelled and not self.open:
            release = max(release, self.last_tunnelled) + line.settle
        if now >= release:
            if line.settle and not traveller.tunnelled:
                self.open = True
            return False
        if not traveller.waited:
            if self.room == 0:
                self.access.outcomes.lost(traveller.packet, "buffer")
                return True
            self.room -= 1
            self.access.count(Out.BUFFERED, traveller)
            traveller.waited = True
        self.access.schedule(traveller, self.place, release)
        return True

    def deliver_or_send_on(self, traveller: MobilePacket, line: Timeline) -> None:
        """Deliver until the next handover, then forward."""
        access = self.access
        now = access.simulation.now
        protocol = access.parameters.HANDOVER
        if now >= line.forward:
            self.tunnel(traveller, now + line.tunnel)
            return
        if protocol == S_BINDING and line.copy <= now:
            access.count(Out.COPIES, traveller)
            access.schedule(MobilePacket(traveller.packet, tunnelled=True), self.place + 1, now + line.tunnel)
            traveller.twin = True
        if now < line.down:
            flight = self.to_radio(traveller)
            if flight is None:
                return
            if flight[0] <= line.down:
                access.schedule_arrival(traveller, *flight)
                if protocol == HIMIPV6 and traveller.copied:  # the new router has the copy in vain
                    access.count(Out.COPIES, traveller)
                    access.count(Out.DISCARDED, traveller)
                return
        self.on_departed_host(traveller, line)

    def on_departed_host(self, traveller: MobilePacket, line: Timeline) -> None:
        """Process a packet that is too late for the host."""
        access = self.access
        now = access.simulation.now
        if access.parameters.HANDOVER == HIMIPV6 and traveller.copied:
            access.count(Out.COPIES, traveller)
            access.count(Out.DISCARDED, traveller)
            access.schedule(MobilePacket(traveller.packet, tunnelled=True), self.place + 1, now + line.detour)
        elif traveller.twin or traveller.copied:
            access.count(Out.DISCARDED, traveller)
        elif now < line.down or line.kept == NEVER:
            access.outcomes.lost(traveller.packet, "handover")
        elif now >= line.kept:
            self.tunnel(traveller, now + line.tunnel)
        elif self.room_to_keep > 0:
            self.room_to_keep -= 1
            access.count(Out.BUFFERED, traveller)
            self.tunnel(traveller, line.kept + line.tunnel)
        else:
            access.outcomes.lost(traveller.packet, "buffer")

    def tunnel(self, traveller: MobilePacket, arrival: Time) -> None:
        """Tunnel a packet to the next router."""
        self.access.count(Out.TUNNELLED, traveller)
        self.access.schedule(MobilePacket(traveller.packet, tunnelled=True), self.place + 1, arrival)

    def to_radio(self, traveller: MobilePacket) -> tuple[int, bool] | None:
        """Return arrival at the host and random loss, or nothing if the queue was full."""
        flight = self.access.radio.transmit(traveller.packet.size, self.place)
        if flight is None:
            self.access.outcomes.lost(traveller.packet, "queue")
        return flight
