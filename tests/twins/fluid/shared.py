"""The fluid model of shared links as plain Python: a slow twin of `netcarlo.kernels.fluid.shared`.

Packets, bytes and probabilities are whole numbers of 2**-20, expected losses of 2**-40.
"""

import math
from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import ENDLESS, NEVER, P
from netcarlo.kernels.shared.layout import (
    KINDS,
    Flow,
    FlowOut,
    Link,
    LinkOut,
    Shared,
    SharedOut,
    SharedRows,
    of_classes,
)
from tests.twins.outcomes import WORD
from tests.twins.random_numbers import Streams
from tests.twins.shared.delays import EDGES

ONE = 1 << 20
MS = 1_000_000
LOSS_STREAM, REPAIR_STREAM, MARK_STREAM, PERIOD_STREAM = 1 << 23, 2 << 23, 3 << 23, 1 << 22
HOPELESS = 1 << 20
E_FOLD = 1.0 / math.log(2.0)
CUT = 1024 / 819
WHOLE = ("bic", "cubic", "westwood")


def on_wire(byte_time: int, size: int) -> int:
    return (size * byte_time + (1 << 19)) >> 20


def exponential(word: int) -> int:
    """-ln(word / 2**32) from binary digits of the logarithm, times 2**40."""
    value = (word | 1) << (32 - (word | 1).bit_length())  # in [2**31, 2**32)
    whole = 32 - (word | 1).bit_length() + 1
    value >>= 1
    digits = 0
    for _ in range(16):
        value = value * value >> 30
        digits = 2 * digits + (value >> 31)
        value >>= value >> 31
    return ((whole << 16) - digits) * 744_261_118 >> 6


class TwinLink:
    def __init__(self, row: NDArray[np.int64], step: int, losses: NDArray[np.uint32]) -> None:
        self.row = [int(value) for value in row]
        self.capacity = int(step / (self.row[Link.BYTE_TIME] / 2.0**40))
        thresholds = losses[self.row[Link.LOSS]]
        self.random = 0
        if int(thresholds[31]) != 0xFFFFFFFF:
            odd = int(thresholds[0]) / 2.0**32
            self.random = int((1.0 - odd / (1.0 - odd)) * ONE)
        self.arrived = self.accepted = self.bytes = self.backlog = self.held = self.tail = self.early = 0
        self.share, self.marking, self.wait, self.mean = ONE, False, 0.0, 0.0
        self.due, self.due_time, self.due_before = 0, 0.0, 0.0  # of what gets through
        self.count = dict.fromkeys(LinkOut, 0)
        self.before: dict[LinkOut, int] = {LinkOut.ARRIVALS: 0}

    def serve(self, step: int, inside: int, left: int) -> None:
        row, count = self.row, self.count
        backlog, held = self.backlog + self.bytes, self.held + self.accepted
        served = min(backlog, self.capacity)
        held = 0 if served == backlog else held - int(held / (backlog / served))
        backlog -= served
        room, dropped, self.tail = row[Link.QUEUE] * ONE, 0, 0
        if room and held > room and self.accepted:
            dropped = min(held - room, self.accepted)
            share = dropped / self.accepted
            self.tail = int(share * ONE)
            held -= dropped
            backlog = max(backlog - int(share * self.bytes), 0)
        self.backlog, self.held = backlog, held
        self.due, self.due_before = max(self.due - self.capacity, 0), self.due_time
        self.due_time = self.due / self.capacity
        self.share = int(self.capacity / self.bytes * ONE) if self.bytes > self.capacity else ONE
        self.wait = backlog / self.capacity
        if row[Link.RED]:
            self.red(step)
        early = self.arrived - self.accepted
        count[LinkOut.ARRIVALS] += self.arrived
        count[LinkOut.DROPS] += dropped + early
        count[LinkOut.EARLY] += early
        count[LinkOut.WAIT_MOST] = max(count[LinkOut.WAIT_MOST], min(int(self.wait * step), left))
        if inside > 0:
            count[LinkOut.BUSY] += int(served / self.capacity * inside)
            count[LinkOut.QUEUE_SUM] += held * step >> 20
        self.arrived = self.accepted = self.bytes = 0

    def red(self, step: int) -> None:
        row = self.row
        heard = self.arrived / ONE
        if self.held == 0 and row[Link.RED_PACKET]:
            heard = max(heard, step / row[Link.RED_PACKET])
        weight = heard / (1 << row[Link.RED_WEIGHT])
        if weight > 0:
            self.mean += (self.held / ONE - self.mean) / ((1.0 + weight) / weight)
        least, most, top = row[Link.RED_LEAST], row[Link.RED_MOST], row[Link.RED_PROBABILITY] / 65536
        certain = 2 * most if row[Link.RED_GENTLE] else most
        self.marking = row[Link.RED] == 2 and self.mean < certain
        if self.mean < least:
            self.early = 0
        elif self.mean >= certain:
            self.early = ONE
        else:
            often = top * (self.mean - least) / (most - least)
            if self.mean >= most:
                often = (self.mean - most) * (1.0 - top) / most + top
            self.early = int(2.0 / (1.0 + 1.0 / often) * ONE) if often > 0 else 0

    def totals(self) -> dict[LinkOut, int]:
        """Columns of the whole run."""
        count = dict(self.count)
        count[LinkOut.WAITING] = self.held
        count[LinkOut.QUEUE_SUM_HIGH], count[LinkOut.QUEUE_SUM] = divmod(count[LinkOut.QUEUE_SUM], WORD)
        times = (LinkOut.BUSY, LinkOut.QUEUE_SUM, LinkOut.QUEUE_SUM_HIGH, LinkOut.WAIT_MOST)
        found = {key: value if key in times else value >> 20 for key, value in count.items()}
        found[LinkOut.SENT] = found[LinkOut.ARRIVALS] - found[LinkOut.DROPS] - found[LinkOut.WAITING]
        return found

    def warm_up_ends(self) -> None:
        """Start to count at the end of the warm-up."""
        counted = LinkOut.ARRIVALS, LinkOut.DROPS, LinkOut.EARLY, LinkOut.SENT
        self.before = {key: self.totals()[key] for key in counted}
        self.count[LinkOut.WAIT_MOST] = 0

    def outcomes(self) -> list[int]:
        """The columns of `LinkOut`."""
        found = self.totals() | {LinkOut.ARRIVALS_BEFORE: self.before[LinkOut.ARRIVALS]}
        return [max(value - self.before.get(key, 0), 0) for key, value in found.items()]


class TwinFlow:
    def __init__(
        self, row: NDArray[np.int64], f: int, step: int, links: list[TwinLink], streams: Streams
    ) -> None:
        self.row = row = [int(value) for value in row]  # type: ignore[assignment]
        self.kind = KINDS[row[Flow.KIND]]
        self.udp = self.kind == "udp"
        self.f, self.step, self.streams = f, step, streams
        self.route = [links[link] for link in row[Flow.ROUTE : Flow.ROUTE + row[Flow.HOPS]]]
        self.back = [links[link] for link in row[Flow.BACK : Flow.BACK + row[Flow.BACK_HOPS]]]
        self.size, self.ack = row[P.DATA] + row[P.HEADER], row[P.ACK]
        base_ns = 2 * (row[Flow.SOURCE_DELAY] + row[Flow.SINK_DELAY])
        base_ns += on_wire(row[Flow.ACCESS], self.size) + on_wire(row[Flow.SINK], self.size)
        base_ns += on_wire(row[Flow.ACCESS_BACK], self.ack) + on_wire(row[Flow.SINK_BACK], self.ack)
        for way, size in ((self.route, self.size), (self.back, self.ack)):
            base_ns += sum(link.row[Link.DELAY] + on_wire(link.row[Link.BYTE_TIME], size) for link in way)
        if self.udp:
            self.back = []
        self.base_ns = int(base_ns)
        self.base = base_ns / step
        self.access = step / max(on_wire(row[Flow.ACCESS], self.size), 1)
        self.limit = row[P.LIMIT] * ONE if row[P.LIMIT] < ENDLESS else ENDLESS
        start = row[P.START]
        if not self.udp and row[P.HANDSHAKE] and self.kind != "vegas":
            start += self.base_ns
        self.until = -(-start // step)
        self.way_ns = row[Flow.SOURCE_DELAY] + row[Flow.SINK_DELAY]
        self.way_ns += on_wire(row[Flow.ACCESS], self.size) + on_wire(row[Flow.SINK], self.size)
        self.way_ns += sum(
            link.row[Link.DELAY] + on_wire(link.row[Link.BYTE_TIME], self.size) for link in self.route
        )
        self.now = self.part = self.end = 0
        self.before: dict[FlowOut, int] = {}
        self.measured = 0, 0  # from when until when arrivals count [ns]
        self.took: list[tuple[int, int]] = []  # packets, and their delay [ns]
        self.state = "idle"
        self.sent = self.dropped = self.lost = self.marked = self.acks = self.lost_acks = 0
        self.repeated = self.twice = self.guarded = self.through = self.late = self.after = 0
        self.heard = self.span = 0.0
        self.count = dict.fromkeys(FlowOut, 0)
        self.count[FlowOut.COMPLETED] = self.count[FlowOut.FINISHED] = NEVER
        self.backoff, self.hits, self.periods = 1, 0, 0
        self.w = float(min(row[P.INITIAL_WINDOW], row[P.WINDOW]))
        self.ssthresh = float(row[P.INITIAL_SSTHRESH])
        self.least_rtt = 1e18
        self.maximum = self.epoch = self.plateau = self.origin = self.standard = 0.0
        self.raw = self.bandwidth = 0
        if self.udp:
            self.rate = int(step / row[P.INTERVAL] * ONE)
            self.quiet = row[Flow.ON] > 0
            self.toggle = start if self.quiet else ENDLESS
        else:
            self.hazard, self.mark_hazard = self.expect(LOSS_STREAM, 0), self.expect(MARK_STREAM, 0)
            self.draws = 1

    def expect(self, stream: int, k: int) -> int:
        return exponential(self.streams.block(stream + self.f, k)[0])

    def next(self, stream: int) -> int:
        self.draws += 1
        return self.expect(stream, self.draws - 1)

    @property
    def delivered(self) -> int:
        return max(self.sent - ((self.dropped + self.lost) >> 20) - self.repeated, 0)

    def advance(self, k: int, losses: NDArray[np.uint32], sampled: bool) -> None:
        now = self.now = k * self.step
        self.through = 0
        if self.state == "done" or (self.state in ("idle", "silent") and k < self.until):
            return
        if self.state == "idle":
            self.state = "open"
        rtt = self.base
        for link in self.route + self.back:
            rtt += link.wait
        if self.limit < ENDLESS and (self.sent if self.udp else self.delivered) >= self.limit:
            self.state = "done"
            if self.delivered >= self.limit:
                due = sum((link.due_time for link in self.route), 0.0)
                self.count[FlowOut.COMPLETED] = now + self.way_ns + int(due * self.step)
            if not self.udp:
                self.count[FlowOut.FINISHED] = now + int(rtt * self.step)
            return
        if self.udp:
            self.carry(self.datagrams(now, losses))
            return
        if self.state == "silent":
            self.state = "open"
        sent = int(min(float(int(self.w)) * (1.0 / rtt), self.access) * ONE)
        if self.limit < ENDLESS:
            sent = min(sent, self.limit - self.delivered)
        gone, marked, arrived = self.carry(sent)
        delayed = 1 if self.row[P.ACK_EVERY] > 1 else 0
        self.carry_back(arrived >> delayed)
        through = sent - (gone >> 20)
        twice = max(min(self.twice, through), 0)
        self.twice -= twice
        self.repeated += twice
        acked = (through >> delayed) / ONE
        frozen = self.state == "repair" and self.kind != "tahoe"
        self.grow(acked, rtt, 1.0 / rtt, float((now << 10) // 1_000_000_000), frozen)
        self.react(k, rtt, sent, gone, marked)
        if sampled:
            self.count[FlowOut.SAMPLES] += 1
            self.count[FlowOut.CWND_SUM] += int(self.w * 1024)
            if int(rtt * self.step) <= self.end - self.row[P.START]:
                self.count[FlowOut.RTT_SAMPLES] += 1
                self.count[FlowOut.RTT_SUM] += int(rtt * self.step)

    def datagrams(self, now: int, losses: NDArray[np.uint32]) -> int:
        while now >= self.toggle:
            self.quiet = not self.quiet
            mean = self.row[Flow.OFF] if self.quiet else self.row[Flow.ON]
            table = [int(value) for value in losses[self.row[Flow.PERIODS]]]
            blocks = (self.streams.block(PERIOD_STREAM + self.f, 8 * self.periods + b) for b in range(8))
            words = [word for block in blocks for word in block]
            gap = sum(1 << j for j in range(32) if words[j] < table[j])
            self.periods += 1
            self.toggle += max((gap + 1) * mean >> 10, 1)
        if now >= self.row[P.STOP] or self.quiet:
            return 0
        return min(self.rate, self.limit - self.sent)

    def carry(self, flow: int) -> tuple[int, int, int]:
        self.sent += flow
        sent, dropped, lost, marked = flow, 0, 0, 0
        for link in self.route:
            link.arrived += flow
            if link.early > 0:
                early = flow * link.early
                if self.row[Flow.ECN] and link.marking:
                    marked += early
                else:
                    dropped += early
                    flow -= early >> 20
            link.accepted += flow
            link.bytes += flow * self.size
            tail = flow * link.tail
            dropped += tail
            flow -= tail >> 20
            link.due += flow * self.size
            random = flow * link.random
            lost += random
            flow = (flow - (random >> 20)) * link.share >> 20
        self.dropped += dropped
        self.lost += lost
        self.marked += marked
        self.through = sent - ((dropped + lost) >> 20)
        self.note(self.through)
        return dropped + lost, marked, flow

    def note(self, through: int) -> None:
        """How long what gets through takes, in whole packets."""
        wait = 0.0
        for link in self.route:
            wait += link.wait
        delay = self.way_ns + int(wait * self.step)
        if self.measured[0] <= self.now + delay <= self.measured[1]:
            packets, self.part = divmod(self.part + through, ONE)
            self.took.append((packets, delay))

    def carry_back(self, flow: int) -> None:
        self.acks += flow
        for link in self.back:
            link.arrived += flow
            early = flow * link.early
            flow -= early >> 20
            link.accepted += flow
            link.bytes += flow * self.ack
            gone = flow * min(link.tail + link.random, ONE)
            self.lost_acks += early + gone
            flow -= gone >> 20

    def grow(self, acked: float, rtt: float, rounds: float, clock: float, frozen: bool) -> None:
        w = self.w
        self.least_rtt = min(self.least_rtt, self.in_ticks(rtt) if self.kind == "westwood" else rtt)
        if self.kind == "westwood":
            self.hear(acked, rtt, rounds)
        if frozen:
            return
        doubling = acked / (E_FOLD - min(rounds, 2.0) / (1.0 / (E_FOLD - 1.0)))
        top = self.ssthresh + (1.0 if self.kind in WHOLE else 0.0)
        if self.kind == "vegas":
            w = self.steer(doubling / 2.0, rtt, rounds)
        elif w < top and w + doubling <= top:
            w += doubling
        else:
            if w < top:
                acked -= acked / (doubling / (top - w))
                w = self.w = top
            w += acked / self.acks_per_packet(acked, clock)
        self.w = min(w, float(self.row[P.WINDOW]))

    def acks_per_packet(self, acked: float, clock: float) -> float:
        """In congestion avoidance."""
        if self.kind == "bic":
            return self.w / self.bic() / (31 / 16) + 1.0 if int(self.w) > 14 else int(self.w) + 1.0
        return self.w / self.cubic(acked, clock) / (31 / 16) + 1.0 if self.kind == "cubic" else self.w

    def hear(self, acked: float, rtt: float, rounds: float) -> None:
        """Westwood's samples of the bandwidth, in whole bytes per ms."""
        ms = MS / self.step
        self.heard += acked
        self.span += rtt / (1.0 / max(rounds, 1e-9))
        if self.span >= max(rtt, 50 * ms):
            sample = int(self.heard * 1460 / (self.span / ms))
            if self.raw or self.bandwidth:
                self.raw = (7 * self.raw + sample) // 8
                self.bandwidth = (7 * self.bandwidth + self.raw) // 8
            else:
                self.raw = self.bandwidth = sample
            self.heard = self.span = 0.0

    def in_ticks(self, rtt: float) -> float:
        tick = max(self.row[P.TICK], 1) / self.step
        return max(float(int(rtt / tick)), 1.0) * tick

    def steer(self, grown: float, rtt: float, rounds: float) -> float:
        w = self.w
        waiting = w - w / (rtt / self.least_rtt)
        if w < self.ssthresh:
            if waiting <= self.row[P.VEGAS_GAMMA] + 0.5:
                return min(w + grown, self.ssthresh)
            self.ssthresh = 2.0
            return max(w - w / 8.0, 2.0)
        if waiting > self.row[P.VEGAS_BETA] + 0.5:
            return max(w - rounds, 2.0)
        return w + rounds if waiting < self.row[P.VEGAS_ALPHA] - 0.5 else w

    def bic(self) -> float:
        below = self.maximum - self.w
        step = min(float(int(below / 4)), 16.0)
        if below > -4 and step <= 1.0:
            step = 4 / 20
        elif below <= 0.0:
            step = min(-below / 3, 16.0)
        return max(step, self.w / 20) if self.maximum == 0.0 else step

    def cubic(self, acked: float, clock: float) -> float:
        w = self.w
        if self.epoch == 0.0:
            self.epoch, self.standard, self.origin = clock, w, max(self.maximum, w)
            cube = int(self.origin - w) * ((1 << 40) // 410)
            root = round(cube ** (1 / 3))
            while root**3 > cube:
                root -= 1
            while (root + 1) ** 3 <= cube:
                root += 1
            self.plateau = float(min(root, (1 << 18) - 1))
        past = int(clock - self.epoch - self.plateau)
        rise = float(410 * min(abs(past), 1 << 18) ** 3 >> 40)
        missing = self.origin + (rise if past >= 0 else -rise) - w
        self.standard += acked / (w * (23 / 8))
        if self.maximum == 0.0:
            return max(w / 50, self.standard - w)
        return max(missing, self.standard - w, 0.01)

    def kept(self) -> float:
        whole = int(self.w)
        if self.kind == "vegas":
            return float(whole - whole // 4) if whole > 3 else 2.0
        if self.kind == "westwood":
            least = int(self.least_rtt / (MS / self.step)) if self.least_rtt < 1e18 else 0
            return float(max(self.bandwidth * least // 1460, 2))
        if self.kind == "cubic" or (self.kind == "bic" and whole > 14):
            return max(float(int(whole / CUT)), 2.0)
        return float(max(whole // 2, 2)) if self.kind == "bic" else self.w / 2.0

    def hit(self, k: int, rtt: float) -> None:
        self.state, self.hits, self.until = "hit", 0, k + int(rtt + 0.5)

    def react(self, k: int, rtt: float, sent: int, gone: int, marked: int) -> None:
        if self.w >= 3:
            self.backoff = 1
        self.hazard -= gone
        hopeless = self.guarded > 0
        self.guarded = max(self.guarded - sent, 0)
        while self.hazard < 0:
            if self.state != "hit":
                self.hit(k, rtt)
            self.hits += HOPELESS if hopeless else 1
            self.hazard += self.next(LOSS_STREAM)
        if marked:
            self.mark_hazard -= marked
            if self.mark_hazard < 0:
                self.mark_hazard += self.next(MARK_STREAM)
                if self.state == "open":
                    self.hit(k, rtt)
        if k >= self.until and self.state == "hit":
            rto = max(int(rtt * 1.5), -(-self.row[P.MIN_RTO] // self.step))
            alone = int(self.w) - self.hits == 1
            self.conclude(k, rtt, gone // max(sent, 1) * (3 if alone else 1), rto * self.backoff)
            if self.state == "silent":
                self.backoff = min(2 * self.backoff, 64)
        elif k >= self.until and self.state == "repair":
            self.state = "open"

    def conclude(self, k: int, rtt: float, chance: int, rto: int) -> None:
        count, w = self.count, self.w
        if self.hits == 0:
            left = self.kept()
            self.ssthresh, self.w, self.state = max(float(int(left)), 2.0), self.opened(left), "open"
            count[FlowOut.CWND_CUTS] += 1
            return
        quick = self.repaired(k, chance)
        if quick:
            left, whole = self.kept(), float(int(w))
            self.maximum = float(int((whole + whole / CUT) / 2.0)) if whole < self.maximum else whole
            self.epoch, self.ssthresh = 0.0, max(float(int(left)), 2.0)
            self.w = 1.0 if self.kind == "tahoe" else self.opened(left)
            count[FlowOut.FAST_RETRANSMITS] += 1
            count[FlowOut.CWND_CUTS] += self.kind != "vegas"
            length = int(rtt + 0.5) * (self.hits if self.kind == "newreno" else 1)
            self.state, self.until = "repair", k + length + int(rtt / max(w / 3, 1.0))
            if self.kind == "newreno" and length > rto + int(rtt):
                quick = False
                rto += int(rtt)
            if self.kind == "reno" and self.hits > 1:
                quick = False
                rto += length
        if not quick:
            self.collapse()
            count[FlowOut.TIMEOUTS] += 1
            count[FlowOut.CWND_CUTS] += 1
            self.state, self.until = "silent", k + rto
        hits = min(self.hits % HOPELESS, int(w))
        between = max(hits - (2 if self.kind == "reno" else 1), 0)
        if self.kind == "tahoe" or not quick:
            self.twice += between * ONE
            self.guarded = (hits + between + 1) * ONE
        elif self.kind in ("newreno", "reno"):
            self.guarded = ONE

    def opened(self, packets: float) -> float:
        return min(max(packets, 1.0), float(self.row[P.WINDOW]))

    def collapse(self) -> None:
        left = self.w / 2.0 if self.kind == "vegas" else self.kept()
        self.maximum = self.epoch = 0.0
        self.ssthresh, self.w = max(float(int(left)), 2.0), self.opened(2.0 if self.kind == "vegas" else 1.0)
        if self.kind == "westwood":
            self.least_rtt = 1e18

    def at_stake(self) -> int:
        """Packets of the repair that may not be lost."""
        hits = min(self.hits, int(self.w))
        return hits + max((3 if self.kind != "vegas" else 0) - (int(self.w) - hits), 0)

    def repaired(self, k: int, chance: int) -> bool:
        needed = 3 if self.w >= self.row[P.WINDOW] else 1
        if self.kind == "vegas":  # the packet is late, too
            needed = min(int(self.w) // 16 + 1, 3)
        if int(self.w) - self.hits < needed:
            return False
        word = self.streams.block(REPAIR_STREAM + self.f, k % (1 << 32))[0]
        return word >> 12 >= chance

    def settle(self, warm_up: int, end: int) -> None:
        """Record packets of this step that arrive after the warm-up or the run has ended."""
        first, last = 0.0, 0.0
        for link in self.route:
            first += link.due_before
            last += link.due_time
        begin = self.now + self.way_ns + int(first * self.step)
        finish = self.now + self.step + self.way_ns + int(last * self.step)

        def later(moment: int) -> int:
            if self.through <= 0 or finish <= moment:
                return 0
            return (
                self.through
                if begin >= moment
                else int(self.through * ((finish - moment) / (finish - begin)))
            )

        self.late += later(end)
        if self.now < warm_up:
            self.after += later(warm_up)

    def warm_up_ends(self) -> None:
        """Start to count at the end of the warm-up."""
        self.before = {
            key: value for key, value in self.totals(self.after).items() if key < FlowOut.COMPLETED
        }

    def outcomes(self) -> list[int]:
        """The columns of `FlowOut`."""
        found = self.totals(self.late)
        in_flight = {
            FlowOut.IN_FLIGHT_BEFORE: self.before.get(FlowOut.IN_FLIGHT, 0),
            FlowOut.IN_FLIGHT: found[FlowOut.IN_FLIGHT],
        }
        for column in FlowOut:
            if column < FlowOut.COMPLETED:
                found[column] = max(found[column] - self.before.get(column, 0), 0)
        found |= in_flight
        return [found[column] for column in FlowOut if column != FlowOut.COLUMNS]

    def totals(self, later: int) -> dict[FlowOut, int]:
        """Columns of the whole run, if `later` of what gets through has not arrived."""
        count = dict(self.count)
        dropped, lost = self.dropped >> 40, self.lost >> 40
        useful = max(self.delivered - later, 0)
        distinct = useful >> 20
        received = distinct + (max(self.repeated - max(later - self.delivered, 0), 0) >> 20)
        received = max(received, self.before.get(FlowOut.RECEIVED, 0))
        sent = ((self.delivered + self.repeated) >> 20) + dropped + lost
        sent = max(sent, self.before.get(FlowOut.SENT, 0))
        for column in (FlowOut.COMPLETED, FlowOut.FINISHED):
            if count[column] > self.end:
                count[column] = NEVER
        count |= {
            FlowOut.SENT: sent, FlowOut.IN_FLIGHT: sent - dropped - lost - received,
            FlowOut.RECEIVED: received, FlowOut.DELIVERED: distinct,
            FlowOut.DROPS_QUEUE: dropped, FlowOut.DROPS_RANDOM: lost, FlowOut.MARKED: self.marked >> 40,
        }  # fmt: skip
        count[FlowOut.USEFUL] = useful * self.row[P.DATA] >> 20
        count[FlowOut.RTT_SUM_HIGH], count[FlowOut.RTT_SUM] = divmod(count[FlowOut.RTT_SUM], WORD)
        if not self.udp:
            count |= {
                FlowOut.RETRANSMITTED: dropped + lost + received - distinct, FlowOut.IN_ORDER: distinct,
                FlowOut.ACKED: distinct, FlowOut.ACKS_SENT: self.acks >> 20,
                FlowOut.ACK_DROPS: self.lost_acks >> 40,
            }  # fmt: skip
        return count


def simulate(rows: SharedRows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row, as the kernel gives them."""
    p = [int(value) for value in rows.parameters[row]]
    flow_rows, link_rows = rows.flows[row, : p[Shared.FLOWS]], rows.links[row, : p[Shared.LINKS]]
    streams = Streams(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION])

    def build(step: int) -> tuple[list[TwinFlow], list[TwinLink]]:
        links = [TwinLink(link, step, rows.losses) for link in link_rows]
        return [TwinFlow(flow, f, step, links, streams) for f, flow in enumerate(flow_rows)], links

    shortest = min([50 * MS, *(flow.base_ns for flow in build(MS)[0] if not flow.udp)])
    step = max(shortest // 2, MS)
    flows, links = build(step)
    for flow in flows:
        flow.measured = p[Shared.WARM_UP], p[P.END]
        flow.end = p[P.END]
    steps, warm, sample = -(-p[P.END] // step), (p[Shared.WARM_UP] - 1) // step, p[Shared.WARM_UP]
    for k in range(steps):
        sampled = k * step >= sample
        if sampled:
            sample += p[P.SAMPLE]
        for flow in flows:
            flow.advance(k, rows.losses, sampled)
        for link in links:
            inside = min((k + 1) * step, p[P.END]) - max(k * step, p[Shared.WARM_UP])
            link.serve(step, inside, max(p[P.END] - (k + 1) * step, 0))
        for flow in flows:
            flow.settle(p[Shared.WARM_UP], p[P.END])
        if k == warm and p[Shared.WARM_UP] > 0:
            for one in (*flows, *links):
                one.warm_up_ends()
    out: list[Any] = [0] * (rows.flows.shape[1] * FlowOut.COLUMNS + rows.links.shape[1] * LinkOut.COLUMNS + 2)
    out[SharedOut.EVENTS] = steps * len(flows)
    for f, flow in enumerate(flows):
        at = SharedOut.COLUMNS + f * FlowOut.COLUMNS
        out[at : at + FlowOut.COLUMNS] = flow.outcomes()
    for k, link in enumerate(links):
        at = SharedOut.COLUMNS + rows.flows.shape[1] * FlowOut.COLUMNS + k * LinkOut.COLUMNS
        out[at : at + LinkOut.COLUMNS] = link.outcomes()[: LinkOut.COLUMNS]
    for number in range(1, p[Shared.GAUGES] + 1):
        out += delays_of([flow for flow in flows if flow.row[Flow.GAUGE] == number])
    return np.pad(np.array(out, np.int64), (0, of_classes(rows) - p[Shared.GAUGES] * DelayOut.COLUMNS))


def delays_of(flows: list[TwinFlow]) -> list[int]:
    """The columns of `DelayOut` of a class; a fluid has no jitter."""
    counts = dict.fromkeys(range(len(EDGES)), 0)
    late = total = 0
    for flow in flows:
        for packets, delay in flow.took:
            counts[bisect_right(EDGES, delay // 128) - 1] += packets
            late += packets * (delay > flow.row[Flow.BOUND])
            total += packets * delay
    return [sum(counts.values()), late, total % WORD, total // WORD, NEVER, *counts.values()]
