"""Outcomes of a path."""

import numpy as np

from netcarlo.kernels.base.layout import NS, Failover, Out, Queues, Subflows
from netcarlo.networks.causes import Fields, Lost, acknowledgements
from netcarlo.networks.outcome import ANY, LESS, MORE, NEITHER, Otherwise, Outcome, same
from netcarlo.networks.output import Seconds
from netcarlo.networks.path import messages
from netcarlo.networks.path.output import ENDS, PathOutput
from netcarlo.numerics.arrays import divisors

RANDOM = Fields("loss", "bursts", "trace", "policer", "red", "signalling_loss", "outages")
"""Causes of data packets lost at random."""
INTERRUPTIONS = Fields("outages", "mobility", "trace")
"""Causes of times at which a hop is down."""

OUTCOMES = (
    Outcome(
        "goodput_bps", PathOutput.goodput_bps, MORE, "payload delivered in order, of UDP all that is "
        "delivered, over the time from start to end, or to completion",
    ),
    Outcome(
        "throughput_bps", PathOutput.throughput_bps, MORE, "arriving data packets, headers and duplicates "
        "included, over the same time",
    ),
    Outcome(
        "delivered", Out.DELIVERED, MORE, "distinct data packets that arrived", label="delivered packets",
    ),
    Outcome(
        "in_order", Out.IN_ORDER, MORE, "data packets that arrived with none missing before them; not for "
        "UDP", label="packets in order",
        cause=acknowledgements,
    ),
    Outcome(
        "received", Out.RECEIVED, MORE, "data packets that arrived, duplicates included",
        label="received packets",
    ),
    Outcome(
        "acked", Out.ACKED, MORE, "data packets cumulatively acknowledged at the sender",
        label="acknowledged packets",
        cause=acknowledgements,
    ),
    Outcome(
        "sent", Out.SENT, NEITHER, "data packets sent, retransmissions included", label="sent packets",
    ),
    Outcome(
        "retransmitted", Out.RETRANSMITTED, LESS, "retransmitted data packets", label="retransmissions",
        cause=acknowledgements,
    ),
    Outcome(
        "sent_alternate", Out.SENT_ALTERNATE, NEITHER, "data packets sent on paths other than the first",
        label="packets sent on other paths",
        cause=Fields("paths.1"),
    ),
    Outcome(
        "timeouts", Out.TIMEOUTS, LESS, "retransmission timeouts of data",
        cause=acknowledgements,
    ),
    Outcome(
        "fast_retransmits", Out.FAST_RETRANSMITS, LESS, "fast retransmits",
        cause=acknowledgements,
    ),
    Outcome(
        "cwnd_reductions", Out.CWND_CUTS, LESS, "timeouts and loss recoveries", label="window reductions",
        cause=acknowledgements,
    ),
    Outcome(
        "drops_queue", Out.DROPS_QUEUE, LESS, "data packets dropped by a full queue", label="queue drops",
        lost=Lost("in queues", "policer", "policers"),
    ),
    Outcome(
        "drops_random", Out.DROPS_RANDOM, LESS, "data packets lost at random", label="random losses",
        cause=RANDOM, lost=Lost("at random"),
    ),
    Outcome(
        "drops_outage", Out.DROPS_OUTAGE, LESS, "data packets that reached a hop that was down",
        label="outage drops",
        cause=INTERRUPTIONS, lost=Lost("in outages"),
    ),
    Outcome(
        "destroyed", Out.DESTROYED, LESS, "data packets destroyed in queue or on the wire when a hop went "
        "down", label="destroyed packets", fluid=False,
        cause=INTERRUPTIONS, lost=Lost("in outages"),
    ),
    Outcome(
        "ack_drops", Out.ACK_DROPS, LESS, "acknowledgements lost, all causes", label="lost ACKs", fluid=False,
        cause=acknowledgements,
    ),
    Outcome(
        "handshakes", Out.HANDSHAKES, NEITHER, "SYNs sent", fluid=False,
        cause=acknowledgements,
    ),
    Outcome(
        "in_flight", lambda out: out[Out.SENT, Out.COPIES] - out[ENDS], NEITHER,
        "data packets in flight at the end", label="packets in flight", fluid=False,
    ),
    Outcome(
        "first_delivery_s", Seconds(Out.FIRST_RX), LESS, "first arrival of data, warm-up included",
        fluid=False,
    ),
    Outcome(
        "last_delivery_s", Seconds(Out.LAST_RX), NEITHER, "last arrival of data, warm-up included",
        fluid=False,
    ),
    Outcome(
        "resume_tx_s", Seconds(Out.RESUME_TX), LESS, "sending time of the first data packet that arrives "
        "after the first outage or handover began; a single retransmission counts: failover_s says when new "
        "data take the second path", when=PathOutput.resumes, fluid=False,
    ),
    Outcome(
        "resume_rx_s", Seconds(Out.RESUME_RX), LESS, "arrival of the first data packet after the first "
        "outage or handover began; a single retransmission counts, as for resume_tx_s",
        when=PathOutput.resumes, fluid=False,
    ),
    Outcome(
        "restart_s", PathOutput.restart_s, LESS, "resume_tx_s minus the end of the first outage; negative "
        "if data arrived before the outage ended, as over a second path (see failover_s then); none for "
        "mobile hosts", ANY, when=PathOutput.restarts, fluid=False,
    ),
    Outcome(
        "failover_s", Seconds(Failover.LONGEST), LESS, "SCTP over two paths: time from the last SACK before "
        "a path fell silent until path_max_retrans, or pf_max_retrans, was exceeded and new data took the "
        "other path; QUIC over two paths: time from the last packet of the server until the client moved to "
        "the other path; the longest of the run, none without a failover", label="failover time",
        when=PathOutput.two_paths,
    ),
    Outcome(
        "completion_s", lambda out: np.where(out.completed, out.active_s, np.nan), LESS,
        "from the start to the arrival of the last missing packet of a finite transfer, warm-up included",
        when=PathOutput.finite,
    ),
    Outcome(
        "mean_cwnd_packets",
        lambda out: out.long(Out.CWND_SUM, Out.CWND_SUM_HIGH) / 1024.0 / divisors(out[Out.SAMPLES]), NEITHER,
        "mean of the sampled min(cwnd, window)", label="mean cwnd", when=PathOutput.answers,
    ),
    Outcome(
        "mean_rtt_s",
        lambda out: out.long(Out.RTT_SUM, Out.RTT_SUM_HIGH) / NS / divisors(out[Out.RTT_SAMPLES]), LESS,
        "mean of the RTT that the sender holds, sampled at regular intervals", label="mean RTT",
        when=PathOutput.answers,
    ),
    Outcome(
        "handovers", Out.HANDOVERS, NEITHER, "handovers started, without false alarms",
        when=PathOutput.mobile,
    ),
    Outcome(
        "prepared", Out.PREPARED, NEITHER, "handovers prepared before the link went down",
        label="prepared handovers", when=PathOutput.mobile,
    ),
    Outcome(
        "false_alarms", Out.FALSE_ALARMS, LESS, "anticipated handovers that did not occur",
        when=PathOutput.mobile,
        cause=Fields("false_alarm"),
    ),
    Outcome(
        "lost_in_handover", Out.DROPS_HANDOVER, LESS, "data packets lost at an access router, or in the "
        "air, that the host had left", label="packets lost in handovers", when=PathOutput.mobile,
        lost=Lost("in handovers"),
    ),
    Outcome(
        "lost_in_buffer", Out.DROPS_BUFFER, LESS, "data packets that found the buffer of an access router "
        "full", label="packets lost in buffers", when=PathOutput.mobile,
        lost=Lost("in buffers of access routers"),
    ),
    Outcome(
        "buffered", Out.BUFFERED, NEITHER, "data packets that waited in the buffer of an access router",
        label="buffered packets", when=PathOutput.mobile, fluid=False,
    ),
    Outcome(
        "tunnelled", Out.TUNNELLED, NEITHER, "data packets that a router forwarded to the next access router",
        label="tunnelled packets", when=PathOutput.mobile, fluid=False,
    ),
    Outcome(
        "copies", Out.COPIES, NEITHER, "copies of data packets made on the path", label="copies on the path",
        when=PathOutput.mobile, fluid=False,
    ),
    Outcome(
        "discarded", Out.DISCARDED, NEITHER, "data packets and copies discarded because the other one "
        "arrives", label="packets discarded", when=PathOutput.mobile, fluid=False,
    ),
    Outcome(
        "reordered", Out.REORDERED, LESS, "data packets that arrived after one sent later",
        label="reordered packets", when=PathOutput.overtakes, fluid=False,
    ),
    Outcome(
        "longest_silence_s", PathOutput.silence_s, LESS, "longest time between two arrivals of data, "
        "retransmissions included; of mobile hosts, of SCTP and QUIC over two paths, and of MPTCP",
        when=PathOutput.falls_silent, fluid=False,
    ),
    Outcome(
        "subflow_1_bps", lambda out: out.subflow_bps(0), MORE, "MPTCP: payload that the subflow of the first "
        "path was the first to deliver, over the same time as goodput", label="goodput of subflow 1",
        when=PathOutput.subflows, fluid=False,
    ),
    Outcome(
        "subflow_2_bps", lambda out: out.subflow_bps(1), MORE, "MPTCP: payload that the subflow of the "
        "second path was the first to deliver, over the same time as goodput", label="goodput of subflow 2",
        when=PathOutput.subflows, fluid=False, cause=Fields("paths.1"),
    ),
    Outcome(
        "subflow_3_bps", lambda out: out.subflow_bps(2), MORE, "MPTCP: payload that the subflow of the third "
        "path was the first to deliver, over the same time as goodput", label="goodput of subflow 3",
        when=PathOutput.three_subflows, fluid=False, cause=Fields("paths.2"),
    ),
    Outcome(
        "subflow_4_bps", lambda out: out.subflow_bps(3), MORE, "MPTCP: payload that the subflow of the "
        "fourth path was the first to deliver, over the same time as goodput", label="goodput of subflow 4",
        when=PathOutput.four_subflows, fluid=False, cause=Fields("paths.3"),
    ),
    Outcome(
        "reinjected", Subflows.REINJECTED, LESS, "MPTCP: data packets assigned to a subflow again, "
        "after they had been assigned to another", label="reinjected packets",
        when=PathOutput.subflows, fluid=False, cause=Fields("paths.1"),
    ),
    Outcome(
        "reordered_data", Subflows.REORDERED, LESS, "MPTCP: data packets that waited at the receiver for "
        "data of another subflow", label="packets reordered between subflows",
        when=PathOutput.subflows, fluid=False, cause=Fields("paths.1"),
    ),
    Outcome(
        "stale_subflows", Subflows.STALE, LESS, "MPTCP: number of times that a subflow became stale",
        when=PathOutput.subflows, fluid=False, cause=Fields("paths.1"),
    ),
    *messages.OUTCOMES,
    same(
        "mean_queue", lambda out: out.long(Queues.HELD, Queues.HELD_HIGH) / out.observed,
        when=PathOutput.queues, otherwise=Otherwise.ABSENT,
    ),
)  # fmt: skip
"""Outcomes of a path, many of which other networks share, and outcomes of mobile hosts."""
