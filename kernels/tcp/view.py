"""Queries of an engine about an association: timers, progress, and properties of packets."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.layout import Trace
from netcarlo.kernels.base.parameters import RowP, TcpP
from netcarlo.kernels.tcp.state import NONE, Tcp

PAUSES: Any = slot("pauses")
TIMESTAMPS: Any = slot("timestamps")

variant: Any = slot("variant")
kind: Any = slot("kind")


def due(s: Any) -> Any:
    """Return the expiry of the sender's timer [ns]."""
    return s[Tcp.TIMER_EXPIRY]


def due_at_receiver(s: Any) -> Any:
    """Return the expiry of the delayed-ACK timer [ns]."""
    return s[Tcp.DELACK_EXPIRY]


def may_send(p: Any, s: Any) -> Any:
    """Return False if `next_segment` and `probe` would return NONE."""
    repairs = s[Tcp.RECOVERY_MAY_SEND] != 0
    if TIMESTAMPS:
        repairs = repairs and variant.has_room(s, s[Tcp.HIGHEST_ACK], s[Tcp.SND_NXT])
    waits = s[Tcp.FORCED] != NONE or repairs or s[Tcp.SND_NXT] <= min(s[Tcp.SEND_LIMIT], s[Tcp.LAST_WRITTEN])
    return waits or (PAUSES and s[Tcp.PROBE_WANTED] != 0)


def all_sent(s: Any) -> Any:
    """Return True if all data have been sent."""
    return s[Tcp.SND_MAX] == s[Tcp.LAST_PACKET]


def data_waiting(p: Any, s: Any) -> Any:
    """Return 0: a blocked packet is not taken out of the sender."""
    return np.int64(0)


def acked(p: Any, s: Any) -> Any:
    """Return the number of data packets that are cumulatively acknowledged."""
    return max(s[Tcp.HIGHEST_ACK] - kind.first_of(p) + 1, 0)


def cwnd_of(p: Any, s: Any, g: Any) -> Any:
    """Return the smaller of congestion and receive window [packets / 1024]."""
    return np.int64(min(g[0], float(p[RowP.WINDOW])) * 1024.0)


def is_data(p: Any, s: Any, packet: Any) -> Any:
    """Return True if a packet of the sender carries data."""
    return packet >= kind.first_of(p)


def is_ack(p: Any, s: Any, ack_id: Any) -> Any:
    """Return True: every packet of the receiver acknowledges data."""
    return True


def size_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the size of a packet of the sender [bytes]."""
    if packet < kind.first_of(p):
        return p[TcpP.HANDSHAKE]
    return p[RowP.DATA] + p[RowP.HEADER] - (p[RowP.SHORT] if is_last(p, s, packet) else 0)


def is_last(p: Any, s: Any, packet: Any) -> Any:
    """Return True if a packet of the sender is the last with data, which may be shorter than the others."""
    return packet == s[Tcp.LAST_PACKET]


def sequence_of(p: Any, s: Any, packet: Any) -> Any:
    """Return the number of a packet of the sender in a trace."""
    return packet


def show(s: Any, g: Any, trace: Any, n: Any) -> None:
    """Write the state of the sender to row n of a trace."""
    trace[n, Trace.CWND] = g[0]
    trace[n, Trace.SSTHRESH] = s[Tcp.SSTHRESH]
    trace[n, Trace.RTO] = s[Tcp.RTO] * 1e-9
    trace[n, Trace.ACKED] = s[Tcp.HIGHEST_ACK]


def carries_cwr(s: Any, packet: Any) -> Any:
    """Return True if a packet carries CWR: the window was reduced for ECN (RFC 3168)."""
    if s[Tcp.CWR_PENDING] != 0 and packet > s[Tcp.ECN_RECOVER]:
        s[Tcp.CWR_PENDING] = 0
        return True
    return False


def overfull(s: Any) -> Any:
    """Return False: no packet in flight occupies a place that another may need."""
    return False
