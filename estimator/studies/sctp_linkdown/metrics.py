"""Metrics of the study of SCTP and TCP over links that go down (Y.-W. Choi and Y.-J. Lee, in Korean).

The paper counts distinct packets with all of their 1500 bytes, and subtracts a fixed start-up time from the
duration. Its bandwidth utilisation is byte/s over bit/s, so it is 0.125 for a full link.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_HEARTBEAT_ACK,
    EVENT_HEARTBEAT_RECEIVE,
    EVENT_RECEIVE,
    EVENT_SEND,
    Out,
    Trace,
)
from netcarlo.kernels.base.parameters import RowP, SctpP
from netcarlo.kernels.sctp.state import RECEIVER
from netcarlo.studies.cells import Cell, Samples

PACKET = 1500
"""Size of a packet [byte]."""
START_UP_S = {"tcp": 1.12, "sctp_single": 1.5, "sctp_multi": 1.5}
"""Start-up time that the paper subtracts, by protocol [s]."""
DOWN_S = 50.0
"""Time at which the link goes down [s]."""

Events = NDArray[np.float64]
"""Events of a trace, [events, len(Trace)]."""


def throughput(cell: Cell) -> Samples:
    """Return distinct received packets, times 1500 byte, over the duration without start-up [byte/s]."""
    delta_s: float = cell["sim_time_s"] - START_UP_S[cell["protocol"]]
    return cell.out(Out.DELIVERED) * PACKET / delta_s


def utilisation(cell: Cell) -> Samples:
    """Return throughput [byte/s] over bandwidth [bit/s]."""
    bandwidth_bps: float = cell["bandwidth_mbps"] * 1e6
    return throughput(cell) / bandwidth_bps


def destroyed(cell: Cell) -> Samples:
    """Return the number of data packets in the queue or on the link when it goes down."""
    return cell.out(Out.DESTROYED)


def resumed(column: Out, *, since_s: float = 0.0, link_up: bool = False) -> Callable[[Cell], Samples]:
    """Return a metric: the time of the first successful transmission after the outage began [s].

    The time is counted from `since_s`, or from link-up.
    """

    def metric(cell: Cell) -> Samples:
        return cell.time(column) - (DOWN_S + cell["link_down_s"] if link_up else since_s)

    return metric


def outage_s(cell: Cell) -> float:
    """Return the time at which the link goes down [s]."""
    return float(cell.conditions.get("moment", DOWN_S))


def silence(cell: Cell) -> Samples:
    """Return the time from link-down to the transmission of the first packet that arrives again [s]."""
    return cell.time(Out.RESUME_TX) - outage_s(cell)


def window_at_outage(cell: Cell) -> Samples:
    """Return the window when the link goes down, limited by the receiver's window [packets]."""
    tcp = cell["protocol"] == "tcp"
    most = cell.parameter(RowP.WINDOW) if tcp else cell.parameter(SctpP.RWND) // window_bytes(cell)
    kinds = (EVENT_SEND, EVENT_ACK)

    def metric(events: Events) -> float:
        before = events[np.isin(events[:, Trace.EVENT], kinds) & (events[:, Trace.TIME] < outage_s(cell))]
        return min(float(before[-1, Trace.CWND]), most)

    return cell.per_trace(metric, replications=1)


def window_bytes(cell: Cell) -> float:
    """Return the bytes of one packet in the congestion window; for SCTP they include the chunk header."""
    return cell.parameter(RowP.DATA) + (0 if cell["protocol"] == "tcp" else cell.parameter(RowP.CHUNK_HEADER))


def cwnd_at_5s(cell: Cell) -> Samples:
    """Return the congestion window at 5 s [byte]."""

    def metric(events: Events) -> float:
        return float(events[events[:, Trace.TIME] <= 5.0][-1, Trace.CWND])

    return cell.per_trace(metric) * window_bytes(cell)


def cwnd_reaches_ssthresh(cell: Cell) -> Samples:
    """Return the time at which the congestion window first reaches the slow-start threshold [s]."""

    def metric(events: Events) -> float:
        reached = events[:, Trace.CWND] >= events[:, Trace.SSTHRESH]
        return float(events[np.argmax(reached), Trace.TIME]) if reached.any() else np.nan

    return cell.per_trace(metric)


def before_down(column: Trace, event: int) -> Callable[[Cell], Samples]:
    """Return a metric: a column of the last event of some kind before the link goes down."""

    def metric(events: Events) -> float:
        return float(events[(events[:, Trace.EVENT] == event) & (events[:, Trace.TIME] < DOWN_S)][-1, column])

    return lambda cell: cell.per_trace(metric)


def highest_sent(events: Events) -> float:
    """Return the highest sequence number sent before the link goes down."""
    sent = events[(events[:, Trace.EVENT] == EVENT_SEND) & (events[:, Trace.TIME] < DOWN_S)]
    return float(sent[:, Trace.SEQUENCE].max())


def first_resent(events: Events) -> float:
    """Return the sequence number of the first packet sent after the link went down."""
    sent = events[(events[:, Trace.EVENT] == EVENT_SEND) & (events[:, Trace.TIME] > DOWN_S)]
    return float(sent[0, Trace.SEQUENCE])


def dequeued_last(cell: Cell) -> Samples:
    """Return the sequence number of the last packet whose transmission began before the link goes down."""
    tx_s = PACKET * 8 / (cell["bandwidth_mbps"] * 1e6)

    def metric(events: Events) -> float:
        free_s, last = 0.0, np.nan
        for event in events[events[:, Trace.EVENT] == EVENT_SEND]:
            start_s = max(event[Trace.TIME], free_s)
            if start_s >= DOWN_S:
                break
            free_s, last = start_s + tx_s, event[Trace.SEQUENCE]
        return float(last)

    return cell.per_trace(metric)


def received(tsn: int) -> Callable[[Cell], Samples]:
    """Return a metric: the arrival time of a data packet [s]."""
    return _first(EVENT_RECEIVE, Trace.SEQUENCE, tsn)


def acknowledged(tsn: int) -> Callable[[Cell], Samples]:
    """Return a metric: the arrival time of the first acknowledgement of a data packet [s]."""
    return _first(EVENT_ACK, Trace.ACKED, tsn)


def _first(event: int, column: Trace, number: int) -> Callable[[Cell], Samples]:
    def metric(events: Events) -> float:
        found = events[(events[:, Trace.EVENT] == event) & (events[:, column] >= number)]
        return float(found[0, Trace.TIME]) if len(found) else np.nan

    return lambda cell: cell.per_trace(metric)


def heartbeat(event: int) -> Callable[[Cell], Samples]:
    """Return a metric: the arrival time of the receiver's first heartbeat after link-up, or of its answer
    [s]."""

    def metric(cell: Cell) -> Samples:
        return cell.per_trace(lambda events: probe(events, event, cell)[Trace.TIME])

    return metric


def heartbeat_path(cell: Cell) -> Samples:
    """Return the path of the receiver's first heartbeat after link-up: 0 primary, 1 alternate."""
    return cell.per_trace(lambda events: probe(events, EVENT_HEARTBEAT_RECEIVE, cell)[Trace.PATH])


def probe(events: Events, event: int, cell: Cell) -> Events:
    """Return the row of the receiver's first heartbeat event after link-up; NaN if there is none."""
    mine = (events[:, Trace.EVENT] == event) & (events[:, Trace.SEQUENCE] == RECEIVER)
    found = events[mine & (events[:, Trace.TIME] > DOWN_S + cell["link_down_s"])]
    return found[0] if len(found) else np.full(len(Trace), np.nan)


METRICS: dict[str, Callable[[Cell], Samples]] = {
    "throughput": throughput,
    "throughput_approx": throughput,
    "utilisation": utilisation,
    "cwnd_at_5s_approx": cwnd_at_5s,
    "time_cwnd_reaches_ssthresh": cwnd_reaches_ssthresh,
    "packets_lost_at_link_down": destroyed,
    "retransmission_sent_after_link_up": resumed(Out.RESUME_TX, link_up=True),
    "retransmission_received_after_link_up": resumed(Out.RESUME_RX, link_up=True),
    "retransmission_sent_after_link_down": resumed(Out.RESUME_TX, since_s=DOWN_S),
    "retransmission_received_after_link_down": resumed(Out.RESUME_RX, since_s=DOWN_S),
    "retransmission_enqueued": resumed(Out.RESUME_TX),
    "retransmission_received": resumed(Out.RESUME_RX),
    "retransmission_enqueued_alternate_path": resumed(Out.RESUME_TX),
    "retransmission_received_alternate_path": resumed(Out.RESUME_RX),
    "last_ack_before_down": before_down(Trace.TIME, EVENT_ACK),
    "last_sack_before_down": before_down(Trace.TIME, EVENT_ACK),
    "last_acked_seq": before_down(Trace.ACKED, EVENT_ACK),
    "last_cum_tsn_before_down": before_down(Trace.ACKED, EVENT_ACK),
    "highest_seq_sent_before_down": lambda cell: cell.per_trace(highest_sent),
    "highest_tsn_sent_before_down": lambda cell: cell.per_trace(highest_sent),
    "retransmitted_seq": lambda cell: cell.per_trace(first_resent),
    "retransmitted_tsn": lambda cell: cell.per_trace(first_resent),
    "seq_dequeued_just_before_down": dequeued_last,
    "tsn2412_received": received(2412),
    "sack2404_received": acknowledged(2404),
    "tsn2448_received": received(2448),
    "tsn2449_received": received(2449),
    "heartbeat_received": heartbeat(EVENT_HEARTBEAT_RECEIVE),
    "heartbeat_ack_received": heartbeat(EVENT_HEARTBEAT_ACK),
}
"""Metrics by name: functions that return the values in a cell, one per replication (from traces: of the first
ones)."""
