"""The fluid model of a mobile host as plain Python: a slow twin of that part of `kernels.fluid.path`.

When a handover does what is asked of the packet engine's timelines, which have a twin of their own.
"""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, Hop, Out, P, Rows
from netcarlo.kernels.shared.layout import FlowOut
from tests.twins.fluid.journey import TwinJourney
from tests.twins.fluid.path import TwinPath
from tests.twins.fluid.sctp import TwinWay
from tests.twins.fluid.shared import ONE
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
        self.wires = [(s - h.leaves, e - h.enters) for h in self.way.hops[:radio] for s, e in h.outages]
        more = int(2 * p[P.MAP_TO_AR] / self.slowest)
        self.base_ns += 2 * p[P.MAP_TO_AR]
        self.forth_ns += p[P.MAP_TO_AR]
        if self.room < ENDLESS:
            self.room += more
        else:
            self.room = ENDLESS + more
        self.journey = TwinJourney(rows, row, self.way, self.size, self.base_ns, self.slowest)
        self.drops, self.resume = {Out.DROPS_HANDOVER: 0, Out.DROPS_BUFFER: 0}, 0

    def outage(self, t: int) -> tuple[int, int]:
        coming = [times for times in self.wires if times[1] > t]
        return min(coming, default=(FOREVER, FOREVER))

    def interruption(self, t: int, rtt: float, packets: int) -> tuple[int, int]:
        found = self.outage(t)
        seen = self.journey.next(t, int(rtt), packets, found[0])
        self.moves = seen is not None
        if seen:
            found, self.resume = seen[:2], seen[2]
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
        over = max(packets - hits - self.journey.free, 0) if self.resume > t + int(rtt) else 0
        lost = self.way.lose((packets - hits - over) * ONE)
        full = self.journey.free == 0 and p[P.BUFFER] > 0  # of copies that nobody needs
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
                    self.w = self.opened(min(1.0 + packets, self.ssthresh))
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
        return super().run() | self.drops | self.journey.counted()


def simulate(kind: str, rows: Rows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row, as the kernel gives them."""
    out = np.zeros(len(Out), np.int64)
    for column, value in TwinMobile(kind, rows, row).run().items():
        out[column] = value
    return out
