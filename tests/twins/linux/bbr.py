"""BBR after its drafts: samples of the delivery rate, a model of the path, its rate and window.

Source: draft-cheng-iccrg-delivery-rate-estimation-00, draft-cardwell-iccrg-bbr-congestion-control-00 (its
names are kept); bandwidth in packets per 2**24 us and gains of 256 as Linux has them.
"""

from dataclasses import dataclass, field

from netcarlo.kernels.base.layout import STREAM_CYCLE
from tests.twins.linux.clocks import MS
from tests.twins.linux.controls import INFINITE
from tests.twins.linux.receiver import Ack
from tests.twins.linux.sender import LOSS, RECOVERY, LinuxSender, Segment
from tests.twins.path.engine import Rank, Timer
from tests.twins.random_numbers import Streams

HIGH, DRAIN = 739, 88
CYCLE = (320, 192, 256, 256, 256, 256, 256, 256)


@dataclass
class Sent:
    """State of the connection that a packet records when it is sent."""

    delivered: int
    delivered_time: int
    first_sent_time: int
    limited: bool


@dataclass
class Sample:
    """Rate sample of an ACK."""

    prior_delivered: int
    prior_time: int
    limited: bool
    packet: int
    send_elapsed: int
    delivered: int = -1
    interval: int = -1

    @property
    def valid(self) -> bool:
        return self.interval > 0


@dataclass
class Maximum:
    """Windowed maximum: the best value, the best after it, and the best after that, as (time, value)."""

    best: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)] * 3)

    @property
    def value(self) -> int:
        return self.best[0][1]

    def update(self, time: int, value: int, window: int) -> None:
        new = (time, value)
        if value >= self.best[0][1] or time - self.best[2][0] > window:
            self.best = [new] * 3
            return
        for k in (1, 2):
            if value >= self.best[k][1]:
                self.best[k:] = [new] * (3 - k)
                break
        (t0, _), (t1, _), (t2, _) = self.best
        if time - t0 > window:
            while time - self.best[0][0] > window:
                self.best = [*self.best[1:], new]
        elif t1 == t0 and time - t0 > window // 4:
            self.best[1:] = [new, new]
        elif t2 == t1 and time - t0 > window // 2:
            self.best[2] = new


class PacedSender(LinuxSender):
    """Sender of Linux with BBR."""

    # Pacing.

    rate = 0  # pacing rate [byte / s]
    next = 0  # earliest time of the next burst [ns]

    def __init__(self, *arguments, **named) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*arguments, **named)
        self.pace = Timer(self.simulation, Rank.PACING, self.ring_pace)
        self.records: dict[int, Sent] = {}
        self.delivered_time = self.first_sent_time = self.app_limited = 0
        self.sample: Sample | None = None
        self.flight_before = 0
        self.sent = 0

    def ring_pace(self) -> None:
        self.push("lost" if self.count("lost") > self.count("again") else "new")

    def may_leave(self) -> bool:
        if self.next <= self.simulation.now:
            return True
        if not self.pace.pending:
            self.pace.start(self.next - self.simulation.now)
        return False

    def latest_departure(self) -> int:
        return self.next // 1000

    def leave(self, packets: int) -> None:
        if self.in_flight() == 0 and self.app_limited:
            self.bbr.on_restart()
        now = self.simulation.now
        late = max(now - self.next, 0)
        self.next = max(self.next, now)
        if self.sent + packets >= 10 and self.rate > 0:
            length = packets * self.p.DATA * 10**9 // self.rate
            self.next += length - min(length // 2, late)

    def paced(self) -> int:
        return max(self.next - self.simulation.now, 0) // self.p.TICK

    @property
    def least_burst(self) -> int:
        return 1 if self.rate < 150_000 else 2

    def burst_size(self) -> int:
        halvings = self.least_rtt // 512
        bytes_ = self.rate // 1024 + (65536 // 2**halvings if halvings < 32 else 0)
        return max(min(bytes_, 65536) // max(self.p.DATA, 1), self.least_burst)

    def send_quantum(self) -> int:
        return min(max(min(self.rate // 1024, 65215) // max(self.p.DATA, 1), self.least_burst), 127)

    # The connection.

    def begin(self) -> None:
        self.delivered = self.app_limited = 1
        self.bbr = Bbr(self)
        self.control = self.bbr  # type: ignore[assignment]

    def probe(self) -> None:
        new = self.nxt < self.end and self.nxt < self.una + self.window_of_receiver
        if self.probed is None and new and not self.may_leave():
            self.rearm()
        else:
            super().probe()

    # The delivery rate.

    def note_sent(self, segment: Segment, *, repeated: bool) -> None:
        self.sent += 1
        if not repeated and self.nxt - self.una == 1:  # nothing was in flight
            self.first_sent_time = self.delivered_time = self.now_us
        self.records[segment.number] = Sent(
            self.delivered, self.delivered_time, self.first_sent_time, self.app_limited != 0
        )

    def arrived(self, segment: Segment, echo: int | None) -> None:
        then, s = self.records.pop(segment.number), self.sample
        if s is None or (segment.sent, segment.number) > (self.first_sent_time, s.packet):
            self.sample = Sample(
                then.delivered, then.delivered_time, then.limited, segment.number,
                segment.sent - then.first_sent_time,
            )  # fmt: skip
            self.first_sent_time = segment.sent
        super().arrived(segment, echo)

    def take(self, ack: Ack) -> None:
        self.sample = None
        self.flight_before = self.in_flight()
        super().take(ack)

    def set_window(self, acked: int, reported: bool, delivered: int, lost: int, latest: int) -> None:
        if self.delivered > self.app_limited:
            self.app_limited = 0
        if delivered:
            self.delivered_time = self.now_us
        if self.sample is not None:
            s = self.sample
            s.delivered = self.delivered - s.prior_delivered
            elapsed = max(s.send_elapsed, self.now_us - s.prior_time)
            if elapsed >= self.least_rtt:
                s.interval = elapsed
        self.bbr.on_ack(self.sample or Sample(0, 0, False, -1, 0), delivered, lost, latest)

    def reduce(self, delivered: int, lost: int, *, advances: bool) -> None:
        """Do nothing: BBR controls the window."""

    def end_reduction(self) -> None:
        """Do nothing: BBR controls the window."""

    def restore_window(self) -> None:
        self.bbr.on_undo()


class Bbr:
    """Model of the path of BBR, and the resulting rate and window."""

    def __init__(self, c: LinuxSender) -> None:
        assert isinstance(c, PacedSender)
        self.c = c
        self.streams = Streams(c.p.SEED, c.p.SCENARIO, c.p.REPLICATION)
        self.draws = 0
        self.mode = "Startup"
        self.pacing_gain = self.cwnd_gain = HIGH
        self.btl_bw = Maximum()
        self.round_count, self.next_round_delivered, self.round_start = 0, c.delivered, False
        self.rtprop, self.rtprop_stamp = c.least_rtt, c.jiffies
        self.filled_pipe, self.full_bw, self.full_bw_count = False, 0, 0
        self.cycle_index = self.cycle_stamp = 0
        self.probe_rtt_done: int | None = None
        self.probe_rtt_round_done = False
        self.idle_restart = False
        self.prior_cwnd = 0
        self.packet_conservation = False
        self.state_before = 0
        self.extra = [0, 0]
        self.extra_index = self.extra_rounds = 0
        self.epoch = (c.now_us, 0)
        self.policed = False
        self.reset_policer()
        self.seen_rtt = False
        self.init_pacing()

    # Predicates.

    @property
    def bw(self) -> int:
        return self.policer_bw if self.policed else self.btl_bw.value

    def bytes_per_second(self, bw: int, gain: int) -> int:
        return bw * self.c.p.DATA * gain // 256 * 990_000 // 2**24

    def bdp(self, bw: int, gain: int) -> int:
        if self.rtprop == INFINITE:
            return 10
        return -(-(bw * self.rtprop * gain // 256) // 2**24)

    def quantized(self, packets: int) -> int:
        packets += 3 * self.c.send_quantum()
        packets += packets % 2
        return packets + 2 * (self.mode == "ProbeBW" and self.cycle_index == 0)

    def inflight(self, gain: int) -> int:
        return self.quantized(self.bdp(self.btl_bw.value, gain))

    def at_departure(self, flight: int) -> int:
        wait_us = max(self.c.next - self.c.simulation.now, 0) // 1000
        if self.pacing_gain > 256:
            flight += self.c.send_quantum()
        return max(flight - self.bw * wait_us // 2**24, 0)

    # Processing of an ACK.

    def on_ack(self, rs: Sample, acked: int, lost: int, rtt: int) -> None:
        self.update_bandwidth(rs, lost)
        self.update_extra(rs, acked)
        self.update_cycle(lost)
        self.check_full_pipe(rs)
        self.check_drain()
        self.update_rtprop(rs, rtt)
        self.set_gains()
        self.set_pacing_rate(self.pacing_gain)
        self.set_cwnd(acked, lost)

    def update_bandwidth(self, rs: Sample, lost: int) -> None:
        self.round_start = False
        if not rs.valid:
            return
        if rs.prior_delivered >= self.next_round_delivered:
            self.next_round_delivered = self.c.delivered
            self.round_count += 1
            self.round_start = True
            self.packet_conservation = False
        self.sample_policer(lost, limited=rs.limited)
        bw = rs.delivered * 2**24 // rs.interval
        if not rs.limited or bw >= self.btl_bw.value:
            self.btl_bw.update(self.round_count, bw, 10)

    def update_extra(self, rs: Sample, acked: int) -> None:
        if not acked or not rs.valid:
            return
        if self.round_start:
            self.extra_rounds += 1
            if self.extra_rounds == 5:
                self.extra_rounds = 0
                self.extra_index ^= 1
                self.extra[self.extra_index] = 0
        now, (begun, count) = self.c.delivered_time, self.epoch
        expected = self.bw * (now - begun) // 2**24
        if count <= expected or count + acked >= 2**20:
            begun, count, expected = now, 0, 0
        count = min(count + acked, 2**20 - 1)
        self.epoch = begun, count
        more = min(count - expected, self.c.cwnd)
        self.extra[self.extra_index] = max(self.extra[self.extra_index], more)

    def update_cycle(self, lost: int) -> None:
        if self.mode != "ProbeBW":
            return
        over = self.c.delivered_time - self.cycle_stamp > self.rtprop
        flight = self.at_departure(self.c.flight_before)
        if self.pacing_gain > 256:
            over = over and (lost > 0 or flight >= self.inflight(self.pacing_gain))
        elif self.pacing_gain < 256:
            over = over or flight <= self.inflight(256)
        if over:
            self.advance_cycle()

    def advance_cycle(self) -> None:
        self.cycle_index = (self.cycle_index + 1) % 8
        self.cycle_stamp = self.c.delivered_time

    def enter_probe_bw(self) -> None:
        self.mode = "ProbeBW"
        word = self.streams.block(STREAM_CYCLE + 512 * self.c.flow, self.draws)[0]
        self.draws += 1
        self.cycle_index = 7 - word * 7 // 2**32
        self.advance_cycle()

    def check_full_pipe(self, rs: Sample) -> None:
        if self.filled_pipe or not self.round_start or rs.limited:
            return
        if self.btl_bw.value >= self.full_bw * 320 // 256:
            self.full_bw, self.full_bw_count = self.btl_bw.value, 0
            return
        self.full_bw_count += 1
        self.filled_pipe = self.full_bw_count >= 3

    def check_drain(self) -> None:
        if self.mode == "Startup" and self.filled_pipe:
            self.mode = "Drain"
            self.c.ssthresh = self.inflight(256)
        if self.mode == "Drain" and self.at_departure(self.c.in_flight()) <= self.inflight(256):
            self.enter_probe_bw()

    def update_rtprop(self, rs: Sample, rtt: int) -> None:
        now = self.c.jiffies
        expired = now > self.rtprop_stamp + 10 * 10**9 // self.c.p.TICK
        if rtt >= 0 and (rtt < self.rtprop or expired):
            self.rtprop, self.rtprop_stamp = rtt, now
        if expired and not self.idle_restart and self.mode != "ProbeRTT":
            self.mode = "ProbeRTT"
            self.save_cwnd()
            self.probe_rtt_done = None
        if self.mode == "ProbeRTT":
            self.probe_rtt(now)
        if rs.delivered > 0:
            self.idle_restart = False

    def probe_rtt(self, now: int) -> None:
        c = self.c
        c.app_limited = max(c.delivered + c.in_flight(), 1)
        if self.probe_rtt_done is None:
            if c.in_flight() <= 4:
                self.probe_rtt_done = now - (-200 * MS // c.p.TICK)
                self.probe_rtt_round_done = False
                self.next_round_delivered = c.delivered
        else:
            self.probe_rtt_round_done |= self.round_start
            if self.probe_rtt_round_done:
                self.check_probe_rtt_done(now)

    def check_probe_rtt_done(self, now: int) -> None:
        if self.probe_rtt_done is not None and now > self.probe_rtt_done:
            self.rtprop_stamp = now
            self.c.cwnd = max(self.c.cwnd, self.prior_cwnd)
            if self.filled_pipe:
                self.enter_probe_bw()
            else:
                self.mode = "Startup"

    def set_gains(self) -> None:
        in_cycle = 256 if self.policed else CYCLE[self.cycle_index]
        self.pacing_gain, self.cwnd_gain = {
            "Startup": (HIGH, HIGH),
            "Drain": (DRAIN, HIGH),
            "ProbeBW": (in_cycle, 512),
            "ProbeRTT": (256, 256),
        }[self.mode]

    # Rate and window.

    def init_pacing(self) -> None:
        rtt = 1000
        if self.c.srtt_8:
            rtt = max(self.c.srtt_8 // 8, 1)
            self.seen_rtt = True
        self.c.rate = self.bytes_per_second(self.c.cwnd * 2**24 // rtt, HIGH)

    def set_pacing_rate(self, gain: int) -> None:
        rate = self.bytes_per_second(self.bw, gain)
        if not self.seen_rtt and self.c.srtt_8:
            self.init_pacing()
        if self.filled_pipe or rate > self.c.rate:
            self.c.rate = rate

    def set_cwnd(self, acked: int, lost: int) -> None:
        c = self.c
        if acked:
            cwnd = c.cwnd if not lost else max(c.cwnd - lost, 1)
            if c.state == RECOVERY != self.state_before:
                self.packet_conservation = True
                self.next_round_delivered = c.delivered
                cwnd = c.in_flight() + acked
            elif self.state_before >= RECOVERY > c.state:
                self.packet_conservation = False
                cwnd = max(cwnd, self.prior_cwnd)
            self.state_before = c.state
            c.cwnd = max(cwnd, c.in_flight() + acked) if self.packet_conservation else self.grown(cwnd, acked)
        if self.mode == "ProbeRTT":
            c.cwnd = min(c.cwnd, 4)

    def grown(self, cwnd: int, acked: int) -> int:
        extra = min(max(self.extra), self.bw * 100_000 // 2**24) if self.filled_pipe else 0
        target = self.quantized(self.bdp(self.bw, self.cwnd_gain) + extra)
        if self.filled_pipe:
            cwnd = min(cwnd + acked, target)
        elif cwnd < target or self.c.delivered < 10:
            cwnd += acked
        return max(cwnd, 4)

    def save_cwnd(self) -> None:
        cwnd = self.c.cwnd
        fresh = self.state_before < RECOVERY and self.mode != "ProbeRTT"
        self.prior_cwnd = cwnd if fresh else max(self.prior_cwnd, cwnd)

    # Policers.

    def reset_policer(self) -> None:
        self.policed, self.policer_bw, self.sampling = False, 0, False
        self.begin_interval()

    def begin_interval(self) -> None:
        self.interval_ms = self.c.delivered_time // 1000
        self.interval_delivered, self.interval_lost = self.c.delivered, self.c.losses
        self.interval_rounds = 0

    def sample_policer(self, lost: int, *, limited: bool) -> None:
        if self.policed:
            if self.mode == "ProbeBW" and self.round_start:
                self.interval_rounds += 1
                if self.interval_rounds >= 48:
                    self.reset_policer()
                    self.enter_probe_bw()
            return
        if not self.sampling and not lost:
            return
        if not self.sampling:
            self.begin_interval()
            self.sampling = True
        self.interval_rounds += self.round_start
        if limited or self.interval_rounds > 16:
            self.reset_policer()
            return
        losses, delivered = self.c.losses - self.interval_lost, self.c.delivered - self.interval_delivered
        ms = self.c.delivered_time // 1000 - self.interval_ms
        if self.interval_rounds < 4 or not lost or not delivered or 256 * losses < 50 * delivered or ms < 1:
            return
        bw = delivered * 2**24 // (1000 * ms)
        apart = abs(bw - self.policer_bw)
        if self.policer_bw and (8 * apart <= self.policer_bw or self.bytes_per_second(apart, 256) <= 500):
            self.policer_bw = (bw + self.policer_bw) // 2
            self.policed, self.pacing_gain, self.interval_rounds = True, 256, 0
        else:
            self.policer_bw = bw
            self.begin_interval()

    # Other events.

    def on_restart(self) -> None:
        self.idle_restart = True
        self.epoch = (self.c.now_us, 0)
        if self.mode == "ProbeBW":
            self.set_pacing_rate(256)
        elif self.mode == "ProbeRTT":
            self.check_probe_rtt_done(self.c.jiffies)

    def on_undo(self) -> None:
        self.full_bw = self.full_bw_count = 0
        self.reset_policer()

    def after_loss(self, cwnd: int) -> int:
        self.save_cwnd()
        return self.c.ssthresh

    def timeout(self, sender: object, now_us: int) -> None:
        self.state_before = LOSS
        self.full_bw = 0
        self.round_start = True
        self.sample_policer(1, limited=False)

    def measured(self, *arguments: object) -> None:
        """Do nothing: BBR reads round-trip times from the rate sample of the ACK."""
