"""What came of a path: the integers of its kernels by name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import FOREVER, NS, PATHS, Failover, Out, P, Queues, Rows
from netcarlo.kernels.base.rows import split
from netcarlo.networks.outcome import ANY, LESS, MORE, NEITHER, Outcome
from netcarlo.networks.path import messages
from netcarlo.networks.path.varying import reordered
from netcarlo.numerics.arrays import divisors, seconds

COUNTS = {
    "delivered": Out.DELIVERED,
    "in_order": Out.IN_ORDER,
    "received": Out.RECEIVED,
    "acked": Out.ACKED,
    "sent": Out.SENT,
    "retransmitted": Out.RETRANSMITTED,
    "sent_alternate": Out.SENT_ALTERNATE,
    "timeouts": Out.TIMEOUTS,
    "fast_retransmits": Out.FAST_RETRANSMITS,
    "cwnd_reductions": Out.CWND_CUTS,
    "drops_queue": Out.DROPS_QUEUE,
    "drops_random": Out.DROPS_RANDOM,
    "drops_outage": Out.DROPS_OUTAGE,
    "destroyed": Out.DESTROYED,
    "ack_drops": Out.ACK_DROPS,
    "handshakes": Out.HANDSHAKES,
}

ENDS = [
    Out.RECEIVED, Out.DISCARDED, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE, Out.DESTROYED,
    Out.DROPS_HANDOVER, Out.DROPS_BUFFER,
]  # fmt: skip
"""What can become of a data packet, or of a copy of one, that is not on its way any more."""

TIMES = {
    "first_delivery_s": Out.FIRST_RX,
    "last_delivery_s": Out.LAST_RX,
    "resume_tx_s": Out.RESUME_TX,
    "resume_rx_s": Out.RESUME_RX,
}

MOBILE = {
    "handovers": Out.HANDOVERS,
    "prepared": Out.PREPARED,
    "false_alarms": Out.FALSE_ALARMS,
    "lost_in_handover": Out.DROPS_HANDOVER,
    "lost_in_buffer": Out.DROPS_BUFFER,
    "buffered": Out.BUFFERED,
    "tunnelled": Out.TUNNELLED,
    "copies": Out.COPIES,
    "discarded": Out.DISCARDED,
    "reordered": Out.REORDERED,
}

OUTCOMES = (
    Outcome(
        "goodput_bps",
        MORE,
        "payload delivered in order, of UDP all that is delivered, over the time from start to end, or to "
        "completion",
    ),
    Outcome(
        "throughput_bps",
        MORE,
        "arriving data packets, headers and duplicates included, over the same time",
    ),
    Outcome("delivered", MORE, "distinct data packets that arrived", label="delivered packets"),
    Outcome(
        "in_order",
        MORE,
        "data packets that arrived with none missing before them; none of UDP",
        label="packets in order",
    ),
    Outcome("received", MORE, "data packets that arrived, duplicates included", label="received packets"),
    Outcome(
        "acked", MORE, "data packets cumulatively acknowledged at the sender", label="acknowledged packets"
    ),
    Outcome("sent", NEITHER, "data packets put out, retransmissions included", label="sent packets"),
    Outcome("retransmitted", LESS, "data packets put out again", label="retransmissions"),
    Outcome(
        "sent_alternate",
        NEITHER,
        "data packets put out on the second path",
        label="packets sent on the second path",
    ),
    Outcome("timeouts", LESS, "retransmission timeouts of data"),
    Outcome("fast_retransmits", LESS, "fast retransmits"),
    Outcome("cwnd_reductions", LESS, "timeouts and entered recoveries", label="window reductions"),
    Outcome("drops_queue", LESS, "data packets dropped by a full queue", label="queue drops"),
    Outcome("drops_random", LESS, "data packets lost at random", label="random losses"),
    Outcome("drops_outage", LESS, "data packets handed to a hop that was down", label="outage drops"),
    Outcome(
        "destroyed",
        LESS,
        "data packets destroyed in queue or on the wire when a hop went down",
        label="destroyed packets",
    ),
    Outcome("ack_drops", LESS, "acknowledgements lost, all causes", label="lost ACKs"),
    Outcome("handshakes", NEITHER, "SYNs put out"),
    Outcome("in_flight", NEITHER, "data packets on their way at the end", label="packets in flight"),
    Outcome("first_delivery_s", LESS, "first arrival of data, warm-up included"),
    Outcome("last_delivery_s", NEITHER, "last arrival of data, warm-up included"),
    Outcome(
        "resume_tx_s",
        LESS,
        "sending time of the first data packet that arrives after the first outage or handover began; a "
        "single retransmission counts: failover_s says when new data take the second path",
    ),
    Outcome(
        "resume_rx_s",
        LESS,
        "arrival of the first data packet after the first outage or handover began; a single retransmission "
        "counts, as for resume_tx_s",
    ),
    Outcome(
        "restart_s",
        LESS,
        "resume_tx_s minus the end of the first outage; negative if data arrived before the outage ended, as "
        "over a second path (see failover_s then); none for mobile hosts",
        ANY,
    ),
    Outcome(
        "failover_s",
        LESS,
        "SCTP over two paths: time from the last SACK before a path fell silent until path_max_retrans was "
        "exceeded and new data took the other path; the longest of the run, none without a failover",
        label="failover time",
    ),
    Outcome(
        "completion_s",
        LESS,
        "from the start to the arrival of the last missing packet of a finite transfer, warm-up included",
    ),
    Outcome("mean_cwnd_packets", NEITHER, "mean of the sampled min(cwnd, window)", label="mean cwnd"),
    Outcome("mean_rtt_s", LESS, "mean of the sampled latest RTT measurements", label="mean RTT"),
    Outcome("handovers", NEITHER, "handovers begun, false alarms not counted"),
    Outcome("prepared", NEITHER, "handovers prepared before the link went down", label="prepared handovers"),
    Outcome("false_alarms", LESS, "handovers that were expected and did not come"),
    Outcome(
        "lost_in_handover",
        LESS,
        "data packets lost at an access router, or in the air, that the host had left",
        label="packets lost in handovers",
    ),
    Outcome(
        "lost_in_buffer",
        LESS,
        "data packets that found the buffer of an access router full",
        label="packets lost in buffers",
    ),
    Outcome(
        "buffered",
        NEITHER,
        "data packets that waited in the buffer of an access router",
        label="buffered packets",
    ),
    Outcome(
        "tunnelled",
        NEITHER,
        "data packets that a router sent on to the next access router",
        label="tunnelled packets",
    ),
    Outcome("copies", NEITHER, "copies of data packets made on the way", label="copies on the way"),
    Outcome(
        "discarded",
        NEITHER,
        "data packets and copies thrown away because the other one arrives",
        label="packets discarded",
    ),
    Outcome(
        "reordered", LESS, "data packets that arrived after one put out later", label="reordered packets"
    ),
    Outcome(
        "longest_silence_s",
        LESS,
        "longest time between two arrivals of data, retransmissions included; of mobile hosts, and of SCTP "
        "over two paths",
    ),
    *messages.OUTCOMES,
)
"""Outcomes of a path, which other networks have as well, and those of mobile hosts."""


def named(integers: NDArray[np.int64], rows: Rows) -> dict[str, Any]:
    """The outcomes of rows [n] by name, [n] each."""
    p = rows.parameters
    observed = p[:, P.END] - p[:, P.START]
    completed = integers[:, Out.COMPLETED] >= 0
    active_s = np.where(completed, integers[:, Out.COMPLETED] - p[:, P.START], observed) / NS
    wire_bits = 8.0 * (p[:, P.DATA] + p[:, P.CHUNK_HEADER] + p[:, P.HEADER])
    values: dict[str, Any] = {
        **{name: integers[:, column] for name, column in COUNTS.items()},
        **{name: seconds(integers[:, column]) for name, column in TIMES.items()},
    }
    useful = np.where(p[:, P.INTERVAL] > 0, values["delivered"], values["in_order"])
    short_bits = np.where(completed, 8.0 * p[:, P.SHORT], 0.0)  # of the last packet, or of those of messages
    short_bits += 8.0 * messages.short(integers, rows)
    values["goodput_bps"] = (useful * p[:, P.DATA] * 8.0 - short_bits) / active_s
    values["throughput_bps"] = (values["received"] * wire_bits - short_bits) / active_s
    values["in_flight"] = integers[:, [Out.SENT, Out.COPIES]].sum(axis=1) - integers[:, ENDS].sum(axis=1)
    mobile = p[:, P.HANDOVER] > 0
    values["restart_s"] = np.where(mobile, np.nan, values["resume_tx_s"] - first_outage_end_s(rows))
    for name, column in MOBILE.items():
        known = mobile | reordered(rows) if column == Out.REORDERED else mobile
        values[name] = integers[:, column] if known.all() else np.where(known, integers[:, column], np.nan)
    two = p[:, P.N_PATHS] == PATHS
    values["failover_s"] = np.full(len(p), np.nan)
    if two.any():
        longest = seconds(split(integers, rows)["failover"][:, 0, Failover.LONGEST])
        values["failover_s"] = np.where(two, longest, np.nan)
    silence = integers[:, Out.SILENCE]
    values["longest_silence_s"] = np.where((mobile | two) & (silence > 0), silence / NS, np.nan)
    values["completion_s"] = np.where(completed, active_s, np.nan)
    cwnd, rtt = (
        integers[:, low] + integers[:, high] * 2.0**63  # sums of two words (`kernels.sums`)
        for low, high in ((Out.CWND_SUM, Out.CWND_SUM_HIGH), (Out.RTT_SUM, Out.RTT_SUM_HIGH))
    )
    values["mean_cwnd_packets"] = cwnd / 1024.0 / divisors(integers[:, Out.SAMPLES])
    values["mean_rtt_s"] = rtt / NS / divisors(integers[:, Out.RTT_SAMPLES])
    values |= messages.named(integers, rows)
    if integers.shape[1] > len(Out) and p[:, P.QUEUES].any():
        held = integers[:, len(Out) + Queues.HELD] + integers[:, len(Out) + Queues.HELD_HIGH] * 2.0**63
        values["mean_queue"] = held / observed
    return values


def first_outage_end_s(rows: Rows) -> NDArray[np.float64]:
    """End of the earliest outage on path 0, float64[n] in seconds; NaN without one."""
    outages = rows.outages[:, 0].reshape(len(rows.outages), -1, 2)
    first = outages[:, :, 0].argmin(axis=1)
    start, end = outages[np.arange(len(outages)), first].T
    return np.where(start < FOREVER, end / NS, np.nan)
