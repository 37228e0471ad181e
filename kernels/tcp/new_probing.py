"""New TCP-Probing: selective retransmission without reduction; probes after a timeout if the RTT has grown.

Source: a variant of TCP-Probing for ad hoc networks (Kong, Choi, Rhee and Chung), on SACK TCP. Duplicate ACKs
are attributed to bit errors. So is a timeout, unless the estimated timeout has grown or this is not the first
timeout since it was measured: then the route may be broken, and the sender pauses and probes.
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
"""Congestion control."""


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the window of the congestion control after a timeout; keep it after other losses."""
    return inner.reduce(window, timeout, now, rtt, constants, memory) if timeout else window


def on_dup_ack(row: Any, clock: Any, at: Any, sent: Any, window: Any) -> Any:
    """Start or continue a SACK recovery and keep the window."""
    after, actions, forced = sack.on_dup_ack(row, clock, at, sent, window)
    kept = Window(window.cwnd, window.ssthresh, after.dupacks)
    return kept, actions | AVOIDED if actions & REDUCE else actions, forced


def timeout_action(estimate: Any, previous: Any, backoff: Any) -> Any:
    """Return KEEP_WINDOW for a first timeout with an estimate that has not grown, else PAUSE."""
    return TimeoutAction.KEEP_WINDOW if backoff == 1 and estimate <= previous else TimeoutAction.PAUSE


def reduced_after_pause(row: Any, clock: Any, cwnd: Any) -> Any:
    """Return the window unchanged; never called, as duplicate ACKs start no pause."""
    return cwnd, 0


__all__ = ["REQUIRED_REPLIES", "on_dup_ack", "reduce", "reduced_after_pause", "timeout_action"]
