"""The sending end of an SCTP association (ns-2.35 `sctp.cc`), one DATA chunk a packet."""

from collections.abc import Sequence
from dataclasses import dataclass

from netcarlo.kernels.layout import STREAM_HEARTBEAT, Out

from tests.naive.engine import Rank, Simulation, Timer
from tests.naive.link import Packet, Path
from tests.naive.outcomes import Outcomes
from tests.naive.parameters import Parameters
from tests.naive.random_numbers import Streams
from tests.naive.sctp_receiver import Sack

ASSOCIATION_MAX_RETRANS = 10
COOKIE = 4
"""COOKIE ECHO and COOKIE ACK chunks [byte]."""
HEARTBEAT = 24
"""HEARTBEAT and HEARTBEAT ACK chunks [byte]."""


class Destination:
    """What the sender knows about one path to the receiver."""

    def __init__(self, number: int, simulation: Simulation, sender: "SctpSender") -> None:
        p = sender.parameters
        self.number = number
        self.p = p
        self.cwnd = p.INITIAL_CWND
        self.ssthresh = p.INITIAL_SSTHRESH
        self.partial_acked = 0  # bytes acknowledged since cwnd last grew in congestion avoidance
        self.outstanding = 0  # bytes
        self.newly_acked = 0  # bytes, by the SACK in hand
        self.first_outstanding: Chunk | None = None  # a note of the loops over the send buffer
        self.cut = False  # by the fast retransmit in hand

        self.rto = p.INITIAL_RTO
        self.srtt: int | None = None
        self.rttvar = 0
        self.timing = False  # a chunk is being timed
        self.timer = Timer(simulation, Rank.SENDER_TIMER, lambda: sender.on_timeout(self))
        self.heartbeat_timer = Timer(
            simulation, Rank.SENDER_TIMER, lambda: sender.on_heartbeat_timeout(self)
        )

        self.errors = 0  # timeouts in a row
        self.active = True
        self.confirmed = True
        self.idle_since = 0

    def start_timer(self) -> None:
        self.timer.start(self.rto)

    def measure(self, rtt: int) -> None:
        """RFC 2960, 6.3.1."""
        if self.srtt is None:
            self.srtt = rtt
            self.rttvar = rtt // 2
        else:
            self.rttvar = (3 * self.rttvar + abs(self.srtt - rtt)) // 4
            self.srtt = (7 * self.srtt + rtt) // 8
        self.rto = min(max(self.srtt + 4 * self.rttvar, self.p.MIN_RTO), self.p.MAX_RTO)

    def back_off(self) -> None:
        self.rto = min(2 * self.rto, self.p.MAX_RTO)


@dataclass(eq=False)
class Chunk:
    """A DATA chunk in the send buffer: not yet cumulatively acknowledged."""

    number: int  # TSN
    destination: Destination  # to which it was last sent
    timed_at: int | None = None  # when it was sent, if it is being timed
    sent_times: int = 1
    gap_acked: bool = False
    counted_partial: bool = False  # in partial_acked, by a gap block
    missing: int = 0  # reports
    marked: str = ""  # for retransmission: "fast" or "timeout"
    fast_retransmitted: bool = False  # only once


class SctpSender:
    """One association over one or two paths."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters, streams: Streams,
        paths: Sequence[Path],
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.parameters = parameters
        self.streams = streams
        self.paths = paths
        self.chunk_size = parameters.DATA + parameters.CHUNK_HEADER
        self.destinations = [
            Destination(number, simulation, self) for number in range(parameters.N_PATHS)
        ]
        self.primary = self.destinations[0]
        self.current = self.destinations[0]  # where new data goes

        self.state = "closed"
        self.handshake_timer = Timer(simulation, Rank.SENDER_TIMER, self.on_handshake_timeout)
        self.heartbeat_generator = Timer(simulation, Rank.SENDER_TIMER, self.on_heartbeat_time)
        self.heartbeats_drawn = 0
        self.heartbeat_wait_began = 0

        self.buffer: list[Chunk] = []  # by number
        self.sent = 0  # highest number put out
        self.cumulative = 0
        self.highest_newly_acked = 0
        self.recover = 0  # one cut per window
        self.highest_outstanding = 0
        self.peer_window = 0
        self.may_send_new = False
        self.any_marked = False
        self.limit_burst = False
        self.burst = 0
        self.rtt = 0  # the latest measurement [ns]
        self.errors = 0  # timeouts in a row, on any path

    # The handshake.

    def start(self) -> None:
        if self.parameters.HANDSHAKE == 0:
            self.peer_window = self.parameters.RWND
            self.established()
        else:
            self.state = "init"
            self.send_handshake()

    def send_handshake(self) -> None:
        self.outcomes.add(Out.HANDSHAKES)
        size = self.parameters.HANDSHAKE if self.state == "init" else self.parameters.HEADER + COOKIE
        self.paths[self.primary.number].send(Packet(self.state, size, 0))
        self.handshake_timer.start(self.primary.rto)

    def on_handshake_timeout(self) -> None:
        self.primary.back_off()
        self.send_handshake()

    def established(self) -> None:
        self.state = "established"
        self.handshake_timer.stop()
        if self.parameters.PROBE_FIRST:
            for destination in self.destinations:
                destination.confirmed = False
                self.send_heartbeat(destination)
        else:
            self.all_confirmed()
            self.send_if_allowed()

    def all_confirmed(self) -> None:
        self.may_send_new = True
        if self.parameters.HEARTBEAT:
            self.wait_for_heartbeat(self.primary)
            for destination in self.destinations:
                destination.idle_since = self.simulation.now

    # Everything that arrives.

    def receive(self, packet: Packet) -> None:
        if packet.kind == "init ack":
            if self.state == "init":
                self.peer_window = self.parameters.RWND
                self.state = "cookie"
                self.send_handshake()
        elif packet.kind == "cookie ack":
            if self.state == "cookie":
                self.established()
        elif packet.kind == "heartbeat ack":
            self.on_heartbeat_ack(packet)
            self.send_if_allowed()
        elif packet.kind == "ack" and self.state == "established":
            self.on_sack(packet.content)
            self.may_send_new = True
            self.send_if_allowed()

    def send_if_allowed(self) -> None:
        if self.may_send_new and not self.any_marked:
            self.send_new()
            self.may_send_new = False

    # Heartbeats.

    def wait_for_heartbeat(self, destination: Destination) -> None:
        word = self.streams.block(STREAM_HEARTBEAT, self.heartbeats_drawn)[0]
        self.heartbeats_drawn += 1
        jitter = (word * destination.rto) >> 32
        self.heartbeat_generator.start(
            self.parameters.HEARTBEAT + destination.rto + jitter - destination.rto // 2
        )
        self.heartbeat_wait_began = self.simulation.now

    def on_heartbeat_time(self) -> None:
        idlest = min(self.destinations, key=lambda destination: destination.idle_since)
        if idlest.idle_since <= self.heartbeat_wait_began:
            self.send_heartbeat(idlest)
        self.wait_for_heartbeat(idlest)

    def send_heartbeat(self, destination: Destination) -> None:
        now = self.simulation.now
        self.paths[destination.number].send(
            Packet("heartbeat", self.parameters.HEADER + HEARTBEAT, (destination.number, now))
        )
        destination.idle_since = now
        destination.heartbeat_timer.start(destination.rto)

    def on_heartbeat_ack(self, packet: Packet) -> None:
        number, sent_at = packet.content
        destination = self.destinations[number]
        was_confirmed = destination.confirmed
        destination.active = destination.confirmed = True
        destination.errors = self.errors = 0
        if destination is self.primary:
            self.current = self.primary
        self.measure(destination, self.simulation.now - sent_at)
        destination.heartbeat_timer.stop()
        if not was_confirmed and all(d.confirmed for d in self.destinations):
            self.all_confirmed()

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
                self.measure(destination, self.simulation.now - chunk.timed_at)
            destination.timing = False

    def measure(self, destination: Destination, rtt: int) -> None:
        self.rtt = rtt
        destination.measure(rtt)

    def prove_alive(self, chunk: Chunk) -> None:
        """An acknowledged chunk clears the errors of its path, unless it had timed out."""
        destination = chunk.destination
        if destination.errors and chunk.marked != "timeout":
            destination.errors = 0
            destination.active = True
            if destination is self.primary:
                self.current = self.primary

    def process_blocks(self, sack: Sack, news: bool) -> bool:
        """Gap blocks: note what has arrived and count what is missing; is a fast retransmit due?"""
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

    def open_window(self, destination: Destination) -> None:
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
        """New data to the current destination, as cwnd, the peer's window and bursts allow."""
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
            self.put_out(chunk)
        if sent_any:
            destination.idle_since = self.simulation.now
        self.burst = 0

    def put_out(self, chunk: Chunk) -> None:
        p = self.parameters
        number = chunk.destination.number
        self.outcomes.add(Out.SENT)
        self.outcomes.add(Out.RETRANSMITTED, int(chunk.sent_times > 1))
        self.outcomes.add(Out.SENT_ALTERNATE, int(number == 1))
        self.paths[number].send(Packet("data", self.chunk_size + p.HEADER, chunk.number))

    def other(self, destination: Destination) -> Destination:
        """The next active destination after this one; when none is, the next one."""
        count = len(self.destinations)
        for step in range(1, count + 1):
            candidate = self.destinations[(destination.number + step) % count]
            if candidate.active:
                return candidate
        return self.destinations[(destination.number + 1) % count]

    def retransmit(self, *, one_packet: bool) -> None:
        """Send marked chunks again: one, or as many as cwnd allows."""
        self.burst = 0
        for destination in self.destinations:
            destination.first_outstanding = None
        marked = [chunk for chunk in self.buffer if chunk.marked]
        if marked:
            first = marked[0].destination
            stay = not self.parameters.RESPONSE_ALTERNATE and first.active
            self.retransmit_to(first if stay else self.other(first), marked, one_packet)
        self.any_marked = any(chunk.marked for chunk in self.buffer)

    def retransmit_to(self, target: Destination, marked: list[Chunk], one_packet: bool) -> None:
        for chunk in marked:  # while here, marked chunks are not outstanding
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
            self.put_out(chunk)
            if not target.timer.pending:
                target.start_timer()
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
        """Cut cwnd, once per destination and window; one packet goes out at once."""
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

    def on_timeout(self, destination: Destination) -> None:
        """T3: nothing was acknowledged on this path for too long."""
        self.outcomes.add(Out.TIMEOUTS)
        if destination.cwnd > self.chunk_size:
            self.outcomes.add(Out.CWND_CUTS)
            destination.ssthresh = max(destination.cwnd // 2, self.parameters.SSTHRESH_FLOOR)
            destination.cwnd = self.chunk_size
            destination.partial_acked = 0
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

    def on_heartbeat_timeout(self, destination: Destination) -> None:
        if self.count_error(destination) and (self.parameters.HEARTBEAT or not destination.confirmed):
            self.send_heartbeat(destination)

    def count_error(self, destination: Destination) -> bool:
        """A timeout of data or heartbeat: back off, fail over; False if the association is given up."""
        destination.back_off()
        destination.errors += 1
        if destination.active and destination.confirmed:
            self.errors += 1
            if destination.errors > self.parameters.PATH_MAX_RETRANS:
                destination.active = False
                if destination is self.current:
                    self.current = self.other(destination)
            if self.errors > ASSOCIATION_MAX_RETRANS:
                self.close()
                return False
        if destination is self.primary:  # ns-2's change of the primary, "at once"
            self.primary = self.current
        return True

    def close(self) -> None:
        self.state = "given up"
        self.buffer = []
        self.heartbeat_generator.stop()
        self.handshake_timer.stop()
        for destination in self.destinations:
            destination.timer.stop()
            destination.heartbeat_timer.stop()
