"""Where a TCP association keeps its state: words of its scratch by name, and the records that steps pass."""

from enum import IntEnum, auto
from typing import Any, NamedTuple

from netcarlo.kernels.tcp.receiver import BLOCKS, SACK_STACK_WORDS

NONE = -1
"""No packet."""


class Phase(IntEnum):
    """Of loss recovery."""

    NORMAL = 0
    RECOVERY = 1
    AFTER_TIMEOUT = 2


class TimeoutAction(IntEnum):
    """What to do when the retransmission timer expires."""

    FALL_BACK = 0
    """As TCP does: reduce the window to one packet, and go back to the first unacknowledged one."""
    KEEP_WINDOW = 1
    """Retransmit at once with the window as it is."""
    PAUSE = 2
    """Pause, and send probe segments."""


class PauseCause(IntEnum):
    """Why the sender pauses."""

    TIMER = 0
    DUPLICATES = 1
    NOTICE = 2


class Tcp(IntEnum):
    """Words of an association's scratch.  Packets are numbered from 0 (the SYN); times are ns.

    Those that every packet touches lie together (`hot_words`).
    """

    # What the schemes of loss recovery share.
    PHASE = 0
    RECOVER = 1
    """Highest packet sent when the window was last reduced."""
    INFLATION = 2
    """Packets added to the window by duplicate ACKs."""
    SEEN_PARTIAL = 3
    """A partial ACK has been seen in this recovery."""
    SCHEME = 4
    """Words from here on belong to the scheme of recovery."""
    KIND = 23
    """Which of several TCPs this one is (`heterogeneous`)."""

    # The sender, with every packet.
    RTT = 24
    """Latest measurement."""
    RTT_SEQ = auto()
    """The packet whose round trip is measured, or ENDLESS."""
    HIGHEST_ACK = auto()
    """Highest packet acknowledged with all before it."""
    SND_NXT = auto()
    """The next packet to send."""
    SND_MAX = auto()
    """Highest packet put out (ns-2: `maxseq_`)."""
    LAST_PACKET = auto()
    """Last packet there is."""
    LAST_WRITTEN = auto()
    """Last packet that the application has written into the socket buffer."""
    DUPACKS = auto()
    """Duplicate ACKs in a row."""
    SSTHRESH = auto()
    """Slow start threshold [packet]."""
    RTO = auto()
    """Length of the retransmission timer."""
    FORCED = auto()
    """A packet to send at once, or NONE."""
    SEND_LIMIT = auto()
    """The latest event allows packets up to this one, or NONE."""
    RECOVERY_MAY_SEND = auto()
    """1: the latest event also allows the packets that loss recovery asks for (`next_packet`)."""
    WAS_BLOCKED = auto()
    """1: the window had a packet while the sender was blocked."""
    TIMER_EXPIRY = auto()
    """When the retransmission timer (in a pause: that of the probes) expires, or FOREVER."""
    SENT = auto()
    """Data packets put out, retransmissions included."""

    # The receiver, with every packet.
    RCV_NXT = auto()
    """The next packet in order."""
    RCV_HIGHEST = auto()
    """Highest packet that has arrived."""
    OUT_OF_ORDER = auto()
    """Packets held out of order."""
    DUPLICATES = auto()
    """Packets that arrived again.  Behind HELD, as `receiver.arrive` has it."""
    RCV_BITMAP = auto()
    """The receiver's bitmap of packets that have arrived."""

    # The acknowledgements on their way.
    NEXT_ACK = auto()
    """Id of the next ACK."""
    CONSUMED = auto()
    """ACKs with a smaller id are not needed any more."""
    ACK_RING = auto()
    """Ring of ACKs in flight (`Ack`)."""
    SACK_STACK = auto()
    """The receiver's memory of SACK blocks."""

    # The sender, now and then.
    SRTT = SACK_STACK + SACK_STACK_WORDS  # type: ignore[operator]
    """Smoothed RTT [tick / 8]."""
    RTTVAR = auto()
    """Smoothed deviation [tick / 4]."""
    RTO_ESTIMATE = auto()
    """Timeout by the estimator, neither floored nor backed off."""
    PREVIOUS_RTO_ESTIMATE = auto()
    """CURRENT before the latest measurement."""
    BACKOFF = auto()
    """Factor of the back-off."""
    RTT_TS = auto()
    """When TIMED was put out."""
    CLOCK_PHASE = auto()
    """How far the coarse clock is ahead of the simulation's [ns]."""
    INITIAL_WINDOW = auto()
    """Window after the handshake [packet]."""
    RETRANSMITTED = auto()
    """Data packets put out again."""
    HANDSHAKES = auto()
    """SYNs put out."""
    TIMEOUTS = auto()
    FAST_RETRANSMITS = auto()
    REDUCTIONS = auto()
    """Reductions of the window."""
    AVOIDED = auto()
    """Reductions avoided: losses after which the window stayed as it was."""
    CWR_PENDING = auto()
    """ECN: 1: the window was reduced for a mark, and no packet has carried CWR since (RFC 3168)."""
    ECN_RECOVER = auto()
    """ECN: SND_MAX when the window was last reduced for a mark."""
    SEND_TIMES = auto()
    """By packet, when it was first put out [ns]."""

    # Probe segments (`pausing`).
    PROBING = auto()
    """1 while the sender pauses: it puts out probe segments instead of data."""
    PROBING_SINCE = auto()
    """When the pause began."""
    PROBES = auto()
    """Probe segments put out."""
    PROBE_CYCLES = auto()
    """Pauses begun."""
    PROBE_TIME = auto()
    """Time in pauses that have ended."""
    PAUSE_CAUSE = auto()
    """Why the sender pauses (`PauseCause`)."""
    PROBE_REPLIES = auto()
    """Round trips of probes that came back, one after the other."""
    RTT_WORSE = auto()
    """1: the round trip of one of REPLIES exceeds the smoothed RTT by more than `pausing.RTT_TOLERANCE`."""
    PROBE_WANTED = auto()
    """1: a probe is to be put out."""
    OLDEST_PROBE = auto()
    """First probe whose reply counts."""
    PROBE_SENT_AT = auto()
    """When the latest probe was put out."""

    # The receiver, now and then.
    DELAYED_PACKET = auto()
    """The packet that made the receiver delay its ACK."""
    DELACK_EXPIRY = auto()
    """When a delayed ACK goes out, or FOREVER."""
    TS_RECENT = auto()
    """The timestamp that the receiver echoes: when that packet was put out."""
    LAST_ACK_SENT = auto()
    """What the latest ACK acknowledges (RFC 7323: Last.ACK.sent)."""


END = Tcp.LAST_ACK_SENT + 1
"""Words of an association before what is laid out at the start."""


def hot_words(own: int, *, acks: bool) -> tuple[tuple[int, int], ...]:
    """Words [from, to) that every packet touches, the first `own` of the scheme's among them; and those of
    the ring of `acks` if there is one."""
    end = Tcp.SACK_STACK + 1 if acks else Tcp.NEXT_ACK
    return (int(Tcp.PHASE), Tcp.SEEN_PARTIAL), (int(Tcp.SCHEME), Tcp.SCHEME + own), (int(Tcp.RTT), int(end))


class Ack(IntEnum):
    """Words of an acknowledgement in the ring."""

    SACK_COUNT = 0
    """SACK blocks."""
    CUMULATIVE = 1
    """Highest packet acknowledged, with all before it."""
    SACK_BLOCK = 2
    """Pairs (left, right); or a mark (`eln`)."""
    TIMESTAMP = SACK_BLOCK + 2 * BLOCKS
    """When the packet that it answers was put out (`linux26`)."""


def scratch_words(window: Any, ring: Any) -> Any:
    """Words of scratch of an association with this window and `P.RING`, or of many."""
    return END + ring // 64 * 2 + ring * (int(Ack.TIMESTAMP) + 2) + 2 * window + 8


class Row(NamedTuple):
    """The arrays of an association."""

    p: Any
    """Parameters: the columns of `P`."""
    constants: Any
    """Of the congestion control."""
    m: Any
    """Scratch: the words of `Tcp`."""
    f: Any
    """Float memory of the congestion control."""


class Clock(NamedTuple):
    """When an event is, and how long a round trip took last [ns]."""

    now: Any
    rtt: Any


class SendState(NamedTuple):
    """How far the sender is."""

    highest_ack: Any
    """Highest packet acknowledged with all before it."""
    snd_nxt: Any
    """The next to send."""
    snd_max: Any
    """Highest put out."""


class Window(NamedTuple):
    """The congestion window and what decides on it [packet]."""

    cwnd: Any
    ssthresh: Any
    dupacks: Any
    """Duplicate ACKs in a row."""
