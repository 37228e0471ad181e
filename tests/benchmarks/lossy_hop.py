"""A bulk transfer through one lossy 10 Mbit/s hop, for the kernels and for ns-2."""

import numpy as np

from netcarlo.kernels.base.layout import BYTE_TIME_BITS, ENDLESS, FOREVER, PATHS, Hop, P, Rows
from netcarlo.kernels.base.loss import thresholds
from tests.benchmarks.ns2 import run_ns2

RATE_BPS = 10e6
DELAY_S = 0.01
QUEUE = 50  # packets
DATA = 1000  # payload [byte]
HEADER = 40  # [byte]
MS = 1_000_000


def rows(replications: int, *, window: int, loss: float, duration_s: float, seed: int = 1) -> Rows:
    """`replications` rows of the scenario; TCP parameters are ns-2's defaults, SCTP's RFC 4960's."""
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
    parameters[:, P.REPLICATION] = np.arange(replications)
    hops = np.zeros((replications, PATHS, 1, len(Hop)), np.int64)
    byte_time = round(8e9 * 2**BYTE_TIME_BITS / RATE_BPS)
    delay = round(DELAY_S * 1e9)
    hops[:, 0, 0, : Hop.PRESENT + 1] = (byte_time, delay, QUEUE, 1, byte_time, delay, 0, 0, 1)
    outages = np.full((replications, PATHS, 1, 1, 2), FOREVER, np.int64)
    return Rows(parameters, np.zeros((replications, 0)), hops, outages, thresholds([0.0, loss]))


def ns2(*, window: int, loss: float, duration_s: float) -> tuple[int, float]:
    """Data packets that ns-2's NewReno sends through the hop, and the seconds of processor time it takes."""
    script = f"""
        set ns [new Simulator]
        remove-all-packet-headers
        add-packet-header IP TCP Flags
        set a [$ns node]
        set b [$ns node]
        $ns duplex-link $a $b {RATE_BPS:.0f} {DELAY_S} DropTail
        $ns queue-limit $a $b {QUEUE}
        set lossy [new ErrorModel]
        $lossy unit pkt
        $lossy set rate_ {loss}
        $lossy ranvar [new RandomVariable/Uniform]
        $ns lossmodel $lossy $a $b
        set tcp [new Agent/TCP/Newreno]
        $tcp set window_ {window}
        $tcp set packetSize_ {DATA}
        set sink [new Agent/TCPSink]
        $ns attach-agent $a $tcp
        $ns attach-agent $b $sink
        $ns connect $tcp $sink
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        $ns at 0 "$ftp start"
        $ns at {duration_s} "puts \\[$tcp set ndatapack_\\]; exit 0"
        $ns run
    """
    return run_ns2(script)
