"""Metrics of the study of TCP and UDP over an 802.11g wireless distribution system."""

from collections.abc import Callable

import numpy as np

from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut
from netcarlo.studies.cells import NS, Cell, Samples


def udp(cell: Cell) -> bool:
    """Return True if the cell has UDP."""
    return str(cell["protocol"]).startswith("udp")


def wireless(cell: Cell) -> bool:
    """Return True for the radio network, False for the wired one."""
    return cell.scenario.wireless is not None


def completion(cell: Cell) -> Samples:
    """Return the time at which all of the 100 MiB have arrived [s]; for TCP only."""
    done = cell.flow(FlowOut.COMPLETED) if wireless(cell) else cell.out(Out.COMPLETED)
    return np.where(done >= 0, done * NS, np.nan)


def source(cell: Cell) -> Samples:
    """Return the time at which the source has sent the last byte of the 100 MiB [s]."""
    return cell.flow(FlowOut.SOURCE_DONE) * NS


def sending(cell: Cell) -> Samples:
    """Return the transfer time of the paper: for TCP until all has arrived, for UDP until all has been sent
    [s]."""
    if not udp(cell):
        return completion(cell)
    return source(cell) if wireless(cell) else cell.outcome("completion_s")


def throughput(cell: Cell) -> Samples:
    """Return the delivered payload over the transfer time [Mbit/s]."""
    return cell.outcome("delivered") * payload(cell) * 8e-6 / sending(cell)


def payload(cell: Cell) -> int:
    """Return the payload of a packet [byte]."""
    return int(cell.scenario.transport.payload)  # type: ignore[arg-type]


def loss(cell: Cell) -> Samples:
    """Return the fraction of sent datagrams that did not arrive [%]; NaN for TCP, which retransmits."""
    if not udp(cell):
        return np.full(len(cell.outcomes), np.nan)
    return 100 * (1 - cell.outcome("delivered") / cell.outcome("sent"))


def lost_at(*relays: int) -> Callable[[Cell], Samples]:
    """Return a metric: packets dropped at some nodes of the path (0 is the sender), of the packets sent
    [%]."""

    def metric(cell: Cell) -> Samples:
        if not wireless(cell):
            return np.zeros(len(cell.outcomes))
        nodes = cell.node(NodeOut.DROPS) + cell.node(NodeOut.RETRY_DROPS)
        along = nodes if cell["direction"] == "up" else nodes[:, ::-1]
        passed = [k for k in relays if k < along.shape[1] - 1]
        return np.asarray(100 * along[:, passed].sum(axis=1) / cell.flow(FlowOut.SENT))

    return metric


def failed(cell: Cell) -> Samples:
    """Return the fraction of transmissions of data frames that were not acknowledged [%]."""
    if not wireless(cell):
        return np.zeros(len(cell.outcomes))
    attempts = cell.node(NodeOut.ATTEMPTS).sum(axis=1)
    return np.asarray(100 * cell.node(NodeOut.FAILED).sum(axis=1) / attempts)


METRICS: dict[str, Callable[[Cell], Samples]] = {
    "throughput": throughput,
    "loss_percent": loss,
    "transfer_time": sending,
    "lost_at_sender": lost_at(0),
    "lost_at_first_relay": lost_at(1),
    "lost_later": lost_at(2, 3),
    "failed_percent": failed,
}
"""Metrics by name: functions that return the values in a cell, one per replication."""
