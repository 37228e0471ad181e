"""TCP Tahoe: fast retransmit, then slow start from the first hole.

Source: Jacobson, "Congestion avoidance and control" (SIGCOMM 1988), in the form of ns-2 (`Agent/TCP`).
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import ReliableP, RowP
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import GO_BACK, LIMITED_TRANSMIT, REDUCE, SEND
from netcarlo.kernels.tcp.state import NONE, Tcp, Window

BASE = reno


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Start slow start from the first unacknowledged packet at the third duplicate ACK."""
    m, dupacks, threshold = row.m, window.dupacks + 1, row.p[ReliableP.DUPACKS]
    counted = Window(window.cwnd, window.ssthresh, dupacks)
    if dupacks < threshold:
        return counted, SEND | LIMITED_TRANSMIT, NONE
    if dupacks > threshold or not (sent.highest_ack > m[Tcp.RECOVER] or sent.highest_ack == 0):
        return counted, SEND, NONE
    half = reno.reduced_window(row, clock, reno.usable_window(window.cwnd, 0, row.p[RowP.WINDOW]), False)
    m[Tcp.RECOVER] = sent.snd_max
    return Window(1.0, max(int(half), reno.MIN_SSTHRESH), dupacks), SEND | REDUCE | GO_BACK, NONE


def on_old_ack(row: Any) -> Any:
    """Send what the window allows."""
    return SEND


@noinline
def on_timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """Restart as Reno does, but keep the count of duplicate ACKs."""
    after = reno.on_timeout(row, clock, snd_max, window)
    return Window(after.cwnd, after.ssthresh, window.dupacks)
