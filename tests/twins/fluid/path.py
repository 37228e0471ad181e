"""The fluid model of a path as plain Python: a slow twin of `netcarlo.kernels.fluid.path`."""

import math

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, Hop, Out, P, Rows
from netcarlo.kernels.shared.layout import KINDS, Flow, FlowOut
from tests.twins.fluid.shared import HOPELESS, LOSS_STREAM, ONE, TwinFlow, delays_of, on_wire
from tests.twins.fluid.timer import TwinTimer
from tests.twins.outcomes import WORD
from tests.twins.random_numbers import Streams


class TwinPath(TwinFlow):
    """A flow of its own, whose unit of time is the nanosecond."""

    def __init__(self, kind: str, rows: Rows, row: int) -> None:
        p = [int(value) for value in rows.parameters[row]]
        flow = np.zeros(Flow.COLUMNS, np.int64)
        flow[: len(p)] = p
        flow[Flow.KIND], flow[Flow.BOUND] = KINDS.index(kind), p[P.LATE]
        super().__init__(flow, 0, 1, [], Streams(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION]))
        self.p, self.state = p, "open"
        self.timer = TwinTimer(p)
        self.least_rtt = 1e18
        self.astray = self.vain = 0  # lost in handovers and in buffers; in outages
        self.seen = self.late = 0  # what gets through: that has been settled, and that arrives after the end
        self.counted = 0  # whole packets that have got through
        self.base_ns, slowest, queue, survive = 0, 1.0, 0, ONE
        self.vain_times: list[tuple[int, int]] = []  # packets sent then are lost
        present = [h for h in range(rows.hops.shape[2]) if rows.hops[row, 0, h, Hop.PRESENT]]
        for h in present:
            hop = [int(value) for value in rows.hops[row, 0, h]]
            tx, enters = on_wire(hop[Hop.BYTE_TIME], self.size), self.base_ns
            self.base_ns += tx + hop[Hop.DELAY]
            for start, end in rows.outages[row, 0, h].tolist():
                if start < FOREVER:
                    self.vain_times.append((start - self.base_ns, end - enters))
            free = 1.0
            if hop[Hop.CROSS_EVERY]:
                free = 1.0 - on_wire(hop[Hop.BYTE_TIME], hop[Hop.CROSS_SIZE]) / hop[Hop.CROSS_EVERY]
            if tx / max(free, 0.01) > slowest:
                slowest, queue = tx / max(free, 0.01), hop[Hop.QUEUE]
            thresholds = rows.losses[hop[Hop.LOSS]]
            if int(thresholds[31]) != 0xFFFFFFFF:
                odd = int(thresholds[0]) / 2.0**32
                survive = survive * int(odd / (1.0 - odd) * ONE) >> 20
        self.way_ns = self.base_ns
        for h in present:
            hop = [int(value) for value in rows.hops[row, 0, h]]
            self.base_ns += hop[Hop.R_DELAY] + on_wire(hop[Hop.R_BYTE_TIME], self.ack)
        self.slowest, self.chance, self.forth_ns = slowest, ONE - survive, self.way_ns
        self.odds = ONE << 10
        if survive > ONE >> 10:
            self.odds = int((ONE - survive) / survive * ONE)
        self.room = int(self.base_ns / slowest) + queue if queue else ENDLESS

    def outage(self, t: int) -> tuple[int, int]:
        coming = [times for times in self.vain_times if times[1] > t]
        return min(coming, default=(FOREVER, FOREVER))

    def run(self) -> dict[Out, int]:
        p, end, t = self.p, self.p[P.END], self.p[P.START]
        if p[P.HANDSHAKE] and self.kind != "vegas":
            timer = p[P.INITIAL_RTO]
            while self.outage(t)[0] <= t < end:
                t += timer
                timer = min(2 * timer, p[P.MAX_RTO])
            t += self.base_ns
            if t == p[P.START] + self.base_ns:
                self.timer.measure(p[P.START], t)
        samples = measured = cwnd_sum = rtt_sum = 0
        delayed, half = (1 if p[P.ACK_EVERY] > 1 else 0), p[P.SAMPLE] >> 1
        completed = NEVER
        while t < end and completed == NEVER:
            if self.state == "silent":
                t = max(t, self.until)
                if t >= end:
                    break
                self.state = "open"
            if self.state == "repair" and t >= self.until:
                self.state = "open"
            packets = int(self.w)
            rtt = max(float(self.base_ns), min(packets, self.room) * self.slowest)
            lo, hi = self.interruption(t, rtt, packets)
            length = int(rtt)
            if self.state == "repair":
                length = min(length, self.until - t)
            cause = "overflow" if packets > self.room and self.state != "repair" else ""
            need, hazard = self.next_loss(packets)
            part = length / rtt
            if hazard < need * part:
                part = hazard / need
                length, cause = int(part * rtt), "random"
            if lo < t + length:
                length, cause = max(lo - t, 0), "outage"
                part = length / rtt
            if t + length > end:
                length, cause = end - t, ""
                part = length / rtt
            flow = int(packets * part * ONE)
            left = self.limit - self.passing + self.repeated
            if flow >= left:
                length = max(int(length * (max(left, 0) / max(flow, 1))), self.served(left))
                completed = t + length + self.forth_ns
                flow, cause = left, ""
            self.sent += flow
            twice = max(min(self.twice, flow), 0)
            self.twice -= twice
            self.repeated += twice
            self.passed(int(need * part), max(flow, 0))
            self.guarded = max(self.guarded - flow, 0)
            self.timer.pass_rounds(t, rtt, part, self.guarded)
            frozen = self.state == "repair" and self.kind != "tahoe"
            self.grow((max(flow, 0) >> delayed) / ONE, rtt, part, self.clock(t), frozen)
            before = t
            t += length
            if cause == "outage" and self.moves:
                t = self.move(t, lo, hi, rtt, delayed)
            elif cause:
                if cause == "overflow":
                    self.w = min(self.w, float(self.room + 1))
                trip = max(rtt, min(int(self.w), self.room) * self.slowest)
                self.vain += self.lose(cause, t, hi, trip, need, delayed)
                t += int(trip)
                self.told(t, trip)
            t = self.settle(before, t)
            whole = min(self.passing - self.repeated - self.late, self.limit) >> 20
            if whole > self.counted:
                self.took.append((whole - self.counted, self.way_ns + int(rtt) - self.base_ns))
                self.counted = whole
            count = (min(t, end) + half) // p[P.SAMPLE] - (before + half) // p[P.SAMPLE]
            samples += count
            cwnd_sum += count * int(self.w * 1024)
            if rtt <= end - p[P.START]:
                measured += count
                rtt_sum += count * int(rtt)
        received = max(self.passing - self.late, 0) >> 20
        gone = {
            Out.DROPS_QUEUE: self.dropped >> 20,
            Out.DROPS_RANDOM: self.lost >> 20,
            Out.DROPS_OUTAGE: self.vain >> 20,
        }  # fmt: skip
        distinct = received - min(self.repeated >> 20, received)
        dropped = sum(gone.values()) + (self.astray >> 20)
        sent = max(self.passing >> 20, received) + dropped
        if completed > end:
            completed = NEVER
        return gone | {
            Out.RECEIVED: received, Out.DELIVERED: distinct, Out.IN_ORDER: distinct, Out.ACKED: distinct,
            Out.SENT: sent, Out.RETRANSMITTED: dropped + received - distinct, Out.COMPLETED: completed,
            Out.TIMEOUTS: self.count[FlowOut.TIMEOUTS], Out.CWND_CUTS: self.count[FlowOut.CWND_CUTS],
            Out.FAST_RETRANSMITS: self.count[FlowOut.FAST_RETRANSMITS], Out.CWND_SUM: cwnd_sum % WORD,
            Out.CWND_SUM_HIGH: cwnd_sum // WORD, Out.RTT_SUM: rtt_sum % WORD,
            Out.RTT_SUM_HIGH: rtt_sum // WORD, Out.SAMPLES: samples, Out.RTT_SAMPLES: measured,
            Out.FIRST_RX: NEVER, Out.LAST_RX: NEVER, Out.RESUME_TX: NEVER, Out.RESUME_RX: NEVER,
        }  # fmt: skip

    @property
    def passing(self) -> int:
        """Packets that get through, repetitions included."""
        return self.sent - self.dropped - self.lost - self.vain - self.astray

    def served(self, flow: int) -> int:
        """Return the time in which the slowest hop serves `flow`."""
        return math.ceil(max(flow, 0) / ONE * self.slowest)

    def settle(self, begin: int, t: int) -> int:
        """Return the end of a step, by which all that got through since the last step is served; note what is
        late."""
        more, self.seen = self.passing - self.seen, self.passing
        t = max(t, begin + self.served(more))
        after = t + self.forth_ns - self.p[P.END]
        if more > 0 and after > 0:
            self.late += more if after >= t - begin else int(more * (after / (t - begin)))
        return t

    moves = False
    """What `interruption` said is of a handover."""

    def interruption(self, t: int, rtt: float, packets: int) -> tuple[int, int]:
        return self.outage(t)

    def next_loss(self, packets: int) -> tuple[int, int]:
        return min(packets * self.odds, 1 << 42) * ONE, self.hazard if self.chance < ONE else 0

    def passed(self, expected: int, flow: int) -> None:
        self.hazard -= expected

    def further_losses(self, need: int, packets: int) -> int:
        found = 0
        self.hazard = self.next(LOSS_STREAM) - (min((packets - 1) * self.odds, 1 << 42) << 20)
        while self.hazard < 0 and found < packets - 1:
            found += 1
            self.hazard += self.next(LOSS_STREAM) + (self.odds << 20)
        if self.hazard < 0:
            self.hazard = self.next(LOSS_STREAM)
        return found

    def taken(self, cause: str, packets: int) -> int:
        return min(self.hits, packets)

    def told(self, t: int, rtt: float) -> None:
        """The sender knows of the losses."""
        self.conclude(t, rtt, self.lost_again(), self.timer.length)
        if self.state == "silent" or self.kind == "vegas":
            self.timer.back_off()

    def lost_again(self) -> int:
        return self.chance * self.at_stake()

    def move(self, t: int, lo: int, hi: int, rtt: float, delayed: int) -> int:
        raise NotImplementedError

    @staticmethod
    def clock(t: int) -> float:
        return float((t << 10) // 1_000_000_000)

    def lose(self, cause: str, t: int, hi: int, rtt: float, need: int, delayed: int) -> int:
        """A round trip in which packets are lost; returns those that an outage takes."""
        packets, hopeless = int(self.w), self.guarded > 0
        self.guarded = max(self.guarded - packets * ONE, 0)
        self.timer.pass_rounds(t, rtt, 1.0, self.guarded)
        self.grow(((packets - 1) * ONE >> delayed) / ONE, rtt, 1.0, self.clock(t), False)
        self.hits = 1
        if cause == "overflow":
            self.hits = max(int(self.w) - self.room - 1, 1)
        elif cause == "outage":
            self.hits = max(int(self.w * min((hi - t) / rtt, 1.0)), 1)
        else:
            self.hits += self.further_losses(need, packets)
        gone = self.taken(cause, packets) * ONE
        self.hits += HOPELESS if hopeless else 0
        self.sent += packets * ONE
        self.dropped += gone if cause == "overflow" else 0
        self.lost += gone if cause == "random" else 0
        return gone if cause == "outage" else 0


def simulate(kind: str, rows: Rows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row, as the kernel gives them."""
    out = np.zeros(len(Out), np.int64)
    flow = TwinPath(kind, rows, row)
    for column, value in flow.run().items():
        out[column] = value
    return np.append(out, delays_of([flow])) if flow.p[P.LATE] else out
