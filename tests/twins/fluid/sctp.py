"""The fluid model of SCTP as plain Python: a slow twin of `netcarlo.kernels.fluid.sctp`.

Packets are whole numbers of 2**-20; paths are objects that know their outages and their next losses.
"""

import math

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NEVER, PATHS, Hop, Out, P, Rows
from tests.twins.fluid.shared import ONE, on_wire
from tests.twins.outcomes import WORD
from tests.twins.random_numbers import Streams

DROPS = (Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DROPS_HANDOVER, Out.DROPS_BUFFER)
HELLO = 56  # bytes of an INIT, a heartbeat
ENDLESS_GAP = FOREVER >> 20


class TwinHop:
    def __init__(self, row: NDArray[np.int64], enters: int, size: int, outages: list[list[int]]) -> None:
        self.row = [int(value) for value in row]
        self.time = on_wire(self.row[Hop.BYTE_TIME], size)
        self.enters, self.leaves = enters, enters + self.time + self.row[Hop.DELAY]
        self.back = self.returns = 0
        self.outages = [(start, end) for start, end in outages if start < FOREVER]
        self.gap = 0


class TwinWay:
    """A path: its hops, windows, timer and errors."""

    def __init__(self, rows: Rows, row: int, path: int, size: int, streams: Streams, ack: int) -> None:
        self.number, self.hops, at = path, list[TwinHop](), 0
        for h in range(rows.hops.shape[2]):
            if rows.hops[row, path, h, Hop.PRESENT]:
                hop = TwinHop(rows.hops[row, path, h], at, size, rows.outages[row, path, h].tolist())
                at = hop.leaves
                self.hops.append(hop)
                thresholds = [int(value) for value in rows.losses[hop.row[Hop.LOSS]]]
                lossless = thresholds[31] == 0xFFFFFFFF
                hop.gaps = None if lossless else streams.gaps(16 + (path * 64 + h) * 2, thresholds)
                self.draw(hop)
        back = 0
        for hop in self.hops:
            hop.back = back
            back += hop.row[Hop.R_DELAY] + on_wire(hop.row[Hop.R_BYTE_TIME], ack)
            hop.returns = back
        self.base, self.forth, self.each, queue = at + back, at, 1.0, 0
        for hop in self.hops:
            free = 1.0
            if hop.row[Hop.CROSS_EVERY]:
                free -= on_wire(hop.row[Hop.BYTE_TIME], hop.row[Hop.CROSS_SIZE]) / hop.row[Hop.CROSS_EVERY]
            if hop.time / max(free, 1.0 - 0.99) > self.each:
                self.each, queue = hop.time / max(free, 1.0 - 0.99), hop.row[Hop.QUEUE]
        self.room = int(self.base / self.each) + queue if queue else ENDLESS
        self.srtt = self.var = self.rto = self.errors = self.revives = self.silent_since = 0
        self.cwnd = self.ssthresh = 0.0

    @staticmethod
    def draw(hop: TwinHop) -> None:
        hop.gap = min(next(hop.gaps) if hop.gaps else 1 << 62, ENDLESS_GAP) * ONE

    def least(self) -> int:
        return min((hop.gap for hop in self.hops), default=FOREVER)

    def lose(self, flow: int) -> int:
        """`flow` is put out: how many of its packets are lost."""
        lost = 0
        while True:
            passed = min(self.least(), flow)
            hit = None
            for hop in self.hops:
                hop.gap -= passed
                if passed < flow and hit is None:
                    if hop.gap == 0:
                        hit = hop
                        self.draw(hop)
                    else:
                        hop.gap -= ONE  # the packet that is lost behind it
            if passed >= flow:
                return lost
            lost += 1
            flow = max(flow - passed - ONE, 0)
            if flow == 0:
                return lost

    def outage(self, t: int) -> tuple[int, int, int, int]:
        """Of data put out at `t` or later: DOWN, UP, STOP, RESUME."""
        found = (FOREVER, FOREVER, FOREVER, FOREVER)
        for hop in self.hops:
            for start, end in hop.outages:
                if end - hop.enters > t:
                    if start - hop.leaves < found[0]:
                        found = (start - hop.leaves, end - hop.enters, start + hop.back, end + hop.returns)
                    break
        return found

    def is_down(self, t: int) -> bool:
        down, up, _, _ = self.outage(t)
        return down <= t < up

    def by(self, moment: int, begin: int, most: int) -> int:
        """Packets of a burst of so many that are put out before a moment."""
        return int(min(max((moment - begin) / self.each + 0.999, 0.0), float(most)))

    def measure(self, rtt: int, least: int, most: int) -> None:
        if self.srtt:
            self.var = (3 * self.var + abs(self.srtt - rtt)) // 4
            self.srtt = (7 * self.srtt + rtt) // 8
        else:
            self.srtt, self.var = rtt, rtt // 2
        self.rto = min(max(self.srtt + 4 * self.var, least), most)


class TwinAssociation:
    def __init__(self, rows: Rows, row: int) -> None:
        self.p = p = [int(value) for value in rows.parameters[row]]
        streams = Streams(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION])
        chunk = p[P.DATA] + p[P.CHUNK_HEADER]
        paths = range(p[P.N_PATHS])
        self.ways = [TwinWay(rows, row, k, chunk + p[P.HEADER], streams, p[P.ACK]) for k in paths]
        self.hellos = [TwinWay(rows, row, k, HELLO, streams, p[P.ACK]) for k in paths]
        self.most, self.floor = p[P.RWND] // chunk, p[P.SSTHRESH_FLOOR] / chunk
        self.limit = p[P.LIMIT] * ONE if p[P.LIMIT] < ENDLESS else ENDLESS
        self.delayed = p[P.ACK_EVERY] > 1
        for way in self.ways:
            way.cwnd, way.ssthresh = p[P.INITIAL_CWND] / chunk, p[P.INITIAL_SSTHRESH] / chunk
            way.lose(((2 if way.number == 0 else 0) + p[P.PROBE_FIRST]) * ONE)
        self.current = self.owing = 0
        self.longest_failover = NEVER
        self.errors = self.debt = self.sent = self.alternate = self.repeated = self.repaired = 0
        self.left = self.refilled = self.seen = self.late = 0
        self.one_only = self.flowing = False
        self.out = dict.fromkeys(
            (*DROPS, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.CWND_CUTS, Out.SAMPLES, Out.RTT_SAMPLES,
             Out.CWND_SUM, Out.RTT_SUM), 0
        )  # fmt: skip
        self.out[Out.COMPLETED] = NEVER

    def connect(self) -> int:
        p, t, probed = self.p, self.p[P.START], 0
        for way, hello in zip(self.ways, self.hellos, strict=True):
            way.rto = p[P.INITIAL_RTO]
            if way.number == 0:
                while hello.is_down(t) and t < p[P.END]:
                    t += way.rto
                    way.rto = min(2 * way.rto, p[P.MAX_RTO])
                t += 2 * hello.base
            if p[P.PROBE_FIRST]:
                way.measure(hello.base, p[P.MIN_RTO], p[P.MAX_RTO])
                probed = max(probed, hello.base)
        return t + probed

    def other(self, k: int, t: int) -> int:
        if len(self.ways) == 1 or (t < self.ways[1 - k].revives and t >= self.ways[k].revives):
            return k
        return 1 - k

    def target(self, k: int, t: int) -> int:
        if not self.p[P.RESPONSE_ALTERNATE] and t >= self.ways[k].revives:
            return k
        return self.other(k, t)

    def window(self, way: TwinWay) -> int:
        return max(min(math.ceil(way.cwnd), self.most), 1)

    def put_out(self, way: TwinWay, flow: int) -> None:
        self.sent += flow
        self.alternate += flow * way.number

    def pay(self, flow: int) -> bool:
        """`flow` is put out, first what is to be sent again: whether it measures a round trip."""
        self.debt -= min(self.debt, flow)
        return True

    def acknowledged(self, way: TwinWay, flow: int, rtt: float, frozen: bool, measures: bool) -> None:
        way.errors = way.revives = self.errors = 0
        if measures:
            way.measure(int(rtt), self.p[P.MIN_RTO], self.p[P.MAX_RTO])
        if frozen or way.cwnd > self.most:
            return
        acked = flow / ONE
        if way.cwnd <= way.ssthresh:
            sacks = max((flow >> self.delayed) / ONE, min(acked, 1.0))
            way.cwnd = min(way.cwnd + sacks, max(way.ssthresh + 1.0, way.cwnd))
        else:
            way.cwnd += acked / way.cwnd

    def run(self) -> dict[Out, int]:
        t = self.connect()
        while t < self.p[P.END] and self.out[Out.COMPLETED] == NEVER and self.errors <= 10:
            t = self.advance(t)
        out = self.out
        gone = sum(out[column] for column in DROPS)
        received = max(self.through - self.late, 0) >> 20
        distinct = received - min(self.repeated >> 20, received)
        sent = max(self.through >> 20, received) + gone
        if out[Out.COMPLETED] > self.p[P.END]:
            out[Out.COMPLETED] = NEVER
        for column in (Out.DELIVERED, Out.IN_ORDER, Out.ACKED):
            out[column] = distinct
        out |= {
            Out.RECEIVED: received, Out.SENT: sent, Out.RETRANSMITTED: gone + received - distinct,
            Out.SENT_ALTERNATE: min(self.alternate >> 20, sent),
            Out.CWND_SUM: out[Out.CWND_SUM] % WORD, Out.CWND_SUM_HIGH: out[Out.CWND_SUM] // WORD,
            Out.RTT_SUM: out[Out.RTT_SUM] % WORD, Out.RTT_SUM_HIGH: out[Out.RTT_SUM] // WORD,
        }  # fmt: skip
        return out | dict.fromkeys((Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX), NEVER)

    def choose(self, t: int) -> None:
        """Choose the path of new data: the primary path, or another one that is active (RFC 9260, section
        6.4)."""
        active = [way.number for way in self.ways if t >= way.revives]
        if self.p[P.FAILBACK] and active and active[0] != self.current:
            self.current, self.flowing = active[0], False
    @property
    def through(self) -> int:
        """Packets that get through, repetitions included."""
        return self.sent - sum(self.out[column] for column in DROPS) * ONE

    def settle(self, way: TwinWay, begin: int, after: int) -> int:
        """Return the end of a step, by which all that got through is served; note what arrives after the end
        of the run."""
        more, self.seen = self.through - self.seen, self.through
        served = math.ceil(max(more, 0) / ONE * way.each)
        until = max(min(after, begin + 2 * (way.base + served)), begin + served)
        late = until + way.forth - self.p[P.END]
        if more > 0 and late > 0:
            self.late += more if late >= until - begin else int(more * (late / (until - begin)))
        return max(after, until)

    def advance(self, t: int) -> int:
        self.choose(t)
        if self.debt > 0:
            target = self.target(self.owing, t)
            if target != self.current:
                return self.settle(self.ways[target], t, self.repeat_elsewhere(self.ways[target], t))
        way, out, before = self.ways[self.current], self.out, t
        packets = 1 if self.one_only else self.window(way)
        base = float(way.base)
        if self.delayed:
            base += way.each if packets > 1 else float(self.p[P.ACK_DELAY])
        rtt = max(base, min(packets, way.room) * way.each)
        self.look_out(way, t, int(rtt), packets)
        wanted = packets
        if t < self.refilled:
            packets = min(packets, self.left + (self.p[P.MAX_BURST] if t >= self.repaired else 0))
        elif self.delayed and packets > 1 and packets * way.each < way.base:
            packets -= packets % 2
        burst = int(min(packets * way.each, rtt))
        after = self.interrupted(way, packets, t, rtt, burst)
        if after is not None:
            after = self.settle(way, before, after)
            self.sample(way, before, after, rtt)
            return after
        length, cause = int(rtt), ""
        if self.repaired > t:
            length = min(length, self.repaired - t)
        elif packets > way.room:
            cause = "overflow"
        part = length / rtt
        if way.least() < packets * ONE * part:
            part = way.least() / (packets * ONE)
            length, cause = int(part * rtt), "random"
        if t + length > self.p[P.END]:
            length, cause = self.p[P.END] - t, ""
            part = length / rtt
        flow = int(packets * part * ONE)
        left = self.limit - (self.through - self.repeated)
        if flow >= left:
            served = math.ceil(max(left, 0) / ONE * way.each)
            length = max(int(length * (max(left, 0) / max(flow, 1))), served)
            out[Out.COMPLETED] = t + length + way.forth
            self.sent += min(left, 0)
            flow, cause = max(left, 0), ""
        self.put_out(way, flow)
        out[Out.DROPS_RANDOM] += way.lose(flow)
        measures = self.pay(flow)
        if flow > 0:
            frozen = t < (self.refilled if packets < wanted else self.repaired)
            self.acknowledged(way, flow, rtt, frozen, measures)
            self.one_only = False
        t += length
        if cause:
            t = self.suffer(way, cause, t, rtt)
        self.flowing = not self.one_only
        t = self.settle(way, before, t)
        self.sample(way, before, t, rtt)
        return t

    def sample(self, way: TwinWay, before: int, t: int, rtt: float) -> None:
        every = self.p[P.SAMPLE]
        half = every >> 1
        count = (min(t, self.p[P.END]) + half) // every - (before + half) // every
        self.out[Out.SAMPLES] += count
        self.out[Out.CWND_SUM] += count * int(way.cwnd * 1024)
        if rtt <= self.p[P.END] - self.p[P.START]:
            self.out[Out.RTT_SAMPLES] += count
            self.out[Out.RTT_SUM] += count * int(rtt)

    def suffer(self, way: TwinWay, cause: str, t: int, rtt: float) -> int:
        if cause == "overflow":
            way.cwnd = min(way.cwnd, float(way.room + 1))
        packets = 1 if self.one_only else self.window(way)
        self.put_out(way, packets * ONE)
        measures = self.pay(packets * ONE)
        self.acknowledged(way, packets * ONE, rtt, t < self.repaired, measures)
        dropped = min(max(self.window(way) - way.room, 1), packets) if cause == "overflow" else 0
        lost = way.lose((packets - dropped) * ONE)
        self.out[Out.DROPS_QUEUE] += dropped
        self.out[Out.DROPS_RANDOM] += lost
        self.out[Out.FAST_RETRANSMITS] += max(lost - 1, 0)
        self.one_only = False
        return self.repair(way, packets, dropped + lost, t + int(rtt), rtt)

    def look_out(self, way: TwinWay, t: int, rtt: int, packets: int) -> None:
        """What the next interruption is, where that depends on what is under way."""

    def down_by(self, way: TwinWay, t: int) -> Out | None:
        return Out.DROPS_OUTAGE if way.is_down(t) else None

    def interrupted(self, way: TwinWay, packets: int, t: int, rtt: float, burst: int) -> int | None:
        """When the next round trip begins, if an outage cuts this one."""
        down, _, stop, resume = way.outage(t)
        meets = down < t + burst or stop < t + int(rtt) + burst
        if meets and resume > t and way.least() >= packets * ONE:
            return self.meet_outage(way, packets, t, rtt)
        return None

    def meet_outage(self, way: TwinWay, packets: int, t: int, rtt: float) -> int:
        down, up, stop, resume = way.outage(t)
        by = way.by
        goes, again = packets, t + int(rtt)
        clocked = self.flowing and not self.one_only
        if clocked and resume > t + int(packets * way.each):
            goes = by(stop, t, packets)
        hits = by(up, t, goes) - by(down, t, goes)
        through = goes - hits
        more = by(stop, again, through) if goes == packets else 0
        also = by(up, again, more) - by(down, again, more)
        self.put_out(way, (goes + more) * ONE)
        lost = way.lose((through + more - also) * ONE)
        self.out[Out.DROPS_OUTAGE] += hits + also
        self.out[Out.DROPS_RANDOM] += lost
        measures = self.pay((through + more - also) * ONE)
        self.one_only = False
        last = by(down, t, goes) if hits > 0 and by(up, t, goes) == goes else goes
        told = again + int(last * way.each)
        if self.delayed and last % 2:
            told += self.p[P.ACK_DELAY]
        hits += also + lost
        if last > 0 and (told >= resume or told < stop):
            self.flowing = True
            self.acknowledged(way, through * ONE, rtt, t < self.repaired, measures)
            if told >= resume:
                again = max(again, resume)
            return self.repair(way, goes + more, hits, again, rtt) if hits else again
        self.flowing = False
        expires = t
        if more > 0:
            expires = again + int(more * way.each)
        elif clocked:
            expires += int(goes * way.each)
        self.debt += hits * ONE
        if self.debt == 0:
            self.debt = ONE
            self.repeated += ONE
        return self.wait_for_timer(way.number, expires + way.rto)

    def repair(self, way: TwinWay, packets: int, hits: int, t: int, rtt: float) -> int:
        self.debt += hits * ONE
        self.owing = way.number
        follow = packets - hits
        if follow < (self.p[P.DUPACKS] if packets >= self.most else 1):
            return self.wait_for_timer(way.number, t + way.rto)
        wait = int(rtt) * (-(-self.p[P.DUPACKS] // follow) - 1)
        if wait < 0 or wait >= way.rto:
            return self.wait_for_timer(way.number, t + way.rto)
        t += wait
        way.ssthresh = way.cwnd = max(way.cwnd / 2.0, self.floor)
        self.out[Out.FAST_RETRANSMITS] += 1
        self.out[Out.CWND_CUTS] += 1
        self.repaired, self.refilled = t + int(rtt), t + 2 * int(rtt)
        self.left = max(self.most - packets + hits, 1)
        to = self.ways[self.target(self.owing, t)]
        if to.least() >= hits * ONE:
            return t
        self.put_out(to, hits * ONE)
        lost = to.lose(hits * ONE)
        self.out[Out.DROPS_RANDOM] += lost
        self.debt += (lost - hits) * ONE
        to = self.ways[self.target(way.number, t)]
        return self.wait_for_timer(to.number, t + to.rto)

    def wait_for_timer(self, k: int, t: int) -> int:
        while t < self.p[P.END] and self.errors <= 10:
            self.expire(self.ways[k], t)
            self.owing = k
            k = self.target(k, t)
            cause = self.down_by(self.ways[k], t)
            if cause is None:
                break
            self.put_out(self.ways[k], ONE)
            self.out[cause] += 1
            expires = t + self.ways[k].rto
            t = self.revival(t, expires)
            if t < expires:
                break
        self.one_only = True
        return t

    def revival(self, t: int, end: int) -> int:
        """Return when, before `end`, a path becomes active that new data prefer to the current one."""
        if not self.p[P.FAILBACK]:
            return end
        stranded = t < self.ways[self.current].revives
        wanted = self.ways if stranded else self.ways[:1]
        return min([end, *(way.revives for way in wanted if t < way.revives)])

    def expire(self, way: TwinWay, t: int) -> None:
        p = self.p
        self.out[Out.TIMEOUTS] += 1
        self.out[Out.CWND_CUTS] += 1
        if way.cwnd > 1.0:
            way.ssthresh, way.cwnd = max(way.cwnd / 2.0, self.floor), 1.0
        if not way.errors:
            way.silent_since = t - way.rto
        way.rto = min(2 * way.rto, p[P.MAX_RTO])
        way.errors += 1
        if t < way.revives:
            return
        self.errors += 1
        if way.errors > p[P.PATH_MAX_RETRANS]:
            way.revives = FOREVER
            if way.number == self.current:
                self.current = self.other(way.number, t)
                if self.current != way.number:
                    self.longest_failover = max(self.longest_failover, t - way.silent_since)
            if p[P.HEARTBEAT] and len(self.ways) > 1:
                timer = way.rto
                while way.is_down(t) and t < p[P.END]:
                    t += timer
                    timer = min(2 * timer, p[P.MAX_RTO])
                way.revives, way.errors = t + way.base, 0
                way.measure(way.base, p[P.MIN_RTO], p[P.MAX_RTO])

    def repeat_elsewhere(self, way: TwinWay, t: int) -> int:
        debt = -(-self.debt // ONE)
        packets = 1 if self.one_only else min(debt, self.window(way))
        self.put_out(way, packets * ONE)
        if way.is_down(t):
            self.out[Out.DROPS_OUTAGE] += packets
            return self.wait_for_timer(way.number, t + way.rto)
        lost = way.lose(packets * ONE)
        self.out[Out.DROPS_RANDOM] += lost
        base = float(way.base)
        if self.delayed:
            base += way.each if packets > 1 else float(self.p[P.ACK_DELAY])
        rtt = max(base, min(packets, way.room) * way.each)
        self.debt = (debt - packets + lost) * ONE
        if lost:
            self.owing = way.number
            return self.wait_for_timer(way.number, t + int(rtt) + way.rto)
        self.acknowledged(way, packets * ONE, rtt, False, True)
        if self.debt > 0 or self.one_only:
            t += int(rtt)
        self.one_only = False
        return t


def simulate(rows: Rows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row, as the kernel gives them."""
    two = (rows.parameters[:, P.N_PATHS] == PATHS).any()
    out = np.zeros(len(Out) + int(two), np.int64)
    association = TwinAssociation(rows, row)
    for column, value in association.run().items():
        out[column] = value
    if len(association.ways) == PATHS:
        out[-1] = association.longest_failover
    return out
