"""Flows, each between its own two hosts: datagrams, or one of the TCPs of the path twin."""

from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out
from netcarlo.kernels.shared.layout import STREAM_DATAGRAM, STREAM_PERIOD, FlowOut
from tests.twins.jitter import gap
from tests.twins.outcomes import WORD
from tests.twins.path.link import Packet
from tests.twins.run import tcp_of
from tests.twins.shared.clock import HostClock, Phase, Turn
from tests.twins.shared.delays import Noted
from tests.twins.shared.links import Cable, Segment, transmission_time
from tests.twins.tcp.linux26 import Linux
from tests.twins.tcp.receiver import Receiver
from tests.twins.tcp.reno import Reno
from tests.twins.tcp.sack import Sack
from tests.twins.tcp.tcp import TcpSender
from tests.twins.tcp.vegas import Vegas

if TYPE_CHECKING:
    from tests.twins.shared.world import World

SACK_BASED = ("bic", "cubic", "westwood")

COUNTED = (
    FlowOut.SENT, FlowOut.RETRANSMITTED, FlowOut.RECEIVED, FlowOut.DELIVERED, FlowOut.IN_ORDER,
    FlowOut.ACKED, FlowOut.DROPS_QUEUE, FlowOut.DROPS_RANDOM, FlowOut.ACKS_SENT, FlowOut.ACK_DROPS,
    FlowOut.MARKED, FlowOut.TIMEOUTS, FlowOut.FAST_RETRANSMITS, FlowOut.CWND_CUTS, FlowOut.HANDSHAKES,
)  # fmt: skip
"""Counters of events; samples are taken after the warm-up only."""


class Flow:
    """Common parts of UDP and TCP flows."""

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        self.world = world
        self.agenda = world.agenda
        self.number = number
        self.columns = columns
        self.outcomes = Noted(limit=columns.LIMIT)
        self.to_network = Cable(columns.ACCESS, columns.SOURCE_DELAY)
        self.to_sink = Cable(columns.SINK, columns.SINK_DELAY)
        self.route = [world.links[number] for number in columns.route]
        self.detours = columns.detours  # times in which packets use the backup route
        self.on_way: set[Segment] = set()  # data
        self.under_way: set[Segment] = set()  # data and other packets
        self.through: list[Segment] = []  # data that the last link has transmitted or will transmit
        self.in_flight_before = self.marked = self.acks_sent = 0
        self.before: dict[FlowOut, int] = {}  # counters at the end of the warm-up
        self.finished = NEVER

    def transmit(self, packet: Packet, *, reduced: bool = False) -> None:
        """Send a packet from the source."""
        packet.sent = self.agenda.now
        self.outcomes.note_sent(packet, self.agenda.now)
        segment = Segment(self, packet, self.route, self._deliver, reduced=reduced)
        if packet.kind == "data":
            self.on_way.add(segment)
        self.under_way.add(segment)
        arrival = self.to_network.pass_through(packet.size, self.agenda.now)
        self.agenda.plan(arrival, Phase.SOURCE, self.number, self._set_out, segment, False)

    def _set_out(self, segment: Segment, back: bool) -> None:
        """Process the arrival of a packet at its first link."""
        if any(begin <= self.agenda.now < end for begin, end in self.detours or []):
            numbers = self.columns.backup_back if back else self.columns.backup
            segment.route = [self.world.links[number] for number in numbers]
        segment.route[0].enter(segment)

    def lost(self, segment: Segment, cause: str) -> None:
        self.on_way.discard(segment)
        self.under_way.discard(segment)
        self.outcomes.lost(segment.packet, cause)

    def _deliver(self, segment: Segment, time: int) -> None:
        arrival = self.to_sink.pass_through(segment.packet.size, time)
        if segment.packet.kind == "data":
            self.through.append(segment)
            at_sink = transmission_time(segment.packet.size, self.columns.SINK)
            if at_sink > segment.sending[1] - segment.sending[0]:
                segment.sending = (self.to_sink.free_at - at_sink, self.to_sink.free_at)
        self.agenda.plan(arrival, Phase.SINK, self.number, self._arrive, segment)

    def _arrive(self, segment: Segment) -> None:
        self.on_way.discard(segment)
        self.under_way.discard(segment)
        self.arrive(segment)

    def arrive(self, segment: Segment) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """End the flow: its hosts discard its state."""

    def sample(self) -> None:
        """Take a sample."""

    def warm_up_ends(self) -> None:
        """Start to count at the end of the warm-up."""
        self.before = {column: self.counters()[column] for column in COUNTED}
        self.in_flight_before = len(self.on_way)

    def useful(self) -> int:
        """Return the payload whose first transmission was after the warm-up [byte]."""
        p, seen, total = self.world.tables.p, set(), 0
        for segment in self.through:
            if segment.packet.content not in seen:
                begin, end = segment.sending
                inside = min(end, p.END) - max(begin, p.WARM_UP)
                share = Fraction(inside, end - begin) if end > begin else Fraction(inside >= 0)
                payload = segment.packet.size - self.columns.HEADER - self.columns.CHUNK_HEADER
                total += floor(payload * max(share, 0))
            seen.add(segment.packet.content)
        return total

    def counters(self) -> dict[FlowOut, int]:
        """Return the columns of `FlowOut` for the whole run."""
        rtt_high, rtt_low = divmod(self.outcomes.values[Out.RTT_SUM], WORD)
        own = {
            FlowOut.IN_FLIGHT_BEFORE: self.in_flight_before,
            FlowOut.RTT_SUM: rtt_low, FlowOut.RTT_SUM_HIGH: rtt_high, FlowOut.IN_FLIGHT: len(self.on_way),
            FlowOut.ACKS_SENT: self.acks_sent, FlowOut.MARKED: self.marked, FlowOut.FINISHED: self.finished,
        }  # fmt: skip
        columns = [column for column in FlowOut if column not in (FlowOut.USEFUL, FlowOut.COLUMNS)]
        return {c: own[c] if c in own else self.outcomes.values[Out[c.name]] for c in columns}

    def values(self) -> list[int]:
        """Return the columns of `FlowOut`."""
        found = self.counters() | {FlowOut.USEFUL: self.useful()}
        return [found[c] - self.before.get(c, 0) for c in FlowOut if c != FlowOut.COLUMNS]


class Udp(Flow):
    """Datagrams with uniform or exponential gaps, optionally with exponential active and silent periods."""

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        self.periods = self._periods()
        self.silent_from = columns.START + next(self.periods) if columns.ON > 0 else None
        self._expect(0, columns.START)

    def _periods(self) -> Iterator[int]:
        """Yield the lengths of active and silent periods in turn [ns]."""
        c = self.columns
        gaps = self.world.tables.gaps(STREAM_PERIOD + self.number, c.PERIODS)
        assert gaps is not None
        for k, parts in enumerate(gaps):
            mean = c.ON if k % 2 == 0 else c.OFF
            yield (parts + 1) * mean // 1024

    def _expect(self, k: int, time: int) -> None:
        """Schedule datagram k."""
        if time < self.columns.STOP and k < self.columns.LIMIT:
            self.agenda.plan(time, Phase.HOST, self.number, self._send, k, turn=Turn.START)

    def _send(self, k: int) -> None:
        self.outcomes.add(Out.SENT)
        c = self.columns
        self.transmit(Packet("data", c.DATA + c.HEADER - (c.SHORT if k == c.LIMIT - 1 else 0), k))
        time = self.agenda.now + self._gap(k)
        if self.silent_from is not None and time > self.silent_from:
            time = self.silent_from + next(self.periods)
            self.silent_from = time + next(self.periods)
        self._expect(k + 1, time)

    def _gap(self, k: int) -> int:
        """Return the time from datagram k to the next [ns]."""
        c = self.columns
        streams, stream = self.world.tables.streams, STREAM_DATAGRAM + self.number
        return max(gap(streams, k, c.INTERVAL, c.SPREAD, stream=stream), 1)

    def arrive(self, segment: Segment) -> None:
        self.outcomes.arrived(segment.packet, segment.packet.content, self.agenda.now)


class Association(Flow):
    """Flow whose sink sends acknowledgements."""

    def __init__(self, world: "World", number: int, columns: Any) -> None:
        super().__init__(world, number, columns)
        self.from_sink = Cable(columns.SINK_BACK, columns.SINK_DELAY)
        self.to_source = Cable(columns.ACCESS_BACK, columns.SOURCE_DELAY)
        self.way_back = [world.links[number] for number in columns.back]

    def send_back(self, packet: Packet, *, echo: bool = False) -> None:
        """Send a packet from the sink."""
        self.acks_sent += packet.kind == "ack"
        segment = Segment(self, packet, self.way_back, self._deliver_back, echo=echo)
        self.under_way.add(segment)
        arrival = self.from_sink.pass_through(packet.size, self.agenda.now)
        self.agenda.plan(arrival, Phase.BACK, self.number, self._set_out, segment, True)

    def _deliver_back(self, segment: Segment, time: int) -> None:
        arrival = self.to_source.pass_through(segment.packet.size, time)
        self.agenda.plan(arrival, Phase.HOST, self.number, self._arrive_back, segment, turn=Turn.ACK)

    def _arrive_back(self, segment: Segment) -> None:
        self.under_way.discard(segment)
        self.arrive_back(segment)

    def arrive_back(self, segment: Segment) -> None:
        raise NotImplementedError


class Tcp(Association):
    def __init__(self, world: "World", number: int, columns: Any, protocol: str) -> None:
        super().__init__(world, number, columns)
        clock = HostClock(self.agenda, number)
        sender, control = tcp_of(f"sack_{protocol}" if protocol in SACK_BASED else protocol)
        self.sender = sender(clock, self.outcomes, columns, self._send, control())
        self.sender.send_probe = self._send_probe
        self.receiver = Receiver(
            clock, self.outcomes, first=self.sender.next_number, first_data=sender.first_data,
            ack_every=columns.ACK_EVERY, ack_delay=columns.ACK_DELAY, ack_size=columns.ACK,
            block_size=columns.SACK_BLOCK, sack=sender.sack, send_back=self._acknowledge,
        )  # fmt: skip
        self.echo = False  # acknowledgements tell that a router is congested
        self.calm_from = 0  # acknowledgements up to this one are of packets put out before the last such cut
        self.must_tell = False  # that the window has been reduced
        self.agenda.plan(columns.START, Phase.HOST, number, self.sender.start, turn=Turn.START)

    def _send(self, packet: Packet) -> None:
        if packet.kind == "data":  # the path twin of Vegas sends packets without a header
            packet.size = self.columns.DATA + self.columns.HEADER - self.sender.missing(packet.content)
        is_new = packet.kind == "data" and packet.content > self.sender.highest_sent
        self.transmit(packet, reduced=is_new and self.must_tell)
        self.must_tell = self.must_tell and not is_new

    def close(self) -> None:
        self.receiver.timer.stop()

    def _send_probe(self, number: int) -> None:
        self.transmit(Packet("probe", self.columns.HEADER, number))

    def arrive(self, segment: Segment) -> None:
        self.receiver.timer.expire_if_due()
        if segment.packet.kind == "probe":
            self.send_back(Packet("reply", self.columns.HEADER, segment.packet.content))
            return
        if segment.reduced:
            self.echo = False
        if segment.congested:
            self.echo = True
        self.receiver.receive(segment.packet)

    def _acknowledge(self, packet: Packet) -> None:
        self.send_back(packet, echo=self.echo)

    def arrive_back(self, segment: Segment) -> None:
        if segment.packet.kind == "reply":
            self.sender.on_probe_reply(segment.packet.content)
            return
        if segment.echo:
            self._on_echo(segment.packet.content.number)
        self.sender.receive(segment.packet)
        if self.sender.finished and self.finished == NEVER and self.columns.LIMIT != ENDLESS:
            self.finished = self.agenda.now

    def _on_echo(self, number: int) -> None:
        """Process an ECN echo: reduce the window, once per round trip and not in loss recovery."""
        sender = self.sender
        if number <= self.calm_from or number < sender.first_data or not is_normal(sender):
            return
        window = min(sender.cwnd, float(sender.window))
        if isinstance(sender, Linux):
            sender.cut()
        else:
            if isinstance(sender, Vegas):
                left = window * 3.0 / 4.0
            else:
                left = sender.control.reduce(window, timeout=False)
            sender.cwnd = max(left, 2.0)
            sender.ssthresh = int(sender.cwnd)
            self.outcomes.add(Out.CWND_CUTS)
        self.calm_from = sender.highest_sent
        self.must_tell = True

    def sample(self) -> None:
        self.outcomes.add(Out.SAMPLES)
        self.outcomes.add(Out.CWND_SUM, int(min(self.sender.cwnd, float(self.sender.window)) * 1024.0))
        if self.sender.rtt > 0:
            self.outcomes.add(Out.RTT_SUM, self.sender.rtt)
            self.outcomes.add(Out.RTT_SAMPLES)


def is_normal(sender: TcpSender) -> bool:
    """Return True if no loss is being repaired."""
    if isinstance(sender, Linux):
        return sender.state == "open"
    if isinstance(sender, Sack):
        return not (sender.recovering or sender.after_timeout)
    return not (isinstance(sender, Reno) and sender.last_cut == "dupack")
