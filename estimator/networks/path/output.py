"""What a kernel of paths wrote, and what outcomes are computed from."""

from functools import cached_property

import numpy as np

from netcarlo.kernels.base.layout import ENDLESS, FOREVER, NS, PATHS, Failover, Messages, Out, P, Queues, Rows
from netcarlo.networks.output import Output
from netcarlo.networks.path.varying import reordered
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors, seconds

ENDS = (
    Out.RECEIVED, Out.DISCARDED, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED,
    Out.DROPS_HANDOVER, Out.DROPS_BUFFER,
)  # fmt: skip
"""What can become of a data packet, or of a copy of one, that is not on its way any more."""


class PathOutput(Output):
    """What a kernel of paths wrote for rows [n]."""

    parts = {Queues: "queues", Failover: "failover", Messages: "messages"}
    rows: Rows

    @cached_property
    def completed(self) -> Bools:
        """Whether a finite transfer has arrived in full."""
        return self[Out.COMPLETED] >= 0

    @property
    def observed(self) -> Ints:
        """Time from the start of the flow to the end of the run [ns]."""
        return self.p[:, P.END] - self.p[:, P.START]

    @cached_property
    def active_s(self) -> Floats:
        """Time from the start of the flow to its completion, or to the end of the run [s]."""
        done = self[Out.COMPLETED] - self.p[:, P.START]
        return np.asarray(np.where(self.completed, done, self.observed) / NS)

    @cached_property
    def short_bits(self) -> Floats:
        """What the last packets of a transfer and of messages lack of whole ones [bit]."""
        of_transfer = np.where(self.completed, 8.0 * self.p[:, P.SHORT], 0.0)
        return of_transfer + 8.0 * self.short_messages

    @property
    def short_messages(self) -> Ints | int:
        """What the last packets of messages that arrived lack of whole ones [byte]."""
        return self[Messages.SHORT] if self.writes_messages().any() else 0

    def goodput_bps(self) -> Floats:
        """New payload over the active time."""
        useful = np.where(self.p[:, P.INTERVAL] > 0, self[Out.DELIVERED], self[Out.IN_ORDER])
        return (useful * self.p[:, P.DATA] * 8.0 - self.short_bits) / self.active_s

    def throughput_bps(self) -> Floats:
        """All that arrived, with headers, over the active time."""
        p = self.p
        wire_bits = 8.0 * (p[:, P.DATA] + p[:, P.CHUNK_HEADER] + p[:, P.HEADER])
        return (self[Out.RECEIVED] * wire_bits - self.short_bits) / self.active_s

    def restart_s(self) -> Floats:
        """From the end of the first outage to the sending of the first packet that arrives after it began."""
        return seconds(self[Out.RESUME_TX]) - first_outage_end_s(self.rows)

    def silence_s(self) -> Floats:
        """The longest time between two arrivals; NaN without two of them."""
        return divisors(self[Out.SILENCE]) / NS

    # Conditions.

    def mobile(self) -> Bools:
        """Whether the host is mobile."""
        return self.p[:, P.HANDOVER] > 0

    def two_paths(self) -> Bools:
        """Whether the association has two paths."""
        return np.asarray(self.p[:, P.N_PATHS] == PATHS)

    def answers(self) -> Bools:
        """Whether the receiver answers, so that the sender has a window and measures round-trip times."""
        return np.asarray(self.p[:, P.INTERVAL] == 0)

    def finite(self) -> Bools:
        """Whether the transfer has an end."""
        return self.p[:, P.LIMIT] < ENDLESS

    def breaks(self) -> Bools:
        """Whether the first path has an outage."""
        return ~np.isnan(first_outage_end_s(self.rows))

    def resumes(self) -> Bools:
        """Whether the first path has an outage or a handover."""
        return self.mobile() | self.breaks()

    def restarts(self) -> Bools:
        """Whether the first path of a fixed host has an outage."""
        return self.breaks() & ~self.mobile()

    def overtakes(self) -> Bools:
        """Whether packets may overtake each other."""
        return self.mobile() | reordered(self.rows)

    def falls_silent(self) -> Bools:
        """Whether the times between arrivals are measured."""
        return self.mobile() | self.two_paths()

    def writes_messages(self) -> Bools:
        """Whether an application writes messages."""
        return self.p[:, P.MESSAGES] > 0

    def queues(self) -> Bools:
        """Whether the model measures queues."""
        return self.p[:, P.QUEUES] > 0


def first_outage_end_s(rows: Rows) -> Floats:
    """End of the earliest outage on path 0, float64[n] in seconds; NaN without one."""
    outages = rows.outages[:, 0].reshape(len(rows.outages), -1, 2)
    first = outages[:, :, 0].argmin(axis=1)
    start, end = outages[np.arange(len(outages)), first].T
    return np.where(start < FOREVER, end / NS, np.nan)
