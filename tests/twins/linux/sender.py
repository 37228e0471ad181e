"""Sender: window, loss recovery and timers, written for readability and not for speed."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from netcarlo.kernels.base.layout import Out
from tests.twins.linux.clocks import Clocks
from tests.twins.linux.controls import INFINITE, Reno
from tests.twins.linux.receiver import FIRST, Ack, Data
from tests.twins.outcomes import Outcomes
from tests.twins.parameters import Parameters
from tests.twins.path.engine import Rank, Simulation, Timer
from tests.twins.path.link import Packet

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
MARGIN = 2000  # [us]


@dataclass
class Segment:
    """Segment that is sent and not acknowledged; `watched`: RACK has not judged its latest transmission."""

    number: int
    sent: int  # latest transmission [us]
    push: bool = False
    reported: bool = False
    lost: bool = False
    again: bool = False
    ever: bool = False
    watched: bool = True
    turn: int = 0  # number among all transmissions

    @property
    def order(self) -> tuple[int, int]:
        return self.sent, self.number


class LinuxSender:
    """Sender of Linux 6 with Reno or CUBIC."""

    flow = 0
    """Number of the flow."""
    widens = False
    """True if the reordering window widens with reported duplicates."""
    writes = False
    """True if the application writes messages, whose last packets are marked."""

    def __init__(
        self, simulation: Simulation, outcomes: Outcomes, parameters: Parameters,
        send: Callable[[Packet], None], control: Reno,
    ) -> None:
        self.simulation, self.outcomes, self.p, self.send = simulation, outcomes, parameters, send
        self.clocks = Clocks(parameters)
        self.control = control
        self.timer = Timer(simulation, Rank.RETRANSMISSION, self.ring)
        self.purpose = ""
        self.connected = parameters.HANDSHAKE == 0
        self.una = self.nxt = FIRST if self.connected else 0
        self.end = FIRST + parameters.LIMIT
        self.short = int(parameters.SHORT)  # bytes by which the last packet is shorter than the others
        self.segments: dict[int, Segment] = {}
        self.syns = 0
        self.syn_sent = 0
        self.first_syn = 0  # its timestamp [ms]
        self.cwnd = parameters.INITIAL_WINDOW
        self.window_of_receiver = parameters.WINDOW
        self.ssthresh = INFINITE
        self.counted = 0
        self.state = OPEN
        self.high = 0
        self.highest = 0  # one above the highest segment reported by SACK
        self.prior_window = self.prior_ssthresh = 0
        self.prr_delivered = self.prr_out = 0
        self.undo_from: int | None = None
        self.undo_again = 0
        self.first_again: int | None = None
        self.frto = False
        self.probed: int | None = None
        self.probe_again = False
        self.delivered = self.losses = 0
        self.rack = (0, 0)
        self.turns = self.last_sent = 0
        self.rack_rtt = 0
        self.rack_news = False
        self.reordering, self.reordered = 3, False
        self.width, self.widened_end, self.wide_for = 1, 0, 0
        self.srtt_8 = self.mdev_4 = self.mdev_max = self.rttvar = self.rtt_end = 0
        self.least_rtt = INFINITE
        self.rto = parameters.INITIAL_RTO // parameters.TICK
        self.retries = 0
        self.limited = False
        self.most_out = 0
        self.limited_end = 0

    # Predicates and clocks.

    @property
    def now_us(self) -> int:
        return self.simulation.now // 1000

    @property
    def jiffies(self) -> int:
        return self.clocks.jiffies(self.simulation.now)

    @property
    def second(self) -> int:
        return 10**9 // self.p.TICK

    @property
    def rtt(self) -> int:
        """Smoothed round-trip time [ns]."""
        return self.srtt_8 * 125

    def out(self) -> list[Segment]:
        return [self.segments[number] for number in range(self.una, self.nxt)]

    def count(self, what: str) -> int:
        return sum(getattr(segment, what) for segment in self.segments.values())

    def in_flight(self) -> int:
        return self.nxt - self.una - self.count("reported") - self.count("lost") + self.count("again")

    def reducing(self) -> bool:
        return self.state in (CWR, RECOVERY)

    # Sending.

    def start(self) -> None:
        if self.connected:
            self.begin()
            self.push("new")
        else:
            self.send_syn()

    def begin(self) -> None:
        """Start after the handshake; only now Linux initialises the congestion control."""
        self.control.slow_start(self.p).begin(self, self.now_us)

    def send_syn(self) -> None:
        self.syns += 1
        self.outcomes.add(Out.HANDSHAKES)
        self.syn_sent = self.now_us
        if self.syns == 1:
            self.first_syn = self.clocks.ms(self.simulation.now)
        self.send(Packet("syn", self.p.HANDSHAKE, Data(0)))
        self.set_timer("retransmission", self.rto)

    def transmit(self, segment: Segment, *, repeated: bool) -> None:
        self.note_sent(segment, repeated=repeated)
        segment.sent = self.now_us
        segment.turn = self.turns = self.turns + 1
        self.last_sent = self.simulation.now
        self.outcomes.add(Out.SENT)
        self.outcomes.add(Out.RETRANSMITTED, int(repeated))
        size = self.p.DATA + self.p.HEADER - (self.short if segment.number == self.end - 1 else 0)
        push = segment.push or (self.writes and segment.number == self.end - 1)
        self.send(Packet("data", size, Data(segment.number, push)))

    def push(self, first: str) -> None:
        """Send what the window allows; `first` is "new", "lost", or "new, else lost"."""
        sent_new = False
        if first == "lost":
            self.send_lost()
        sent_new |= self.send_new()
        if first == "new, else lost" and self.nxt <= self.high:
            self.frto = False
            self.send_lost()
            sent_new |= self.send_new()
        room = self.cwnd - self.in_flight()
        end = self.una + self.window_of_receiver
        limited = room <= 0 or (room <= end - self.nxt and self.is_put_off(room))
        out = self.nxt - self.una
        if (sent_new or limited) and (
            self.una >= self.limited_end or limited or (not self.limited and out > self.most_out)
        ):
            self.limited, self.most_out, self.limited_end = limited, out, self.nxt
        if sent_new:
            self.schedule_probe(advancing=False)

    def send_lost(self) -> None:
        while self.may_leave() and self.in_flight() < self.cwnd and self.count("again") < self.count("lost"):
            lost = [one for one in self.out() if one.lost and not one.again and not one.reported]
            if not lost:
                return
            self.resend(lost[0])

    def resend(self, segment: Segment) -> None:
        self.leave(1)
        segment.again = segment.ever = segment.watched = True
        if self.first_again is None:
            self.first_again = self.clocks.ms(self.simulation.now)
        self.undo_again = max(self.undo_again, 0) + 1
        self.transmit(segment, repeated=True)
        if self.reducing():
            self.prr_out += 1
        if segment.number == self.una and self.purpose != "reordering":
            self.set_timer("retransmission", self.rto + self.paced())

    def send_new(self) -> bool:
        sent = False
        while self.may_leave() and (burst := self.burst()) > 0:
            self.leave(burst)
            for k in range(burst):
                self.send_one(push=burst > 1 and k == burst - 1)
            sent = True
        return sent

    def burst(self) -> int:
        room = min(self.cwnd - self.in_flight(), self.una + self.window_of_receiver - self.nxt)
        if room <= 0 or self.is_put_off(room):
            return 0
        return min(room, max(self.cwnd // 2, 1), self.end - self.nxt, self.burst_size())

    def is_put_off(self, room: int) -> bool:
        """Return True if an incomplete burst waits for an ACK that is due soon (TSO deferral)."""
        if self.state in (RECOVERY, LOSS) or self.una == self.nxt or self.nxt >= self.end - 1:
            return False
        if room >= self.burst_size() or 3 * room >= min(self.cwnd, self.window_of_receiver):
            return False
        soon = self.segments[self.una].sent + self.srtt_8 // 8 - self.now_us <= min(self.srtt_8 // 16, 1000)
        return soon and self.now_us - self.latest_departure() <= 1000

    def latest_departure(self) -> int:
        """Return the time of the latest transmission of new data [us]."""
        return self.segments[self.nxt - 1].sent

    def send_one(self, *, push: bool) -> None:
        segment = Segment(self.nxt, self.now_us, push)
        first = self.nxt == self.una
        self.segments[self.nxt] = segment
        self.nxt += 1
        self.transmit(segment, repeated=False)
        if self.reducing():
            self.prr_out += 1
        if first or self.purpose == "probe":
            self.rearm()

    # Hooks of a sender with pacing.

    def may_leave(self) -> bool:
        return True

    def leave(self, packets: int) -> None:
        """Process a burst that is about to be sent."""

    def note_sent(self, segment: Segment, *, repeated: bool) -> None:
        """Process a segment that is about to be sent."""

    def paced(self) -> int:
        """Return the time until pacing permits a packet [jiffies]."""
        return 0

    def burst_size(self) -> int:
        percent = 200 if self.cwnd < self.ssthresh // 2 else 120
        window = max(self.cwnd, self.nxt - self.una) * self.p.DATA
        rate = window * percent * 80_000 // max(self.srtt_8, 1)
        return max(min(rate // 1024, 65536) // max(self.p.DATA, 1), 2)

    def restore_window(self) -> None:
        self.cwnd = max(self.cwnd, self.prior_window)

    def set_window(self, acked: int, reported: bool, delivered: int, lost: int, latest: int) -> None:
        """Update the window for an ACK; `latest` is its RTT [us] or -1."""
        grows = acked > 0 or (reported and self.reordering > 3)
        if self.reducing():
            self.reduce(delivered, lost, advances=acked > 0)
        elif grows and (self.limited or (self.cwnd < self.ssthresh and self.cwnd < 2 * self.most_out)):
            self.grow(delivered)

    # The timer.

    def set_timer(self, purpose: str, jiffies: int) -> None:
        jiffies = min(jiffies, self.p.MAX_RTO // self.p.TICK)
        self.purpose = purpose
        now = self.simulation.now
        self.timer.start(self.clocks.expiry(now, jiffies) - now)

    def until_timeout(self) -> int:
        return self.segments[self.una].sent + self.rto * (self.p.TICK // 1000) - self.now_us

    def rearm(self) -> None:
        if self.una == self.nxt:
            self.purpose = ""
            self.timer.stop()
            return
        jiffies = self.rto
        if self.purpose in ("reordering", "probe"):
            jiffies = self.clocks.in_jiffies(max(self.until_timeout(), 1))
        self.set_timer("retransmission", jiffies + self.paced())

    def schedule_probe(self, *, advancing: bool) -> bool:
        out = self.nxt - self.una
        if out == 0 or self.state not in (OPEN, CWR):
            return False
        wait = 1_000_000
        if self.srtt_8:
            wait = self.srtt_8 // 4 + (self.p.MIN_RTO // 1000 if out == 1 else MARGIN)
        jiffies = self.clocks.in_jiffies(wait)
        if advancing:
            jiffies = min(jiffies, self.rto)
        elif self.until_timeout() > 0:
            jiffies = min(jiffies, self.clocks.in_jiffies(self.until_timeout()))
        self.set_timer("probe", jiffies + self.paced())
        return True

    def ring(self) -> None:
        if not self.connected:
            self.retries += 1
            if self.retries > 4:
                self.rto = min(2 * self.rto, self.p.MAX_RTO // self.p.TICK)
            self.send_syn()
        elif self.purpose == "waking":
            self.purpose = ""
            self.push("new")
        elif self.purpose == "reordering":
            self.too_late()
        elif self.purpose == "probe":
            self.probe()
        else:
            self.timeout()

    def probe(self) -> None:
        if self.probed is not None:
            self.rearm()
            return
        self.probe_again = not (self.nxt < self.end and self.nxt < self.una + self.window_of_receiver)
        self.leave(1)
        if self.probe_again:
            segment = self.segments[self.nxt - 1]
            segment.ever = True
            self.transmit(segment, repeated=True)
        else:
            self.send_one(push=False)
        self.probed = self.nxt
        self.purpose = ""
        self.rearm()

    def timeout(self) -> None:
        fresh = self.state < RECOVERY
        for segment in self.out():
            old = segment.number == self.una or self.rack_rtt - (self.now_us - segment.sent) <= 0
            if old and not segment.reported:
                self.lose(segment)
        if self.state <= DISORDER or self.high <= self.una or (self.state == LOSS and self.retries == 0):
            self.prior_ssthresh = self.present_ssthresh()
            self.prior_window = self.cwnd
            self.ssthresh = self.control.after_loss(self.cwnd)
            self.outcomes.add(Out.CWND_CUTS)
            self.watch_for_undo()
        self.cwnd = self.in_flight() + 1
        self.counted = 0
        if self.state <= DISORDER and self.count("reported") >= 3:
            self.reordering = min(self.reordering, 3)
        self.control.timeout(self, self.now_us)
        self.state = LOSS
        self.high = self.nxt
        self.probed = None
        self.frto = fresh or self.retries > 0
        self.retries += 1
        self.outcomes.add(Out.TIMEOUTS)
        self.resend(self.segments[self.una])
        self.rto = min(2 * self.rto, self.p.MAX_RTO // self.p.TICK)
        self.set_timer("retransmission", self.rto)

    def too_late(self) -> None:
        flight, losses = self.in_flight(), self.losses
        self.judge()
        changed = self.in_flight() != flight
        if changed and self.state != RECOVERY:
            self.enter_recovery()
            self.reduce(1, self.losses - losses, advances=False)
        if self.purpose != "retransmission":
            self.rearm()
        if changed:
            self.push("lost")

    # RACK.

    def lose(self, segment: Segment) -> None:
        if segment.lost and segment.again:
            segment.again = False
            self.losses += 1
        elif not segment.lost:
            segment.lost = True
            self.losses += 1

    def judge(self) -> int:
        """Mark lost segments; return the time until more may be lost [us], or 0."""
        window = min(self.least_rtt // 4 * self.width, self.srtt_8 // 8)
        if not self.reordered and (self.state >= RECOVERY or self.count("reported") >= self.reordering):
            window = 0
        judged = [
            segment
            for segment in self.out()
            if not segment.reported and segment.watched and (segment.again or not segment.lost)
        ]
        before = [segment for segment in judged if not segment.again and segment.order < self.rack]
        # Linux stops at the first retransmitted segment that was not sent before the latest delivered one.
        again = sorted((segment for segment in judged if segment.again), key=lambda segment: segment.turn)
        before += itertools.takewhile(lambda segment: segment.order < self.rack, again)
        wait = 0
        for segment in before:
            left = segment.sent + self.rack_rtt + window - self.now_us
            if left <= 0:
                self.lose(segment)
                segment.watched = False
            else:
                wait = max(wait, left)
        return wait

    def arrived(self, segment: Segment, echo: int | None) -> None:
        """Process the first report that a segment has arrived."""
        again = segment.again or segment.ever
        rtt = self.now_us - segment.sent
        early = rtt < self.least_rtt
        older = echo is not None and echo < self.clocks.ms(segment.sent * 1000)
        if not (again and (early or older)):
            self.rack_news = True
            self.rack_rtt = rtt
            self.rack = max(self.rack, segment.order)
        segment.again = segment.lost = False
        self.delivered += 1

    def widen(self) -> None:
        """Widen the reordering window for a reported duplicate (DSACK), once per round trip."""
        if self.widens and self.una >= self.widened_end:
            self.width, self.widened_end, self.wide_for = self.width + 1, self.nxt, 16

    def narrow(self) -> None:
        """Reset the reordering window after 16 recoveries that were not spurious."""
        if self.wide_for > 0:
            self.wide_for -= 1
            if self.wide_for == 0:
                self.width = 1

    def find_losses(self) -> bool:
        if self.una == self.nxt or not self.rack_news:
            return False
        self.rack_news = False
        wait = self.judge()
        if wait > 0:
            self.set_timer("reordering", self.clocks.in_jiffies(wait + MARGIN))
        return wait > 0

    def note_late(self, number: int) -> None:
        if self.highest > number:
            self.reordering = min(max(self.reordering, self.highest - number), 300)
            self.reordered = True

    # Acknowledgements.

    def receive(self, packet: Packet) -> None:
        ack: Ack = packet.content
        if not self.connected:
            self.connect(ack)
        elif ack.expected >= self.una and self.una < self.nxt and packet.kind != "syn":
            self.take(ack)
        self.outcomes.values[Out.ACKED] = max(self.una - FIRST, 0)

    def connect(self, ack: Ack) -> None:
        self.connected = True
        self.una = self.nxt = self.limited_end = FIRST
        if self.syns == 1:
            self.measure(self.now_us - self.syn_sent, self.now_us - self.syn_sent)
        else:
            self.measure_by_stamp(ack)
        self.retries = 0
        if self.syns > 1 and self.clocks.ms(ack.echo) != self.first_syn:
            self.undo_from, self.undo_again = 0, self.syns - 1
            if self.syns > 2:
                self.cwnd = 1
        self.begin()
        self.send(Packet("syn", self.p.ACK, Data(1)))
        self.purpose = "waking"
        self.timer.start(100_000)

    def take(self, ack: Ack) -> None:
        echo = self.clocks.ms(ack.echo)
        before, delivered, losses, highest = self.una, self.delivered, self.losses, self.highest
        acked = ack.expected - before
        if acked:
            self.retries = 0
        named = sorted({number for left, right in ack.blocks for number in range(left, right)})
        fresh = [self.segments[number] for number in named if not self.segments[number].reported]
        simple = [segment for segment in fresh if not (segment.ever or segment.again)]
        original = any(segment.number < self.high for segment in simple)
        for segment in fresh:
            segment.reported = True
            self.arrived(segment, None)
        self.highest = max([self.highest, *(right for _, right in ack.blocks)])
        late = [segment.number for segment in simple if segment.number < highest]
        if late and (self.state != LOSS or self.undo_from is not None):
            self.note_late(late[0])
        if ack.duplicate is not None and self.undo_from is not None and self.undo_again > 0:
            self.undo_again -= int(ack.duplicate >= self.undo_from)

        gone = [self.segments[number] for number in range(before, ack.expected)]
        timed = [one for one in gone if not one.reported and not (one.ever or one.again)]
        any_again = any(one.ever or one.again for one in gone)
        for segment in gone:
            if not segment.reported:
                self.arrived(segment, echo)
            del self.segments[segment.number]
        original = original or any(segment.number < self.high for segment in timed)
        self.una = ack.expected
        if ack.duplicate is not None:
            self.widen()
        self.highest = max(self.highest, self.una)
        if timed and timed[0].number < highest:
            self.note_late(timed[0].number)

        latest = self.round_trip(ack, acked, [] if any_again else timed, simple)
        if acked or simple:
            self.control.measured(self, self.now_us, self.jiffies, self.second, latest)
        restarts = acked > 0
        if not acked and simple:
            restarts = simple[0].sent < self.segments[self.una].sent or (
                self.now_us - simple[0].sent > self.now_us - self.segments[self.una].sent
            )
        if self.probed is not None:
            self.after_probe(acked, bool(fresh), ack.duplicate is not None)
        first = "new"
        if self.state != OPEN or fresh or ack.duplicate is not None or not acked:
            waits, first = self.alert(echo, acked, bool(fresh), ack.duplicate is not None, original)
            restarts = restarts and not waits
        if restarts and not self.schedule_probe(advancing=True):
            self.rearm()
        self.set_window(acked, bool(fresh), self.delivered - delivered, self.losses - losses, latest)
        self.push(first)

    def grow(self, acked: int) -> None:
        if self.cwnd < self.ssthresh:
            growth = self.control.slow_start(self.p).growth(acked)
            acked = max(self.cwnd + growth - self.ssthresh, 0)
            self.cwnd = min(self.cwnd + growth, self.ssthresh)
        if acked:
            least = self.clocks.in_jiffies(self.control.least_jiffies())
            every = self.control.every(self, self.jiffies, self.second, acked, least)
            if self.counted >= every:
                self.counted = 0
                self.cwnd += 1
            self.counted += acked
            while self.counted >= every:
                self.counted -= every
                self.cwnd += 1

    # Round trips.

    def round_trip(self, ack: Ack, acked: int, timed: list[Segment], reported: list[Segment]) -> int:
        """Process the RTT measurements of an ACK; return the latest one [us], or -1."""
        if timed or reported:
            first = (timed or reported)[0]
            last = (reported or timed)[-1]
            return self.measure(self.now_us - first.sent, self.now_us - last.sent)
        return self.measure_by_stamp(ack) if acked else -1

    def measure_by_stamp(self, ack: Ack) -> int:
        us = 1000 * max(self.clocks.ms(self.simulation.now) - self.clocks.ms(ack.echo), 1)
        return self.measure(us, us)

    def measure(self, sample: int, latest: int) -> int:
        self.least_rtt = min(self.least_rtt, max(latest, 1))
        least = self.p.MIN_RTO // 1000
        if self.srtt_8 == 0:
            self.srtt_8 = max(8 * sample, 1)
            self.mdev_4 = 2 * sample
            self.rttvar = self.mdev_max = max(self.mdev_4, least)
            self.rtt_end = self.nxt
        else:
            error = sample - self.srtt_8 // 8
            self.srtt_8 = max(self.srtt_8 + error, 1)
            more = abs(error) - self.mdev_4 // 4
            self.mdev_4 += more // 8 if error < 0 < more else more
            if self.mdev_4 > self.mdev_max:
                self.mdev_max = self.mdev_4
                self.rttvar = max(self.rttvar, self.mdev_4)
            if self.una > self.rtt_end:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) // 4
                self.rtt_end = self.nxt
                self.mdev_max = least
        rto = self.clocks.in_jiffies(self.srtt_8 // 8 + self.rttvar)
        self.rto = min(rto, self.p.MAX_RTO // self.p.TICK)
        return latest

    # Recovery.

    def present_ssthresh(self) -> int:
        if self.reducing():
            return self.ssthresh
        return max(self.ssthresh, self.cwnd // 2 + self.cwnd // 4)

    def watch_for_undo(self) -> None:
        self.undo_from = self.una
        again = self.count("again") + int(self.probed is not None and self.probe_again)
        self.undo_again = again or -1

    def begin_reduction(self) -> None:
        self.high = self.nxt
        self.probed = None
        self.counted = 0
        self.prior_window = self.cwnd
        self.prr_delivered = self.prr_out = 0
        self.ssthresh = self.control.after_loss(self.cwnd)
        self.outcomes.add(Out.CWND_CUTS)

    def end_reduction(self) -> None:
        if self.ssthresh < INFINITE and (self.state == CWR or self.undo_from is not None):
            self.cwnd = self.ssthresh

    def reduce(self, delivered: int, lost: int, *, advances: bool) -> None:
        if not delivered:
            return
        pipe = self.in_flight()
        self.prr_delivered += delivered
        if pipe > self.ssthresh:
            share = -(-self.ssthresh * self.prr_delivered // self.prior_window)
            count = share - self.prr_out
        else:
            count = max(self.prr_delivered - self.prr_out, delivered) + int(advances and not lost)
            count = min(self.ssthresh - pipe, count)
        self.cwnd = pipe + max(count, 0 if self.prr_out > 0 else 1)

    def enter_recovery(self) -> None:
        self.prior_ssthresh = 0
        self.watch_for_undo()
        if not self.reducing():
            self.prior_ssthresh = self.present_ssthresh()
            self.begin_reduction()
        self.state = RECOVERY
        self.outcomes.add(Out.FAST_RETRANSMITS)

    def any_again(self) -> bool:
        first = self.segments.get(self.una)
        return self.count("again") > 0 or (first is not None and first.ever)

    def keep_open(self) -> None:
        wrong = self.count("reported") + self.count("lost") > 0 or self.any_again()
        state = DISORDER if wrong else OPEN
        if state != self.state:
            self.state, self.high = state, self.nxt

    def try_to_open(self) -> None:
        if not self.any_again():
            self.first_again = None
        if self.state != CWR:
            self.keep_open()

    def is_original(self, echo: int) -> bool:
        return self.first_again is None or echo < self.first_again

    def may_undo(self, echo: int) -> bool:
        return self.undo_from is not None and (self.undo_again == 0 or self.is_original(echo))

    def undo(self, *, spare: bool) -> None:
        if spare:
            for segment in self.out():
                segment.lost = False
                if not segment.again:
                    segment.watched = True
        if self.prior_ssthresh > 0:
            self.restore_window()
            self.ssthresh = max(self.ssthresh, self.prior_ssthresh)
        self.undo_from = None
        self.rack_news = True

    def undo_by_duplicates(self) -> bool:
        if self.undo_from is None or self.undo_again != 0:
            return False
        self.undo(spare=False)
        return True

    def alert(
        self, echo: int, acked: int, reported: bool, duplicate: bool, original: bool
    ) -> tuple[bool, str]:
        """Process an ACK while data are missing, or one that reports a loss.

        Return whether the timer was set, and what is sent first.
        """
        first = "new"
        if self.state == OPEN:
            self.first_again = None
        elif self.state == RECOVERY and self.una >= self.high:
            if self.may_undo(echo):
                self.undo(spare=False)
            else:
                self.narrow()
            self.state = OPEN
            self.end_reduction()
        if self.state == RECOVERY:
            return self.in_recovery(echo, acked)
        if self.state == LOSS:
            again = self.count("again")
            first = self.after_timeout(echo, acked, reported, duplicate, original)
            waits = self.find_losses()
            if self.state != OPEN and self.count("again") >= again:
                return waits, first
        else:
            self.undo_by_duplicates()
            waits = self.find_losses()
        if self.count("lost"):
            self.enter_recovery()
            return waits, "lost"
        self.try_to_open()
        return waits, first

    def in_recovery(self, echo: int, acked: int) -> tuple[bool, str]:
        if acked and self.undo_from is not None and self.is_original(echo):
            self.note_late(self.una - acked)
            if self.count("again"):
                return False, "new"
            if not self.any_again():
                self.first_again = None
            self.undo(spare=True)
            self.keep_open()
        if self.undo_by_duplicates():
            self.try_to_open()
        waits = self.find_losses()
        if self.state != RECOVERY:
            if not self.count("lost"):
                return waits, "new"
            self.enter_recovery()
        return waits, "lost"

    def undo_timeout(self) -> None:
        self.undo(spare=True)
        self.retries = 0
        self.state = OPEN

    def after_timeout(self, echo: int, acked: int, reported: bool, duplicate: bool, original: bool) -> str:
        recovered = self.una >= self.high
        if acked and self.may_undo(echo):
            self.undo_timeout()
            return "new"
        if self.frto:
            if original:
                self.undo_timeout()
                return "new"
            if self.nxt > self.high:
                if reported or (not acked and not duplicate):
                    self.frto = False
            elif acked and not recovered:
                self.high = self.nxt
                if self.nxt < self.end:
                    return "new, else lost"
                self.frto = False
        if recovered:
            if self.may_undo(echo):
                self.undo(spare=False)
            else:
                self.narrow()
            self.state = OPEN
            return "new"
        return "lost"

    def after_probe(self, acked: int, reported: bool, duplicate: bool) -> None:
        assert self.probed is not None
        if self.una < self.probed:
            return
        if not self.probe_again or duplicate:
            self.probed = None
        elif self.una > self.probed:
            self.begin_reduction()
            self.state = CWR
            self.end_reduction()
            self.keep_open()
        elif not acked and not reported:
            self.probed = None
