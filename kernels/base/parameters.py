"""Parameters of a replication or of a flow: columns of `Rows.parameters`, in blocks.

Each block is an enumeration of the columns that one part of the models reads. The blocks follow each other in
one row of integers, so that a column has the same place in every model. `Model.blocks` names the blocks of a
model; its outcomes depend on no other block.

Times are int64 nanoseconds, sizes bytes, windows packets, unless the unit says otherwise.
"""

from enum import IntEnum, auto


class RowP(IntEnum):
    """Parameters of every model: random streams, duration, and the data that a flow sends."""

    SEED = 0
    """Key of every random stream (Philox 4x32-10, Salmon et al. 2011); field `seed` of a scenario."""
    SCENARIO = auto()
    """Second part of the address of a random stream; field `topology`."""
    REPLICATION = auto()
    """Number of the replication, third part of the address of a random stream."""
    START = auto()
    """Start of the application [ns]."""
    END = auto()
    """End of the observation [ns]."""
    LIMIT = auto()
    """Number of data packets to send, or ENDLESS."""
    WINDOW = auto()
    """Maximum number of data packets in flight, by which engines size their rings [packets]: the receive
    window of TCP (RFC 9293, section 3.8.6), the receive buffer of SCTP in packets; 0 for UDP."""
    DATA = auto()
    """Payload of a data packet [bytes]."""
    HEADER = auto()
    """Headers of a data packet, added to the payload [bytes]."""
    CHUNK_HEADER = auto()
    """Header of the DATA chunk of SCTP (RFC 9260, section 3.3.1); QUIC packet header, STREAM frame header and
    AEAD tag (RFC 9000, sections 17.3 and 19.8); added to the payload [bytes]. 0 for others."""
    SHORT = auto()
    """Number of bytes by which the payload of the last data packet is shorter than DATA [bytes]."""
    SAMPLE = auto()
    """Interval of the samples of window and RTT, which are taken at (k + 1/2) intervals [ns]."""
    RING = auto()
    """Capacity of the rings for packets in flight, a power of two [packets]; the launcher sets it."""
    LATE = auto()
    """One-way delay above which data are late [ns]; 0: delays are not measured."""
    QUEUES = auto()
    """1 if `Queues` follows the outcomes, 2 if `Subflows` does (MPTCP), else 0."""


class UdpP(IntEnum):
    """Parameters of datagram sources (UDP, RFC 768, at a constant bit rate)."""

    INTERVAL = max(RowP) + 1
    """Mean interval of datagrams [ns]; 0 for all other transports."""
    STOP = auto()
    """Time from which no datagram is sent [ns]."""
    SPREAD = auto()
    """Width of the uniform distribution of intervals around INTERVAL, at most 2**31 [ns]; 0: constant; -1:
    exponential intervals."""


class ReliableP(IntEnum):
    """Parameters of transports with acknowledgements and retransmissions: every TCP and SCTP."""

    ACK = max(UdpP) + 1
    """Size of an acknowledgement without SACK blocks [bytes]."""
    SACK_BLOCK = auto()
    """Size of a SACK block (RFC 2018, section 3) or gap ack block (RFC 9260, section 3.3.4) [bytes]."""
    INITIAL_SSTHRESH = auto()
    """Slow start threshold at the start (RFC 5681, section 3.1) [packets]; of SCTP [bytes] (RFC 9260, section
    7.2.1)."""
    MIN_RTO = auto()
    """Minimum retransmission timeout (RFC 6298, rule 2.4; RFC 9260, section 6.3.1) [ns]."""
    MAX_RTO = auto()
    """Maximum retransmission timeout, back-off included (RFC 6298, rule 2.5; RFC 9260, section 6.3.1)
    [ns]."""
    INITIAL_RTO = auto()
    """Retransmission timeout before the first measurement of the RTT (RFC 6298, rule 2.1; RFC 9260, section
    6.3.1) [ns]."""
    DUPACKS = auto()
    """Number of duplicate ACKs (RFC 5681, section 3.2), of SCTP missing reports (RFC 9260, section 7.2.4),
    that trigger a fast retransmit."""
    ACK_EVERY = auto()
    """Number of packets in order per acknowledgement: 1, or 2 for delayed ones (RFC 5681, section 4.2)."""
    ACK_DELAY = auto()
    """Maximum delay of an acknowledgement (RFC 5681, section 4.2; RFC 9260, section 6.2) [ns]."""


class TcpP(IntEnum):
    """Parameters of every TCP, as in ns-2 or in Linux."""

    HANDSHAKE = max(ReliableP) + 1
    """Size of a SYN and of a SYN-ACK (RFC 9293, section 3.5) [bytes]; 0: no handshake."""
    INITIAL_WINDOW = auto()
    """Congestion window after the handshake (RFC 5681, section 3.1; RFC 6928) [packets]."""
    TICK = auto()
    """Granularity of the sender's clock for RTT measurements and timers (`tcpTick_` of ns-2, a jiffy of
    Linux) [ns]."""
    CLOCK_PHASE = auto()
    """Time from the start of a tick of that clock to time 0 [ns]."""
    VEGAS_ALPHA = auto()
    """Vegas: packets in the queue below which the window grows (Brakmo and Peterson 1995) [packets]."""
    VEGAS_BETA = auto()
    """Vegas: packets in the queue above which the window shrinks [packets]."""
    VEGAS_GAMMA = auto()
    """Vegas: packets in the queue above which slow start ends [packets]."""
    SEND_BUFFER = auto()
    """Socket buffer of the sender, packets in flight included [packets]; 0: unlimited."""
    SEND_WAKE = auto()
    """Packets in that buffer at or below which a blocked application writes again [packets]."""


class LinuxP(IntEnum):
    """Parameters of the TCP of the current Linux kernel only."""

    SLOW_START = max(TcpP) + 1
    """Algorithm that ends slow start, one of `linux.slow_start.SlowStart`."""
    MESSAGES = auto()
    """Mode in which the application writes messages, one of the MESSAGES_ constants; 0: it always has
    data."""
    MESSAGE_SIZES = auto()
    """Word of the constants at which the points of the distribution of message sizes begin [bytes]."""
    MESSAGE_WAITS = auto()
    """Word of the constants at which the points of the waits between messages begin [ns]."""
    IDLE_RESTART = auto()
    """1 if the window shrinks while the application is idle (tcp_slow_start_after_idle; RFC 5681, section
    4.1), else 0."""


class SctpP(IntEnum):
    """Parameters of SCTP (RFC 9260, as in two releases of ns-2)."""

    N_PATHS = max(LinuxP) + 1
    """Number of paths in use, 1 or 2; of MPTCP up to 4."""
    RWND = auto()
    """Receive window, advertised as a_rwnd (RFC 9260, section 3.3.2) [bytes]."""
    PATH_MAX_RETRANS = auto()
    """Consecutive timeouts up to which a path remains active: Path.Max.Retrans (RFC 9260, section 8.2)."""
    HEARTBEAT = auto()
    """Interval of heartbeats on an idle path: HB.interval (RFC 9260, section 8.3) [ns]; 0: none."""
    INITIAL_CWND = auto()
    """Congestion window of a path at the start (RFC 9260, section 7.2.1) [bytes]."""
    SSTHRESH_FLOOR = auto()
    """Minimum slow start threshold, and minimum window of an idle path (RFC 9260, sections 7.2.1 and 7.2.3)
    [bytes]."""
    PROBE_FIRST = auto()
    """1 if a heartbeat is exchanged over every path before the first data (ns-2.35), else 0."""
    SACK_FIRST = auto()
    """1 if the first DATA packet is acknowledged at once (RFC 9260, section 5.1; ns-2.35), else 0."""
    MAX_BURST = auto()
    """Maximum number of packets sent for one SACK: Max.Burst (RFC 9260, section 6.1, rule D) [packets]."""
    RESPONSE_ALTERNATE = auto()
    """1 if retransmissions use the other path (RFC 9260, section 6.4.1), else 0."""
    FAILBACK = auto()
    """1 if new data return to the primary path when it is active again (RFC 9260, section 6.4), else 0."""


class MobileP(IntEnum):
    """Parameters of mobile hosts: protocol, schedule and times of handovers."""

    HANDOVER = max(SctpP) + 1
    """Handover protocol, one of the constants from MIPV6 on; 0: the host is fixed."""
    HANDOVERS = auto()
    """Maximum number of handovers of a run."""
    SCHEDULE = auto()
    """Schedule of handovers, one of the SCHEDULE_ constants."""
    FIRST_HANDOVER = auto()
    """Time of the first handover of a periodic schedule [ns]."""
    EVERY = auto()
    """Interval of a periodic schedule; of a random one, the time to cross a cell along its diameter [ns]."""
    LEAST_STAY = auto()
    """Minimum time at an access router [ns]."""
    DOMAIN_SIZE = auto()
    """Number of access routers per mobility anchor point (MAP, RFC 5380); 0: all."""
    OUTAGE = auto()
    """Time for which the radio link is down in a handover [ns]."""
    OUTAGE_JITTER = auto()
    """Half-width of the uniform variation of OUTAGE [ns]."""
    ANTICIPATION = auto()
    """Time from the earliest signalling to link down (RFC 5568) [ns]."""
    PREPARATION = auto()
    """Time that the new access router needs to accept the host: duplicate address detection (RFC 4862)
    [ns]."""
    ANNOUNCE = auto()
    """Time from link up to the host's first message at a prepared router (RFC 5568) [ns]."""
    DETECTION = auto()
    """Time from link up to that message at an unprepared router: movement detection (RFC 6275, section
    11.5.1) and a new address [ns]."""
    MAP_TO_AR = auto()
    """One-way delay between a MAP and its access routers [ns]."""
    MAP_TO_MAP = auto()
    """One-way delay between two MAPs [ns]."""
    HOME_AGENT = auto()
    """One-way delay from the home agent to a MAP, and to the sender [ns]."""
    BUFFER = auto()
    """Number of packets that an access router buffers for a host [packets], or ENDLESS."""
    SETTLE = auto()
    """HIMIPv6: time for which the tunnel must be idle before the n-buffer is released [ns]."""
    PING_PONG = auto()
    """Probability that the host soon returns to the previous router [2**-32]."""
    PING_PONG_STAY = auto()
    """Time at the new router before such a return [ns]."""
    FALSE_ALARM = auto()
    """Probability that an anticipated handover does not take place [2**-32]."""
    FALSE_ALARM_TIME = auto()
    """Time from such a handover to its cancellation [ns]."""
    MARGIN = auto()
    """Minimum time from the reply at the host to link down in a prepared handover [ns]."""
    SIGNAL_LOSS = auto()
    """Probability that a signalling message is lost on the radio link [2**-32]."""


class MptcpP(IntEnum):
    """Parameters of MPTCP (RFC 8684, as in Linux 6.18), in columns that it shares with SCTP.

    A row is of one of the two, so that the columns after those of transports keep their places.
    """

    SUBFLOWS = SctpP.N_PATHS
    """Number of subflows, one per path."""
    BACKUP = SctpP.FAILBACK
    """Subflows that carry data only if no other is active (RFC 8684, section 3.3.8); bit k is path k."""
    STALE_LOSS_CNT = SctpP.PATH_MAX_RETRANS
    """Periods of the retransmission timer without an ACK after which a subflow is stale (stale_loss_cnt);
    0: never."""
    PER_MSS = SctpP.INITIAL_CWND
    """Memory of a send buffer per packet of the window [bytes] (`per_mss` in `tcp_sndbuf_expand`)."""
    WINDOW_GROWTH = SctpP.RWND
    """Data packets of a subflow during which its receive window grows (`tcp_grow_window`)."""
    COUPLING = SctpP.RESPONSE_ALTERNATE
    """Coupled congestion control, one of `mptcp.coupled.control.Algorithm`; 0: subflows are not coupled."""


class QuicP(IntEnum):
    """Parameters of QUIC (RFC 9000, RFC 9002), in columns that it shares with SCTP.

    A row is of one of the two, so that the columns after those of transports keep their places.
    """

    CONTROL = SctpP.PATH_MAX_RETRANS
    """Congestion control, one of `quic.state.Control`."""
    INITIAL_PACKETS = SctpP.INITIAL_CWND
    """Congestion window at the start (RFC 9002, section 7.2) [packets]."""
    INITIAL_RTT = SctpP.HEARTBEAT
    """RTT before the first sample (`kInitialRtt`, RFC 9002, section 6.2.2) [ns]."""
    SERVER_FLIGHT = SctpP.SSTHRESH_FLOOR
    """Bytes that the server sends in the handshake (RFC 9001, section 4) [bytes]."""
    ZERO_RTT = SctpP.PROBE_FIRST
    """1 if data are sent with the first packet of the handshake (RFC 9001, section 4.6.1), else 0."""
    PACING = SctpP.RESPONSE_ALTERNATE
    """Pacing rate as a multiple of the window per smoothed RTT (N in RFC 9002, section 7.7) [1 / 1024]; 0:
    packets are not paced."""
    BURST = SctpP.MAX_BURST
    """Packets that pacing lets leave at once (RFC 9002, section 7.7) [packets]."""
    HYSTART = SctpP.SACK_FIRST
    """1 if HyStart++ may end the first slow start (RFC 9406), else 0."""


class MigrationP(IntEnum):
    """Further parameters of QUIC over two paths, in columns that it shares with SCTP."""

    MIGRATE_AFTER = SctpP.FAILBACK
    """Probe timeouts in a row after which the client validates the other path (RFC 9000, section 9)."""


class Rfc9260P(IntEnum):
    """Parameters of SCTP for the rules of RFC 9260 and RFC 7829, in columns that it shares with TCP.

    A row is of one of the two, so that the columns after those of transports keep their places.
    """

    RFC9260 = LinuxP.SLOW_START
    """1 for the rules of RFC 9260 where those of ns-2 differ, else 0."""
    PF_ERRORS = LinuxP.MESSAGE_SIZES
    """Consecutive timeouts from which a path is potentially failed, which is PotentiallyFailed.Max.Retrans
    + 1 (RFC 7829, section 3); 0: never."""
    ABC_LIMIT = LinuxP.MESSAGE_WAITS
    """Maximum growth of cwnd per SACK in slow start, L (RFC 9260, section 7.2.1) [chunks]; with the rules of
    ns-2 it is 1."""
    CMT = LinuxP.IDLE_RESTART
    """1 if new data use all active paths at once (concurrent multipath transfer, Iyengar et al. 2006), else
    0."""
    FREE_T3 = TcpP.SEND_WAKE
    """1 if T3-rtx keeps running when a SACK without gap ack blocks acknowledges data, and then affects only
    chunks older than the RTT (usrsctp 0.9.5); 0: it restarts (RFC 9260, section 6.3.2, rule R3)."""


Block = type[IntEnum]
"""Block of parameters."""

BLOCKS: tuple[Block, ...] = RowP, UdpP, ReliableP, TcpP, LinuxP, SctpP, MobileP
"""All blocks, in their order in a row."""

P: Block = IntEnum("P", {column.name: int(column) for block in BLOCKS for column in block})  # type: ignore[misc]
"""Columns of all blocks."""


def unique(*each: tuple[Block, ...]) -> tuple[Block, ...]:
    """Return blocks of several parts of a model, each once."""
    return tuple(dict.fromkeys(block for blocks in each for block in blocks))
