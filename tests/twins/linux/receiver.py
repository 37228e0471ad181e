"""Receiver: segments that it acknowledges at once, and the contents of its ACKs."""

from collections.abc import Callable
from dataclasses import dataclass, field

from netcarlo.kernels.base.layout import Out
from tests.twins.linux.clocks import MS, Clocks
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet

FIRST = 2  # the first data segment; 0 is the SYN, 1 the ACK that ends the handshake


@dataclass(frozen=True)
class Data:
    """Content of a segment; `push`: the receiver passes the data to the application at once."""

    number: int
    push: bool = False


@dataclass
class Ack:
    """ACK; `expected` is the first missing segment, and blocks are [left, right)."""

    expected: int
    echo: int  # send time of the segment whose timestamp is echoed [ns]
    blocks: list[tuple[int, int]] = field(default_factory=list)
    duplicate: int | None = None


class LinuxReceiver:
    """Receiver that sends an ACK for every second segment, or after 40 ms.

    At first and during a gap it acknowledges every segment, and may merge some of these ACKs."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters,
        send_back: Callable[[Packet], None],
    ) -> None:
        self.simulation = simulation
        self.outcomes = outcomes
        self.p = parameters
        self.clocks = Clocks(parameters)
        self.send_back = send_back
        self.expected = FIRST if parameters.HANDSHAKE == 0 else 0
        self.told = self.expected  # cumulative ACK sent last
        self.above: set[int] = set()
        self.blocks: list[tuple[int, int]] = []  # newest first
        self.duplicate: int | None = None
        self.echo = 0
        self.quick = 18
        self.delayed = Timer(simulation, Rank.DELAYED_ACK, self.on_delay)
        self.merging = Timer(simulation, Rank.DELAYED_ACK, self.acknowledge)
        self.merged = 0
        self.at_once = 0
        self.gap = 0
        self.syn_at: int | None = None
        self.syn_acks = 0  # SYN-ACKs sent by the timer
        self.rtt = 0
        self.last: int | None = None

    def receive(self, packet: Packet) -> None:
        self.delayed.expire_if_due()
        self.merging.expire_if_due()
        now, number = self.simulation.now, packet.content.number
        if number == 0:
            if self.syn_at is None:
                self.echo = packet.sent  # not changed by retransmitted SYNs
            self.expected = max(self.expected, FIRST)
            self.answer_syn()
            return
        if number == 1:
            self.measure()
            return
        self.outcomes.arrived(packet, number, now)
        if number + 1 < self.told:
            self.again(number)
            self.acknowledge()
            return
        if number <= self.told:
            self.echo = max(self.echo, packet.sent)
        self.measure()
        if self.last is not None and now - self.last > self.rtt + max(2 * self.rtt, 200 * MS):
            self.quick = max(self.quick, 16)
        self.last = now
        filled = False
        if number < self.expected:
            self.again(number)
        elif number in self.above:
            self.duplicate = number
        elif number > self.expected:
            self.above.add(number)
            self.remember(number)
        else:
            had_gap = bool(self.above)
            self.expected += 1
            while self.expected in self.above:
                self.above.remove(self.expected)
                self.expected += 1
            self.blocks = [block for block in self.blocks if block[1] > self.expected]
            filled = had_gap and not self.above
        self.outcomes.values[Out.IN_ORDER] = self.expected - FIRST
        enough = self.expected - self.told >= self.p.ACK_EVERY
        if filled or enough or self.quick > 0 or (packet.content.push and not self.above):
            self.acknowledge()
        elif not self.above:
            if not self.delayed.pending:
                due = self.clocks.expiry(now, self.p.ACK_DELAY // self.p.TICK)
                self.delayed.start(due - now)
        else:
            self.in_gap()

    @property
    def half_open(self) -> bool:
        """True while the third packet of the handshake is missing."""
        return self.rtt == 0 and self.syn_at is not None

    def answer_syn(self) -> None:
        """Send a SYN-ACK, and retransmit it if there is no answer."""
        self.syn_at = self.simulation.now
        self.quick += 1  # the first SYN-ACK does not count
        self.acknowledge()
        if self.rtt == 0 and self.syn_acks < 5:
            jiffies = (self.p.INITIAL_RTO // self.p.TICK) * 2**self.syn_acks
            jiffies = min(jiffies, self.p.MAX_RTO // self.p.TICK)
            self.delayed.start(self.clocks.expiry(self.syn_at, jiffies) - self.syn_at)

    def on_delay(self) -> None:
        if self.half_open:
            self.syn_acks += 1
            self.answer_syn()
        else:
            self.acknowledge()

    def measure(self) -> None:
        """Measure the RTT of the handshake."""
        if self.half_open:
            assert self.syn_at is not None
            self.rtt = self.simulation.now - self.syn_at
            self.delayed.stop()

    def again(self, number: int) -> None:
        self.duplicate = number
        self.quick = max(self.quick, 16)

    def remember(self, number: int) -> None:
        left = right = number
        while left - 1 in self.above:
            left -= 1
        while right in self.above:
            right += 1
        apart = [block for block in self.blocks if block[1] < left or block[0] > right]
        self.blocks = [(left, right), *apart][:4]

    def in_gap(self) -> None:
        if self.merged >= 44:
            self.acknowledge()
            return
        if self.gap != self.expected:
            self.gap, self.at_once = self.expected, 0
        if self.at_once < 3:
            self.at_once += 1
            self.acknowledge()
            return
        self.merged += 1
        if not self.merging.pending:
            longest = min(MS, self.rtt // 20) if self.rtt > 0 else MS
            self.merging.start(longest + 100_000)

    def acknowledge(self) -> None:
        room = 3 if self.duplicate is None else 2
        ack = Ack(self.expected, self.echo, self.blocks[:room], self.duplicate)
        options = len(ack.blocks) + (self.duplicate is not None)
        kind, size = "ack", self.p.ACK + (4 + self.p.SACK_BLOCK * options if options else 0)
        if self.expected == FIRST and not options:  # the ACK of the handshake acknowledges no data
            kind, size = "syn", self.p.HANDSHAKE
        self.quick = max(self.quick - 1, 0)
        self.duplicate = None
        self.told = self.expected
        self.merged = 0
        self.delayed.stop()
        self.merging.stop()
        self.send_back(Packet(kind, size, ack))
