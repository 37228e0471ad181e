"""Association of today's Linux: the functions by which an engine drives it, as those of `tcp.association`."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import Trace
from netcarlo.kernels.base.parameters import ReliableP, RowP, TcpP
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.receiver import (
    complete,
    due_at_receiver,
    in_order,
    note_timestamp,
    on_data,
    on_delay,
)
from netcarlo.kernels.linux.sender import next_segment, on_ack, on_timeout, prepare, start
from netcarlo.kernels.linux.state import (
    ACK_OF_SYN,
    FIRST,
    FULL,
    NONE,
    PACED,
    Ack,
    Tcp,
    ack_at,
    paced_scratch_words,
    scratch_words,
    snd_wnd,
)
from netcarlo.kernels.linux.state import END as WORDS
from netcarlo.kernels.linux.transmission_ids import note_transmission, transmission_id

__all__ = [
    "FLOATS",
    "FULL",
    "NONE",
    "WORDS",
    "Counter",
    "complete",
    "due_at_receiver",
    "in_order",
    "next_segment",
    "note_first_sent",
    "note_timestamp",
    "note_transmission",
    "on_ack",
    "on_data",
    "on_delay",
    "on_timeout",
    "paced_scratch_words",
    "prepare",
    "scratch_words",
    "start",
    "transmission_id",
]

FLOATS = 0
"""Words of float64 memory of an association."""


class Counter(IntEnum):
    """Words of scratch that an engine may read."""

    SENT = Tcp.SENT
    RETRANSMITTED = Tcp.RETRANSMITTED
    HANDSHAKES = Tcp.SYNS_SENT
    TIMEOUTS = Tcp.TIMEOUTS
    FAST_RETRANSMITS = Tcp.FAST_RETRANSMITS
    REDUCTIONS = Tcp.CWND_REDUCTIONS
    ACKED = Tcp.SND_UNA
    OUT_OF_ORDER = Tcp.OUT_OF_ORDER
    RTT = Tcp.SRTT_NS
    AVOIDED = Tcp.ZERO
    PROBING = Tcp.ZERO
    PROBING_SINCE = Tcp.ZERO
    PROBES = Tcp.ZERO
    PROBE_CYCLES = Tcp.ZERO
    PROBE_TIME = Tcp.ZERO


def overfull(s: Any) -> Any:
    """Return True if more packets were in flight than there was room for; the outcomes are then invalid."""
    return s[Tcp.OVERFULL] != 0


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender [byte]."""
    if packet >= FIRST:
        return p[RowP.DATA] + p[RowP.HEADER] - (p[RowP.SHORT] if is_last(p, s, packet) else 0)
    return p[ReliableP.ACK] if packet == ACK_OF_SYN else p[TcpP.HANDSHAKE]


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender is the last with data, which may be shorter than the others."""
    return packet == s[Tcp.LAST]


OPTION = 4
"""Bytes of a SACK option besides its blocks."""


def size_of_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the size of a packet of the receiver [byte]."""
    if not is_ack(p, s, ack_id):
        return p[TcpP.HANDSHAKE]
    at = ack_at(p, s, ack_id)
    blocks = s[at + Ack.NUM_SACKS] + (s[at + Ack.DSACK] != NONE)
    return p[ReliableP.ACK] + (p[ReliableP.SACK_BLOCK] * blocks + OPTION if blocks > 0 else 0)


def is_data(p: Any, s: Any, packet: Any) -> Any:
    """Return whether a packet of the sender carries data."""
    return packet >= FIRST


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return True if a packet of the receiver acknowledges data; a SYN-ACK does not."""
    at = ack_at(p, s, ack_id)
    return s[at + Ack.CUMULATIVE] > FIRST or s[at + Ack.NUM_SACKS] > 0 or s[at + Ack.DSACK] != NONE


def cumulative_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return the cumulative acknowledgement of an ACK as traces show it: the last packet received in
    order."""
    return sequence_of(p, s, s[ack_at(p, s, ack_id) + Ack.CUMULATIVE] - 1)


def may_send(p: Any, s: Any) -> Any:
    """Return False if `next_segment` would return no packet."""
    return s[Tcp.TRY_SEND] != 0 or s[Tcp.FORCED] != NONE or s[Tcp.OVERFULL] != 0


def due(s: Any) -> Any:
    """Return the time at which a timer of the sender expires [ns], or FOREVER."""
    return min(s[Tcp.DEADLINE], s[Pacing.TIMER]) if PACED else s[Tcp.DEADLINE]


def finished(s: Any) -> Any:
    """Return True when all data have been acknowledged."""
    return s[Tcp.SND_UNA] > s[Tcp.LAST]


def acked(p: Any, s: Any) -> Any:
    """Return the packets with data that are cumulatively acknowledged."""
    return max(s[Tcp.SND_UNA] - FIRST, np.int64(0))


def cwnd_of(p: Any, s: Any, g: Any) -> Any:
    """Return the effective window: the smaller of congestion and receive window [packets / 1024]."""
    return min(s[Tcp.CWND], snd_wnd(p, s)) << 10


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the number of a sender's packet in traces, which count data packets from 1."""
    return packet - FIRST + 1


def show(s: Any, g: Any, trace: Any, n: Any) -> None:
    """Write the state of the sender into row n of a trace."""
    trace[n, Trace.CWND] = s[Tcp.CWND]
    trace[n, Trace.SSTHRESH] = s[Tcp.SSTHRESH]
    trace[n, Trace.RTO] = (s[Tcp.SRTT_US] >> 3) * 1e-6 + s[Tcp.RTTVAR_US] * 1e-6
    trace[n, Trace.ACKED] = s[Tcp.SND_UNA] - FIRST


# No-ops for delay statistics, ECN and probe segments.


def note_first_sent(p: Any, s: Any, packet: Any, now: Any) -> None:
    """Do nothing: nobody asks for the delay of packets (`first_sent`)."""


def carries_cwr(s: Any, packet: Any) -> Any:
    """Return False: the sender does not use ECN."""
    return False


def on_echo(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Do nothing: the sender does not use ECN."""


def probe(p: Any, s: Any, now: Any) -> Any:
    """Return NONE: the sender has no probe segments."""
    return np.int64(NONE)


def on_probe(p: Any, s: Any, g: Any, constants: Any, now: Any, number: Any) -> None:
    """Do nothing: the sender has no probe segments."""
