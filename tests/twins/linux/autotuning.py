"""Receive window autotuning: a receiver whose window grows with the data read, and a sender that obeys it."""

from typing import Any

from tests.twins.linux.receiver import FIRST, LinuxReceiver
from tests.twins.linux.sender import LinuxSender
from tests.twins.path.link import Packet


class TuningReceiver(LinuxReceiver):
    """Receiver with autotuning.

    Packets and ACKs have the header fields that it needs as attributes: `window_end`, `went_out`, `echoes`.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.told_window = self.room = min(max(65536 // max(self.p.DATA, 1), 1), self.p.WINDOW)
        self.space = min(self.room, 10)
        self.read_to, self.read_at = FIRST, 0
        self.last_echo: int | None = None
        self.rtt_8 = 0
        plain = self.send_back

        def with_window(packet: Packet) -> None:
            packet.content.window_end = self.expected + self.told_window
            packet.content.went_out = self.simulation.now
            plain(packet)

        self.send_back = with_window

    def receive(self, packet: Packet) -> None:
        self.delayed.expire_if_due()
        self.merging.expire_if_due()
        number, before = packet.content.number, self.expected
        if number >= FIRST:
            self.measure_echo(packet.echoes)  # type: ignore[attr-defined]
            if number >= before and self.told_window < self.room:
                self.told_window = min(self.told_window + 2, self.room)
                if self.quick % 2 == 0:
                    self.quick += 1
        super().receive(packet)
        if self.expected > max(before, FIRST):
            self.read()

    def measure_echo(self, went_out: int | None) -> None:
        if went_out is None or self.clocks.ms(went_out) == self.last_echo:
            return
        self.last_echo = self.clocks.ms(went_out)
        sample = max(self.clocks.ms(self.simulation.now) - self.last_echo, 1) * 10**6
        self.rtt_8 = self.rtt_8 + sample - self.rtt_8 // 8 if self.rtt_8 else 8 * sample

    def read(self) -> None:
        now, count = self.simulation.now, self.expected - self.read_to
        if self.rtt_8 == 0 or now - self.read_at < self.rtt_8 // 8:
            return
        if count > self.space:
            room = 2 * count + 16
            growth = room * (count - self.space) // self.space
            self.room = max(self.room, min(room + 2 * growth, self.p.WINDOW))
            self.space = count
        self.read_to, self.read_at = self.expected, now


def listen_to_windows(sender: LinuxSender) -> None:
    """Make the sender obey the windows in ACKs, and its packets echo the latest ACK."""
    window = min(max(65536 // max(sender.p.DATA, 1), 1), sender.p.WINDOW)
    ends, heard = [FIRST + window], [-1]
    sender.window_of_receiver = window
    send, receive = sender.send, sender.receive

    def sends(packet: Packet) -> None:
        packet.echoes = heard[-1] if heard[-1] >= 0 else None  # type: ignore[attr-defined]
        send(packet)

    def receives(packet: Packet) -> None:
        ack = packet.content
        heard.append(max(heard[-1], ack.went_out))
        ends.append(max(ends[-1], ack.window_end))
        sender.window_of_receiver = ends[-1] - max(sender.una, ack.expected, FIRST)
        receive(packet)

    sender.send, sender.receive = sends, receives  # type: ignore[method-assign]
