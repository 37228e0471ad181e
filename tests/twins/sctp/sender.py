"""Sender of an SCTP association (ns-2.35 `sctp.cc`), with one DATA chunk per packet."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from netcarlo.kernels.base.layout import NEVER, Out
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet
from tests.twins.sctp.endpoint import COOKIE, INIT, Destination, Endpoint
from tests.twins.sctp.receiver import Sack

MAX_INIT_RETRANSMITS = 8
DEGRADE_ABOVE = 2
"""Number of chunks above which cwnd is reduced when nothing is sent."""


class Road(Destination):
    """Destination with its congestion window."""

    def __init__(self, number: int, parameters: Parameters) -> None:
        super().__init__(number, parameters)
        self.cwnd = parameters.INITIAL_CWND
        self.ssthresh = parameters.INITIAL_SSTHRESH
        self.partial_acked = 0  # bytes acknowledged since cwnd last grew in congestion avoidance
        self.outstanding = 0  # bytes
        self.newly_acked = 0  # bytes, by the SACK in process
        self.first_outstanding: Chunk | None = None  # used by loops over the send buffer
        self.cut = False  # by the fast retransmit in process
        self.timing = False  # the RTT of a chunk is measured
        self.timer: Timer  # T3
        self.degrade_timer: Timer

    def start_timer(self) -> None:
        """Start T3-rtx, which expires without an acknowledgement within the RTO."""
        self.timer.start(self.rto)


@dataclass(eq=False)
class Chunk:
    """DATA chunk in the send buffer, not yet cumulatively acknowledged."""

    number: int  # TSN
    destination: Road  # destination of its latest transmission
    timed_at: int | None = None  # send time, if its RTT is measured
    sent_times: int = 1
    gap_acked: bool = False
    counted_partial: bool = False  # counted in partial_acked because of a gap block
    missing: int = 0  # number of reports as missing
    marked: str = ""  # for retransmission: "fast" or "timeout"
    fast_retransmitted: bool = False  # at most once


class SctpSender(Endpoint[Road]):
    """One association over one or two paths."""

    def __init__(self, outcomes: Outcomes, simulation: Simulation, *arguments: Any, **named: Any) -> None:
        super().__init__(simulation, *arguments, end=0, **named)
        self.outcomes = outcomes
        self.chunk_size = self.parameters.DATA + self.parameters.CHUNK_HEADER
        for road in self.destinations:
            road.timer = Timer(simulation, Rank.T3 + road.number, partial(self.on_timeout, road))
            road.degrade_timer = Timer(simulation, Rank.DEGRADE + road.number, partial(self.degrade, road))
        self.asking = ""  # "init" or "cookie" during the handshake
        self.handshake_timer = Timer(simulation, Rank.T1, self.on_handshake_timeout)
        self.retries = 0

        self.buffer: list[Chunk] = []  # by number
        self.sent = 0  # highest number sent
        self.cumulative = 0
        self.highest_newly_acked = 0
        self.recover = 0  # one reduction per window
        self.highest_outstanding = 0
        self.peer_window = 0
        self.may_send_new = False
        self.any_marked = False
        self.limit_burst = False
        self.burst = 0
        self.longest_failover = NEVER
        self.sack_path = 0

    # The handshake.

    def start(self) -> None:
        self.ask("init")

    def ask(self, what: str) -> None:
        """Send INIT or COOKIE ECHO."""
        self.asking = what
        self.outcomes.add(Out.HANDSHAKES)
        size = INIT if what == "init" else COOKIE
        self.transmit(self.primary.number, Packet(what, size, None))
        self.handshake_timer.start(self.primary.rto)

    def on_handshake_timeout(self) -> None:
        self.retries += 1
        if self.retries > MAX_INIT_RETRANSMITS:
            self.asking = ""
            self.close()
        else:
            self.primary.back_off()
            self.ask(self.asking)

    def on_established(self) -> None:
        self.established = True
        self.handshake_timer.stop()
        if self.parameters.PROBE_FIRST:
            for road in self.destinations:
                road.confirmed = False
                self.send_heartbeat(road)
        else:
            self.may_send_new = True
            self.begin_heartbeats()

    # Arriving packets.

    def receive(self, packet: Packet) -> None:
        """Process a packet of the receiver."""
        if self.asking == "init":  # ns-2 accepts any packet as the answer
            self.peer_window = self.parameters.RWND
            self.ask("cookie")
        elif self.asking == "cookie":
            self.asking = ""
            self.on_established()
        elif not self.established:
            return
        elif packet.kind == "heartbeat":
            self.answer_heartbeat(packet)
        elif packet.kind == "heartbeat ack":
            self.on_heartbeat_ack(packet)
        elif packet.kind == "ack":
            self.sack_path = packet.path
            self.on_sack(packet.content)
            self.may_send_new = True
        if self.may_send_new and not self.any_marked:
            self.send_new()
            self.may_send_new = False

    def on_heartbeat_ack(self, packet: Packet) -> None:
        was_confirmed, before = self.destinations[packet.path].confirmed, self.current
        super().on_heartbeat_ack(packet)
        if self.parameters.FAILBACK and self.current is not before:
            self.may_send_new = True
            if self.any_marked:
                self.retransmit(one_packet=False)
        if not was_confirmed and all(road.confirmed for road in self.destinations):
            self.may_send_new = True
            self.begin_heartbeats()

    # SACKs.

    def on_sack(self, sack: Sack) -> None:
        for destination in self.destinations:
            destination.newly_acked = 0
            destination.first_outstanding = None
        if sack.cumulative < self.cumulative:
            return
        news = sack.cumulative > self.cumulative
        if news:
            self.errors = 0
            self.dequeue(sack.cumulative)
            self.cumulative = sack.cumulative
            self.outcomes.values[Out.ACKED] = self.cumulative
        fast = bool(sack.blocks) and self.process_blocks(sack, news)
        for destination in self.destinations:
            if news and destination.newly_acked > 0 and sack.cumulative >= self.recover:
                self.open_window(destination)
            destination.outstanding = max(0, destination.outstanding - destination.newly_acked)
            if destination.outstanding == 0:
                destination.partial_acked = 0
                destination.timer.stop()
            elif not destination.timer.pending:
                destination.start_timer()
        if fast:
            self.fast_retransmit()
        else:
            self.any_marked = any(chunk.marked for chunk in self.buffer)
            if self.any_marked:
                self.retransmit(one_packet=False)
        outstanding = sum(destination.outstanding for destination in self.destinations)
        self.peer_window = max(0, sack.window - outstanding)

    def dequeue(self, cumulative: int) -> None:
        while self.buffer and self.buffer[0].number <= cumulative:
            chunk = self.buffer.pop(0)
            destination = chunk.destination
            if not chunk.gap_acked:
                self.highest_newly_acked = chunk.number
                destination.newly_acked += self.chunk_size
                if destination.cwnd > destination.ssthresh and destination.outstanding >= destination.cwnd:
                    destination.partial_acked += self.chunk_size
            if chunk.fast_retransmitted:
                self.limit_burst = True
            if not chunk.gap_acked:
                self.take_measurement(chunk)
            destination.timer.stop()
            if not chunk.gap_acked:
                self.prove_alive(chunk)

    def take_measurement(self, chunk: Chunk) -> None:
        destination = chunk.destination
        if destination.timing and chunk.timed_at is not None and chunk.sent_times == 1:
            if chunk.marked != "timeout":
                destination.measure(self.simulation.now - chunk.timed_at)
            destination.timing = False

    def prove_alive(self, chunk: Chunk) -> None:
        """Reset the error counter of the path of an acknowledged chunk, unless the chunk had timed out."""
        other_path = chunk.sent_times > 1 and chunk.destination.number != self.sack_path
        if self.parameters.FAILBACK and other_path:
            return  # RFC 9260, section 8.2: the first transmission may have arrived
        if chunk.destination.errors and chunk.marked != "timeout":
            self.prove_active(chunk.destination)

    def on_failover(self, silence: int) -> None:
        self.longest_failover = max(self.longest_failover, silence)

    def process_blocks(self, sack: Sack, news: bool) -> bool:
        """Process gap blocks: mark chunks as arrived and count reports of missing ones.

        Return True if a fast retransmit is due."""
        if not self.buffer:
            return False
        highest_sacked = max(self.highest_newly_acked, sack.blocks[-1][1])
        for chunk in self.buffer:
            destination = chunk.destination
            if destination.first_outstanding is None and not chunk.gap_acked:
                destination.first_outstanding = chunk
            arrived = any(first <= chunk.number <= last for first, last in sack.blocks)
            if chunk.gap_acked and not arrived:  # an old SACK, overtaken on the other path
                chunk.gap_acked = False
                destination.outstanding += self.chunk_size
            elif arrived and not chunk.gap_acked:
                self.gap_ack(chunk, news)
        fast = False
        for chunk in self.buffer:
            if chunk.gap_acked:
                continue
            if chunk.number < self.highest_newly_acked or (
                news and self.highest_newly_acked <= self.recover and chunk.number < highest_sacked
            ):
                chunk.missing += 1
                if chunk.missing >= self.parameters.DUPACKS and not chunk.fast_retransmitted:
                    self.mark(chunk, "fast")
                    chunk.fast_retransmitted = True
                    fast = True
        if fast:
            self.outcomes.add(Out.FAST_RETRANSMITS)
        return fast

    def gap_ack(self, chunk: Chunk, news: bool) -> None:
        destination = chunk.destination
        chunk.gap_acked = True
        self.errors = 0
        self.highest_newly_acked = max(self.highest_newly_acked, chunk.number)
        destination.newly_acked += self.chunk_size
        if destination.cwnd > destination.ssthresh and news and not chunk.counted_partial:
            chunk.counted_partial = True
            destination.partial_acked += self.chunk_size
        self.take_measurement(chunk)
        if destination.first_outstanding is chunk:
            destination.timer.stop()
        self.prove_alive(chunk)
        chunk.marked = ""

    def open_window(self, destination: Road) -> None:
        full = destination.outstanding >= destination.cwnd
        if destination.cwnd <= destination.ssthresh:
            if full:
                destination.cwnd += min(destination.newly_acked, self.chunk_size)
        elif destination.partial_acked >= destination.cwnd and full:
            destination.partial_acked -= destination.cwnd
            destination.cwnd += self.chunk_size

    # Sending.

    def mark(self, chunk: Chunk, why: str) -> None:
        chunk.marked = why
        self.peer_window += self.chunk_size
        self.any_marked = True

    def send_new(self) -> None:
        """Send new data to the current destination, as cwnd, the receive window and the burst limit allow."""
        destination = self.current
        sent_any = False
        while destination.outstanding < destination.cwnd and self.sent < self.parameters.LIMIT:
            if self.chunk_size <= self.peer_window:
                if self.limit_burst:
                    self.burst += 1
                    if self.burst > self.parameters.MAX_BURST:
                        self.limit_burst = False
                        break
            elif sum(d.outstanding for d in self.destinations) > 0:
                break  # otherwise one packet probes the closed window
            self.sent += 1
            sent_any = True
            chunk = Chunk(self.sent, destination)
            if not destination.timing:
                destination.timing = True
                chunk.timed_at = self.simulation.now
            self.buffer.append(chunk)
            destination.outstanding += self.chunk_size
            self.peer_window = max(0, self.peer_window - self.chunk_size)
            if not destination.timer.pending:
                destination.start_timer()
            self.put_chunk_out(chunk)
        if sent_any:
            destination.degrade_timer.start(destination.rto)
            destination.idle_since = self.simulation.now
        self.burst = 0

    def put_chunk_out(self, chunk: Chunk) -> None:
        p = self.parameters
        number = chunk.destination.number
        self.outcomes.add(Out.SENT)
        self.outcomes.add(Out.RETRANSMITTED, int(chunk.sent_times > 1))
        self.outcomes.add(Out.SENT_ALTERNATE, int(number == 1))
        short = p.SHORT if chunk.number == p.LIMIT else 0
        self.transmit(number, Packet("data", self.chunk_size + p.HEADER - short, chunk.number))

    def retransmit(self, *, one_packet: bool) -> None:
        """Retransmit marked chunks: one, or as many as cwnd allows."""
        self.burst = 0
        for destination in self.destinations:
            destination.first_outstanding = None
        marked = [chunk for chunk in self.buffer if chunk.marked]
        if marked:
            first = marked[0].destination
            stay = not self.parameters.RESPONSE_ALTERNATE and first.active
            self.retransmit_to(first if stay else self.other(first), marked, one_packet)
        self.any_marked = any(chunk.marked for chunk in self.buffer)

    def retransmit_to(self, target: Road, marked: list[Chunk], one_packet: bool) -> None:
        for chunk in marked:  # here, marked chunks do not count as outstanding
            chunk.destination.outstanding -= self.chunk_size
        packets = 0
        for chunk in self.buffer:
            old = chunk.destination
            if old.first_outstanding is None and not chunk.gap_acked:
                old.first_outstanding = chunk
            if not chunk.marked:
                continue
            if packets == 1 if one_packet else target.outstanding >= target.cwnd:
                break
            if old.timing and chunk.timed_at is not None:
                chunk.timed_at = None
                old.timing = False
            if old.first_outstanding is chunk and old.outstanding > 0:
                old.start_timer()
            if target.first_outstanding is None or chunk.number < target.first_outstanding.number:
                target.first_outstanding = chunk
                target.start_timer()
            chunk.destination = target
            chunk.sent_times += 1
            chunk.marked = ""
            target.outstanding += self.chunk_size
            self.peer_window -= self.chunk_size
            self.put_chunk_out(chunk)
            if not target.timer.pending:
                target.start_timer()
            target.degrade_timer.start(target.rto)
            packets += 1
            if self.limit_burst:
                self.burst += 1
                if self.burst > self.parameters.MAX_BURST:
                    self.limit_burst = False
                    break
        for chunk in self.buffer:
            if chunk.marked:
                chunk.destination.outstanding += self.chunk_size

    def fast_retransmit(self) -> None:
        """Start a fast retransmit: reduce cwnd, once per destination and window, and send one packet at
        once.
        """
        for destination in self.destinations:
            destination.cut = False
        for chunk in self.buffer:
            destination = chunk.destination
            if chunk.marked and not destination.cut and chunk.number > self.recover:
                self.outcomes.add(Out.CWND_CUTS)
                destination.ssthresh = max(destination.cwnd // 2, self.parameters.SSTHRESH_FLOOR)
                destination.cwnd = destination.ssthresh
                destination.partial_acked = 0
                destination.cut = True
                destination.timing = False
                outstanding = [c.number for c in self.buffer if not c.marked]
                self.highest_outstanding = max([self.highest_outstanding, *outstanding])
                self.recover = self.highest_outstanding
        if self.any_marked:
            self.retransmit(one_packet=True)

    # Timeouts.

    def degrade(self, road: Road) -> None:
        """Halve the window of a path on which nothing was sent for one timeout."""
        p = self.parameters
        if road.cwnd > DEGRADE_ABOVE * self.chunk_size:
            road.cwnd = max(road.cwnd // 2, p.SSTHRESH_FLOOR)
        road.degrade_timer.start(road.rto)

    def on_timeout(self, destination: Road) -> None:
        """Process the expiry of T3-rtx of a path."""
        self.outcomes.add(Out.TIMEOUTS)
        self.outcomes.add(Out.CWND_CUTS)
        if destination.cwnd > self.chunk_size:
            destination.ssthresh = max(destination.cwnd // 2, self.parameters.SSTHRESH_FLOOR)
            destination.cwnd = self.chunk_size
            destination.partial_acked = 0
        destination.degrade_timer.stop()
        destination.timing = False
        if not self.count_error(destination):
            return
        for chunk in self.buffer:
            if chunk.destination is destination and not chunk.gap_acked:
                self.mark(chunk, "timeout")
                chunk.missing = 0
        if self.any_marked:
            self.retransmit(one_packet=True)
        if not destination.active and self.parameters.HEARTBEAT:
            self.send_heartbeat(destination)

    def close(self) -> None:
        super().close()
        self.buffer = []
        for road in self.destinations:
            road.timer.stop()
            road.degrade_timer.stop()
