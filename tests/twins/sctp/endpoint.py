"""Common parts of both endpoints of an SCTP association (ns-2.35 `sctp.cc`): paths, and probes of
idle ones."""

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from netcarlo.kernels.base.layout import STREAM_HEARTBEAT
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet
from tests.twins.random_numbers import Streams

ASSOCIATION_MAX_RETRANS = 10
INIT = 56
"""INIT and INIT ACK on the wire [byte]."""
COOKIE = 36
"""COOKIE ECHO and COOKIE ACK [byte]."""
HEARTBEAT = 56
"""HEARTBEAT and HEARTBEAT ACK [byte]."""


class Destination:
    """State of a path at one endpoint: reachability and round-trip time."""

    def __init__(self, number: int, parameters: Parameters) -> None:
        self.number = number
        self.parameters = parameters
        self.rto = parameters.INITIAL_RTO
        self.srtt: int | None = None
        self.rttvar = 0
        self.latest_rtt = 0
        self.errors = 0  # timeouts in a row
        self.active = True
        self.confirmed = True
        self.idle_since = 0
        self.silent_since = 0  # start of the first of the timeouts in a row

    def measure(self, rtt: int) -> None:
        """Update the RTO with an RTT measurement (RFC 2960, section 6.3.1)."""
        self.latest_rtt = rtt
        if self.srtt is None:
            self.srtt = rtt
            self.rttvar = rtt // 2
        else:
            self.rttvar = (3 * self.rttvar + abs(self.srtt - rtt)) // 4
            self.srtt = (7 * self.srtt + rtt) // 8
        self.restore()

    def restore(self) -> None:
        """Set the timeout to that of the measurements, without back-off."""
        p = self.parameters
        self.rto = min(max((self.srtt or 0) + 4 * self.rttvar, p.MIN_RTO), p.MAX_RTO)

    def back_off(self) -> None:
        """Double the timeout."""
        self.rto = min(2 * self.rto, self.parameters.MAX_RTO)


D = TypeVar("D", bound=Destination)


class Endpoint(Generic[D]):
    """Endpoint with its destinations, heartbeats and failover."""

    def __init__(
        self,
        simulation: Simulation,
        parameters: Parameters,
        streams: Streams,
        *,
        end: int,
        destinations: list[D],
        transmit: Callable[[int, Packet], None],
        flow: int = 0,
    ) -> None:
        self.simulation = simulation
        self.parameters = parameters
        self.streams = streams
        self.end = end
        self.flow = flow  # number of the association in the run
        self.transmit = transmit
        self.destinations = destinations
        self.primary = destinations[0]
        self.current = destinations[0]  # destination of new data
        self.errors = 0  # timeouts in a row, on any path
        self.established = False
        self.unanswered = [
            Timer(simulation, Rank.HEARTBEAT + 2 * end + d.number, partial(self.on_silence, d))
            for d in destinations
        ]
        self.idle_timer = Timer(simulation, Rank.IDLE + end, self.on_idle)
        self.waits = 0
        self.wait_began = 0

    def begin_heartbeats(self) -> None:
        """Start to probe idle paths."""
        if self.parameters.HEARTBEAT:
            self.wait(self.primary)
            for destination in self.destinations:
                destination.idle_since = self.simulation.now

    def wait(self, destination: Destination) -> None:
        """Check again after the heartbeat interval plus the RTO of this path, with a jitter of half of the
        RTO.
        """
        word = self.streams.block(STREAM_HEARTBEAT + 512 * self.flow, 2 * self.waits + self.end)[0]
        self.waits += 1
        jitter = ((word >> 8) * destination.rto >> 24) - destination.rto // 2
        self.idle_timer.start(self.parameters.HEARTBEAT + destination.rto + jitter)
        self.wait_began = self.simulation.now

    def on_idle(self) -> None:
        """Probe the path that has been idle longest, if it was idle during the whole interval."""
        idlest = min(self.destinations, key=lambda destination: destination.idle_since)
        if idlest.idle_since <= self.wait_began:
            self.send_heartbeat(idlest)
        self.wait(idlest)

    def send_heartbeat(self, destination: Destination) -> None:
        now = self.simulation.now
        self.transmit(destination.number, Packet("heartbeat", HEARTBEAT, now))
        destination.idle_since = now
        self.unanswered[destination.number].start(destination.rto)

    def answer_heartbeat(self, packet: Packet) -> None:
        self.transmit(packet.path, Packet("heartbeat ack", HEARTBEAT, packet.content))

    def on_heartbeat_ack(self, packet: Packet) -> None:
        destination = self.destinations[packet.path]
        destination.confirmed = True
        self.errors = 0
        self.prove_active(destination)
        destination.measure(self.simulation.now - packet.content)
        self.unanswered[packet.path].stop()

    def prove_active(self, destination: D) -> None:
        """Make a path active (RFC 9260, sections 8.1 to 8.3), and choose the path of new data (section
        6.4)."""
        destination.errors = 0
        destination.active = True
        stranded = self.parameters.FAILBACK and not self.current.active
        if destination is self.primary or stranded:
            self.current = destination

    def on_silence(self, destination: D) -> None:
        """Process a heartbeat without an answer."""
        if self.count_error(destination) and (self.parameters.HEARTBEAT or not destination.confirmed):
            self.send_heartbeat(destination)

    def count_error(self, destination: D) -> bool:
        """Process a timeout: back off and fail over. Return False if the association is given up."""
        if not destination.errors:
            destination.silent_since = self.simulation.now - destination.rto
        destination.back_off()
        destination.errors += 1
        if destination.active and destination.confirmed:
            self.errors += 1
            if destination.errors > self.parameters.PATH_MAX_RETRANS:
                destination.active = False
                if destination is self.current:
                    self.current = self.other(destination)
                    if self.current is not destination:
                        self.on_failover(self.simulation.now - destination.silent_since)
            if self.errors > ASSOCIATION_MAX_RETRANS:
                self.close()
                return False
        if destination is self.primary and not self.parameters.FAILBACK:
            self.primary = self.current  # ns-2 changes the primary with immediate effect
        return True

    def on_failover(self, silence: int) -> None:
        """Record a failover, `silence` [ns] after the last answer of the current destination."""

    def other(self, destination: D) -> D:
        """Return the next active destination after this one; if none is active, the next one."""
        count = len(self.destinations)
        following = [self.destinations[(destination.number + k) % count] for k in range(1, count + 1)]
        return next((candidate for candidate in following if candidate.active), following[0])

    def close(self) -> None:
        """Close the association: nothing is sent or processed any more."""
        self.established = False
        self.idle_timer.stop()
        for timer in self.unanswered:
            timer.stop()
