"""The fluid model of a mobile host as plain Python: a slow twin of that part of `kernels.fluid.path`.

When a handover does what is asked of the packet engine's timelines, which have a twin of their own.
"""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.layout import ENDLESS, FOREVER, S_BINDING, S_MIP, Hop, Out, P, Rows
from netcarlo.kernels.path.mobility import handovers
from netcarlo.kernels.path.mobility.timeline import WORDS, Handover
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.shared.layout import FlowOut
from tests.twins.fluid.path import TwinPath
from tests.twins.fluid.sctp import TwinWay
from tests.twins.fluid.shared import ONE, on_wire
from tests.twins.random_numbers import Streams


class TwinMobile(TwinPath):
    def __init__(self, kind: str, rows: Rows, row: int) -> None:
        radio = int(rows.hops[row, 0, :, Hop.PRESENT].sum()) - 1
        super().__init__(kind, rows, row)
        p = self.p
        streams = Streams(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION])
        self.way = TwinWay(rows, row, 0, self.size, streams, self.ack)
        if p[P.HANDSHAKE] and kind != "vegas":
            self.way.lose(ONE)
        air = self.way.hops[radio]
        self.to_map, self.on_air = air.enters, air.leaves - air.enters
        self.back_ns = air.returns + p[P.MAP_TO_AR]
        self.wired = on_wire(air.row[Hop.BYTE_TIME], self.size) < self.slowest
        self.wires = [(s - h.leaves, e - h.enters) for h in self.way.hops[:radio] for s, e in h.outages]
        plan = bind(handovers.plan_all, compilers.plain)
        scratch = np.zeros(handovers.STATE_WORDS + WORDS * p[P.HANDOVERS], np.int64)
        self.plans = np.zeros(len(Out), np.int64)
        count = plan(
            rows.parameters[row], rows.hops[row], rows.outages[row], scratch, self.plans, 0,
            handovers.STATE_WORDS, radio,
        )  # fmt: skip
        table = scratch[handovers.STATE_WORDS :][: count * WORDS].reshape(count, WORDS)
        self.coming = [[int(value) for value in words] for words in table]
        more = int(2 * p[P.MAP_TO_AR] / self.slowest)
        self.base_ns += 2 * p[P.MAP_TO_AR]
        if self.room < ENDLESS:
            self.room += more
        else:
            self.room = ENDLESS + more
        self.drops, self.resume, self.free = {Out.DROPS_HANDOVER: 0, Out.DROPS_BUFFER: 0}, 0, 0

    def outage(self, t: int) -> tuple[int, int]:
        coming = [times for times in self.wires if times[1] > t]
        return min(coming, default=(FOREVER, FOREVER))

    def seen(self, plan: list[int], wait: int, rate: float) -> tuple[int, int, int]:
        """From when to when what is put out is lost, and when acknowledgements come again."""
        p, h = self.p, Handover
        queued = wait if self.wired else 0
        to_map = self.to_map + queued
        to_router = to_map + p[P.MAP_TO_AR]
        self.free = p[P.BUFFER]
        if plan[h.UP] == plan[h.DOWN]:
            if plan[h.ASTRAY] == FOREVER:
                return 0, 0, 0
            return plan[h.ASTRAY] - to_router, plan[h.DOWN] - to_router, 0
        last = plan[h.DOWN] - to_router - (wait - queued) - self.on_air
        ways = [
            (plan[h.AT_CN], plan[h.AT_CN] + to_router),
            (plan[h.AT_MAP] - to_map, plan[h.AT_MAP] + p[P.MAP_TO_AR] + plan[h.DETOUR]),
            (plan[h.FORWARD] - to_router, plan[h.FORWARD] + plan[h.TUNNEL]),
        ]
        saved, comes = min(ways, key=lambda way: way[0])
        down = min(last, saved)
        if plan[h.KEPT] < FOREVER and plan[h.DOWN] - to_router < saved:
            saved, comes = plan[h.DOWN] - to_router, plan[h.KEPT] + plan[h.TUNNEL]
        copied = plan[h.COPY] - (to_router if p[P.HANDOVER] == S_BINDING else to_map)
        if copied < saved:
            later = to_router + plan[h.DETOUR]
            if p[P.HANDOVER] in (S_BINDING, S_MIP):
                self.free = max(self.free - int(max(last - copied, 0) * rate), 0)
                if self.free == 0:
                    copied = plan[h.RELEASE] - later
            if copied < saved:
                saved, comes = copied, max(last, copied) + later
                if p[P.HANDOVER] == S_MIP:
                    comes = max(comes, plan[h.HOLD])
        return down, max(saved, down), max(comes, plan[h.RELEASE]) + self.on_air + self.back_ns

    def interruption(self, t: int, rtt: float, packets: int) -> tuple[int, int]:
        found = self.outage(t)
        self.moves = False
        length = int(rtt)
        while self.coming:
            down, up, resume = self.seen(self.coming[0], max(length - self.base_ns, 0), packets / length)
            if up > t or resume > t + length:
                if down < found[0]:
                    found, self.resume, self.moves = (down, up), resume, True
                break
            self.coming.pop(0)
        return found

    def next_loss(self, packets: int) -> tuple[int, int]:
        return packets * ONE, self.way.least()

    def passed(self, expected: int, flow: int) -> None:
        self.lost += self.way.lose(flow) * ONE

    def further_losses(self, need: int, packets: int) -> int:
        self.found = self.way.lose(packets * ONE)
        return self.found - 1

    def taken(self, cause: str, packets: int) -> int:
        return self.found if cause == "random" else super().taken(cause, packets)

    def lost_again(self) -> int:
        stake = self.at_stake() * ONE
        if self.hits >= self.w or self.way.least() >= stake:
            return 0
        lost = self.way.lose(stake) * ONE
        self.sent += lost
        self.lost += lost
        return ONE

    def move(self, t: int, lo: int, hi: int, rtt: float, delayed: int) -> int:
        packets, p = int(self.w), self.p
        alone = lo < t
        self.sent += packets * ONE
        if not alone:
            self.guarded = max(self.guarded - packets * ONE, 0)
            self.timer.pass_rounds(t, rtt, 1.0, self.guarded)
            self.grow((packets * ONE >> delayed) / ONE, rtt, 1.0, self.clock(t), False)
        share = min(max((hi - t) / rtt, 0.0), 1.0)
        hits = min((int(2.0 * (self.w * share)) + 1) >> 1, packets)
        if hi > t:
            hits = max(hits, 1)
        over = max(packets - hits - self.free, 0) if self.resume > t + int(rtt) else 0
        lost = self.way.lose((packets - hits - over) * ONE)
        full = self.free == 0 and p[P.BUFFER] > 0  # of copies that nobody needs
        self.drops[Out.DROPS_BUFFER if full else Out.DROPS_HANDOVER] += hits
        self.drops[Out.DROPS_BUFFER] += over
        self.astray += (hits + over) * ONE
        self.lost += lost * ONE
        hits += over + lost
        if not alone:
            t += int(rtt)
        if hits < packets:
            expires = t + self.timer.length
            if expires < self.resume:
                self.collapse()
                while expires < self.resume:
                    self.count[FlowOut.TIMEOUTS] += 1
                    self.sent += ONE
                    self.repeated += ONE
                    self.timer.back_off()
                    expires += self.timer.length
                self.count[FlowOut.CWND_CUTS] += 1
                if hits == 0:
                    self.w = min(1.0 + packets, max(self.ssthresh, 1.0))
                if self.kind == "vegas":
                    self.least_rtt = min(self.least_rtt, self.slowest)
                self.guarded = packets * ONE
            elif self.resume > t and not alone:
                self.timer.measure(t - int(rtt), self.resume)
            t = max(t, self.resume)
        if hits:
            self.hits = hits
            self.told(t, rtt)
            if alone and self.state == "repair":
                t += int(rtt)
        return t

    def run(self) -> dict[Out, int]:
        counted = (Out.HANDOVERS, Out.PREPARED, Out.FALSE_ALARMS)
        return super().run() | self.drops | {column: int(self.plans[column]) for column in counted}


def simulate(kind: str, rows: Rows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row, as the kernel gives them."""
    out = np.zeros(len(Out), np.int64)
    for column, value in TwinMobile(kind, rows, row).run().items():
        out[column] = value
    return out
