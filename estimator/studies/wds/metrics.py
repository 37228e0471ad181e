"""Metrics of the study of TCP and UDP over an 802.11g wireless distribution system."""

from collections.abc import Callable

import numpy as np

from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.wireless.layout import FlowOut, NodeOut
from netcarlo.studies.cells import NS, Cell, Samples


def udp(cell: Cell) -> bool:
    """True where datagrams are sent."""
    return str(cell["protocol"]).startswith("udp")


def wireless(cell: Cell) -> bool:
    """True of the radio network, False of the wire beside it."""
    return cell.scenario.wireless is not None


def completion(cell: Cell) -> Samples:
    """From the start, time 0, to the arrival of the last missing byte of the 100 MiB [s]; TCP only."""
    done = cell.flow(FlowOut.COMPLETED) if wireless(cell) else cell.out(Out.COMPLETED)
    return np.where(done >= 0, done * NS, np.nan)


def source(cell: Cell) -> Samples:
    """From the start until the source has put out the last byte of the 100 MiB [s]."""
    return cell.flow(FlowOut.SOURCE_DONE) * NS


def sending(cell: Cell) -> Samples:
    """What the paper times: TCP until all has arrived, UDP until the source is done [s]."""
    if not udp(cell):
        return completion(cell)
    return source(cell) if wireless(cell) else cell.outcome("completion_s")


def throughput(cell: Cell) -> Samples:
    """Payload that arrived over the time of the transfer [Mbit/s]."""
    return cell.outcome("delivered") * payload(cell) * 8e-6 / sending(cell)


def payload(cell: Cell) -> int:
    """Payload of a packet [byte]."""
    return int(cell.scenario.transport.payload)  # type: ignore[arg-type]


def loss(cell: Cell) -> Samples:
    """Datagrams that did not arrive, of those put out [%]; NaN for TCP, which repeats them."""
    if not udp(cell):
        return np.full(len(cell.outcomes), np.nan)
    return 100 * (1 - cell.outcome("delivered") / cell.outcome("sent"))


def lost_at(*relays: int) -> Callable[[Cell], Samples]:
    """Packets dropped at some nodes of the way, the sender is 0, of those put out [%]."""

    def metric(cell: Cell) -> Samples:
        if not wireless(cell):
            return np.zeros(len(cell.outcomes))
        nodes = cell.node(NodeOut.DROPS) + cell.node(NodeOut.RETRY_DROPS)
        along = nodes if cell["direction"] == "up" else nodes[:, ::-1]
        passed = [k for k in relays if k < along.shape[1] - 1]
        return np.asarray(100 * along[:, passed].sum(axis=1) / cell.flow(FlowOut.SENT))

    return metric


def failed(cell: Cell) -> Samples:
    """Transmissions of data frames that were not acknowledged [%]."""
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
"""Metric of a cell -> its values, one per replication."""
