"""State of a TCP association: its words of scratch by name, and the records that functions pass."""

from enum import IntEnum, auto
from typing import Any, NamedTuple

from netcarlo.kernels.tcp.receiver import BLOCKS, SACK_STACK_WORDS

NONE = -1
"""No packet."""


class Phase(IntEnum):
    """Phase of loss recovery."""

    NORMAL = 0
    RECOVERY = 1
    AFTER_TIMEOUT = 2


class TimeoutAction(IntEnum):
    """Action at the expiry of the retransmission timer."""

    FALL_BACK = 0
    """Reduce the window to one packet and continue from the first unacknowledged one, as TCP does."""
    KEEP_WINDOW = 1
    """Retransmit at once and keep the window."""
    PAUSE = 2
    """Pause, and send probe segments."""


class PauseCause(IntEnum):
    """Event that made the sender pause."""

    TIMER = 0
    DUPLICATES = 1
    NOTICE = 2


class Tcp(IntEnum):
    """Words of scratch of an association. Packets are numbered from 0 (the SYN); times are in ns.

    Words that every packet accesses are adjacent (`hot_words`).
    """

    # State that the schemes of loss recovery share.
    PHASE = 0
    RECOVER = 1
    """Highest packet sent when the window was last reduced (RFC 6582: recover)."""
    INFLATION = 2
    """Packets by which duplicate ACKs inflate the window [packets] (ns-2: `dupwnd_`)."""
    SEEN_PARTIAL = 3
    """1 if a partial ACK has arrived in this recovery (ns-2: `firstpartial_`)."""
    SCHEME = 4
    """First of the words that the loss recovery scheme uses for itself."""
    KIND = 23
    """Number of the sender (`senders.NUMBERS`) in a heterogeneous model."""

    # Sender, accessed with every packet.
    RTT = 24
    """Latest RTT measurement [ns]."""
    RTT_SEQ = auto()
    """Packet whose round trip is being measured, or ENDLESS (ns-2: `rtt_seq_`)."""
    HIGHEST_ACK = auto()
    """Highest packet that is cumulatively acknowledged, SND.UNA - 1 (ns-2: `highest_ack_`)."""
    SND_NXT = auto()
    """Next packet to send (RFC 9293: SND.NXT; ns-2: `t_seqno_`)."""
    SND_MAX = auto()
    """Highest packet sent (ns-2: `maxseq_`)."""
    LAST_PACKET = auto()
    """Last packet of the transfer."""
    LAST_WRITTEN = auto()
    """Last packet that the application has written to the socket buffer."""
    DUPACKS = auto()
    """Consecutive duplicate ACKs."""
    SSTHRESH = auto()
    """Slow start threshold [packets]."""
    RTO = auto()
    """Current retransmission timeout, backed off [ns]."""
    FORCED = auto()
    """Packet to retransmit at once, whatever the window, or NONE."""
    SEND_LIMIT = auto()
    """Highest packet that the window allowed at the latest event, or NONE."""
    RECOVERY_MAY_SEND = auto()
    """1 if the latest event also allows the packets that loss recovery chooses (`next_packet`)."""
    WAS_BLOCKED = auto()
    """1 if the window allowed a packet while the engine blocked the sender."""
    TIMER_EXPIRY = auto()
    """Expiry of the retransmission timer, in a pause of the probe timer, or FOREVER [ns]."""
    SENT = auto()
    """Data packets sent, retransmissions included."""

    # Receiver, accessed with every packet.
    RCV_NXT = auto()
    """Next packet expected in order (RFC 9293: RCV.NXT)."""
    RCV_HIGHEST = auto()
    """Highest packet received."""
    OUT_OF_ORDER = auto()
    """Packets that the receiver holds out of order."""
    DUPLICATES = auto()
    """Packets received again. This word must follow OUT_OF_ORDER (`receiver.arrive`)."""
    RCV_BITMAP = auto()
    """First word of the receiver's bitmap of packets received out of order."""

    # ACKs in flight.
    NEXT_ACK = auto()
    """Id of the next ACK."""
    CONSUMED = auto()
    """ACKs with a smaller id have reached the sender; their places in the ring are free."""
    ACK_RING = auto()
    """First word of the ring of ACKs in flight (`Ack`)."""
    SACK_STACK = auto()
    """First word of the receiver's list of recent SACK blocks (`receiver.write_sack_blocks`)."""

    # Sender, accessed rarely.
    SRTT = SACK_STACK + SACK_STACK_WORDS  # type: ignore[operator]
    """Smoothed RTT, with 3 fraction bits [ticks / 8]."""
    RTTVAR = auto()
    """Smoothed RTT deviation, with 2 fraction bits [ticks / 4]."""
    RTO_ESTIMATE = auto()
    """Timeout of the estimator, before minimum, maximum and back-off [ns]."""
    PREVIOUS_RTO_ESTIMATE = auto()
    """RTO_ESTIMATE before the latest measurement [ns]."""
    BACKOFF = auto()
    """Factor of the exponential back-off of the timer."""
    RTT_TS = auto()
    """Time at which RTT_SEQ was sent [ns] (ns-2: `rtt_ts_`)."""
    CLOCK_PHASE = auto()
    """Offset of the sender's coarse clock from the simulation's clock [ns]."""
    INITIAL_WINDOW = auto()
    """Congestion window after the handshake [packets]."""
    RETRANSMITTED = auto()
    """Data packets retransmitted."""
    HANDSHAKES = auto()
    """SYNs sent."""
    TIMEOUTS = auto()
    """Retransmission timeouts."""
    FAST_RETRANSMITS = auto()
    """Fast retransmits."""
    REDUCTIONS = auto()
    """Reductions of the congestion window."""
    AVOIDED = auto()
    """Losses after which the window was not reduced."""
    CWR_PENDING = auto()
    """1 if the window was reduced for ECN and no packet has carried CWR since (RFC 3168)."""
    ECN_RECOVER = auto()
    """SND_MAX when the window was last reduced for ECN; ACKs up to it cause no further reduction."""
    SEND_TIMES = auto()
    """First word of the ring of first send times by packet [ns]."""

    # Probe segments (`pausing`).
    PROBING = auto()
    """1 in a pause, in which the sender sends probe segments instead of data."""
    PROBING_SINCE = auto()
    """Start of the current pause [ns]."""
    PROBES = auto()
    """Probe segments sent."""
    PROBE_CYCLES = auto()
    """Pauses started."""
    PROBE_TIME = auto()
    """Total duration of the pauses that have ended [ns]."""
    PAUSE_CAUSE = auto()
    """Cause of the current pause (`PauseCause`)."""
    PROBE_REPLIES = auto()
    """Consecutive replies to probes in this pause."""
    RTT_WORSE = auto()
    """1 if a probe in this pause took longer than the smoothed RTT by more than `pausing.RTT_TOLERANCE`."""
    PROBE_WANTED = auto()
    """1 if a probe is to be sent."""
    OLDEST_PROBE = auto()
    """Number of the first probe whose reply counts."""
    PROBE_SENT_AT = auto()
    """Time at which the latest probe was sent [ns]."""

    # Receiver, accessed rarely.
    DELAYED_PACKET = auto()
    """Packet whose ACK the receiver delays."""
    DELACK_EXPIRY = auto()
    """Expiry of the delayed-ACK timer, or FOREVER [ns]."""
    TS_RECENT = auto()
    """Timestamp that the receiver echoes, the send time of a packet [ns] (RFC 7323: TS.Recent)."""
    LAST_ACK_SENT = auto()
    """Cumulative acknowledgement of the latest ACK (RFC 7323: Last.ACK.sent)."""


END = Tcp.LAST_ACK_SENT + 1
"""Words of an association before the rings, which are laid out at the start."""


def hot_words(own: int, *, acks: bool) -> tuple[tuple[int, int], ...]:
    """Return the ranges of words [from, to) that every packet accesses.

    They include the first `own` words of the loss recovery scheme and, if `acks`, those of the ring of ACKs.
    """
    end = Tcp.SACK_STACK + 1 if acks else Tcp.NEXT_ACK
    return (int(Tcp.PHASE), Tcp.SEEN_PARTIAL), (int(Tcp.SCHEME), Tcp.SCHEME + own), (int(Tcp.RTT), int(end))


class Ack(IntEnum):
    """Words of an ACK in the ring."""

    SACK_COUNT = 0
    """Number of SACK blocks."""
    CUMULATIVE = 1
    """Highest packet that is cumulatively acknowledged."""
    SACK_BLOCK = 2
    """First word of the SACK blocks, pairs [left, right); with `eln` the loss mark."""
    TIMESTAMP = SACK_BLOCK + 2 * BLOCKS
    """Echoed timestamp: send time of the packet that caused the ACK [ns] (`linux26`)."""


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association with this window [packets] and `RowP.RING`.

    Both may be arrays.
    """
    return END + ring // 64 * 2 + ring * (int(Ack.TIMESTAMP) + 2) + 2 * window + 8


class Row(NamedTuple):
    """Arrays of an association."""

    p: Any
    """Parameters (columns of `P`)."""
    constants: Any
    """Constants of the congestion control."""
    m: Any
    """Scratch (words of `Tcp`)."""
    f: Any
    """Float memory of the congestion control."""


class Clock(NamedTuple):
    """Time of the current event and latest RTT measurement [ns]."""

    now: Any
    rtt: Any


class SendState(NamedTuple):
    """Sequence state of the sender."""

    highest_ack: Any
    """Highest packet that is cumulatively acknowledged."""
    snd_nxt: Any
    """Next packet to send."""
    snd_max: Any
    """Highest packet sent."""


class Window(NamedTuple):
    """Congestion window, slow start threshold [packets] and duplicate ACKs."""

    cwnd: Any
    ssthresh: Any
    dupacks: Any
    """Consecutive duplicate ACKs."""
