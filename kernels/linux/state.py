"""State of an association of today's Linux: the words of its scratch by name.

Names are those of `struct tcp_sock` and `struct inet_connection_sock` in Linux 6.18, or of the RFC where the
kernel has no such word. Packets are numbered: 0 is the SYN, 1 the ACK that ends the handshake, and data begin
at FIRST. Every segment is full. As in the kernel, the clock of the sender counts microseconds, its timers
count jiffies and its timestamps count milliseconds.
"""

from enum import IntEnum, auto
from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.parameters import RowP

PACED: Any = slot("paced")
"""True if the congestion control sets a pacing rate and the window at every ACK, from delivery rate samples.
"""
AUTOTUNING: Any = slot("autotuning")
"""True if the receiver advertises a window that it tunes (`autotuning`)."""

NONE = -1
"""Value that stands for no packet, no time or no measurement."""
FULL = -2
"""Value that `next_segment` returns if more packets are in flight than `RowP.RING` has room for."""

SYN = np.int64(0)
"""Number of the SYN."""
ACK_OF_SYN = np.int64(1)
"""Number of the packet that ends the handshake."""
FIRST = np.int64(2)
"""Number of the first data packet."""

INFINITE = 0x7FFFFFFF
"""Slow start threshold before the first loss [packets] (TCP_INFINITE_SSTHRESH), and an unknown minimum RTT
[us]."""

SACK_BLOCKS_SENT = 3
"""SACK blocks that fit into an ACK beside a timestamp, including the one of a duplicate (RFC 2018, RFC 2883).
"""
SACK_BLOCKS_KEPT = 4
"""SACK blocks that the receiver remembers (TCP_NUM_SACKS)."""


class CaState(IntEnum):
    """Congestion state of the sender (`enum tcp_ca_state`), in the order of the kernel."""

    OPEN = 0
    """Default state: no packet is missing."""
    DISORDER = 1
    """Packets are missing or were reported by SACK, but none is considered lost."""
    CWR = 2
    """The window is being reduced for a reason other than a loss that is under repair."""
    RECOVERY = 3
    """Fast recovery: packets were found lost and are retransmitted."""
    LOSS = 4
    """Recovery after a retransmission timeout."""


class Timer(IntEnum):
    """Purpose of the sender's single timer (`icsk_pending`)."""

    OFF = 0
    """The timer is not running."""
    RETRANSMISSION = 1
    """Retransmission timeout (RFC 6298)."""
    LOSS_PROBE = 2
    """Tail loss probe (RFC 8985, section 7)."""
    REO_TIMEOUT = 3
    """RACK reordering timeout: packets still unreported when it expires are lost (RFC 8985, section 6.3)."""
    WAKE_UP = 4
    """Delay until the application learns that the connection is established."""


class Rexmit(IntEnum):
    """Order in which packets may be sent after an ACK (REXMIT_NONE, REXMIT_LOST, REXMIT_NEW in
    tcp_input.c)."""

    NONE = 0
    """New packets only."""
    LOST = 1
    """Lost packets first, then new ones."""
    NEW = 2
    """New packets first, and lost ones if there is no new one (F-RTO, RFC 5682)."""


class Flag(IntEnum):
    """Bits of `Packet.FLAGS`; the bits above them hold the number of the latest retransmission."""

    LOST = 1
    """The packet is considered lost (TCPCB_LOST)."""
    RETRANS = 2
    """The packet was retransmitted and that copy is in flight (TCPCB_SACKED_RETRANS)."""
    EVER_RETRANS = 4
    """The packet was retransmitted at some time (TCPCB_EVER_RETRANS)."""
    PSH = 8
    """The packet ends a burst, so the receiver notifies its application (PSH)."""


FLAG_BITS = 4
"""Number of flag bits in `Packet.FLAGS`."""


class Tcp(IntEnum):
    """Words of an association's scratch, first those of the sender, then those of the receiver."""

    # Sender.
    SND_UNA = 0
    """First packet that is not acknowledged."""
    SND_NXT = auto()
    """Next new packet."""
    LAST = auto()
    """Last packet that the application has written."""
    ESTABLISHED = auto()
    """1 after the handshake, else 0."""
    CWND = auto()
    """Congestion window [packets] (`snd_cwnd`)."""
    SSTHRESH = auto()
    """Slow start threshold [packets] (`snd_ssthresh`)."""
    CWND_CNT = auto()
    """Packets acknowledged since the window last grew (`snd_cwnd_cnt`)."""
    SACKED_OUT = auto()
    """Packets above SND_UNA that SACK blocks have reported."""
    LOST_OUT = auto()
    """Packets considered lost, whether retransmitted or not."""
    RETRANS_OUT = auto()
    """Retransmitted packets in flight."""
    HIGHEST_SACK = auto()
    """Packet after the highest one reported by SACK, or SND_UNA if that is higher."""
    CA_STATE = auto()
    """Congestion state (`CaState`)."""
    HIGH_SEQ = auto()
    """SND_NXT when the congestion state began."""
    PRIOR_CWND = auto()
    """Congestion window before the latest reduction [packets]."""
    PRIOR_SSTHRESH = auto()
    """Threshold that an undo of the reduction restores [packets]; 0 if the window is not restored."""
    PRR_DELIVERED = auto()
    """Packets delivered since the reduction began (RFC 6937)."""
    PRR_OUT = auto()
    """Packets sent since the reduction began (RFC 6937)."""
    UNDO_MARKER = auto()
    """SND_UNA when the reduction began, or NONE if it cannot be undone."""
    UNDO_RETRANS = auto()
    """Retransmissions since UNDO_MARKER that no DSACK has reported as unnecessary."""
    RETRANS_STAMP = auto()
    """Timestamp of the first retransmission [ms], or NONE; during the handshake the timestamp of the
    first SYN."""
    FRTO = auto()
    """1 if the latest timeout may prove spurious (F-RTO, RFC 5682)."""
    TLP_HIGH_SEQ = auto()
    """SND_NXT when a tail loss probe was sent, or NONE if no probe is outstanding."""
    TLP_RETRANS = auto()
    """1 if the tail loss probe was a retransmission."""
    DELIVERED = auto()
    """Packets known to have arrived."""
    LOST_TOTAL = auto()
    """Packets found lost so far, including retransmissions (`lost`)."""
    # RACK.
    RACK_XMIT_TIME = auto()
    """Time at which the most recently sent of the delivered packets was sent [us] (RACK.xmit_ts)."""
    RACK_PACKET = auto()
    """Number of that packet (RACK.segment)."""
    RACK_RTT = auto()
    """Round-trip time of the most recently delivered packet [us] (RACK.rtt)."""
    RACK_ADVANCED = auto()
    """1 if packets were delivered since losses were last detected."""
    REORDERING = auto()
    """Largest reordering distance observed [packets]."""
    REORDERING_SEEN = auto()
    """1 if reordering was observed (RACK.reordering_seen)."""
    REO_WND_STEPS = auto()
    """Length of the reordering window in quarters of the minimum RTT (RACK.reo_wnd_mult)."""
    DSACK_ROUND = auto()
    """SND_NXT when the reordering window last grew (RACK.dsack_round)."""
    REO_WND_PERSIST = auto()
    """Recoveries after which the reordering window shrinks to one quarter again (RACK.reo_wnd_persist)."""
    RACK_SCAN_START = auto()
    """All packets below were reported, found lost or retransmitted, so loss detection begins here."""
    RETRANS_LOG_FIRST = auto()
    """Number of the oldest retransmission in the log."""
    RETRANS_LOG_END = auto()
    """Number of the next retransmission."""
    RETRANSMIT_HINT = auto()
    """No packet below is waiting for retransmission (`retransmit_skb_hint`)."""
    RETRANS_END = auto()
    """No packet from here on was ever retransmitted."""
    # Round-trip times and timers.
    SRTT_US = auto()
    """Smoothed RTT [us / 8]; 0 if unknown."""
    MDEV_US = auto()
    """Smoothed mean deviation of the RTT [us / 4]."""
    MDEV_MAX_US = auto()
    """Largest MDEV_US of the current round trip [us / 4]."""
    RTTVAR_US = auto()
    """RTT variance that the retransmission timeout uses [us / 4]."""
    RTT_SEQ = auto()
    """SND_NXT when the current round trip began."""
    MIN_RTT_US = auto()
    """Minimum RTT [us]; INFINITE if unknown."""
    SRTT_NS = auto()
    """Smoothed RTT [ns]."""
    RTO = auto()
    """Retransmission timeout, including its back-off [jiffies]."""
    RETRANSMITS = auto()
    """Timeouts since new data was last acknowledged (`icsk_retransmits`)."""
    TIMER = auto()
    """Purpose of the running timer (`Timer`)."""
    DEADLINE = auto()
    """Time at which the timer expires [ns], or FOREVER."""
    RESTART_TIMER = auto()
    """1 if the timer is to be restarted once all packets that this event allows have been sent."""
    JIFFY_US = auto()
    """Length of a jiffy [us]."""
    MAX_RTO_JIFFIES = auto()
    """Longest timeout [jiffies]."""
    CLOCK_PHASE = auto()
    """Advance of the kernel's clocks over the simulation time [ns]."""
    # Transmissions that an event permits.
    FORCED = auto()
    """Packet to send regardless of the window, or NONE."""
    REXMIT = auto()
    """Order of sending (`Rexmit`)."""
    TRY_SEND = auto()
    """1 if the window may have room for packets."""
    NEW_SENT = auto()
    """1 if new packets were sent at this event."""
    BURST_LEFT = auto()
    """New packets of the current burst that remain to be sent."""
    LARGE_BURST = auto()
    """1 if the current burst has more than one packet."""
    IS_CWND_LIMITED = auto()
    """1 if the congestion window limited the packets in flight."""
    MAX_PACKETS_OUT = auto()
    """Largest number of packets outstanding in the current measurement of window use."""
    CWND_USAGE_SEQ = auto()
    """Packet whose acknowledgement ends the current measurement of window use."""
    # Counters.
    SENT = auto()
    """Packets with data sent, including retransmissions."""
    RETRANSMITTED = auto()
    """Packets with data retransmitted."""
    SYNS_SENT = auto()
    """SYNs sent."""
    TIMEOUTS = auto()
    """Retransmission timeouts."""
    FAST_RETRANSMITS = auto()
    """Fast recoveries."""
    CWND_REDUCTIONS = auto()
    """Reductions of the congestion window."""
    LOSS_PROBES = auto()
    """Tail loss probes sent."""
    UNDOS = auto()
    """Reductions that were undone."""
    FLOW = auto()
    """Number of the flow, which selects its random streams."""
    ZERO = auto()
    """Always 0: counter of an event that this sender does not have."""

    # Receiver.
    RCV_NXT = auto()
    """Next packet expected in order."""
    RCV_WUP = auto()
    """RCV_NXT at the time of the latest ACK."""
    RCV_HIGHEST = auto()
    """Highest packet received."""
    OUT_OF_ORDER = auto()
    """Packets held in the out-of-order queue."""
    DUPLICATES = auto()
    """Packets received more than once."""
    QUICK_ACKS = auto()
    """Remaining ACKs that are sent without delay (`icsk_ack.quick`)."""
    ACK_DEADLINE = auto()
    """Time at which a delayed ACK, or during the handshake the retransmitted SYN-ACK, is sent [ns], or
    FOREVER."""
    COMPRESSED_ACK_DEADLINE = auto()
    """Time at which a compressed ACK is sent [ns], or FOREVER."""
    COMPRESSED_ACKS = auto()
    """ACKs that the pending compressed ACK replaces (`compressed_ack`)."""
    DUP_ACK_COUNTER = auto()
    """Duplicate ACKs sent without delay for the gap at COMPRESSED_ACK_RCV_NXT (`dup_ack_counter`)."""
    COMPRESSED_ACK_RCV_NXT = auto()
    """RCV_NXT for which duplicate ACKs are counted (`compressed_ack_rcv_nxt`)."""
    RCV_TSVAL = auto()
    """Time at which the packet that arrives now was sent [ns]: its timestamp (`rcv_tsval`)."""
    TS_RECENT = auto()
    """Timestamp that ACKs echo [ns] (TS.Recent, RFC 7323)."""
    DSACK_PACKET = auto()
    """Packet received more than once that the next ACK reports (RFC 2883), or NONE."""
    SYN_ACK_AT = auto()
    """Time at which the latest SYN-ACK was sent [ns], or NONE."""
    SYN_ACK_RETRANSMITS = auto()
    """SYN-ACKs retransmitted by the receiver's timer."""
    RCV_RTT = auto()
    """Round-trip time of the handshake measured by the receiver [ns]; 0 if unknown."""
    LRCVTIME = auto()
    """Time at which data last arrived [ns], or NONE."""
    NEXT_ACK_ID = auto()
    """Id of the next ACK."""
    ACKS_CONSUMED = auto()
    """First ACK id whose place in the ring is still needed."""
    NUM_SACKS = auto()
    """SACK blocks that the receiver remembers, newest first."""
    OVERFULL = auto()
    """1 if more packets are in flight than the rings have room for."""

    # Receive-window autotuning: sender.
    SND_WND = auto()
    """Receive window known to the sender [packets]."""
    SND_WND_END = auto()
    """First packet beyond the receive window known to the sender."""
    NEWEST_ACK_AT = auto()
    """Time at which the most recently sent of the received ACKs was sent [ns], or NONE."""
    # Receiver.
    RCV_WND = auto()
    """Receive window that the receiver advertises [packets]."""
    WINDOW_CLAMP = auto()
    """Limit up to which the advertised window may grow [packets]."""
    RCV_RTT_LAST_TSECR = auto()
    """Newest ACK timestamp that a received packet has echoed [ms], or NONE."""
    RCV_RTT_EST = auto()
    """Smoothed RTT measured by the receiver [ns / 8]; 0 if unknown."""
    RCVQ_SPACE = auto()
    """Packets that the application read in a round trip (`rcvq_space.space`)."""
    RCVQ_SEQ = auto()
    """Next packet to be read when the current measurement began (`rcvq_space.seq`)."""
    RCVQ_TIME = auto()
    """Time at which the current measurement began [ns] (`rcvq_space.time`)."""
    AUTOTUNING_RING = auto()
    """Word at which the ring of `autotuning` begins."""

    # Words at which rings, bitmaps and blocks begin.
    PACKETS = auto()
    """Word at which the packets of the sender begin (`Packet`)."""
    RETRANS_LOG = auto()
    """Word at which the log of retransmissions begins: the packet of each, by number."""
    SACKED_BITS = auto()
    """Word at which the sender's bitmap of packets reported by SACK begins."""
    OUT_OF_ORDER_BITS = auto()
    """Word at which the receiver's bitmap of packets received out of order begins."""
    ACK_RING = auto()
    """Word at which the ring of ACKs in flight begins (`Ack`)."""
    RATE_RECORDS = auto()
    """Word at which the records for delivery rate samples begin (`rate.Record`)."""
    SACK_BLOCKS = auto()
    """SACK blocks of the receiver, pairs (first packet, packet after the last): `2 * SACK_BLOCKS_KEPT`
    words."""


CONTROL = Tcp.SACK_BLOCKS + 2 * SACK_BLOCKS_KEPT
"""First word of the congestion control."""
CONTROL_WORDS = 80
"""Words reserved for the congestion control."""
END = CONTROL + CONTROL_WORDS
"""Words of an association without its rings."""


class Packet(IntEnum):
    """Words of an outstanding packet."""

    SENT = 0
    """Time at which the packet was last sent [us]."""
    FLAGS = 1
    """Bits of `Flag`, and the number of the latest retransmission above them."""


PACKET_WORDS = len(Packet)
"""Words per packet in the ring of the sender."""
RECORD_WORDS = 4
"""Words per packet in the ring of delivery rate records."""


class Ack(IntEnum):
    """Words of an acknowledgement in the ring."""

    CUMULATIVE = 0
    """Cumulative acknowledgement: first packet that is missing."""
    TSECR = 1
    """Timestamp of the packet that it answers [ns] (TSecr, RFC 7323)."""
    DSACK = 2
    """Packet received more than once (RFC 2883), or NONE."""
    NUM_SACKS = 3
    """SACK blocks, the one of DSACK not included."""
    SACK_BLOCKS = 4
    """SACK blocks, pairs (first packet, packet after the last)."""


ACK_WORDS = Ack.SACK_BLOCKS + 2 * SACK_BLOCKS_SENT
"""Words per acknowledgement in the ring."""


def scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association with this `RowP.RING`, or of many with an array of
    them."""
    return END + ring // 64 * 2 + ring * (PACKET_WORDS + 1 + int(ACK_WORDS)) + 8


def paced_scratch_words(window: Any, ring: Any) -> Any:
    """Return the words of scratch of an association whose congestion control sets a pacing rate."""
    return scratch_words(window, ring) + RECORD_WORDS * ring


def init_layout(p: Any, s: Any, free: Any) -> Any:
    """Lay out the rings from word `free` on, and return the first word after them."""
    ring = p[RowP.RING]
    s[Tcp.PACKETS] = free
    s[Tcp.RETRANS_LOG] = free + PACKET_WORDS * ring
    s[Tcp.SACKED_BITS] = s[Tcp.RETRANS_LOG] + ring
    s[Tcp.OUT_OF_ORDER_BITS] = s[Tcp.SACKED_BITS] + (ring >> 6)
    s[Tcp.ACK_RING] = s[Tcp.OUT_OF_ORDER_BITS] + (ring >> 6)
    for i in range(s[Tcp.SACKED_BITS], s[Tcp.ACK_RING]):
        s[i] = 0
    s[Tcp.RATE_RECORDS] = s[Tcp.ACK_RING] + ring * ACK_WORDS
    return s[Tcp.RATE_RECORDS] + (RECORD_WORDS * ring if PACED else 0)


def packet_at(p: Any, s: Any, packet: Any) -> Any:
    """Return the word at which the words of a packet begin."""
    return s[Tcp.PACKETS] + PACKET_WORDS * (packet & (p[RowP.RING] - 1))


def ack_at(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the word at which the words of an acknowledgement begin."""
    return s[Tcp.ACK_RING] + ACK_WORDS * (ack_id & (p[RowP.RING] - 1))


def in_flight(s: Any) -> Any:
    """Return the packets in flight (`tcp_packets_in_flight`; pipe in RFC 6675)."""
    return s[Tcp.SND_NXT] - s[Tcp.SND_UNA] - s[Tcp.SACKED_OUT] - s[Tcp.LOST_OUT] + s[Tcp.RETRANS_OUT]


def snd_wnd(p: Any, s: Any) -> Any:
    """Return the receive window known to the sender [packets]."""
    return s[Tcp.SND_WND] if AUTOTUNING else p[RowP.WINDOW]


def in_cwnd_reduction(s: Any) -> Any:
    """Return True while the window follows proportional rate reduction (`tcp_in_cwnd_reduction`)."""
    return s[Tcp.CA_STATE] == CaState.CWR or s[Tcp.CA_STATE] == CaState.RECOVERY
