"""TCP with explicit link failure notification: frozen from the notice of a broken link until a probe returns.

Source: Holland and Vaidya, "Analysis of TCP performance over mobile ad hoc networks" (MobiCom 1999), on
NewReno.  Timer and window stand still; a probe segment goes out at once and every 2 s, and with the first
reply the sender repairs what is missing with the window and the timeout that it had.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.tcp import newreno
from netcarlo.kernels.tcp.probing import listen, repair
from netcarlo.kernels.tcp.recovery import LOSE, Pause, Variant

INTERVAL = 2_000_000_000
"""Between probes [ns]."""


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP with ELFN over a congestion control (`grow`, `reduce`; see `aimd`)."""

    def timeout(current: Any, before: Any, backoff: Any) -> Any:
        return LOSE

    def keep(m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any, cwnd: Any) -> Any:
        return cwnd, 0  # never asked: nothing judges the replies

    return newreno.make(dev, control)._replace(
        pause=Pause(1, False, INTERVAL, True, dev(timeout), dev(listen), dev(repair), dev(keep))
    )
