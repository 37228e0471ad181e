"""BBR v3, from the pseudo-code of draft-ietf-ccwg-bbr, whose names are kept.

Volumes in packets (C.SMSS is 1), bandwidth in packets per 2**24 us, gains of 256, shares in percent;
the clock of a cycle is `C.delivered_time`.
"""

from netcarlo.kernels.base.layout import STREAM_CYCLE
from tests.twins.linux.bbr import Maximum, PacedSender, Sample
from tests.twins.linux.controls import INFINITE
from tests.twins.linux.sender import LOSS, RECOVERY, Segment
from tests.twins.random_numbers import Streams

INFINITY = 2**40
PROBE_BW = ("DOWN", "CRUISE", "REFILL", "UP")
PACING_GAIN = {"Startup": 709, "Drain": 128, "DOWN": 230, "UP": 320}
CWND_GAIN = {"UP": 576, "ProbeRTT": 128}


class Bbr3Sender(PacedSender):
    """Sender of Linux with BBR v3."""

    def __init__(self, *arguments, **named) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*arguments, **named)
        self.around: dict[int, tuple[int, int]] = {}
        self.resends = False

    def begin(self) -> None:
        self.delivered = self.app_limited = 1
        self.bbr = self.control = Bbr3(self)  # type: ignore[assignment]

    def note_sent(self, segment: Segment, *, repeated: bool) -> None:
        super().note_sent(segment, repeated=repeated)
        probe = repeated and not self.resends  # the sender counts it in flight only once
        self.around[segment.number] = self.in_flight() + probe, self.losses

    def resend(self, segment: Segment) -> None:
        self.resends = True
        super().resend(segment)
        self.resends = False

    def lose(self, segment: Segment) -> None:
        before = self.losses
        super().lose(segment)
        if self.losses > before:
            self.bbr.handle_lost_packet(segment.number)  # type: ignore[attr-defined]


class Bbr3:
    """The algorithm; C is the connection, RS the rate sample."""

    def __init__(self, c: Bbr3Sender) -> None:
        self.c = c
        self.streams, self.draws = Streams(c.p.SEED, c.p.SCENARIO, c.p.REPLICATION), 0
        now = c.now_us
        self.initial_cwnd = c.cwnd
        self.state = "Startup"
        self.min_rtt = self.probe_rtt_min_delay = c.least_rtt if c.least_rtt != INFINITE else INFINITY
        self.min_rtt_stamp = self.probe_rtt_min_stamp = now
        self.probe_rtt_done_stamp, self.probe_rtt_round_done, self.probe_rtt_expired = 0, False, False
        self.prior_cwnd = 0
        self.undo_state: str | None = None
        self.undo_bw_shortterm = self.undo_inflight_shortterm = self.undo_inflight_longterm = 0
        self.idle_restart = False
        self.extra_acked_interval_start, self.extra_acked_delivered = now, 0
        self.extra_acked_filter = Maximum()
        self.full_bw_reached = False
        self.inflight_longterm = self.probe_up_acked_per_inc = INFINITY
        self.bw_probe_up_acked = self.bw_probe_up_rounds = self.rounds_since_probe_up = 0
        self.is_bw_probe_sample = self.prev_probe_too_high = self.prev_probe_precautionary = False
        self.ack_phase = "INIT"
        self.cycle_stamp = self.bw_probe_wait = 0
        self.max_bws = [0, 0]
        self.bw = 0
        self.loss_round_delivered, self.loss_round_start = 0, False
        self.loss_events = self.recovery_delivered = 0
        self.recovery_before = 0
        self.drain_start_round = 0
        self.reset_congestion_signals()
        self.reset_short_term_model()
        self.next_round_delivered, self.round_start, self.round_count = 0, False, 0
        self.reset_full_bw()
        self.seen_rtt = False
        self.init_pacing_rate()

    # On each ACK.

    def on_ack(self, sample: Sample, acked: int, lost: int, rtt: int) -> None:
        c = self.c
        self.rs, self.newly_acked, self.rtt, self.losses = sample, acked, rtt, lost
        self.has_data = sample.delivered >= 0
        self.delivery_rate = sample.delivered * 2**24 // sample.interval if sample.valid else 0
        self.tx_in_flight = self.lost = 0
        if self.has_data:
            self.tx_in_flight, then = c.around[sample.packet]
            self.lost = c.losses - then
        self.update_latest_delivery_signals()
        self.update_congestion_signals()
        self.update_ack_aggregation()
        self.check_full_bw_reached()
        self.check_startup_done()
        self.check_drain_done()
        self.update_probe_bw_cycle_phase()
        self.update_min_rtt()
        self.check_probe_rtt()
        if self.loss_round_start:  # AdvanceLatestDeliverySignals
            self.bw_latest, self.inflight_latest = self.delivery_rate, sample.delivered
        self.bw = min(self.max_bw, self.bw_shortterm)
        self.set_pacing_rate(PACING_GAIN.get(self.state, 256))
        self.set_cwnd()

    # Startup, Drain.

    def reset_full_bw(self) -> None:
        self.full_bw, self.full_bw_count, self.full_bw_now = 0, 0, False

    def check_full_bw_reached(self) -> None:
        if self.full_bw_now or not self.round_start or self.rs.limited:
            return
        if 100 * self.delivery_rate >= 125 * self.full_bw:
            self.reset_full_bw()
            self.full_bw = self.delivery_rate
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= 3
        self.full_bw_reached = self.full_bw_reached or self.full_bw_now

    def check_startup_done(self) -> None:
        self.check_startup_high_loss()
        if self.state == "Startup" and self.full_bw_reached:
            self.state = "Drain"
            self.drain_start_round = self.round_count

    def check_startup_high_loss(self) -> None:
        if self.full_bw_reached:
            return
        self.loss_events += self.losses > 0
        if not self.loss_round_start:
            return
        a_round = self.c.state == RECOVERY and self.rs.prior_delivered >= self.recovery_delivered
        if a_round and self.is_inflight_too_high() and self.loss_events >= 6:
            self.undo_state = "Startup"
            self.full_bw_reached = True
            self.inflight_longterm = max(self.bdp_multiple(256, self.bw), self.inflight_latest)
        self.loss_events = 0

    def check_drain_done(self) -> None:
        if self.state == "Drain" and (
            self.c.in_flight() <= self.inflight(256, self.bw) or self.round_count > self.drain_start_round + 3
        ):
            self.start_down()

    # ProbeBW.

    def is_time_to_probe_bw(self) -> bool:
        elapsed = self.c.delivered_time > self.cycle_stamp + self.bw_probe_wait
        if elapsed or self.rounds_since_probe_up >= min(self.target_inflight(), 63):
            self.start_refill()
            return True
        return False

    def target_inflight(self) -> int:
        return min(self.bdp_multiple(256, self.bw), self.c.cwnd)

    def start_down(self) -> None:
        self.reset_congestion_signals()
        self.probe_up_acked_per_inc = INFINITY
        words = self.streams.block(STREAM_CYCLE + 512 * self.c.flow, self.draws)
        self.draws += 1
        self.rounds_since_probe_up = words[0] * 2 // 2**32
        self.bw_probe_wait = 2_000_000 + words[1] * 1_000_000 // 2**32
        self.cycle_stamp = self.c.delivered_time
        self.ack_phase = "PROBE_STOPPING"
        self.start_round()
        self.state = "DOWN"

    def start_refill(self) -> None:
        self.reset_short_term_model()
        self.bw_probe_up_rounds = self.bw_probe_up_acked = 0
        self.prev_probe_precautionary = False
        self.ack_phase = "REFILLING"
        self.start_round()
        self.state = "REFILL"

    def start_up(self) -> None:
        self.ack_phase = "PROBE_STARTING"
        self.start_round()
        self.reset_full_bw()
        self.full_bw = self.delivery_rate
        self.state = "UP"
        self.raise_slope()

    def update_probe_bw_cycle_phase(self) -> None:
        if not self.full_bw_reached or self.adapt_long_term_model() or self.state not in PROBE_BW:
            return
        if self.state == "DOWN":
            if not self.is_time_to_probe_bw() and self.is_time_to_cruise():
                self.state = "CRUISE"
        elif self.state == "CRUISE":
            self.is_time_to_probe_bw()
        elif self.state == "REFILL":
            if self.round_start:
                self.is_bw_probe_sample = True
                self.start_up()
        elif self.is_time_to_go_down():
            self.prev_probe_too_high = False
            self.start_down()

    def is_time_to_cruise(self) -> bool:
        flight = self.c.in_flight()
        return flight <= self.inflight_with_headroom() and flight <= self.inflight(256, self.max_bw)

    def is_time_to_go_down(self) -> bool:
        c = self.c
        if self.prev_probe_too_high and c.in_flight() >= self.inflight_longterm:
            self.prev_probe_precautionary = True
            return True
        if c.limited and c.cwnd >= self.inflight_longterm:
            self.reset_full_bw()
            self.full_bw = self.delivery_rate
        elif self.full_bw_now:
            return True
        return False

    def inflight_with_headroom(self) -> int:
        if self.inflight_longterm == INFINITY:
            return INFINITY
        headroom = max(1, self.inflight_longterm * 15 // 100)
        return max(self.inflight_longterm - headroom, 4)

    def raise_slope(self) -> None:
        growth_this_round = 1 << self.bw_probe_up_rounds
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)
        self.probe_up_acked_per_inc = max(self.c.cwnd // growth_this_round, 1)

    def probe_inflight_longterm_upward(self) -> None:
        if not self.c.limited or self.c.cwnd < self.inflight_longterm:
            return
        self.bw_probe_up_acked += self.newly_acked
        while self.bw_probe_up_acked >= self.probe_up_acked_per_inc:
            self.bw_probe_up_acked -= self.probe_up_acked_per_inc
            self.inflight_longterm += 1
        if self.round_start:
            self.raise_slope()

    def adapt_long_term_model(self) -> bool:
        if self.ack_phase == "PROBE_STARTING" and self.round_start:
            self.ack_phase = "PROBE_FEEDBACK"
        if self.ack_phase == "PROBE_STOPPING" and self.round_start:
            self.is_bw_probe_sample = False
            self.ack_phase = "INIT"
            if self.state in PROBE_BW and not self.rs.limited and self.max_bws[0]:
                self.max_bws = [0, self.max_bws[0]]  # AdvanceMaxBwFilter
            if self.state in PROBE_BW and self.prev_probe_precautionary and not self.prev_probe_too_high:
                self.start_refill()
                return True
        if self.has_data and not self.is_inflight_too_high() and self.inflight_longterm != INFINITY:
            self.inflight_longterm = max(self.inflight_longterm, self.tx_in_flight)
            if self.state == "UP":
                self.probe_inflight_longterm_upward()
        return False

    # ProbeRTT.

    def update_min_rtt(self) -> None:
        now = self.c.now_us
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + 5_000_000
        if self.rtt >= 0 and (self.rtt < self.probe_rtt_min_delay or self.probe_rtt_expired):
            self.probe_rtt_min_delay, self.probe_rtt_min_stamp = self.rtt, now
        if self.probe_rtt_min_delay < self.min_rtt or now > self.min_rtt_stamp + 10_000_000:
            self.min_rtt, self.min_rtt_stamp = self.probe_rtt_min_delay, self.probe_rtt_min_stamp

    def check_probe_rtt(self) -> None:
        if self.state != "ProbeRTT" and self.probe_rtt_expired and not self.idle_restart:
            self.state = "ProbeRTT"
            self.save_cwnd()
            self.probe_rtt_done_stamp = 0
            self.ack_phase = "PROBE_STOPPING"
            self.start_round()
        if self.state == "ProbeRTT":
            self.handle_probe_rtt()
        if self.rs.delivered > 0:
            self.idle_restart = False

    def handle_probe_rtt(self) -> None:
        c = self.c
        c.app_limited = max(c.delivered + c.in_flight(), 1)
        if self.probe_rtt_done_stamp == 0 and c.in_flight() <= self.probe_rtt_cwnd():
            self.probe_rtt_done_stamp = c.now_us + 200_000
            self.probe_rtt_round_done = False
            self.start_round()
        elif self.probe_rtt_done_stamp != 0:
            self.probe_rtt_round_done = self.probe_rtt_round_done or self.round_start
            if self.probe_rtt_round_done:
                self.check_probe_rtt_done()

    def check_probe_rtt_done(self) -> None:
        if self.probe_rtt_done_stamp != 0 and self.c.now_us > self.probe_rtt_done_stamp:
            self.probe_rtt_min_stamp = self.c.now_us
            self.restore_cwnd()
            self.reset_short_term_model()
            if self.full_bw_reached:
                self.start_down()
                self.state = "CRUISE"
            else:
                self.state = "Startup"

    # The model.

    @property
    def max_bw(self) -> int:
        return max(self.max_bws)

    def start_round(self) -> None:
        self.next_round_delivered = self.c.delivered

    def update_round(self) -> None:
        self.round_start = self.has_data and self.rs.prior_delivered >= self.next_round_delivered
        if self.round_start:
            self.start_round()
            self.round_count += 1
            self.rounds_since_probe_up += 1

    def update_ack_aggregation(self) -> None:
        now = self.c.now_us
        expected_delivered = self.bw * (now - self.extra_acked_interval_start) // 2**24
        if self.extra_acked_delivered <= expected_delivered:
            self.extra_acked_delivered, self.extra_acked_interval_start, expected_delivered = 0, now, 0
        self.extra_acked_delivered += self.newly_acked
        extra = min(self.extra_acked_delivered - expected_delivered, self.c.cwnd)
        self.extra_acked_filter.update(self.round_count, extra, 10 if self.full_bw_reached else 1)

    def is_inflight_too_high(self) -> bool:
        return self.lost * 100 > self.tx_in_flight * 2

    def handle_lost_packet(self, packet: int) -> None:
        self.note_loss()
        if not self.is_bw_probe_sample:
            return
        tx_in_flight, then = self.c.around[packet]
        lost = self.c.losses - then
        if lost * 100 <= tx_in_flight * 2:
            return
        inflight_prev, lost_prev = tx_in_flight - 1, lost - 1
        lost_prefix = max((2 * inflight_prev - 100 * lost_prev), 0) // 98
        self.prev_probe_too_high = True
        self.is_bw_probe_sample = False
        if not self.c.records[packet].limited:
            self.inflight_longterm = max(inflight_prev + lost_prefix, self.target_inflight() * 70 // 100)
        if self.state == "UP":
            self.undo_state = "UP"
            self.start_down()

    def note_loss(self) -> None:
        if not self.is_loss_in_round:
            self.loss_round_delivered = self.c.delivered
            self.save_cwnd()
            self.undo_state = None
            self.undo_bw_shortterm = self.bw_shortterm
            self.undo_inflight_shortterm = self.inflight_shortterm
            self.undo_inflight_longterm = self.inflight_longterm
        self.is_loss_in_round = True

    def update_latest_delivery_signals(self) -> None:
        self.loss_round_start = False
        self.bw_latest = max(self.bw_latest, self.delivery_rate)
        self.inflight_latest = max(self.inflight_latest, self.rs.delivered)
        if self.has_data and self.rs.prior_delivered >= self.loss_round_delivered:
            self.loss_round_delivered = self.c.delivered
            self.loss_round_start = True

    def reset_congestion_signals(self) -> None:
        self.is_loss_in_round, self.bw_latest, self.inflight_latest = False, 0, 0

    def update_congestion_signals(self) -> None:
        self.update_round()
        if self.delivery_rate and (self.delivery_rate >= self.max_bw or not self.rs.limited):
            self.max_bws[0] = max(self.max_bws[0], self.delivery_rate)
        if not self.loss_round_start:
            return
        if self.state not in ("Startup", "REFILL", "UP") and self.is_loss_in_round:
            if self.bw_shortterm == INFINITY:
                self.bw_shortterm = self.max_bw
            if self.inflight_shortterm == INFINITY:
                self.inflight_shortterm = self.c.cwnd
            self.bw_shortterm = max(self.bw_latest, self.bw_shortterm * 70 // 100)
            self.inflight_shortterm = max(self.inflight_latest, self.inflight_shortterm * 70 // 100)
        self.is_loss_in_round = False

    def reset_short_term_model(self) -> None:
        self.bw_shortterm = self.inflight_shortterm = INFINITY

    # Rate and window.

    def init_pacing_rate(self) -> None:
        rtt = 1000
        if self.c.srtt_8:
            rtt, self.seen_rtt = max(self.c.srtt_8 // 8, 1), True
        self.c.rate = self.bytes_per_second(self.initial_cwnd * 2**24 // rtt, 709)

    def bytes_per_second(self, bw: int, gain: int) -> int:
        return bw * self.c.p.DATA * gain // 256 * 990_000 // 2**24

    def set_pacing_rate(self, gain: int) -> None:
        rate = self.bytes_per_second(self.bw, gain)
        if not self.seen_rtt and self.c.srtt_8:
            self.init_pacing_rate()
        if self.full_bw_reached or rate > self.c.rate:
            self.c.rate = rate

    def bdp_multiple(self, gain: int, bw: int) -> int:
        if self.min_rtt == INFINITY:
            return 10
        return -(-(bw * self.min_rtt * gain // 256) // 2**24)

    def quantization_budget(self, inflight_cap: int) -> int:
        inflight_cap = max(inflight_cap, 3 * self.c.send_quantum(), 4)
        return inflight_cap + 2 * (self.state == "UP")

    def inflight(self, gain: int, bw: int) -> int:
        return self.quantization_budget(self.bdp_multiple(gain, bw))

    def probe_rtt_cwnd(self) -> int:
        return max(self.bdp_multiple(128, self.bw), 4)

    def save_cwnd(self) -> None:
        if self.c.state < RECOVERY and self.state != "ProbeRTT":
            self.prior_cwnd = self.c.cwnd
        else:
            self.prior_cwnd = max(self.prior_cwnd, self.c.cwnd)

    def restore_cwnd(self) -> None:
        self.c.cwnd = max(self.c.cwnd, self.prior_cwnd)

    def set_cwnd(self) -> None:
        c = self.c
        if self.recovery_before >= RECOVERY > c.state:
            self.restore_cwnd()
        self.recovery_before = c.state
        inflight_cap = self.bdp_multiple(CWND_GAIN.get(self.state, 512), self.bw)
        max_inflight = self.quantization_budget(inflight_cap + self.extra_acked_filter.value)
        if self.full_bw_reached:
            c.cwnd = min(c.cwnd + self.newly_acked, max_inflight)
        elif c.cwnd < max_inflight or c.delivered < 10:
            c.cwnd += self.newly_acked
        c.cwnd = max(c.cwnd, 4)
        if self.state == "ProbeRTT":
            c.cwnd = min(c.cwnd, self.probe_rtt_cwnd())
        cap = INFINITY
        if self.state in PROBE_BW and self.state != "CRUISE":
            cap = self.inflight_longterm
        elif self.state in ("ProbeRTT", "CRUISE"):
            cap = self.inflight_with_headroom()
        c.cwnd = min(c.cwnd, max(min(cap, self.inflight_shortterm), 4))

    # Other events.

    def after_loss(self, cwnd: int) -> int:
        self.save_cwnd()
        self.note_loss()
        self.recovery_delivered = self.c.delivered
        return self.c.ssthresh

    def timeout(self, sender: object, now_us: int) -> None:
        self.recovery_before = LOSS

    def on_undo(self) -> None:
        self.restore_cwnd()
        self.is_loss_in_round = False
        self.reset_full_bw()
        self.bw_shortterm = max(self.bw_shortterm, self.undo_bw_shortterm)
        self.inflight_shortterm = max(self.inflight_shortterm, self.undo_inflight_shortterm)
        self.inflight_longterm = max(self.inflight_longterm, self.undo_inflight_longterm)
        if self.undo_state == "Startup" and self.state != "Startup":
            self.full_bw_reached = False
            if self.state != "ProbeRTT":
                self.state = "Startup"
        elif self.undo_state == "UP" and self.state not in ("UP", "ProbeRTT"):
            self.start_refill()
        self.undo_state = None

    def on_restart(self) -> None:
        self.idle_restart = True
        self.extra_acked_interval_start = self.c.now_us
        if self.state in PROBE_BW:
            self.set_pacing_rate(256)
        elif self.state == "ProbeRTT":
            self.check_probe_rtt_done()

    def measured(self, *arguments: object) -> None:
        """Do nothing: BBR reads round-trip times from the rate sample of the ACK."""
