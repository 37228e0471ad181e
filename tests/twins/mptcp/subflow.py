"""Subflow: sender and receiver of the twin of current Linux, whose application is the connection."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from netcarlo.kernels.base.layout import Out
from tests.twins.linux.bbr import PacedSender
from tests.twins.linux.controls import CONTROLS
from tests.twins.linux.receiver import FIRST, Ack, Data, LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.mptcp.coupled import COUPLED, Coupled
from tests.twins.outcomes import Outcomes
from tests.twins.path.engine import Timer
from tests.twins.path.link import Packet, Path

if TYPE_CHECKING:
    from tests.twins.mptcp.connection import Connection

PER_PACKET, LARGEST = 408, 4 * 1024 * 1024
"""Overhead of a packet in flight, and the largest send buffer [byte]."""


LARGEST_SOCKET_BUFFER = 65215
"""Largest data of a socket buffer [byte]."""


class Counted(Outcomes):
    """Counters of the receiver of a subflow."""

    def arrived(self, packet: Packet, sequence: int | None, now: int) -> None:
        """Do nothing: the connection counts data."""


class Holding(LinuxSender):
    """Sender that may hold its packets until the connection has processed an event."""

    subflow: Subflow
    held = False
    waiting: str | None = None

    def push(self, first: str) -> None:
        if self.held:
            self.waiting = first
        else:
            super().push(first)

    def connect(self, ack: Ack) -> None:
        super().connect(ack)
        if self.subflow.number == 0:
            self.timer.start(300_000)  # until the application writes

    def burst(self) -> int:
        with self.up_to_buffer():
            return super().burst()

    def is_put_off(self, room: int) -> bool:
        with self.up_to_buffer():
            return super().is_put_off(room)

    def send_one(self, *, push: bool) -> None:
        super().send_one(push=push or self.nxt + 1 == self.subflow.end_of_buffer())

    @contextmanager
    def up_to_buffer(self) -> Iterator[None]:
        """See only the packets of the socket buffer that is sent next."""
        end, self.end = self.end, self.subflow.end_of_buffer()
        yield
        self.end = end

    def ring(self) -> None:
        wakes = self.connected and self.purpose == "waking"
        self.held = wakes
        super().ring()
        self.held = False
        self.subflow.connection.after_timer(self.subflow, wakes=wakes)


class HoldingPaced(Holding, PacedSender):
    """Sender with BBR that may hold its packets."""

    def ring_pace(self) -> None:
        super().ring_pace()
        self.subflow.connection.after_timer(self.subflow, wakes=False)


class Subflow:
    """One path of a connection."""

    def __init__(self, connection: Connection, path: Path, control: str) -> None:
        self.connection, self.path, self.number = connection, path, path.number
        simulation, p = connection.simulation, connection.p
        self.counted = Counted(limit=0)
        kind = HoldingPaced if control == "bbr" else Holding
        own = COUPLED[p.COUPLING]() if control == "coupled" else CONTROLS.get(control, CONTROLS["reno"])()
        if isinstance(own, Coupled):
            own.subflow = self
        self.sender: Any = kind(simulation, connection.outcomes, p, self.send, own)
        self.sender.subflow, self.sender.flow = self, self.number
        self.sender.end, self.sender.short = FIRST, 0
        place = self.number / 5
        self.sender.timer._rank = 9 + place
        if isinstance(self.sender, PacedSender):
            self.sender.pace._rank = 9.1 + place
        self.receiver = LinuxReceiver(simulation, self.counted, p, self.send_back)
        self.receiver.delayed._rank = self.receiver.merging._rank = 8 + place
        self.third = Timer(simulation, 11 + place, self.send_third_again)  # type: ignore[arg-type]
        self.backup = bool(p.BACKUP & (1 << self.number))
        self.usable = self.starts = False
        self.first_of_buffers: list[int] = []  # the first packets of the socket buffers
        self.numbers: dict[int, int] = {}  # data sequence number of each packet of the subflow
        self.passed = FIRST  # all packets before were passed to the connection
        self.first_to_bring = 0
        self.window_grows = p.WINDOW_GROWTH  # packets that do this, and are acknowledged at once
        self.rate = 0
        self.windows = 3 if control == "bbr" else 2  # windows that fit into the send buffer
        self.buffer = self.windows * max(p.INITIAL_WINDOW, 10) * p.PER_MSS
        self.stale = False
        self.silent_periods = 0
        self.silent_since: int | None = None
        self.heard: int | None = None  # jiffy of the latest ACK
        path.connect(self.at_receiver, self.at_sender)

    # Sending.

    def queued(self) -> int:
        """Return the memory in use by the send queue [byte]."""
        waiting = self.sender.end - max(self.sender.nxt, FIRST)
        return waiting * self.connection.p.DATA + self.in_flight() * (self.connection.p.DATA + PER_PACKET)

    def in_flight(self) -> int:
        """Return the packets that are sent and not acknowledged."""
        return max(self.sender.nxt, FIRST) - max(self.sender.una, FIRST)

    def is_full(self) -> bool:
        return self.queued() >= self.buffer

    def grow_buffer(self) -> None:
        packets = max(self.sender.cwnd, 10, self.sender.reordering + 1)
        self.buffer = max(self.buffer, min(self.windows * packets * self.connection.p.PER_MSS, LARGEST))

    def append(self, number: int) -> None:
        """Append a data packet to the send queue, in the last socket buffer if that is possible."""
        last = self.first_of_buffers[-1] if self.first_of_buffers else -1
        unsent = last >= max(self.sender.nxt, FIRST)
        follows = self.numbers.get(self.sender.end - 1) == number - 1
        most = max(LARGEST_SOCKET_BUFFER // self.connection.p.DATA, 1)
        if not (unsent and follows) or self.sender.end - last >= most:
            self.first_of_buffers.append(self.sender.end)
        self.numbers[self.sender.end] = number
        self.sender.end += 1
        if self.sender.waiting is None:
            self.sender.waiting = "new"

    def end_of_buffer(self) -> int:
        """Return the packet after the socket buffer that is sent next."""
        later = bisect_right(self.first_of_buffers, self.sender.nxt)
        return self.first_of_buffers[later] if later < len(self.first_of_buffers) else self.sender.end

    def flush(self) -> None:
        """Send the held packets."""
        if self.starts:
            self.starts = False
            self.sender.start()
        first, self.sender.waiting = self.sender.waiting, None
        if first is not None:
            self.sender.push(first)

    def pacing_rate(self) -> int:
        """Return the pacing rate [byte / s]."""
        sender = self.sender
        if isinstance(sender, PacedSender):
            return sender.rate
        percent = 200 if sender.cwnd < sender.ssthresh // 2 else 120
        window = max(sender.cwnd, sender.nxt - sender.una)
        return window * self.connection.p.DATA * percent * 80_000 // max(sender.srtt_8, 1)

    def send(self, packet: Packet) -> None:
        p = self.connection.p
        if packet.kind == "syn":
            packet.size = p.HANDSHAKE
        else:
            last = self.numbers[packet.content.number] == p.LIMIT - 1
            packet.size = p.DATA + p.HEADER - (p.SHORT if last else 0)
            self.connection.outcomes.add(Out.SENT_ALTERNATE, int(self.number > 0))
        self.path.send(packet)

    def send_third_again(self) -> None:
        self.path.send(Packet("syn", self.connection.p.HANDSHAKE, Data(1)))
        self.time_third()
        self.connection.finish(None, advances=False)

    def time_third(self) -> None:
        """Set the timer of the third ACK of the handshake to two round trips."""
        clocks, now = self.sender.clocks, self.connection.simulation.now
        self.third.start(clocks.expiry(now, clocks.in_jiffies(self.sender.srtt_8 // 4)) - now)

    def left(self, now: int) -> int:
        """Return the remaining time of the timer [jiffies]."""
        clocks, timer = self.sender.clocks, self.sender.timer
        runs = timer.pending and self.sender.purpose not in ("", "waking")
        if not (runs and self.usable) or self.stale or self.silent_periods:
            return 0
        return clocks.jiffies(timer.due) - clocks.jiffies(now)

    # Events.

    def at_sender(self, packet: Packet) -> None:
        connected = self.sender.connected
        self.sender.held = True
        self.sender.receive(packet)
        self.sender.held = False
        self.connection.on_ack(self, packet.content, connected=connected)

    def at_receiver(self, packet: Packet) -> None:
        number = packet.content.number
        # Timers that expire now come first and must not see this packet.
        self.receiver.delayed.expire_if_due()
        self.receiver.merging.expire_if_due()
        if number >= FIRST:
            self.connection.count(packet)
            if number >= self.receiver.expected and self.window_grows > 0:
                self.window_grows -= 1
                self.receiver.quick |= 1
        self.receiver.receive(packet)
        self.pass_up()
        if number == 1 and self.number > 0:
            self.receiver.acknowledge()

    def pass_up(self) -> None:
        """Pass the data that have arrived in order to the connection."""
        while self.passed < self.receiver.expected:
            self.first_to_bring += self.connection.receive(self.numbers[self.passed])
            self.passed += 1

    def send_back(self, packet: Packet) -> None:
        self.pass_up()
        ack: Ack = packet.content
        ack.blocks = ack.blocks[: 0 if ack.duplicate is not None else 1]  # there is room for one packet
        if packet.kind == "ack":
            options = len(ack.blocks) + (ack.duplicate is not None)
            p = self.connection.p
            packet.size = p.ACK + (4 + p.SACK_BLOCK * options if options else 0)
        ack.data = len(self.connection.in_order)  # type: ignore[attr-defined]
        self.path.send_back(packet)
