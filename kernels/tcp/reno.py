"""TCP Reno: fast retransmit and fast recovery with an inflated window.

Source: Jacobson (1990) and RFC 2581, section 3.2, in the form of ns-2 (`Agent/TCP/Reno`). Tahoe and NewReno
replace some of its functions.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp import recovery
from netcarlo.kernels.tcp.recovery import LIMITED_TRANSMIT, REDUCE, SEND
from netcarlo.kernels.tcp.state import NONE, Phase, Tcp, Window

BASE = recovery

MIN_SSTHRESH = 2
"""Minimum ssthresh [packets]."""

control: Any = slot("control")


def usable_window(cwnd: Any, inflation: Any, limit: Any) -> Any:
    """Return the usable window, not rounded [packets]."""
    return min(cwnd + inflation, float(limit))


def reduced_window(row: Any, clock: Any, window: Any, timeout: Any) -> Any:
    """Return the window after a loss at this usable window [packets]."""
    return control.reduce(window, timeout, clock.now, clock.rtt, row.constants, row.f)


@noinline
def on_ack_in_recovery(row: Any, at: Any, ack: Any, highest_ack: Any, cwnd: Any) -> Any:
    """End recovery with the first ACK of new data."""
    row.m[Tcp.PHASE] = Phase.NORMAL
    row.m[Tcp.INFLATION] = 0
    return cwnd, SEND, NONE


def grow(row: Any, clock: Any, ack: Any, previous_ack: Any, snd_nxt: Any, window: Any) -> Any:
    """Grow the window as the congestion control says."""
    control.acked(ack - previous_ack, row.f)
    cwnd = control.grow(window.cwnd, window.ssthresh, clock.now, clock.rtt, row.constants, row.f)
    return Window(cwnd, window.ssthresh, 0), NONE


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Halve the window, retransmit, inflate; a fast retransmit may directly follow another."""
    return react_to_duplicate(row, clock, sent, window, SEND, True)


def react_to_duplicate(row: Any, clock: Any, sent: Any, window: Any, send: Any, again: Any) -> Any:
    """Process a duplicate ACK: at the threshold reduce the window and retransmit, above it inflate.

    `send` is the action for duplicates above the threshold. `again` allows a fast retransmit directly after
    another recovery.

    Returns the window, the actions, and the packet to retransmit or NONE.
    """
    m, dupacks, threshold = row.m, window.dupacks + 1, row.p[ReliableP.DUPACKS]
    counted = Window(window.cwnd, window.ssthresh, dupacks)
    if dupacks < threshold:
        return counted, LIMITED_TRANSMIT, NONE
    recovers = m[Tcp.PHASE] == Phase.RECOVERY
    if dupacks > threshold:
        if recovers:
            m[Tcp.INFLATION] += 1
        return counted, send, NONE
    if not (sent.highest_ack > m[Tcp.RECOVER] or sent.highest_ack == 0 or (again and recovers)):
        return counted, send, NONE
    half = reduced_window(row, clock, usable_window(window.cwnd, m[Tcp.INFLATION], row.p[RowP.WINDOW]), False)
    m[Tcp.PHASE] = Phase.RECOVERY
    m[Tcp.RECOVER] = sent.snd_max
    m[Tcp.INFLATION] = threshold
    return Window(half, max(int(half), MIN_SSTHRESH), dupacks), send | REDUCE, sent.highest_ack + 1


@noinline
def on_old_ack(row: Any) -> Any:
    """Send what the window allows, except after the first duplicate ACKs."""
    dupacks = row.m[Tcp.DUPACKS]
    return SEND if dupacks == 0 or dupacks >= row.p[ReliableP.DUPACKS] else 0


@noinline
def on_timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Restart with a window of one packet."""
    m = row.m
    half = reduced_window(row, clock, usable_window(max(window.cwnd, 1.0), 0, row.p[RowP.WINDOW]), True)
    m[Tcp.PHASE] = Phase.NORMAL
    m[Tcp.RECOVER] = snd_max
    m[Tcp.INFLATION] = 0
    m[Tcp.SEEN_PARTIAL] = 0
    return Window(1.0, max(int(half), MIN_SSTHRESH), 0)
