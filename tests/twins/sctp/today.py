"""Sender of an SCTP association by RFC 9260, with one DATA chunk per packet.

Chunks in flight are found in a table of chunks, not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from netcarlo.kernels.base.layout import NEVER, Out
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import COOKIE, INIT, Destination
from tests.twins.sctp.management import ACTIVE, POTENTIALLY_FAILED, Manager
from tests.twins.sctp.receiver import Sack

MAX_INIT_RETRANSMITS = 8


class Route(Destination):
    """Path with its congestion window."""

    timer: Timer
    idle: Timer

    def __init__(self, number: int, parameters: Parameters) -> None:
        super().__init__(number, parameters)
        self.cwnd = parameters.INITIAL_CWND
        self.ssthresh = parameters.INITIAL_SSTHRESH
        self.partial_bytes_acked = 0
        self.timed: Chunk | None = None
        self.unused = False
        self.exit_point = 0
        """End of its fast recovery, with concurrent multipath transfer."""


@dataclass(eq=False)
class Chunk:
    """DATA chunk that is not cumulatively acknowledged."""

    tsn: int
    route: Route
    sent_at: int
    last_sent: int
    sends: int = 1
    arrived: bool = False
    lost: str = ""
    """Reason for which it waits for retransmission."""
    missing: int = 0
    fast: bool = False
    """True after its fast retransmit."""

    @property
    def in_flight(self) -> bool:
        return not self.arrived and not self.lost


class TodaysSender(Manager[Route]):
    """One association over one or two paths."""

    def __init__(self, outcomes: Outcomes, simulation: Simulation, *arguments: Any, **named: Any) -> None:
        super().__init__(simulation, *arguments, end=0, **named)
        self.outcomes = outcomes
        p = self.parameters
        self.chunk_size = p.DATA + p.CHUNK_HEADER
        for route in self.destinations:
            route.timer = Timer(simulation, Rank.T3 + route.number, partial(self.on_timeout, route))
            route.idle = Timer(simulation, Rank.DEGRADE + route.number, partial(self.on_idle_route, route))
        self.awaited = ""
        self.handshake = Timer(simulation, Rank.T1, self.on_handshake_timeout)
        self.retries = 0
        self.chunks: dict[int, Chunk] = {}
        self.cumulative = self.last = self.exit_point = 0
        self.peer_window = 0
        self.burst = 0
        self.longest_failover = NEVER
        self.sack_path = 0

    # The handshake (section 5.1).

    def start(self) -> None:
        self.ask("init ack")

    def ask(self, awaited: str) -> None:
        self.awaited = awaited
        self.outcomes.add(Out.HANDSHAKES)
        packet = Packet("init", INIT, None) if awaited == "init ack" else Packet("cookie", COOKIE, None)
        self.transmit(self.primary.number, packet)
        self.handshake.start(self.primary.rto)

    def on_handshake_timeout(self) -> None:
        self.retries += 1
        if self.retries > MAX_INIT_RETRANSMITS:
            self.awaited = ""
            self.close()
        else:
            self.primary.back_off()
            self.ask(self.awaited)

    def receive(self, packet: Packet) -> None:
        """Process a packet of the receiver."""
        self.burst = 0
        if packet.kind == self.awaited == "init ack":
            self.ask("cookie ack")
        elif packet.kind == self.awaited == "cookie ack":
            self.awaited = ""
            self.established = True
            self.handshake.stop()
            self.peer_window = self.parameters.RWND
            self.begin_heartbeats()
        if not self.established:
            return
        if packet.kind == "heartbeat":
            self.answer_heartbeat(packet)
        elif packet.kind == "heartbeat ack":
            self.on_heartbeat_ack(packet)
            self.retransmit()
        elif packet.kind == "ack":
            self.sack_path = packet.path
            self.on_sack(packet.content)
        if self.parameters.CMT or not self.waiting():
            self.send_new()

    # Chunks by state.

    def of(self, route: Route) -> list[Chunk]:
        """Return the chunks last sent on a path that have not arrived, by TSN."""
        return [c for _, c in sorted(self.chunks.items()) if c.route is route and not c.arrived]

    def flight(self, route: Route) -> int:
        """Return the bytes in flight on a path."""
        return self.chunk_size * sum(chunk.in_flight for chunk in self.of(route))

    def waiting(self) -> list[Chunk]:
        """Return the chunks that wait for retransmission, by TSN."""
        return [chunk for _, chunk in sorted(self.chunks.items()) if chunk.lost]

    # SACKs (sections 6.2.1, 6.3.2 and 7.2).

    def on_sack(self, sack: Sack) -> None:
        if sack.cumulative < self.cumulative:
            return
        advanced = sack.cumulative > self.cumulative
        full = {route: self.flight(route) >= route.cwnd for route in self.destinations}
        first = {route: next(iter(self.of(route)), None) for route in self.destinations}
        newly = [*self.take_cumulative(sack.cumulative), *self.take_blocks(sack)]
        if advanced or newly:
            self.errors = 0
        fast = self.count_missing(sack, newly, advanced)
        restarts = sack.blocks or not self.parameters.FREE_T3
        for route in self.destinations:
            acked = self.chunk_size * sum(chunk.route is route for chunk in newly)
            if acked and self.recovered(route):
                moved = first[route] in newly if self.parameters.CMT else advanced
                self.grow(route, acked, advanced=moved, full=full[route])
            if not self.flight(route):
                route.partial_bytes_acked = 0
                route.timer.stop()
            elif (first[route] in newly and restarts) or not route.timer.pending:
                route.timer.start(route.rto)
        if fast:
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.enter_recovery()
        self.retransmit(one=fast)
        self.peer_window = max(0, sack.window - sum(map(self.flight, self.destinations)))

    def take_cumulative(self, cumulative: int) -> Iterator[Chunk]:
        """Remove cumulatively acknowledged chunks; yield those that are newly acknowledged."""
        for tsn in sorted(tsn for tsn in self.chunks if tsn <= cumulative):
            chunk = self.chunks.pop(tsn)
            if not chunk.arrived:
                self.on_first_ack(chunk)
                yield chunk
        self.cumulative = max(self.cumulative, cumulative)
        self.outcomes.values[Out.ACKED] = self.cumulative

    def take_blocks(self, sack: Sack) -> Iterator[Chunk]:
        """Process the gap ack blocks, if any; yield the chunks that they report for the first time."""
        reported = {tsn for a, b in sack.blocks for tsn in range(a, b + 1)}
        for tsn, chunk in sorted(self.chunks.items()) if reported else ():
            if tsn in reported and not chunk.arrived:
                self.on_first_ack(chunk)
                chunk.arrived, chunk.lost = True, ""
                yield chunk
            elif tsn not in reported:
                chunk.arrived = False

    def on_first_ack(self, chunk: Chunk) -> None:
        route = chunk.route
        if route.timed is chunk:
            route.timed = None
            if chunk.lost != "timeout":
                route.measure(self.simulation.now - chunk.sent_at)
        if self.parameters.FREE_T3 and route.srtt is not None:
            route.restore()
        known = chunk.sends == 1 or route.number == self.sack_path
        if route.errors and known and chunk.lost != "timeout":
            self.prove_active(route)

    def count_missing(self, sack: Sack, newly: list[Chunk], advanced: bool) -> bool:
        """Count reports of missing chunks by the HTNA algorithm (section 7.2.4); return whether one is
        lost.
        """
        split = self.parameters.CMT
        limit = {
            route: max((chunk.tsn for chunk in newly if chunk.route is route or not split), default=0)
            for route in self.destinations
        }
        if advanced and not split and self.cumulative < self.exit_point:
            limit = dict.fromkeys(limit, max([*limit.values(), *(b for _, b in sack.blocks)]))
        found = False
        for tsn, chunk in sorted(self.chunks.items()) if sack.blocks else ():
            if tsn < limit[chunk.route] and chunk.in_flight:
                chunk.missing += 1
                if chunk.missing >= self.parameters.DUPACKS and not chunk.fast:
                    self.lose(chunk, "fast")
                    chunk.fast = found = True
        return found

    def lose(self, chunk: Chunk, why: str) -> None:
        if not chunk.lost:
            self.peer_window += self.chunk_size
        chunk.lost = why

    def grow(self, route: Route, acked: int, *, advanced: bool, full: bool) -> None:
        """Increase cwnd in slow start (section 7.2.1) or congestion avoidance (section 7.2.2)."""
        if route.cwnd <= route.ssthresh:
            if advanced and full:
                route.cwnd += min(acked, self.parameters.ABC_LIMIT * self.chunk_size)
            return
        route.partial_bytes_acked += acked
        if route.partial_bytes_acked >= route.cwnd and not full:
            route.partial_bytes_acked = route.cwnd
        elif route.partial_bytes_acked >= route.cwnd and advanced:
            route.partial_bytes_acked -= route.cwnd
            route.cwnd += self.chunk_size

    def recovered(self, route: Route) -> bool:
        """Return whether the sender, or with concurrent multipath transfer the path, is not in recovery."""
        if self.parameters.CMT:
            return all(chunk.tsn > route.exit_point for chunk in self.of(route))
        return self.cumulative >= self.exit_point

    def enter_recovery(self) -> None:
        routes = [route for route in self.destinations if self.recovered(route)]
        if not self.parameters.CMT and not routes:
            return
        for route in {chunk.route for chunk in self.waiting() if chunk.lost == "fast"} & set(routes):
            route.exit_point = self.last
            self.outcomes.add(Out.CWND_CUTS)
            route.cwnd = route.ssthresh = max(route.cwnd // 2, self.parameters.SSTHRESH_FLOOR)
            route.partial_bytes_acked = 0
        self.exit_point = self.last

    # Sending (section 6.1).

    def send_new(self) -> None:
        self.send_on(self.current)
        if self.parameters.CMT and self.state(self.current) == ACTIVE:
            for route in self.destinations:
                if route is not self.current and self.state(route) == ACTIVE:
                    self.burst = 0
                    self.send_on(route)

    def send_on(self, route: Route) -> None:
        p, sent = self.parameters, False
        while self.flight(route) < route.cwnd and self.last < p.LIMIT:
            if self.peer_window >= self.chunk_size:
                self.burst += 1
                if self.burst > p.MAX_BURST:
                    break
            elif any(map(self.flight, self.destinations)):
                break
            self.last += 1
            chunk = self.chunks[self.last] = Chunk(self.last, route, *2 * [self.simulation.now])
            route.timed = route.timed or chunk
            self.peer_window = max(0, self.peer_window - self.chunk_size)
            if not route.timer.pending:
                route.timer.start(route.rto)
            self.put(chunk)
            sent = True
        if sent:
            route.idle.start(route.rto)
            route.idle_since = self.simulation.now

    def put(self, chunk: Chunk) -> None:
        p, number = self.parameters, chunk.route.number
        chunk.route.unused = False
        self.outcomes.add(Out.SENT)
        self.outcomes.add(Out.RETRANSMITTED, int(chunk.sends > 1))
        self.outcomes.add(Out.SENT_ALTERNATE, number)
        short = p.SHORT if chunk.tsn == p.LIMIT else 0
        self.transmit(number, Packet("data", self.chunk_size + p.HEADER - short, chunk.tsn))

    def retransmit(self, *, one: bool = False) -> None:
        """Retransmit lost chunks: one, or what cwnd and Max.Burst allow."""
        waiting = self.waiting()
        if not waiting:
            return
        self.burst = 0
        for chunk in waiting:
            if self.burst == (1 if one else self.parameters.MAX_BURST):
                return
            to = self.way_of(chunk)
            if one or self.flight(to) < to.cwnd:
                self.burst += 1
                self.send_again(chunk, to)

    def way_of(self, chunk: Chunk) -> Route:
        """Return the path of a retransmission: the same for a fast one (section 6.4), else another one
        (section 6.4.1).
        """
        alive = self.state(chunk.route) == ACTIVE
        if alive and (chunk.lost == "fast" or not self.parameters.RESPONSE_ALTERNATE):
            return chunk.route
        return self.other(chunk.route)

    def send_again(self, chunk: Chunk, to: Route) -> None:
        old = chunk.route
        if old.timed is chunk:
            old.timed = None
        if self.of(old)[0] is chunk and self.flight(old):
            old.timer.start(old.rto)
        chunk.route, chunk.lost = to, ""
        chunk.sends += 1
        chunk.last_sent = self.simulation.now
        self.peer_window -= self.chunk_size
        self.put(chunk)
        if self.of(to)[0] is chunk or not to.timer.pending:
            to.timer.start(to.rto)
        to.idle.start(to.rto)

    # Timers.

    def on_idle_route(self, route: Route) -> None:
        """Reduce the window of a path on which no data were sent for an RTO (section 7.2.1)."""
        floor = self.parameters.SSTHRESH_FLOOR
        if route.cwnd > floor:
            if not route.unused:
                route.ssthresh = route.cwnd
            route.unused = True
            route.cwnd = max(route.cwnd // 2, floor)
        route.idle.start(route.rto)

    def on_timeout(self, route: Route) -> None:
        """Process the expiry of T3-rtx (sections 6.3.3 and 7.2.3)."""
        self.outcomes.add(Out.TIMEOUTS)
        self.burst = 0
        self.exit_point = route.exit_point = self.cumulative
        route.idle.stop()
        late = self.of(route)
        if self.parameters.FREE_T3:  # as usrsctp 0.9.5
            trip = (route.srtt or 0) + 4 * route.rttvar
            late = [chunk for chunk in late if self.simulation.now - chunk.last_sent > trip]
        if late or not self.parameters.FREE_T3:
            self.outcomes.add(Out.CWND_CUTS)
            route.timed = None
            route.ssthresh = max(route.cwnd // 2, self.parameters.SSTHRESH_FLOOR)
            route.cwnd = self.chunk_size
            route.partial_bytes_acked = 0
        if not self.count_error(route):
            return
        for chunk in late:
            self.lose(chunk, "timeout")
            chunk.missing = 0
        self.retransmit(one=True)
        watch = self.watches[route.number]
        if watch.state == POTENTIALLY_FAILED and not watch.unanswered:
            self.send_heartbeat(route)
        if self.parameters.CMT or not self.waiting():
            self.send_new()
        running = any(other.timer.pending for other in self.destinations)
        if self.parameters.FREE_T3 and not late and self.flight(route) and not running:
            route.timer.start(route.rto)

    def on_failover(self, silence: int) -> None:
        self.longest_failover = max(self.longest_failover, silence)

    def close(self) -> None:
        super().close()
        self.chunks = {}
        for route in self.destinations:
            route.timer.stop()
            route.idle.stop()
