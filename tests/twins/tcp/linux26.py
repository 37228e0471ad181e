"""Sender of Linux 2.6 (ns-2.35 `tcp-linux.cc`, `scoreboard1.cc`) with its congestion controls."""

from dataclasses import dataclass

from netcarlo.kernels.base.layout import Out
from tests.twins.path.link import Packet
from tests.twins.tcp.congestion import MS, Bic, Counting, Cubic, Standard
from tests.twins.tcp.receiver import Ack
from tests.twins.tcp.tcp import TcpSender

MOST_AFTER_RECOVERY = 3  # excess of cwnd over the packets in flight at the end of a recovery


@dataclass
class Retransmission:
    """Retransmission number `order` of a lost packet, made when `next_new` was the next new packet."""

    order: int
    next_new: int


class Scoreboard:
    """State of packets above the cumulative acknowledgement; packets without an entry are in flight."""

    def __init__(self, distance: int) -> None:
        self.distance = distance
        self.reported: set[int] = set()
        self.lost: set[int] = set()
        self.resent: dict[int, Retransmission] = {}
        self.orders = 0  # retransmissions so far
        self.forget(-1)

    def forget(self, cumulative: int) -> None:
        self.reported.clear()
        self.lost.clear()
        self.resent.clear()
        self.highest = -1  # packet reported
        self.judged = cumulative  # packets up to here are no longer only in flight
        self.arrived = self.orders - 1  # order of the latest retransmission that has arrived

    def advance(self, cumulative: int) -> None:
        """Process the arrival of all packets up to `cumulative`."""
        for number in [number for number in self.resent if number <= cumulative]:
            self.arrived = max(self.arrived, self.resent.pop(number).order)
        self.reported = {number for number in self.reported if number > cumulative}
        self.lost = {number for number in self.lost if number > cumulative}
        self.judged = max(self.judged, cumulative)

    def update(self, cumulative: int, blocks: list[tuple[int, int]]) -> tuple[bool, bool]:
        """Process SACK blocks; return whether they report packets, and whether more are lost."""
        named = {number for left, right in blocks for number in range(left, right)} - self.reported
        named = {number for number in named if number > cumulative}
        arrived = self.arrived
        for number in named:
            if number in self.resent:
                self.arrived = max(self.arrived, self.resent.pop(number).order)
        self.reported |= named
        self.lost -= named
        self.highest = max([self.highest, *(right - 1 for _, right in blocks)])
        late = {
            number for number, resent in self.resent.items()
            if resent.next_new <= self.highest or resent.order + self.distance < arrived
        }  # fmt: skip
        for number in late:
            del self.resent[number]
        threshold = self.highest - self.distance
        late |= set(range(self.judged + 1, threshold + 1)) - self.reported
        self.judged = max(self.judged, threshold)
        self.lost |= late
        return bool(named), bool(late)

    def resend(self, next_new: int) -> int:
        """Retransmit the first lost packet."""
        number = min(self.lost)
        self.lost.remove(number)
        self.resent[number] = Retransmission(self.orders, next_new)
        self.orders += 1
        return number

    def lose_all(self, cumulative: int, next_new: int) -> None:
        self.lost = set(range(cumulative + 1, next_new)) - self.reported
        self.resent.clear()
        self.judged = next_new - 1
        self.arrived = self.orders - 1


class LinuxControl(Standard):
    """Reno: one more packet per window of acknowledged packets."""

    def __init__(self) -> None:
        self.acknowledged = 0

    def average(self, acked: int) -> None:
        """Process an ACK of new data outside of recovery."""

    def on_linux_ack(self, packets: int, now: int, srtt: int, payload: int, *, plain: bool) -> None:
        """Process any ACK."""
        self.acknowledged += packets

    def step(self, cwnd: float, ssthresh: int, now: int, rtt: int) -> float:
        if cwnd <= ssthresh:
            self.acknowledged = 0
        elif self.acknowledged >= cwnd:
            self.acknowledged -= int(cwnd)
        else:
            return cwnd
        return cwnd + 1

    def reduce(self, window: float, *, timeout: bool) -> float:
        self.acknowledged = 0
        return max(int(window) // 2, 2)

    def min_cwnd(self, ssthresh: int, payload: int) -> int:
        """Return the window in recovery."""
        return ssthresh // 2


class LinuxWestwood(LinuxControl):
    """Westwood+: the window in recovery is the measured bandwidth times the minimum smoothed RTT."""

    def __init__(self) -> None:
        super().__init__()
        self.began: int | None = None
        self.bytes = 0
        self.samples: list[int] = []
        self.once = self.twice = 0  # filtered bandwidth [byte / ms]
        self.rtt = 20_000  # [ms]
        self.least = 20_000 * MS
        self.accounted = 0

    def on_linux_ack(self, packets: int, now: int, srtt: int, payload: int, *, plain: bool) -> None:
        super().on_linux_ack(packets, now, srtt, payload, plain=plain)
        time = now // MS
        fresh = packets * payload
        if self.began is None:
            self.began = time
            fresh = 0
        if packets:
            self.rtt = srtt // MS
        length = time - self.began
        if length > max(self.rtt, 50):
            rate = self.bytes // length
            if self.once == self.twice == 0:
                self.once = self.twice = rate
            else:
                self.once = (7 * self.once + rate) // 8
                self.twice = (7 * self.twice + self.once) // 8
            self.began, self.bytes = time, 0
        if not plain and fresh == 0:
            self.accounted += payload
            fresh = payload
        elif not plain and fresh > payload:
            counted = min(self.accounted, fresh)
            self.accounted -= counted
            fresh = payload if counted == fresh else fresh - counted
        self.bytes += fresh
        self.least = min(self.least, self.rtt)

    def min_cwnd(self, ssthresh: int, payload: int) -> int:
        return max(2, self.twice * self.least // payload)


class _SameWindow(Counting):
    """BIC and CUBIC, whose window in recovery is that after it."""

    def on_linux_ack(self, packets: int, now: int, srtt: int, payload: int, *, plain: bool) -> None:
        pass

    def min_cwnd(self, ssthresh: int, payload: int) -> int:
        return ssthresh


class LinuxBic(Bic, _SameWindow):
    pass


class LinuxCubic(Cubic, _SameWindow):
    pass


LINUX_CONTROLS: dict[str, type[Standard]] = {
    "": LinuxControl,
    "bic": LinuxBic,
    "cubic": LinuxCubic,
    "westwood": LinuxWestwood,
}


class Linux(TcpSender):
    """Sender that keeps `allowed` packets in flight; in recovery the rest of the old window, if that is
    larger.
    """

    sack = True
    control: LinuxControl

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.scoreboard = Scoreboard(self.parameters.DUPACKS)
        self.state = "open"  # or "recovery" or "loss"
        self.allowed = int(self.initial_window)
        self.halving = 0
        self.cwnd = self.allowed  # window for samples
        if self.highest_ack == 0:
            self.scoreboard.judged = 0

    @property
    def in_flight(self) -> int:
        board = self.scoreboard
        return self.next_number - 1 - self.highest_ack - len(board.lost) - len(board.reported)

    @property
    def jiffies_ns(self) -> int:
        return self.simulation.now + self.phase

    def receive(self, packet: Packet) -> None:
        ack = packet.content
        if ack.number >= self.highest_ack and not self.finished:
            self.on_ack(ack)
            self.outcomes.values[Out.ACKED] = max(0, self.highest_ack + 1 - self.first_data)

    def on_ack(self, ack: Ack) -> None:
        now, payload = self.jiffies_ns, self.parameters.DATA
        acked = ack.number - self.highest_ack
        limited = self.in_flight >= self.allowed
        self.scoreboard.advance(ack.number)
        self.highest_ack = ack.number
        reported, lost = self.scoreboard.update(ack.number, ack.blocks)
        self.write()
        self.backoff = 1
        self.measure(self.simulation.now - ack.echo)
        plain = acked > 0 and not reported and self.state == "open"
        if acked and self.state == "open":
            self.control.average(acked)
        srtt = (self.srtt_8 // 8) * self.parameters.TICK
        self.control.on_linux_ack(acked, now, srtt, payload, plain=plain)
        if acked and self.state != "recovery" and limited:
            delay = now // MS - (ack.echo + self.phase + MS // 2) // MS
            rtt = max(1, delay * MS) if plain else 0
            grown = int(self.control.step(float(self.allowed), self.ssthresh, now, rtt))
            self.allowed = min(grown, max(self.allowed, self.window))
        if not plain:
            self.consider_recovery(lost)
        self.cwnd = max(self.allowed, self.halving)
        self.finished = self.highest_ack >= self.limit - 1
        if self.finished:
            self.timer.stop()
        else:
            self.set_timer()
        self.halving = min(self.halving, self.in_flight + 1)
        self.send_window()

    def consider_recovery(self, lost: bool) -> None:
        if self.state != "open" and self.highest_ack >= self.recover:
            self.state = "open"
            self.halving = 0
            self.scoreboard.forget(self.highest_ack)
            if self.allowed < self.ssthresh:
                self.allowed = min(self.ssthresh, self.in_flight + MOST_AFTER_RECOVERY)
        elif self.state != "recovery" and lost:
            self.cut()
            self.outcomes.add(Out.FAST_RETRANSMITS)

    def cut(self) -> None:
        """Reduce the window for a loss or an ECN mark."""
        self.state = "recovery"
        self.recover = self.highest_sent
        self.halving = self.allowed
        self.ssthresh = int(self.control.reduce(float(self.allowed), timeout=False))
        self.allowed = max(1, self.control.min_cwnd(self.ssthresh, self.parameters.DATA))
        self.outcomes.add(Out.CWND_CUTS)

    def on_timeout(self) -> None:
        self.ssthresh = int(self.control.reduce(float(self.allowed), timeout=True))
        self.outcomes.add(Out.CWND_CUTS)
        self.state = "loss"
        self.recover = self.highest_sent
        self.cwnd = self.allowed = 1
        self.halving = 0
        self.scoreboard.lose_all(self.highest_ack, self.next_number)
        self.back_off()
        self.set_timer()
        self.send_window()

    def send_window(self, burst: int | None = None) -> None:
        while not self.finished and self.in_flight < max(self.allowed, self.halving):
            if not self.scoreboard.lost and self.next_number >= self.written:
                break
            if not self.may_send():
                break
            if self.scoreboard.lost:
                number = self.scoreboard.resend(self.next_number)
            else:
                number = self.next_number
                self.next_number += 1
            self.output(number)
            self.halving = min(self.halving, max(1, self.in_flight - 1))

    def measure(self, rtt: int) -> None:
        """Measure the RTT by a timestamp, to the nearest tick."""
        tick = self.parameters.TICK
        self.rtt_ticks = max(1, (rtt + tick // 2) // tick)
        if self.srtt_8 == 0:
            self.srtt_8, self.rttvar_4 = self.rtt_ticks << 3, self.rtt_ticks << 1
        else:
            error = self.rtt_ticks - self.srtt_8 // 8
            self.srtt_8 = max(1, self.srtt_8 + error)
            surprise = abs(error) - self.rttvar_4 // 4
            self.rttvar_4 += surprise // 8 if error < 0 < surprise else surprise
        self.rto_base = (self.rttvar_4 + self.srtt_8 // 8) * tick
