"""The handovers of a mobile host as its sender sees them, as plain Python.

When a handover does what is asked of the packet engine's timelines, which have a twin of their own.
"""

import numpy as np

from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.layout import FOREVER, S_BINDING, S_MIP, Hop, Out, P, Rows
from netcarlo.kernels.path.mobility import handovers
from netcarlo.kernels.path.mobility.timeline import WORDS, Handover
from netcarlo.kernels.runtime import compile as compilers
from tests.twins.fluid.sctp import TwinWay
from tests.twins.fluid.shared import on_wire


class TwinJourney:
    """The handovers to come; `base_ns` is the round trip without queues, the detours by the MAP included."""

    def __init__(self, rows: Rows, row: int, way: TwinWay, size: int, base_ns: int, slowest: float) -> None:
        self.p = p = [int(value) for value in rows.parameters[row]]
        radio = int(rows.hops[row, 0, :, Hop.PRESENT].sum()) - 1
        air = way.hops[radio]
        self.base_ns = base_ns
        self.to_map, self.on_air = air.enters, air.leaves - air.enters
        self.back_ns = air.returns + p[P.MAP_TO_AR]
        self.wired = on_wire(air.row[Hop.BYTE_TIME], size) < slowest
        plan = bind(handovers.plan_all, compilers.plain)
        scratch = np.zeros(handovers.STATE_WORDS + WORDS * p[P.HANDOVERS], np.int64)
        self.plans = np.zeros(len(Out), np.int64)
        count = plan(
            rows.parameters[row], rows.hops[row], rows.outages[row], scratch, self.plans, 0,
            handovers.STATE_WORDS, radio,
        )  # fmt: skip
        table = scratch[handovers.STATE_WORDS :][: count * WORDS].reshape(count, WORDS)
        self.coming = [[int(value) for value in words] for words in table]
        self.free = 0

    def counted(self) -> dict[Out, int]:
        """The outcomes that are the journey's alone."""
        return {column: int(self.plans[column]) for column in (Out.HANDOVERS, Out.PREPARED, Out.FALSE_ALARMS)}

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

    def next(self, t: int, rtt: int, packets: int, before: int) -> tuple[int, int, int] | None:
        """DOWN, UP and RESUME of the next handover that matters, if what is lost then is before `before`."""
        while self.coming:
            seen = self.seen(self.coming[0], max(rtt - self.base_ns, 0), packets / rtt)
            if seen[1] > t or seen[2] > t + rtt:
                return seen if seen[0] < before else None
            self.coming.pop(0)
        return None
