"""Output of the kernels of paths, from which outcomes are computed."""

from functools import cached_property

import numpy as np

from netcarlo.kernels.base.layout import (
    ENDLESS,
    FOREVER,
    NS,
    PATHS,
    WITH_SUBFLOWS,
    Failover,
    FurtherSubflows,
    Messages,
    Out,
    Queues,
    Rows,
    Subflows,
)
from netcarlo.kernels.base.parameters import LinuxP, MobileP, MptcpP, RowP, SctpP, UdpP
from netcarlo.networks.output import Output
from netcarlo.networks.path.varying import reordered
from netcarlo.numerics.arrays import Bools, Floats, Ints, divisors, seconds

ENDS = (
    Out.RECEIVED, Out.DISCARDED, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED,
    Out.DROPS_HANDOVER, Out.DROPS_BUFFER,
)  # fmt: skip
"""Columns that count data packets, or copies of them, that are no longer in flight."""


class PathOutput(Output):
    """Output of a kernel of paths for rows [n]."""

    parts = {
        Queues: "queues", Failover: "failover", Subflows: "subflows", FurtherSubflows: "further_subflows",
        Messages: "messages",
    }  # fmt: skip
    rows: Rows

    @cached_property
    def completed(self) -> Bools:
        """True where a finite transfer has arrived completely [n]."""
        return self[Out.COMPLETED] >= 0

    @property
    def observed(self) -> Ints:
        """Time from the start of the flow to the end of the run [ns]."""
        return self.p[:, RowP.END] - self.p[:, RowP.START]

    @cached_property
    def active_s(self) -> Floats:
        """Time from the start of the flow to its completion, or to the end of the run [s]."""
        done = self[Out.COMPLETED] - self.p[:, RowP.START]
        return np.asarray(np.where(self.completed, done, self.observed) / NS)

    @cached_property
    def short_bits(self) -> Floats:
        """Payload by which the last packets of a transfer and of messages are short [bit]."""
        of_transfer = np.where(self.completed, 8.0 * self.p[:, RowP.SHORT], 0.0)
        return of_transfer + 8.0 * self.short_messages

    @property
    def short_messages(self) -> Ints | int:
        """Payload by which the last packets of arrived messages are short [byte]."""
        return self[Messages.SHORT] if self.writes_messages().any() else 0

    def goodput_bps(self) -> Floats:
        """Return the new payload over the active time [bit/s]."""
        useful = np.where(self.p[:, UdpP.INTERVAL] > 0, self[Out.DELIVERED], self[Out.IN_ORDER])
        return (useful * self.p[:, RowP.DATA] * 8.0 - self.short_bits) / self.active_s

    def subflow_bps(self, path: int) -> Floats:
        """Return the payload that a path's subflow was first to deliver, over the active time [bit/s]."""
        if path < PATHS:
            of_path = self.table(Subflows)[:, 0, Subflows.DELIVERED + path]
        else:
            of_path = self.table(FurtherSubflows)[:, 0, FurtherSubflows.DELIVERED + path - PATHS]
        return of_path * self.p[:, RowP.DATA] * 8.0 / self.active_s

    def throughput_bps(self) -> Floats:
        """Return all arrived packets, headers included, over the active time [bit/s]."""
        p = self.p
        wire_bits = 8.0 * (p[:, RowP.DATA] + p[:, RowP.CHUNK_HEADER] + p[:, RowP.HEADER])
        return (self[Out.RECEIVED] * wire_bits - self.short_bits) / self.active_s

    def restart_s(self) -> Floats:
        """Return the time from the end of the first outage to the sending of the first packet that arrives
        after its start [s]."""
        return seconds(self[Out.RESUME_TX]) - first_outage_end_s(self.rows)

    def silence_s(self) -> Floats:
        """Return the longest time between two arrivals [s]; NaN with fewer than two."""
        return divisors(self[Out.SILENCE]) / NS

    # Conditions.

    def mobile(self) -> Bools:
        """Return True where the host is mobile."""
        return self.p[:, MobileP.HANDOVER] > 0

    def two_paths(self) -> Bools:
        """Return True where the association has two paths."""
        return np.asarray((self.p[:, SctpP.N_PATHS] == PATHS) & ~self.subflows())

    def answers(self) -> Bools:
        """Return True where the receiver sends acknowledgements, so that there is a window and RTT
        measurements."""
        return np.asarray(self.p[:, UdpP.INTERVAL] == 0)

    def finite(self) -> Bools:
        """Return True where the transfer is finite."""
        return self.p[:, RowP.LIMIT] < ENDLESS

    def breaks(self) -> Bools:
        """Return True where the first path has an outage."""
        return ~np.isnan(first_outage_end_s(self.rows))

    def resumes(self) -> Bools:
        """Return True where the first path has an outage or a handover."""
        return self.mobile() | self.breaks()

    def restarts(self) -> Bools:
        """Return True where the first path leads to a fixed host and has an outage."""
        return self.breaks() & ~self.mobile()

    def overtakes(self) -> Bools:
        """Return True where packets can overtake each other."""
        return self.mobile() | reordered(self.rows)

    def falls_silent(self) -> Bools:
        """Return True where the times between arrivals are measured."""
        return self.mobile() | self.two_paths() | self.subflows()

    def subflows(self) -> Bools:
        """Return True where the connection has subflows."""
        found: Bools = self.p[:, RowP.QUEUES] == WITH_SUBFLOWS
        return found

    def three_subflows(self) -> Bools:
        """Return True where the connection has three subflows or more."""
        return self.subflows() & (self.p[:, MptcpP.SUBFLOWS] > 2)

    def four_subflows(self) -> Bools:
        """Return True where the connection has four subflows."""
        return self.subflows() & (self.p[:, MptcpP.SUBFLOWS] > 3)

    def writes_messages(self) -> Bools:
        """Return True where the application sends messages."""
        return self.p[:, LinuxP.MESSAGES] > 0

    def queues(self) -> Bools:
        """Return True where the model measures queues."""
        found: Bools = self.p[:, RowP.QUEUES] == 1
        return found


def first_outage_end_s(rows: Rows) -> Floats:
    """Return the end of the earliest outage on path 0, float64[n] [s]; NaN without outages."""
    outages = rows.outages[:, 0].reshape(len(rows.outages), -1, 2)
    first = outages[:, :, 0].argmin(axis=1)
    start, end = outages[np.arange(len(outages)), first].T
    return np.where(start < FOREVER, end / NS, np.nan)
