"""Sender: packet numbers that never repeat, loss detection and probes (RFC 9002)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from netcarlo.kernels.base.layout import Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet
from tests.twins.quic.controls import Cubic, HyStart, NewReno
from tests.twins.quic.packets import AckFrame, Hello, StreamData

MS = 1_000_000


@dataclass
class Sent:
    """A data packet that is neither acknowledged nor lost."""

    number: int
    part: int
    time: int


class QuicSender:
    """Sender of parts 0 to `LIMIT` - 1 of a stream."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Any, send: Callable[[Packet], None]
    ) -> None:
        self.simulation, self.outcomes, self.p, self.send = simulation, outcomes, parameters, send
        self.is_blocked: Callable[[], bool] = lambda: False
        self.size = parameters.DATA + parameters.CHUNK_HEADER
        self.control = self.new_control()
        self.next_number = 0
        self.out: dict[int, Sent] = {}
        self.acknowledged_numbers: set[int] = set()
        self.acknowledged: set[int] = set()  # parts
        self.missing_from = 0
        self.started = 0  # parts that have been sent at least once
        self.queue: list[int] = []  # lost parts
        self.largest_acked = -1
        self.latest_ack = 0
        self.recovery_since = -1
        # handshake
        self.state = "closed"
        self.stage = 1
        self.hellos: dict[int, int] = {}  # those of this stage: when they were sent
        self.hello_due = False
        # round-trip times
        self.rtt = 0
        self.smoothed, self.variation = parameters.INITIAL_RTT, parameters.INITIAL_RTT // 2
        self.smallest = 0
        self.first_sample = -1
        # timers
        self.time = 0  # of the latest event here
        self.timeouts = 0  # in a row
        self.loss_time: int | None = None
        self.latest_sent = 0
        self.probes = 0  # probe packets to send
        self.repeated = -1  # the latest part that probes of the present timeout have repeated
        self.timer = Timer(simulation, Rank.RETRANSMISSION, self.expire)
        self.paced_until = self.release = 0
        self.pacing = Timer(simulation, Rank.PACING, self.go_on)

    def new_control(self) -> NewReno:
        kind = Cubic if self.p.CONTROL == 1 else NewReno
        control: NewReno = kind(self.p.INITIAL_PACKETS * self.size, self.size)
        if self.p.HYSTART:
            control.hystart = HyStart(paced=self.p.PACING > 0)
        return control

    # Events.

    def start(self) -> None:
        self.time = self.simulation.now
        self.state = "waiting"
        self.hello_due = True
        self.timer.start(max(self.timeout(), 1))
        self.transmit()

    def receive(self, packet: Packet) -> None:
        self.time = self.simulation.now
        if isinstance(packet.content, AckFrame):
            self.on_ack(packet.content)
        else:
            self.on_answer(packet.content)
        self.hold()
        self.transmit()

    def go_on(self) -> None:
        """Continue when the pacer permits the next packet."""
        self.time = self.simulation.now
        self.hold()
        self.transmit()

    def expire(self) -> None:
        self.time = self.simulation.now
        self.on_expiry()
        self.hold()
        self.transmit()

    def on_expiry(self) -> None:
        if self.state == "waiting":
            self.timeouts += 1
            self.hello_due = True
            self.timer.start(max(self.timeout(), 1))
        elif self.loss_time is not None:
            self.find_losses()
            self.set_timer()
        else:
            self.outcomes.add(Out.TIMEOUTS)
            self.timeouts += 1
            self.latest_sent = self.time
            self.probes, self.repeated = 2, -1
            self.set_timer()

    # Sending.

    @property
    def finished(self) -> bool:
        return self.missing_from == self.p.LIMIT

    @property
    def in_flight(self) -> int:
        return len(self.out) * int(self.size)

    @property
    def room(self) -> bool:
        return self.in_flight + self.size <= self.control.window

    @property
    def has_new(self) -> bool:
        return self.started < min(self.p.LIMIT, self.missing_from + self.p.WINDOW)

    @property
    def may_send_data(self) -> bool:
        keys = self.state == "established" or (self.state == "waiting" and self.p.ZERO_RTT == 1)
        return keys and self.room and (bool(self.queue) or self.has_new)

    @property
    def waits(self) -> bool:
        """True if a packet waits that may be sent now."""
        return self.hello_due or bool(self.probes) or (self.may_send_data and self.release <= self.time)

    def transmit(self) -> None:
        """Send all that may be sent."""
        while self.waits and not self.is_blocked():
            self.time = self.simulation.now
            if self.hello_due:
                self.send_hello()
            else:
                self.send_data(self.next_part())

    def number(self) -> int:
        self.next_number += 1
        return self.next_number - 1

    def send_hello(self) -> None:
        self.hello_due = False
        number = self.number()
        self.hellos[number] = self.time
        self.outcomes.add(Out.HANDSHAKES)
        self.send(Packet("hello", 1200 + self.p.HEADER, Hello(number, self.stage)))

    def next_part(self) -> int:
        probe = self.probes > 0
        self.probes = max(self.probes - 1, 0)
        if self.queue:
            part = self.queue.pop(0)
            self.drop_acknowledged()
        elif self.has_new:
            self.started += 1
            return self.started - 1
        else:
            assert probe
            unacknowledged = [part for part in range(self.started) if part not in self.acknowledged]
            part = next(part for part in unacknowledged if part > self.repeated)
            self.repeated = part
            if part == unacknowledged[-1]:
                self.probes = 0
        self.outcomes.add(Out.RETRANSMITTED)
        return part

    def bytes_of(self, part: int) -> int:
        return int(self.size - (self.p.SHORT if part == self.p.LIMIT - 1 else 0))

    def send_data(self, part: int) -> None:
        number = self.number()
        self.out[number] = Sent(number, part, self.time)
        self.latest_sent = self.time
        self.outcomes.add(Out.SENT)
        if self.p.PACING and self.first_sample >= 0:
            interval = self.smoothed * self.size * 1024 // (self.p.PACING * self.control.window)
            self.paced_until = max(self.paced_until, self.time) + interval
            self.release = self.paced_until - (self.p.BURST - 1) * interval
        self.set_timer()
        self.hold()
        self.send(Packet("data", self.bytes_of(part) + self.p.HEADER, StreamData.of(part, number)))

    def hold(self) -> None:
        """Set the pacing timer if only the pacer holds the next packet."""
        if self.release > self.time and self.may_send_data:
            self.pacing.start(self.release - self.simulation.now)
        else:
            self.pacing.stop()

    # Acknowledgements.

    def on_answer(self, hello: Hello) -> None:
        if self.state != "waiting" or hello.number not in self.hellos:
            return
        self.measure(self.time - self.hellos[hello.number], 0)
        self.timeouts = 0
        self.control.window += 1200
        self.hello_due = False
        self.hellos = {}
        if self.stage == 1 and self.p.SERVER_FLIGHT > 3600:
            self.stage = 2
            self.hello_due = True
            self.timer.start(max(self.timeout(), 1))
        else:
            self.state = "established"
            self.timer.stop()
            self.set_timer()

    def measure(self, rtt: int, delay: int) -> None:
        """Update the RTT estimate (section 5.3)."""
        self.rtt = rtt
        if self.first_sample < 0:
            self.first_sample = self.time
            self.smallest = self.smoothed = rtt
            self.variation = rtt // 2
            return
        self.smallest = min(self.smallest, rtt)
        if rtt - delay >= self.smallest:
            rtt -= delay
        self.variation = (3 * self.variation + abs(self.smoothed - rtt)) // 4
        self.smoothed = (7 * self.smoothed + rtt) // 8

    def on_ack(self, frame: AckFrame) -> None:
        if self.state != "established" or frame.order <= self.latest_ack:
            return
        self.latest_ack = frame.order
        used = self.pacing.pending or not self.room
        newly = [self.out.pop(number) for number in sorted(self.out) if frame.holds(number)]
        self.acknowledged_numbers |= {sent.number for sent in newly}
        self.largest_acked = max(self.largest_acked, frame.largest)
        if not newly:
            return
        self.acknowledged |= {sent.part for sent in newly}
        while self.missing_from in self.acknowledged:
            self.missing_from += 1
        self.outcomes.values[Out.ACKED] = self.missing_from
        self.timeouts = 0
        self.probes = 0
        self.drop_acknowledged()
        sample = self.time - newly[-1].time if newly[-1].number == frame.largest else None
        if sample is not None:
            self.measure(sample, min(frame.delay, self.p.ACK_DELAY))
        self.find_losses()
        grown = self.size * sum(sent.time > self.recovery_since for sent in newly)
        if used and grown and self.recovery_since != self.time:
            self.control.acknowledged(grown, self.time, self.smoothed)
        hystart = self.control.hystart
        if hystart and self.control.slow_start and hystart.ends(sample, self.largest_acked, self.next_number):
            self.control.threshold = self.control.window
        self.set_timer()

    def drop_acknowledged(self) -> None:
        while self.queue and self.queue[0] in self.acknowledged:
            self.queue.pop(0)

    def find_losses(self) -> None:
        """Detect lost packets (section 6.1) and persistent congestion (section 7.6)."""
        patience = max(9 * max(self.rtt, self.smoothed) // 8, MS)
        earlier = [self.out[number] for number in sorted(self.out) if number < self.largest_acked]
        lost = [
            sent
            for sent in earlier
            if sent.number <= self.largest_acked - 3 or sent.time <= self.time - patience
        ]
        for sent in lost:
            del self.out[sent.number]
            if sent.part not in self.acknowledged and sent.part not in self.queue:
                self.queue.append(sent.part)
        waiting = [sent.time + patience for sent in earlier if sent.number in self.out]
        self.loss_time = min(waiting, default=None)
        if lost and lost[-1].time > self.recovery_since:
            self.recovery_since = self.time
            self.outcomes.add(Out.FAST_RETRANSMITS)
            self.outcomes.add(Out.CWND_CUTS)
            self.control.lost()
        if self.is_persistent(lost):
            self.recovery_since = -1
            self.outcomes.add(Out.CWND_CUTS)
            self.smallest = self.rtt
            self.control.collapse()

    def is_persistent(self, lost: list[Sent]) -> bool:
        """Return True if nothing arrived between two lost packets for more than three probe timeouts."""
        period = 3 * (self.smoothed + max(4 * self.variation, MS) + self.p.ACK_DELAY)
        candidates = [sent for sent in lost if sent.time > self.first_sample]
        for k, first in enumerate(candidates):
            for last in candidates[k + 1 :]:
                between = range(first.number, last.number)
                if last.time - first.time > period and self.acknowledged_numbers.isdisjoint(between):
                    return True
        return False

    # Timers.

    def timeout(self) -> int:
        """Return the probe timeout (section 6.2.1)."""
        wait = self.smoothed + max(4 * self.variation, MS)
        if self.state == "established":
            wait += self.p.ACK_DELAY
        return int(min(wait * 2 ** min(self.timeouts, 16), self.p.MAX_RTO))

    def set_timer(self) -> None:
        if self.state != "established":
            return
        if not self.out or self.finished:
            self.timer.stop()
        elif self.loss_time is not None:
            self.timer.start(self.loss_time - self.simulation.now)
        else:
            due = max(self.latest_sent + self.timeout(), self.time + 1)
            self.timer.start(due - self.simulation.now)

    def window_1024(self) -> int:
        return int(min(1024 * self.control.window // self.size, 1024 * self.p.WINDOW))
