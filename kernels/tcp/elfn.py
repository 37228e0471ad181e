"""TCP with explicit link failure notification: frozen from the notice of a broken route until a probe
returns.

Source: Holland and Vaidya, "Analysis of TCP performance over mobile ad hoc networks" (MobiCom 1999), on
NewReno. Timer and window are frozen. A probe segment is sent at once and every 2 s. At the first reply the
sender retransmits what is missing, with its earlier window and timeout.
"""

from typing import Any

from netcarlo.kernels.tcp import newreno
from netcarlo.kernels.tcp.probing import on_ack_in_pause, repair_after_pause
from netcarlo.kernels.tcp.state import TimeoutAction

BASE = newreno
PAUSES = True

REQUIRED_REPLIES = 1
COMPARES_RTT = False
PROBE_INTERVAL = 2_000_000_000
"""Time between probes [ns]."""
PAUSES_ON_ROUTE_FAILURE = True


def timeout_action(estimate: Any, previous: Any, backoff: Any) -> Any:
    """Return the ordinary action at a timeout."""
    return TimeoutAction.FALL_BACK


def reduced_after_pause(row: Any, clock: Any, cwnd: Any) -> Any:
    """Return the window unchanged; never called, as replies are not compared with the RTT."""
    return cwnd, 0


__all__ = ["on_ack_in_pause", "reduced_after_pause", "repair_after_pause", "timeout_action"]
