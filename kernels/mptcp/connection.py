"""Sender of a connection: what it does at the events of its subflows."""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER
from netcarlo.kernels.base.parameters import MptcpP, RowP, TcpP
from netcarlo.kernels.linux import clocks
from netcarlo.kernels.linux.state import ACK_OF_SYN, Tcp, Timer, in_flight
from netcarlo.kernels.mptcp import scheduler, state
from netcarlo.kernels.mptcp.coupled import peers
from netcarlo.kernels.mptcp.state import SUBFLOW_WORDS, Conn, Sub, data_ack_at, expand_sndbuf, subflow_at

association: Any = slot("association")
"""Functions of the association of a subflow."""
COUPLED: Any = slot("coupled")
"""True if the congestion controls of the subflows are coupled."""
WAKE_UP_TIME = 300 * clocks.US
"""Time from the SYN-ACK of the first subflow until the first data leave [ns]: the application has to run
(median of the runs of docs/results/accuracy-mptcp.md, 0.2 to 0.6 ms)."""


@noinline
def prepare(p: Any, m: Any, g: Any, free: Any) -> Any:
    """Prepare the connection and its subflows, with rings from word `free` of `m` on.

    Returns the next free word.
    """
    for path in range(p[MptcpP.SUBFLOWS]):
        at = np.int64(subflow_at(path))
        free = at + association.prepare(p, m[at:], g, np.int64(0), p[TcpP.CLOCK_PHASE], path, free - at)
    return state.prepare(p, m, free)


@noinline
def start(p: Any, m: Any, g: Any, now: Any) -> None:
    """Open the connection over the first path."""
    s = m[subflow_at(0) :]
    association.start(p, s, g, now)
    if s[Tcp.ESTABLISHED] != 0:
        _begin(p, m, s, now)


def _begin(p: Any, m: Any, s: Any, now: Any) -> None:
    """Let the application write a fragment, for which a new socket has room; then the buffer grows."""
    s[Sub.USABLE] = 1
    scheduler.write(p, m)
    scheduler.push_pending(p, m, now)
    state.sync_sndbuf(p, m)


@noinline
def on_ack(p: Any, m: Any, g: Any, constants: Any, now: Any, path: Any, ack_id: Any) -> Any:
    """Process a packet of the receiver on a path; return True if it acknowledges further data."""
    s = m[subflow_at(path) :]
    established, of_data = s[Tcp.ESTABLISHED], association.is_ack(p, s, ack_id)
    data_ack = s[data_ack_at(p, s, ack_id)]
    if COUPLED:
        peers.note(p, m, path)
    association.on_ack(p, s, g, constants, now, ack_id)
    if established == 0:
        if path == 0 and s[Tcp.TIMER] == Timer.WAKE_UP:
            s[Tcp.DEADLINE] = now + WAKE_UP_TIME
        if path > 0:
            s[Sub.JOIN_TIMER] = _join_timer(p, s, now)
            state.sync_sndbuf(p, m)
            scheduler.push_pending(p, m, now)
        return False
    s[Sub.RCV_STAMP] = clocks.jiffies_of(p, s, now)
    if path == 0 and of_data and m[Conn.JOINING] == 0:
        _join(p, m, g, now)
    if path > 0 and s[Sub.USABLE] == 0:
        s[Sub.USABLE] = 1
        s[Sub.JOIN_TIMER] = FOREVER
    advances = data_ack > m[Conn.SND_UNA]
    m[Conn.SND_UNA] = max(m[Conn.SND_UNA], data_ack)
    m[Conn.PENDING] = max(m[Conn.PENDING], m[Conn.SND_UNA])
    scheduler.push_pending(p, m, now)
    return advances


def _join(p: Any, m: Any, g: Any, now: Any) -> None:
    """Open the further subflows, as the connection is fully established (RFC 8684, section 3.2)."""
    m[Conn.JOINING] = 1
    for path in range(1, p[MptcpP.SUBFLOWS]):
        s = m[subflow_at(path) :]
        association.start(p, s, g, now)
        if s[Tcp.ESTABLISHED] != 0:
            s[Sub.USABLE] = 1
            state.sync_sndbuf(p, m)


def _join_timer(p: Any, s: Any, now: Any) -> Any:
    """Return when the third packet of a handshake is sent again [ns]: after two round trips."""
    return clocks.timer_expiry(p, s, now, clocks.to_jiffies(s, s[Tcp.SRTT_US] >> np.int64(2)))


@noinline
def on_join_timer(p: Any, m: Any, now: Any, path: Any) -> None:
    """Send the third packet of a handshake again: the receiver has not answered it."""
    s = m[subflow_at(path) :]
    s[Tcp.FORCED] = ACK_OF_SYN
    s[Sub.JOIN_TIMER] = _join_timer(p, s, now)


@noinline
def on_timeout(p: Any, m: Any, g: Any, constants: Any, now: Any, path: Any) -> None:
    """Process the timer of a subflow; the first data follow when the application learns of the connection."""
    s = m[subflow_at(path) :]
    wakes = path == 0 and s[Tcp.TIMER] == Timer.WAKE_UP and s[Tcp.DEADLINE] <= now
    if COUPLED:
        peers.note(p, m, path)
    association.on_timeout(p, s, g, constants, now)
    if wakes:
        _begin(p, m, s, now)


@noinline
def finish_event(p: Any, m: Any, now: Any, path: Any, advances: Any) -> Any:
    """Adapt send buffer and timer once an event on a path has been processed and packets have been sent.

    `path` is NONE unless an ACK arrived on it; `advances`: it acknowledged further data. A send buffer grows
    only while the application waits for room in it (`tcp_check_space`, SOCK_NOSPACE). After that the
    application writes. Returns True if it did so, and its data may have to be sent.
    """
    writes = m[Conn.WRITTEN] < p[RowP.LIMIT] and scheduler.is_writeable(p, m)
    if path >= 0:
        s = m[subflow_at(path) :]
        if in_flight(s) < s[Tcp.CWND] and m[Conn.WRITTEN] < p[RowP.LIMIT] and expand_sndbuf(p, s):
            state.sync_sndbuf(p, m)
    state.set_timeout(p, m, now)
    if advances and m[Conn.SND_UNA] >= p[RowP.LIMIT]:
        m[Conn.TIMER] = FOREVER
    elif advances:
        state.start_timer(p, m, now)
    if writes:
        scheduler.write(p, m)
        scheduler.push_pending(p, m, now)
    return writes


def overfull(p: Any, m: Any) -> Any:
    """Return True if a ring was too small; the outcomes are then invalid."""
    found = m[Conn.OVERFULL] != 0
    for path in range(p[MptcpP.SUBFLOWS]):
        found = found or m[SUBFLOW_WORDS * path + state.SUBFLOWS + Tcp.OVERFULL] != 0
    return found
