"""Counters of the outcomes."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import ENDLESS, NEVER, Out
from tests.twins.path.link import Packet

DATA_CAUSES = {
    "queue": Out.DROPS_QUEUE, "random": Out.DROPS_RANDOM, "outage": Out.DROPS_OUTAGE,
    "destroyed": Out.DESTROYED, "handover": Out.DROPS_HANDOVER, "buffer": Out.DROPS_BUFFER,
}

WORD = 2**63
"""Number of values of the low word of a sum; the excess is counted in the column that ends in _HIGH."""


class Outcomes:
    """Columns of `Out`, filled by the links, the receiver and the sender."""

    def __init__(self, *, limit: int) -> None:
        self.values = dict.fromkeys(Out, 0)
        for column in (Out.FIRST_RX, Out.LAST_RX, Out.RESUME_TX, Out.RESUME_RX, Out.COMPLETED):
            self.values[column] = NEVER
        self.limit = limit
        self.first_outage: int | None = None
        self.delivered: set[int] = set()

    def add(self, column: Out, amount: int = 1) -> None:
        self.values[column] += amount

    def expect_outage(self, start: int) -> None:
        """Record the first arrival after the first outage."""
        self.first_outage = start if self.first_outage is None else min(self.first_outage, start)

    def lost(self, packet: Packet, cause: str) -> None:
        if packet.kind == "data":
            self.add(DATA_CAUSES[cause])
        elif packet.kind == "ack":
            self.add(Out.ACK_DROPS)

    def arrived(self, packet: Packet, sequence: int | None, now: int) -> None:
        """Count a data packet that reaches the receiver; without `sequence` it is discarded there."""
        values = self.values
        self.add(Out.RECEIVED)
        if values[Out.FIRST_RX] == NEVER:
            values[Out.FIRST_RX] = now
        values[Out.LAST_RX] = now
        if self.first_outage is not None and now > self.first_outage and values[Out.RESUME_RX] == NEVER:
            values[Out.RESUME_RX] = now
            values[Out.RESUME_TX] = packet.sent
        if sequence is not None and sequence not in self.delivered:
            self.delivered.add(sequence)
            self.add(Out.DELIVERED)
            if self.limit != ENDLESS and len(self.delivered) == self.limit:
                values[Out.COMPLETED] = now

    def vector(self) -> NDArray[np.int64]:
        values = dict(self.values)
        for column, high in ((Out.CWND_SUM, Out.CWND_SUM_HIGH), (Out.RTT_SUM, Out.RTT_SUM_HIGH)):
            values[high], values[column] = divmod(values[column], WORD)
        return np.array([values[column] for column in Out], dtype=np.int64)
