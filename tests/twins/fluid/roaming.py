"""The fluid model of SCTP to a mobile host as plain Python: a slow twin of `kernels.fluid.sctp`."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import Out, P, Rows
from tests.twins.fluid.journey import TwinJourney
from tests.twins.fluid.sctp import TwinAssociation, TwinWay
from tests.twins.fluid.shared import ONE


class TwinRoaming(TwinAssociation):
    def __init__(self, rows: Rows, row: int) -> None:
        super().__init__(rows, row)
        p, detour = self.p, 2 * self.p[P.MAP_TO_AR]
        way, hello = self.ways[0], self.hellos[0]
        size = p[P.DATA] + p[P.CHUNK_HEADER] + p[P.HEADER]
        for each in (way, hello):
            each.hops[-1].outages.clear()  # there stands the schedule
            each.base += detour
            each.forth += detour // 2
        way.room += int(detour / way.each)
        self.journey = TwinJourney(rows, row, way, size, way.base, way.each)
        self.handover: tuple[int, int, int] | None = None

    def pay(self, flow: int) -> bool:
        new = flow > self.debt
        super().pay(flow)
        return new

    def look_out(self, way: TwinWay, t: int, rtt: int, packets: int) -> None:
        self.handover = self.journey.next(t, rtt, packets, way.outage(t)[0])

    def down_by(self, way: TwinWay, t: int) -> Out | None:
        self.look_out(way, t, way.base, 1)
        if self.handover is None:
            return super().down_by(way, t)
        down, up, _ = self.handover
        return Out.DROPS_HANDOVER if down <= t < up else None

    def interrupted(self, way: TwinWay, packets: int, t: int, rtt: float, burst: int) -> int | None:
        if self.handover is None:
            return super().interrupted(way, packets, t, rtt, burst)
        return self.move(way, packets, t, rtt) if self.handover[0] < t + burst else None

    def move(self, way: TwinWay, packets: int, t: int, rtt: float) -> int:
        assert self.handover is not None
        p, out, (down, up, resume) = self.p, self.out, self.handover
        again, room = t + int(rtt), self.journey.free
        early = way.by(down, t, packets)
        hits = way.by(up, t, packets) - early + way.by(up, again, early)
        late = packets - hits
        over = max(late - room, 0) if resume > again else 0
        late -= over
        full = room == 0 and p[P.BUFFER] > 0  # of copies that nobody needs
        out[Out.DROPS_BUFFER if full else Out.DROPS_HANDOVER] += hits
        out[Out.DROPS_BUFFER] += over
        self.put_out(way, (packets + early) * ONE)
        lost = way.lose((early + late) * ONE)
        out[Out.DROPS_RANDOM] += lost
        hits += over + lost
        expires = t
        if early:
            measures = self.pay(early * ONE)
            self.acknowledged(way, early * ONE, rtt, t < self.repaired, measures)
            expires = again + int(early * way.each)
        elif self.flowing and not self.one_only:
            expires = t + int(packets * way.each)
        expires += way.rto
        self.one_only = False
        comes = max(again, resume)
        self.flowing = late > 0
        if not self.flowing:
            self.debt += hits * ONE
            return self.wait_for_timer(0, expires)
        if expires >= comes and hits:
            self.pay(late * ONE)
            return self.repair(way, packets + early, hits, comes, rtt)
        in_time = expires >= comes
        while expires < min(comes, p[P.END]) and self.errors <= 10:
            self.expire(way, expires)
            self.put_out(way, ONE)
            self.repeated += ONE
            expires += way.rto
        if self.errors > 10 and not in_time:
            return expires
        measures = self.pay(late * ONE)
        self.debt += hits * ONE
        seen = max(rtt, float(comes - max(t, up)))
        self.acknowledged(way, late * ONE, seen, hits > 0 or t < self.repaired, measures)
        return comes

    def run(self) -> dict[Out, int]:
        return super().run() | self.journey.counted()


def simulate(rows: Rows, *, row: int) -> NDArray[np.int64]:
    """The outcomes of one row, as the kernel gives them."""
    out = np.zeros(len(Out), np.int64)
    for column, value in TwinRoaming(rows, row).run().items():
        out[column] = value
    return out
