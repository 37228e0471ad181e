"""Counters of flows and nodes, from the end of the warm-up on."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out
from netcarlo.kernels.wireless.layout import DELAY_BINS, DELAY_LOW, FlowOut, NodeOut
from tests.twins.linux.receiver import Data
from tests.twins.outcomes import Outcomes
from tests.twins.path.link import Packet

TIMES = ("FIRST_RX", "LAST_RX", "COMPLETED")
SHARED = (
    "SENT", "RETRANSMITTED", "RECEIVED", "DELIVERED", "IN_ORDER", "TIMEOUTS", "FAST_RETRANSMITS",
    "CWND_CUTS",
)  # fmt: skip
CAUSES = {
    "source": FlowOut.DROPS_SOURCE, "relay": FlowOut.DROPS_RELAY, "leg": FlowOut.DROPS_LEG,
    "retry": FlowOut.RETRY_LOST,
}  # fmt: skip


class FlowOutcomes(Outcomes):
    """Counters of sender and receiver in any network, and those of 802.11."""

    def __init__(
        self, *, limit: int, tcp: bool, warm_up: int, bin_length: int, end: int, saturated: bool,
        early: Callable[[], int],
    ) -> None:  # fmt: skip
        super().__init__(limit=limit)
        self.saturated = saturated  # without measured delays
        self.early = early  # time since the reception of arriving data [ns]
        self.tcp = tcp
        self.warm_up = warm_up
        self.bin_length = bin_length
        self.end = end
        self.first_put_out: dict[int, int] = {}  # time of the first transmission by packet
        self.source_done = NEVER
        self.all_arrivals: list[tuple[int, int]] = []  # new data: time, and delay [ns]
        self.reset(in_flight=0)

    def reset(self, *, in_flight: int) -> None:
        """Reset the counters at the end of the warm-up."""
        self.at_warm_up = dict(self.values)
        self.more: Counter[FlowOut] = Counter({FlowOut.IN_FLIGHT_BEFORE: in_flight})
        self.delays: list[int] = []
        self.arrivals: list[int] = []  # times
        self.fates: Counter[FlowOut] = Counter()  # of packets sent after the warm-up

    def note_sent(self, packet: Packet, now: int, *, last: int) -> None:
        """Record that the source sends a packet; `last` is the number of its last packet."""
        number = packet.content.number if isinstance(packet.content, Data) else packet.content
        if packet.kind == "data" and number not in self.first_put_out:
            self.first_put_out[number] = now
            if number == last and self.limit != ENDLESS:
                self.source_done = now

    def arrived(self, packet: Packet, sequence: int | None, now: int) -> None:
        if sequence is not None and sequence not in self.delivered:
            delay = 0 if self.saturated else now - self.early() - self.first_put_out[sequence]
            self.all_arrivals.append((now, delay))
            self.delays.append(delay)
            self.arrivals.append(now)
        self._end(packet.content, FlowOut.ARRIVED)
        super().arrived(packet, sequence, now)

    def lost(self, packet: Packet, cause: str) -> None:
        if packet.kind == "data":
            self.more[CAUSES[cause]] += 1
            self._end(packet.content, FlowOut.LOST)
        elif packet.kind == "ack":
            self.more[FlowOut.ACKS_LOST] += 1

    def _end(self, number: int, fate: FlowOut) -> None:
        """Count the end of a packet; a UDP packet, which is sent once, only if it was sent after
        the warm-up."""
        if not self.tcp and self.first_put_out[number] >= self.warm_up:
            self.fates[fate] += 1

    def columns(self, *, in_flight: int) -> list[int]:
        """Return the columns of `FlowOut`."""
        values = self.more + self.fates
        for name in SHARED:
            values[FlowOut[name]] = self.values[Out[name]] - self.at_warm_up[Out[name]]
        for name in TIMES:
            values[FlowOut[name]] = self.values[Out[name]]
        values[FlowOut.SOURCE_DONE] = self.source_done
        values[FlowOut.IN_FLIGHT] = in_flight
        values[FlowOut.BEST] = self.best()
        values[FlowOut.DELAY_SUM] = sum(self.delays) // 1000
        columns = [values[column] for column in FlowOut if column < FlowOut.DELAYS]
        histogram = Counter(delay_bin(delay) for delay in self.delays)
        return columns + [histogram[k] for k in range(DELAY_BINS)]

    def best(self) -> int:
        if not self.bin_length:
            return 0
        whole = (self.end - self.warm_up) // self.bin_length
        bins = Counter((time - self.warm_up) // self.bin_length for time in self.arrivals)
        return max((bins[k] for k in bins if k < whole), default=0)


def delay_bin(delay: int) -> int:
    octave = max(delay, 1).bit_length() - 1
    quarter = (delay >> (octave - 2)) & 3 if octave >= 2 else 0
    return min(max((octave - DELAY_LOW) * 4 + quarter, 0), DELAY_BINS - 1)


class NodeOutcomes:
    """Counts of a station, and integrals over time."""

    def __init__(self) -> None:
        self.reset(in_queue=0)

    def reset(self, *, in_queue: int) -> None:
        """Reset the counters at the end of the warm-up."""
        self.values: Counter[NodeOut] = Counter(
            {NodeOut.IN_QUEUE_BEFORE: in_queue, NodeOut.QUEUE_MOST: in_queue}
        )
        self.queue_time = 0  # [frame ns]

    def add(self, column: Any, amount: int = 1) -> None:
        self.values[column] += amount

    def pass_time(self, duration: int, *, in_queue: int, senses: bool) -> None:
        self.queue_time += in_queue * duration
        self.add(NodeOut.BUSY, duration if senses else 0)

    def columns(self, *, in_queue: int) -> list[int]:
        """Return the columns of `NodeOut`."""
        self.values[NodeOut.QUEUE_SUM] = self.queue_time // 1000
        self.values[NodeOut.IN_QUEUE] = in_queue
        return [self.values[column] for column in NodeOut if column != NodeOut.COLUMNS]
