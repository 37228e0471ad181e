"""State of an MPTCP connection: words of its scratch by name.

The words of the connection come first, then a block per subflow: the words of an association of today's Linux
(`linux.state`), followed by those of `Sub`. Names are those of `struct mptcp_sock` and
`struct mptcp_subflow_context` in Linux 6.18, where the kernel has such a word.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, MPTCP_PATHS
from netcarlo.kernels.base.parameters import MptcpP, ReliableP, RowP, TcpP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux import clocks, state
from netcarlo.kernels.linux.state import FIRST, NONE, PACED, Tcp


class Conn(IntEnum):
    """Words of a connection."""

    # Sender.
    SND_UNA = 0
    """First data packet that is not acknowledged at data level (DSN)."""
    SND_NXT = auto()
    """First data packet that no subflow has been given yet (DSN)."""
    WRITTEN = auto()
    """First data packet that the application has not written yet (`write_seq`, DSN)."""
    PENDING = auto()
    """Data packet that is assigned next (`first_pending`); below SND_NXT during a reinjection (DSN)."""
    TIMER = auto()
    """Time at which the retransmission timer of the connection expires [ns], or FOREVER."""
    TIMER_IVAL = auto()
    """Duration of that timer [jiffies] (`timer_ival`)."""
    JOINING = auto()
    """1 after the first data ACK, when the other subflows join."""
    SNDBUF = auto()
    """Send buffer of the connection [bytes] (`sk_sndbuf`)."""
    REINJECTED = auto()
    """Data packets that were given to a subflow again."""
    STALES = auto()
    """Number of times that a subflow became stale."""
    # Receiver.
    RCV_NXT = auto()
    """Next data packet expected in order (`ack_seq`, DSN)."""
    RCV_HIGHEST = auto()
    """Highest data packet received (DSN)."""
    OUT_OF_ORDER = auto()
    """Data packets in the out-of-order queue of the connection."""
    REORDERED = auto()
    """Data packets that entered that queue."""
    BITS = auto()
    """Word at which the bitmap of data packets received out of order begins."""
    OVERFULL = auto()
    """1 if a ring has no room for the packets of a subflow or of the connection."""


class Sub(IntEnum):
    """Words of a subflow, following those of its association."""

    USABLE = state.END
    """1 if the subflow may carry data."""
    JOIN_TIMER = auto()
    """Time at which the third packet of the handshake is sent again [ns], or FOREVER."""
    AVG_PACING_RATE = auto()
    """Pacing rate, smoothed over the queued data [byte/s] (`avg_pacing_rate`); 0: unknown."""
    SNDBUF = auto()
    """Send buffer [bytes] (`sk_sndbuf`)."""
    STALE = auto()
    """1 if the subflow is stale and carries no new data."""
    STALE_COUNT = auto()
    """Periods of the connection's timer without an ACK while data is outstanding (`stale_count`)."""
    STALE_STAMP = auto()
    """Value of RCV_STAMP when these periods began (`stale_rcv_tstamp`)."""
    RCV_STAMP = auto()
    """Time of the latest ACK [jiffies] (`rcv_tstamp`)."""
    PASSED = auto()
    """Next packet of the subflow that its receiver passes to the connection."""
    ARRIVED = auto()
    """Data packets that arrived over the subflow."""
    GROWN = auto()
    """Data packets with which the receive window of the subflow has grown."""
    IN_ORDER = auto()
    """Data packets that the subflow was first to deliver to the connection."""
    MAP = auto()
    """Word at which the ring of DSNs begins, by packet of the subflow."""
    DATA_ACKS = auto()
    """Word at which the ring of data ACKs begins, by id of the subflow's ACK (DSN)."""
    SKB_LENGTHS = auto()
    """Word at which the ring of the lengths of socket buffers begins, by their first packet [packets]."""
    TAIL_SKB = auto()
    """First packet of the last socket buffer of the send queue."""
    SKB_FIRST = auto()
    """First packet of the socket buffer that is sent next."""
    SKB_END = auto()
    """Packet after the last one of that socket buffer."""


SUBFLOWS = len(Conn)
"""First word of the first subflow."""
SUBFLOW_WORDS = int(Sub.SKB_END) + 1
"""Words of a subflow without its rings."""
STATE_WORDS = SUBFLOWS + MPTCP_PATHS * SUBFLOW_WORDS
"""Words of a connection without its rings."""

SKB_TRUESIZE = 816
"""Memory of a socket buffer besides its data [bytes] (`skb->truesize`)."""
SNDMEM_FACTOR, SNDMEM_FACTOR_OF_BBR = 2, 3
"""Windows that the send buffer of a subflow has room for (`tcp_sndbuf_expand`, `bbr_sndbuf_expand`)."""
WMEM_MIN, WMEM_DEFAULT, WMEM_MAX = 4096, 16384, 4 << 20
"""Minimum, initial value and maximum of a send buffer [bytes] (tcp_wmem)."""
INIT_CWND = 10
"""Minimum window for which a send buffer has room [packets] (TCP_INIT_CWND)."""
FRAGMENT = (1 << 15) - 40
"""Data that the application writes contiguously [bytes]: a page fragment of 32 KiB without its header."""
RTO_MIN_NS = 200_000_000
"""Duration of the connection's timer while no subflow's timer runs [ns] (TCP_RTO_MIN)."""


def scratch_words(of_subflow: Any, subflows: Any, window: Any, ring: Any) -> Any:
    """Return the words of scratch of a connection with so many subflows, this window and `RowP.RING`.

    `of_subflow(window, ring)` returns those of an association of a subflow.
    """
    return STATE_WORDS + subflows * (of_subflow(window, ring) + 3 * ring) + ring // 64 + 8


def subflow_at(path: Any) -> Any:
    """Return the word at which a subflow begins."""
    return SUBFLOWS + SUBFLOW_WORDS * path


def dsn_at(p: Any, s: Any, packet: Any) -> Any:
    """Return the word that holds the DSN of a packet of subflow `s`."""
    return s[Sub.MAP] + (packet & (p[RowP.RING] - 1))


def data_ack_at(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the word that holds the data ACK of an ACK of subflow `s`."""
    return s[Sub.DATA_ACKS] + (ack_id & (p[RowP.RING] - 1))


def is_backup(p: Any, path: Any) -> Any:
    """Return True if the subflow of a path is a backup."""
    return (p[MptcpP.BACKUP] >> np.int64(path)) & 1 != 0


def fragment_end(p: Any, dsn: Any) -> Any:
    """Return the data packet after the last one that the application wrote together with `dsn`."""
    size = max(quotient(FRAGMENT + (p[RowP.DATA] >> 1), max(p[RowP.DATA], 1)), 1)
    return (quotient(dsn, size) + 1) * size


def queued_bytes(p: Any, s: Any) -> Any:
    """Return the memory of the packets in the send queue of a subflow [bytes] (`sk_wmem_queued`).

    A socket buffer in flight has two packets, the size of a small burst; others have up to 64 kB.
    """
    una = max(s[Tcp.SND_UNA], FIRST)
    flight = max(s[Tcp.SND_NXT], FIRST) - una
    return (s[Tcp.LAST] + 1 - una) * p[RowP.DATA] + flight * (SKB_TRUESIZE // 2)


def has_room(p: Any, s: Any) -> Any:
    """Return True if the send queue of a subflow has room (`sk_stream_memory_free`)."""
    return queued_bytes(p, s) < s[Sub.SNDBUF]


def expand_sndbuf(p: Any, s: Any) -> Any:
    """Raise the send buffer of a subflow to what the window needs (`tcp_sndbuf_expand`).

    Returns True if it grew.
    """
    packets = max(max(s[Tcp.CWND], INIT_CWND), s[Tcp.REORDERING] + 1)
    factor = SNDMEM_FACTOR_OF_BBR if PACED else SNDMEM_FACTOR
    room = min(factor * packets * p[MptcpP.PER_MSS], np.int64(WMEM_MAX))
    grows = room > s[Sub.SNDBUF]
    s[Sub.SNDBUF] = max(s[Sub.SNDBUF], room)
    return grows


@noinline
def sync_sndbuf(p: Any, m: Any) -> None:
    """Set the send buffer of the connection to those of its subflows (`__mptcp_sync_sndbuf`).

    A further subflow has that of a new socket until its SYN is answered.
    """
    room = np.int64(WMEM_MIN)
    for path in range(p[MptcpP.SUBFLOWS]):
        s = m[subflow_at(path) :]
        if path == 0:
            room += s[Sub.SNDBUF]
        elif m[Conn.JOINING] != 0:
            room += s[Sub.SNDBUF] if s[Tcp.ESTABLISHED] != 0 else np.int64(WMEM_DEFAULT)
    m[Conn.SNDBUF] = room


@noinline
def prepare(p: Any, m: Any, free: Any) -> Any:
    """Initialise the connection, and the words of its subflows whose associations are prepared.

    Rings are laid out from word `free` of `m` on. Returns the first word after them.
    """
    for word in range(SUBFLOWS):
        m[word] = 0
    m[Conn.TIMER] = FOREVER
    m[Conn.TIMER_IVAL] = quotient(RTO_MIN_NS, p[TcpP.TICK])
    m[Conn.RCV_HIGHEST] = NONE
    m[Conn.BITS] = free
    for word in range(free, free + (p[RowP.RING] >> 6)):
        m[word] = 0
    free += p[RowP.RING] >> 6
    for path in range(p[MptcpP.SUBFLOWS]):
        at = subflow_at(path)
        for word in range(Sub.USABLE, SUBFLOW_WORDS):
            m[at + word] = 0
        m[at + Sub.JOIN_TIMER] = FOREVER
        m[at + Sub.RCV_STAMP] = NONE
        m[at + Sub.PASSED] = FIRST
        m[at + Sub.MAP] = free - at
        m[at + Sub.DATA_ACKS] = free + p[RowP.RING] - at
        m[at + Sub.SKB_LENGTHS] = free + 2 * p[RowP.RING] - at
        m[at + Sub.TAIL_SKB] = NONE
        m[at + Sub.SKB_FIRST] = NONE
        expand_sndbuf(p, m[at:])
        free += 3 * p[RowP.RING]
    m[Conn.SNDBUF] = WMEM_MIN + WMEM_DEFAULT
    return free


def start_timer(p: Any, m: Any, now: Any) -> None:
    """Set the retransmission timer of the connection (`mptcp_reset_rtx_timer`)."""
    m[Conn.TIMER] = clocks.timer_expiry(p, m[SUBFLOWS:], now, m[Conn.TIMER_IVAL])


@noinline
def set_timeout(p: Any, m: Any, now: Any) -> None:
    """Set the duration of that timer to the longest remaining time of a subflow (`mptcp_set_timeout`)."""
    longest = np.int64(0)
    for path in range(p[MptcpP.SUBFLOWS]):
        s = m[subflow_at(path) :]
        runs = s[Tcp.TIMER] != state.Timer.OFF and s[Tcp.TIMER] != state.Timer.WAKE_UP
        if s[Sub.USABLE] != 0 and s[Sub.STALE] == 0 and s[Sub.STALE_COUNT] == 0 and runs:
            left = clocks.jiffies_of(p, s, s[Tcp.DEADLINE]) - clocks.jiffies_of(p, s, now)
            longest = max(longest, left)
    m[Conn.TIMER_IVAL] = longest if longest > 0 else quotient(RTO_MIN_NS, p[TcpP.TICK])


OPTION = 4
"""Bytes of a SACK option besides its blocks."""
SACK_BLOCKS = 1
"""SACK blocks that fit into an ACK beside timestamp and data ACK, including the one of a duplicate."""


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender of a subflow [byte]."""
    if packet < FIRST:
        return p[TcpP.HANDSHAKE]
    last = s[dsn_at(p, s, packet)] == p[RowP.LIMIT] - 1
    return p[RowP.DATA] + p[RowP.HEADER] - (p[RowP.SHORT] if last else 0)


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of a packet of the receiver of a subflow [byte]."""
    at = state.ack_at(p, s, ack_id)
    blocks = s[at + state.Ack.NUM_SACKS] + (s[at + state.Ack.DSACK] != NONE)
    if s[at + state.Ack.CUMULATIVE] == FIRST and blocks == 0:
        return p[TcpP.HANDSHAKE]
    return p[ReliableP.ACK] + (p[ReliableP.SACK_BLOCK] * blocks + OPTION if blocks > 0 else 0)
