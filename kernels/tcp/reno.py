"""TCP Reno: fast retransmit and fast recovery with an inflated window.

Source: Jacobson (1990), RFC 2581 section 3.2, in the form of ns-2 (`Agent/TCP/Reno`).  Tahoe and
NewReno differ from it in the functions that their files replace.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import recovery
from netcarlo.kernels.tcp.recovery import LIMITED, REDUCE, SEND
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, Window

BASE = recovery

FLOOR = 2
"""Least ssthresh [packet]."""

control: Any = slot("control")


def usable(cwnd: Any, inflation: Any, limit: Any) -> Any:
    """The usable window, not rounded [packet]."""
    return min(cwnd + inflation, float(limit))


def reduced(row: Any, clock: Any, window: Any, timeout: Any) -> Any:
    """The window to continue with when a usable one [packet] was too large."""
    return control.reduce(window, timeout, clock.now, clock.rtt, row.constants, row.f)


@noinline
def new_ack(row: Any, at: Any, ack: Any, acked: Any, cwnd: Any) -> Any:
    """Recovery ends with the first new data."""
    row.m[Tcp.PHASE] = Phase.NORMAL
    row.m[Tcp.INFLATION] = 0
    return cwnd, SEND, NONE


def grow(row: Any, clock: Any, ack: Any, before: Any, snd_nxt: Any, window: Any) -> Any:
    """What the congestion control makes of it."""
    control.acked(ack - before, row.f)
    cwnd = control.grow(window.cwnd, window.ssthresh, clock.now, clock.rtt, row.constants, row.f)
    return Window(cwnd, window.ssthresh, 0), NONE


def dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Halve, resend the hole, inflate; a fast retransmit may follow directly on another."""
    return react(row, clock, sent, window, SEND, True)


def react(row: Any, clock: Any, sent: Any, window: Any, send: Any, again: Any) -> Any:
    """`dup_ack` with the action that follows the threshold; `again`: also directly after another recovery."""
    m, dupacks, threshold = row.m, window.dupacks + 1, row.p[P.DUPACKS]
    counted = Window(window.cwnd, window.ssthresh, dupacks)
    if dupacks < threshold:
        return counted, LIMITED, NONE
    recovers = m[Tcp.PHASE] == Phase.RECOVERY
    if dupacks > threshold:
        if recovers:
            m[Tcp.INFLATION] += 1
        return counted, send, NONE
    if not (sent.acked > m[Tcp.RECOVER] or sent.acked == 0 or (again and recovers)):
        return counted, send, NONE
    half = reduced(row, clock, usable(window.cwnd, m[Tcp.INFLATION], row.p[P.WINDOW]), False)
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Tcp.INFLATION] = threshold
    return Window(half, max(int(half), FLOOR), dupacks), send | REDUCE, sent.acked + 1


@noinline
def old_ack(row: Any) -> Any:
    """Send what the window allows, but for the first duplicates."""
    dupacks = row.m[Tcp.DUPACKS]
    return SEND if dupacks == 0 or dupacks >= row.p[P.DUPACKS] else 0


@noinline
def timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Begin again with a window of one packet."""
    m = row.m
    half = reduced(row, clock, usable(max(window.cwnd, 1.0), 0, row.p[P.WINDOW]), True)
    m[Tcp.PHASE] = Phase.NORMAL
    m[Tcp.RECOVER] = snd_max
    m[Tcp.INFLATION] = 0
    m[Tcp.SEEN_PARTIAL] = 0
    return Window(1.0, max(int(half), FLOOR), 0)
