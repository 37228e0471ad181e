"""Default scheduler of MPTCP in Linux (`mptcp_subflow_get_send` and `__mptcp_push_pending`).

The kernel estimates how long the data in the send queue of each subflow last at its pacing rate, and appends
a burst to the shortest queue, an idea of BLEST (Ferlin et al. 2016). Data are assigned long before they are
sent: the send buffer of a subflow has room for several windows.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import MptcpP, RowP
from netcarlo.kernels.base.whole import quotient
from netcarlo.kernels.linux.pacing import Pacing
from netcarlo.kernels.linux.state import FIRST, NONE, PACED, Tcp
from netcarlo.kernels.mptcp import socket_buffers
from netcarlo.kernels.mptcp.state import (
    Conn,
    Sub,
    dsn_at,
    fragment_end,
    has_room,
    is_backup,
    queued_bytes,
    start_timer,
    subflow_at,
)

SEND_BURST_BYTES = (1 << 16) - 20 - 40 - 40 - 8
"""Data that one decision of the scheduler assigns [bytes] (MPTCP_SEND_BURST_SIZE)."""
LINGER_BITS = np.int64(32)
"""Fraction bits of the time that queued data last [s]."""


def pacing_rate(p: Any, s: Any) -> Any:
    """Return the pacing rate of a subflow [byte/s] (`tcp_update_pacing_rate`, or that of its control)."""
    if PACED:
        return s[Pacing.RATE]
    percent = 200 if s[Tcp.CWND] < s[Tcp.SSTHRESH] >> 1 else 120
    packets = max(s[Tcp.CWND], s[Tcp.SND_NXT] - s[Tcp.SND_UNA])
    return quotient(packets * p[RowP.DATA] * percent * 80_000, max(s[Tcp.SRTT_US], 1))


def is_active(s: Any) -> Any:
    """Return True if a subflow may carry new data; an ACK ends being stale (`mptcp_subflow_active`)."""
    if s[Sub.STALE] != 0 and s[Sub.STALE_STAMP] != s[Sub.RCV_STAMP]:
        s[Sub.STALE] = 0
    return s[Sub.USABLE] != 0 and s[Sub.STALE] == 0


@noinline
def get_send(p: Any, m: Any) -> Any:
    """Return the path whose subflow gets the next data, or NONE (`mptcp_subflow_get_send`)."""
    pick, backup, active = np.int64(NONE), np.int64(NONE), np.int64(0)
    least, least_of_backup = np.int64(FOREVER), np.int64(FOREVER)
    for path in range(p[MptcpP.SUBFLOWS]):
        s = m[subflow_at(path) :]
        if is_active(s):
            reserve = is_backup(p, path)
            active += 0 if reserve else 1
            if s[Sub.AVG_PACING_RATE] == 0:
                s[Sub.AVG_PACING_RATE] = pacing_rate(p, s)
            if s[Sub.AVG_PACING_RATE] > 0:
                linger = quotient(queued_bytes(p, s) << LINGER_BITS, s[Sub.AVG_PACING_RATE])
                if reserve and linger < least_of_backup:
                    backup, least_of_backup = np.int64(path), linger
                elif not reserve and linger < least:
                    pick, least = np.int64(path), linger
    if active == 0:
        pick = backup
    if pick != NONE and not has_room(p, m[subflow_at(pick) :]):
        pick = np.int64(NONE)
    return pick


def is_writeable(p: Any, m: Any) -> Any:
    """Return True if data of the application take two thirds of the send buffer or less
    (`sk_stream_is_writeable`)."""
    queued = (m[Conn.WRITTEN] - m[Conn.SND_UNA]) * p[RowP.DATA]
    return m[Conn.SNDBUF] - queued >= queued >> 1


@noinline
def write(p: Any, m: Any) -> None:
    """Let the application write until the send buffer is full (`mptcp_send_limit`)."""
    room, queued = m[Conn.SNDBUF], (m[Conn.WRITTEN] - m[Conn.SND_UNA]) * p[RowP.DATA]
    while m[Conn.WRITTEN] < p[RowP.LIMIT] and queued < room:
        m[Conn.WRITTEN] = min(fragment_end(p, m[Conn.WRITTEN]), p[RowP.LIMIT])
        queued = (m[Conn.WRITTEN] - m[Conn.SND_UNA]) * p[RowP.DATA]


def window_end(p: Any, m: Any) -> Any:
    """Return the data packet after the last one that the shared receive window admits (`wnd_end`)."""
    return m[Conn.SND_UNA] + p[RowP.WINDOW]


def append(p: Any, m: Any, s: Any, dsn: Any) -> None:
    """Append a data packet to the send queue of subflow `s`."""
    packet = s[Tcp.LAST] + 1
    if packet - max(s[Tcp.SND_UNA], FIRST) >= p[RowP.RING] - 1:
        m[Conn.OVERFULL] = 1
        return
    s[dsn_at(p, s, packet)] = dsn
    socket_buffers.append(p, s, packet, dsn)
    s[Tcp.LAST] = packet
    s[Tcp.TRY_SEND] = 1
    if dsn < m[Conn.SND_NXT]:
        m[Conn.REINJECTED] += 1


@noinline
def append_burst(p: Any, m: Any, s: Any, end: Any, burst: Any) -> Any:
    """Append data up to `end` to subflow `s`, and return the number of packets (`__subflow_push_pending`).

    Whole fragments are appended until there are `burst` packets or the queue of the subflow is full.
    """
    count = np.int64(0)
    while m[Conn.PENDING] < end and m[Conn.OVERFULL] == 0:
        stop = min(fragment_end(p, m[Conn.PENDING]), end)
        for dsn in range(m[Conn.PENDING], stop):
            append(p, m, s, np.int64(dsn))
        count += stop - m[Conn.PENDING]
        m[Conn.PENDING] = stop
        m[Conn.SND_NXT] = max(m[Conn.SND_NXT], stop)
        if count >= burst or not has_room(p, s):
            return count
    return count


@noinline
def push_pending(p: Any, m: Any, now: Any) -> None:
    """Assign waiting data to subflows as long as window and send queue have room (`__mptcp_push_pending`)."""
    pushed = False
    end = min(m[Conn.WRITTEN], window_end(p, m))
    while m[Conn.PENDING] < end and m[Conn.OVERFULL] == 0:
        path = get_send(p, m)
        if path == NONE:
            break
        s = m[subflow_at(path) :]
        data = max(p[RowP.DATA], 1)
        burst = min(quotient(SEND_BURST_BYTES + data - 1, data), window_end(p, m) - m[Conn.SND_NXT])
        if burst > 0:
            sent, queued = burst * data, queued_bytes(p, s)
            s[Sub.AVG_PACING_RATE] = quotient(
                s[Sub.AVG_PACING_RATE] * queued + pacing_rate(p, s) * sent, sent + queued
            )
        append_burst(p, m, s, end, burst)
        pushed = True
    if pushed and m[Conn.TIMER] == FOREVER:
        start_timer(p, m, now)
