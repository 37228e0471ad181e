"""A bulk transfer through one lossy 10 Mbit/s hop, or several, for the kernels and for ns-2."""

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, PATHS, Hop, Rows
from netcarlo.kernels.base.loss import thresholds
from netcarlo.kernels.base.parameters import P, RowP
from tests.campaigns.benchmarks.ns2 import run_ns2

RATE_BPS = 10e6
DELAY_S = 0.01
QUEUE = 50  # packets
DATA = 1000  # payload [byte]
HEADER = 40  # [byte]
MS = 1_000_000


SENDERS = {
    "tcp_newreno": ("Newreno", "TCPSink", ""),
    "tcp_sack": ("Sack1", "TCPSink/Sack1", ""),
    "tcp_sack_cubic": ("Linux", "TCPSink/Sack1", '$ns at 0 "$tcp select_ca cubic"'),
}
"""Corresponding parts of ns-2 for each model: agent, sink, and a command."""


def rows(
    replications: int, *, window: int, loss: float, duration_s: float, seed: int = 1, count: int = 1
) -> Rows:
    """Return rows of the scenario with `count` hops, [replications].

    TCP parameters are the defaults of ns-2, SCTP parameters those of RFC 4960."""
    parameters = np.zeros((replications, len(P)), np.int64)
    values = {
        "SEED": seed, "END": round(duration_s * 1e9), "LIMIT": ENDLESS, "WINDOW": window, "DATA": DATA,
        "HEADER": HEADER, "ACK": 40, "SACK_BLOCK": 8, "HANDSHAKE": 40, "INITIAL_WINDOW": 2,
        "INITIAL_SSTHRESH": window, "TICK": 10 * MS, "MIN_RTO": 200 * MS, "MAX_RTO": 60_000 * MS,
        "INITIAL_RTO": 3_000 * MS, "DUPACKS": 3, "ACK_EVERY": 1, "ACK_DELAY": 100 * MS, "SAMPLE": 100 * MS,
        "VEGAS_ALPHA": 1, "VEGAS_BETA": 3, "VEGAS_GAMMA": 1, "N_PATHS": 1, "RWND": window * (DATA + 16),
        "CHUNK_HEADER": 16, "PATH_MAX_RETRANS": 5, "HEARTBEAT": 30_000 * MS, "INITIAL_CWND": 4380,
        "SSTHRESH_FLOOR": 4 * DATA, "SACK_FIRST": 1, "MAX_BURST": 4,
    }  # fmt: skip
    for name, value in values.items():
        parameters[:, P[name]] = value
    parameters[:, RowP.REPLICATION] = np.arange(replications)
    hops = np.zeros((replications, PATHS, count, len(Hop)), np.int64)
    byte_time = round(8e9 * 2**BYTE_TIME_BITS / RATE_BPS)
    delay = round(DELAY_S * 1e9)
    hops[:, 0, :, : Hop.PRESENT + 1] = (byte_time, delay, QUEUE, 1, byte_time, delay, 0, 0, 1)
    outages = np.full((replications, PATHS, count, 1, 2), FOREVER, np.int64)
    return Rows(parameters, np.zeros((replications, 0)), hops, outages, thresholds([0.0, loss]))


def ns2(
    *, window: int, loss: float, duration_s: float, model: str = "tcp_newreno", count: int = 1
) -> tuple[int, float]:
    """Return the data packets that the sender of ns-2 sends through the hops, and the processor time [s]."""
    agent, sink, command = SENDERS[model]
    links = "\n".join(
        f"""
        $ns duplex-link $n({k}) $n({k + 1}) {RATE_BPS:.0f} {DELAY_S} DropTail
        $ns queue-limit $n({k}) $n({k + 1}) {QUEUE}
        set lossy({k}) [new ErrorModel]
        $lossy({k}) unit pkt
        $lossy({k}) set rate_ {loss}
        $lossy({k}) ranvar [new RandomVariable/Uniform]
        $ns lossmodel $lossy({k}) $n({k}) $n({k + 1})"""
        for k in range(count)
    )
    script = f"""
        set ns [new Simulator]
        remove-all-packet-headers
        add-packet-header IP TCP Flags
        for {{set k 0}} {{$k <= {count}}} {{incr k}} {{set n($k) [$ns node]}}
        {links}
        set tcp [new Agent/TCP/{agent}]
        $tcp set window_ {window}
        $tcp set packetSize_ {DATA}
        {command}
        set sink [new Agent/{sink}]
        $ns attach-agent $n(0) $tcp
        $ns attach-agent $n({count}) $sink
        $ns connect $tcp $sink
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        $ns at 0 "$ftp start"
        $ns at {duration_s} "puts \\"result \\[$tcp set ndatapack_\\]\\"; exit 0"
        $ns run
    """
    return run_ns2(script)
