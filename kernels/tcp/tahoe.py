"""TCP Tahoe: fast retransmit, then slow start from the first hole.

Source: Jacobson, "Congestion avoidance and control" (SIGCOMM 1988), in the form of ns-2
(`Agent/TCP`).
"""

from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import GO_BACK, LIMITED, REDUCE, SEND
from netcarlo.kernels.tcp.state import NONE, Tcp, Window

BASE = reno


def dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """The third begins slow start from the first unacknowledged packet."""
    m, dupacks, threshold = row.m, window.dupacks + 1, row.p[P.DUPACKS]
    counted = Window(window.cwnd, window.ssthresh, dupacks)
    if dupacks < threshold:
        return counted, SEND | LIMITED, NONE
    if dupacks > threshold or not (sent.acked > m[Tcp.RECOVER] or sent.acked == 0):
        return counted, SEND, NONE
    half = reno.reduced(row, clock, reno.usable(window.cwnd, 0, row.p[P.WINDOW]), False)
    m[Tcp.RECOVER] = sent.snd_max
    return Window(1.0, max(int(half), reno.FLOOR), dupacks), SEND | REDUCE | GO_BACK, NONE


def old_ack(row: Any) -> Any:
    """Send what the window allows."""
    return SEND


@noinline
def timeout(row: Any, clock: Any, snd_max: Any, window: Any) -> Any:
    """As Reno's, but Tahoe goes on counting duplicates."""
    after = reno.timeout(row, clock, snd_max, window)
    return Window(after.cwnd, after.ssthresh, window.dupacks)
