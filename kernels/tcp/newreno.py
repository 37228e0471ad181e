"""TCP NewReno: fast recovery that repairs one hole per partial ACK.

Source: RFC 2582, in the form of ns-2 (`Agent/TCP/Newreno`: partial window deflation, the timer is
restarted by the first partial ACK only, at most two packets per ACK during recovery).
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import (
    INFLATION,
    NONE,
    NORMAL,
    PARTIAL,
    PHASE,
    RECOVER,
    SEEN_PARTIAL,
    SEND,
    SEND_TWO,
    TIMER,
    Variant,
)


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP NewReno over a congestion control (`grow`, `reduce`; see `aimd`)."""
    base = reno.make(dev, control)

    @cold
    def new_ack(m: Any, parameters: Any, at: Any, ack: Any, una: Any, cwnd: Any) -> Any:
        if ack >= m[RECOVER]:
            m[PHASE] = NORMAL
            m[INFLATION] = 0
            m[SEEN_PARTIAL] = 0
            return cwnd, SEND, NONE
        order = PARTIAL | SEND_TWO
        if m[SEEN_PARTIAL] == 0:
            m[SEEN_PARTIAL] = 1
            order |= TIMER
        deflate = ack - una
        if m[INFLATION] > deflate:
            m[INFLATION] -= deflate - 1
        else:
            cwnd -= float(deflate - m[INFLATION])
            m[INFLATION] = 1
        return max(cwnd, 1.0), order, ack + 1

    return base._replace(
        new_ack=dev(new_ack), dup_ack=reno.make_dup_ack(dev, control, send=SEND_TWO, again=False)
    )
