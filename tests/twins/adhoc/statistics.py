"""Properties of the network that do not depend on the flow."""

from netcarlo.kernels.adhoc.layout import ManetOut
from tests.twins.adhoc.counters import Counters
from tests.twins.adhoc.links import Topology, reachable, shortest

US = 1000


class Statistics:
    def __init__(self, counters: Counters, topology: Topology, source: int, sink: int) -> None:
        self.counters = counters
        self.topology = topology
        self.source = source
        self.sink = sink
        self.last = 0  # integrated until here [ns]
        self.began: int | None = None  # start of an outage
        self.kept: list[int] = []  # route that is kept until it breaks
        self.since = 0
        self._look()
        self._keep()

    def _look(self) -> None:
        self.path = shortest(self.topology.linked, self.source, self.sink)
        self.hops = max(len(self.path) - 1, 0)
        reached = reachable(self.topology.linked, self.source)
        self.split = len(reached) < len(self.topology.nodes)

    def _keep(self) -> None:
        if not self.kept and 0 < self.hops <= self.topology.most_hops:
            self.kept = self.path
            self.since = self.topology.now

    def integrate(self, links: int) -> None:
        """Integrate statistics up to now, during which there were `links` links."""
        duration = (self.topology.now - self.last) // US
        self.last += US * duration
        count = self.counters.add
        if self.hops > 0:
            count(ManetOut.CONNECTED, duration)
            count(ManetOut(ManetOut.HOPS_1 + min(self.hops, 5) - 1), duration)
        if self.split:
            count(ManetOut.SPLIT, duration)
        count(ManetOut.HOPS_SHORTEST, self.hops * duration)
        count(ManetOut.HOPS_KEPT, max(len(self.kept) - 1, 0) * duration)
        count(ManetOut.LINK_TIME, links * duration)

    def flipped(self, i: int, j: int) -> None:
        """Record that a link has just appeared or broken."""
        now = self.topology.now
        comes = j in self.topology.linked[i]
        self.integrate(self.topology.links() + (-1 if comes else 1))
        self.counters.add(ManetOut.LINK_CHANGES)
        if not comes and {i, j} in [set(pair) for pair in zip(self.kept, self.kept[1:], strict=False)]:
            self.counters.add(ManetOut.KEPT_BREAKS)
            self.counters.add(ManetOut.KEPT_LIFE, (now - self.since) // US)
            self.kept = []
        before = self.hops
        self._look()
        self._keep()
        if before > 0 and self.hops == 0:
            self.began = now
        if before == 0 and self.hops > 0 and self.began is not None:
            self.counters.add(ManetOut.OUTAGES)
            self.counters.add(ManetOut.OUTAGE_TIME, (now - self.began) // US)
            self.began = None
