"""Path management of both ends of an SCTP association by RFC 9260, with the potentially failed state of RFC
7829."""

from dataclasses import dataclass
from typing import Any, TypeVar

from netcarlo.kernels.base.layout import STREAM_HEARTBEAT
from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import ASSOCIATION_MAX_RETRANS, Destination, Endpoint
from tests.twins.sctp.receiver import SctpReceiver

ACTIVE, POTENTIALLY_FAILED, INACTIVE, UNCONFIRMED = SUITABILITY = range(4)
"""States of a path, in the order in which data prefer them."""

D = TypeVar("D", bound=Destination)


@dataclass
class Watch:
    """Heartbeats of one path."""

    state: int = ACTIVE
    periods: int = 0
    began: int = 0
    """Start of the heartbeat period [ns]."""
    due: int | None = None
    """Time of the next heartbeat [ns]; None without heartbeats."""
    unanswered: bool = False


class Manager(Endpoint[D]):
    """Endpoint that manages each path separately."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.watches = [Watch() for _ in self.destinations]

    def state(self, destination: D) -> int:
        """Return the state of a path."""
        return self.watches[destination.number].state

    def begin_heartbeats(self) -> None:
        """Verify the paths that the handshake did not use (section 5.4)."""
        for destination in self.destinations:
            if destination is self.primary:
                self.new_period(destination)
                self.schedule(destination)
            else:
                self.watches[destination.number].state = UNCONFIRMED
                self.send_heartbeat(destination)

    def new_period(self, destination: D) -> None:
        """Start a heartbeat period of the interval plus the RTO, with a jitter of half of the RTO (section
        8.3).
        """
        watch, p = self.watches[destination.number], self.parameters
        watch.began, watch.due = self.simulation.now, None
        if p.HEARTBEAT:
            number = 4 * watch.periods + 2 * self.end + destination.number
            word = self.streams.block(STREAM_HEARTBEAT + 512 * self.flow, number)[0]
            jitter = ((word >> 8) * destination.rto >> 24) - destination.rto // 2
            watch.due = self.simulation.now + p.HEARTBEAT + destination.rto + jitter
            watch.periods += 1

    def schedule(self, destination: D) -> None:
        """Wait for the time of the next heartbeat."""
        timer, due = self.unanswered[destination.number], self.watches[destination.number].due
        if due is None:
            timer.stop()
        else:
            timer.start(max(due - self.simulation.now, 0))

    def send_heartbeat(self, destination: D) -> None:
        super().send_heartbeat(destination)
        self.watches[destination.number].unanswered = True
        self.new_period(destination)

    def on_silence(self, destination: D) -> None:
        """Process a lost heartbeat or, if none is in flight, send the next one."""
        watch = self.watches[destination.number]
        if not watch.unanswered:
            if destination.idle_since <= watch.began:
                self.send_heartbeat(destination)
            else:
                self.new_period(destination)
                self.schedule(destination)
            return
        watch.unanswered = False
        self.schedule(destination)
        lasts = self.count_error(destination, of_association=destination is self.current)
        if lasts and watch.state in (POTENTIALLY_FAILED, UNCONFIRMED):
            self.send_heartbeat(destination)

    def on_heartbeat_ack(self, packet: Packet) -> None:
        destination, watch = self.destinations[packet.path], self.watches[packet.path]
        self.errors = 0
        self.prove_active(destination)
        destination.measure(self.simulation.now - packet.content)
        if watch.unanswered:
            watch.unanswered = False
            self.schedule(destination)

    def prove_active(self, destination: D) -> None:
        destination.errors = 0
        self.watches[destination.number].state = ACTIVE
        leaves = self.state(self.current) == POTENTIALLY_FAILED
        leaves |= bool(self.parameters.FAILBACK) and self.state(self.current) == INACTIVE
        if destination is self.primary or leaves:
            self.current = destination

    def count_error(self, destination: D, *, of_association: bool = True) -> bool:
        """Count a timeout (sections 8.1 and 8.2; RFC 7829, section 3.2); False if it ends the association."""
        p, watch = self.parameters, self.watches[destination.number]
        if destination.errors == 0:
            destination.silent_since = self.simulation.now - destination.rto
        destination.back_off()
        destination.errors += 1
        reachable = watch.state in (ACTIVE, POTENTIALLY_FAILED)
        if destination.errors > p.PATH_MAX_RETRANS:
            watch.state = INACTIVE
        elif reachable and p.PF_ERRORS and destination.errors >= p.PF_ERRORS:
            watch.state = POTENTIALLY_FAILED
        if reachable:
            self.errors += of_association
            if destination is self.current and watch.state != ACTIVE:
                self.current = self.other(destination)
                if self.current is not destination:
                    self.on_failover(self.simulation.now - destination.silent_since)
            if self.errors > ASSOCIATION_MAX_RETRANS:
                self.close()
                return False
        if destination is self.primary and not p.FAILBACK:
            self.primary = self.current
        return True

    def other(self, destination: D) -> D:
        """Return the most suitable path; of equally suitable ones, another than this one."""

        def unfit(candidate: D) -> tuple[int, int, bool]:
            state = self.state(candidate)
            errors = candidate.errors if state == POTENTIALLY_FAILED else 0
            return state, errors, candidate is destination

        return min(self.destinations, key=unfit)


class TodaysReceiver(Manager[Destination], SctpReceiver):
    """Receiver whose SACKs return to the source of the latest data, and also acknowledge discarded data."""

    sacks_discarded = True

    def receive(self, packet: Packet) -> None:
        before = self.reply_path
        super().receive(packet)
        if packet.kind != "data":
            self.reply_path = before
