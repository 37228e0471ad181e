"""TCP with explicit link failure notification: frozen from the notice of a broken link until a probe returns.

Source: Holland and Vaidya, "Analysis of TCP performance over mobile ad hoc networks" (MobiCom 1999), on
NewReno.  Timer and window stand still; a probe segment goes out at once and every 2 s, and with the first
reply the sender repairs what is missing with the window and the timeout that it had.
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
"""Between probes [ns]."""
PAUSES_ON_ROUTE_FAILURE = True


def timeout_action(estimate: Any, previous: Any, backoff: Any) -> Any:
    """Timeouts are as ever."""
    return TimeoutAction.FALL_BACK


def reduced_after_pause(row: Any, clock: Any, cwnd: Any) -> Any:
    """Never asked: nothing judges the replies."""
    return cwnd, 0


__all__ = ["on_ack_in_pause", "reduced_after_pause", "repair_after_pause", "timeout_action"]
