"""Counters of the row and of each node."""

from netcarlo.kernels.adhoc.layout import ManetOut, NodeOut
from netcarlo.kernels.base.layout import NEVER, STATUS_OK, Out
from tests.twins.outcomes import Outcomes
from tests.twins.path.link import Packet
from tests.twins.shared.delays import Gauge, Noted

OF_TCP = [
    "SENT", "RETRANSMITTED", "RECEIVED", "DELIVERED", "IN_ORDER", "ACKED", "TIMEOUTS", "FAST_RETRANSMITS",
    "CWND_CUTS", "HANDSHAKES", "FIRST_RX", "LAST_RX", "COMPLETED",
]  # fmt: skip
"""Counters that TCP senders and receivers keep themselves, under the same names."""


class Counters:
    def __init__(self, nodes: int, *, limit: int, bound: int = 0) -> None:
        """Create the counters; data with a delay above `bound` [ns] are late, and 0 disables delays."""
        self.values = dict.fromkeys((c for c in ManetOut if c.name != "COLUMNS"), 0)
        self.values[ManetOut.STATUS] = STATUS_OK
        self.values[ManetOut.FINISHED] = NEVER
        self.nodes = [dict.fromkeys((c for c in NodeOut if c.name != "COLUMNS"), 0) for _ in range(nodes)]
        self.bound = bound
        self.of_tcp = Noted(limit=limit) if bound else Outcomes(limit=limit)

    def add(self, column: ManetOut, amount: int = 1) -> None:
        self.values[column] += amount

    def add_to(self, node: int, column: NodeOut, amount: int = 1) -> None:
        self.nodes[node][column] += amount

    def note_sent(self, packet: Packet, now: int) -> None:
        """Record that a host sends a packet."""
        if isinstance(self.of_tcp, Noted):
            self.of_tcp.note_sent(packet, now)

    def delays(self, answer: int) -> list[int]:
        """Return the delay statistics.

        Data arrive `answer` [ns] before the exchange of their last frame ends.
        """
        assert isinstance(self.of_tcp, Noted)
        gauge = Gauge()
        gauge.take([(time, delay - answer) for time, delay in self.of_tcp.arrivals], self.bound)
        return gauge.values()

    def vector(self) -> list[int]:
        for name in OF_TCP:
            self.values[ManetOut[name]] = self.of_tcp.values[Out[name]]
        return [*self.values.values(), *(value for node in self.nodes for value in node.values())]
