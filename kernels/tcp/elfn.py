"""TCP with explicit link failure notification: frozen from the notice of a broken link until a probe returns.

Source: Holland and Vaidya, "Analysis of TCP performance over mobile ad hoc networks" (MobiCom 1999), on
NewReno.  Timer and window stand still; a probe segment goes out at once and every 2 s, and with the first
reply the sender repairs what is missing with the window and the timeout that it had.
"""

from typing import Any

from netcarlo.kernels.tcp import newreno
from netcarlo.kernels.tcp.probing import on_paused_ack, repair
from netcarlo.kernels.tcp.state import Then

BASE = newreno
PAUSES = True

REPLIES = 1
JUDGED = False
INTERVAL = 2_000_000_000
"""Between probes [ns]."""
NOTICED = True


def decide(current: Any, before: Any, backoff: Any) -> Any:
    """Timeouts are as ever."""
    return Then.FALL_BACK


def lowered(row: Any, clock: Any, cwnd: Any) -> Any:
    """Never asked: nothing judges the replies."""
    return cwnd, 0


__all__ = ["decide", "lowered", "on_paused_ack", "repair"]
