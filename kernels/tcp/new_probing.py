"""New TCP-Probing: selective retransmission without reduction; probes after a timeout if the RTT has grown.

Source: a change of TCP-Probing for ad hoc networks (Kong, Choi, Rhee and Chung), on SACK TCP.  Duplicate
acknowledgements are taken for bit errors; a timeout too, unless the estimated timeout has risen or this is
not the first timeout since it was measured: then the link may be broken, and probe segments ask.
"""

from typing import Any

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.tcp import sack
from netcarlo.kernels.tcp.probing import REQUIRED_REPLIES
from netcarlo.kernels.tcp.recovery import AVOIDED, REDUCE
from netcarlo.kernels.tcp.state import TimeoutAction, Window

BASE = sack
PAUSES = True

COMPARES_RTT = True
PROBE_INTERVAL = 0
PAUSES_ON_ROUTE_FAILURE = False

inner: Any = slot("inner")
"""The congestion control."""


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The congestion control's answer to a loss, at timeouts only."""
    return inner.reduce(window, timeout, now, rtt, constants, memory) if timeout else window


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Recover as SACK does, with the window as it is."""
    after, actions, forced = sack.on_dup_ack(row, clock, at, sent, window)
    kept = Window(window.cwnd, window.ssthresh, after.dupacks)
    return kept, actions | AVOIDED if actions & REDUCE else actions, forced


def timeout_action(estimate: Any, previous: Any, backoff: Any) -> Any:
    """A first timeout that has not risen is taken for bit errors."""
    return TimeoutAction.KEEP_WINDOW if backoff == 1 and estimate <= previous else TimeoutAction.PAUSE


def reduced_after_pause(row: Any, clock: Any, cwnd: Any) -> Any:
    """Never asked: duplicate ACKs begin no pause."""
    return cwnd, 0


__all__ = ["REQUIRED_REPLIES", "on_dup_ack", "reduce", "reduced_after_pause", "timeout_action"]
