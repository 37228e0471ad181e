"""TCP NewReno: fast recovery that repairs one hole per partial ACK.

Source: RFC 2582, in the form of ns-2 (`Agent/TCP/Newreno`: partial window deflation, the timer is
restarted by the first partial ACK only, at most two packets per ACK during recovery).
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels import reno
from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import P
from netcarlo.kernels.recovery import (
    CUT,
    INFLATION,
    LIMITED,
    NONE,
    NORMAL,
    PARTIAL,
    PHASE,
    RECOVER,
    RECOVERY,
    SEEN_PARTIAL,
    SEND,
    SEND_TWO,
    TIMER,
    Variant,
)


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP NewReno over a congestion control (`grow`, `reduce`; see `aimd`)."""
    base = reno.make(dev, control)
    window = dev(reno.window_of)
    control_reduce = dev(control.reduce)

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

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        dupacks += 1
        threshold = parameters[P.DUPACKS]
        if dupacks < threshold:
            return cwnd, ssthresh, dupacks, LIMITED, NONE
        if dupacks > threshold:
            if m[PHASE] == RECOVERY:
                m[INFLATION] += 1
            return cwnd, ssthresh, dupacks, SEND_TWO, NONE
        if not (una > m[RECOVER] or una == 0):
            return cwnd, ssthresh, dupacks, SEND_TWO, NONE
        half = control_reduce(window(cwnd, m[INFLATION], parameters[P.WINDOW]), False, now, rtt, constants, f)
        m[PHASE] = RECOVERY
        m[RECOVER] = top
        m[INFLATION] = threshold
        return half, max(int(half), reno.FLOOR), dupacks, SEND_TWO | CUT, una + 1

    return base._replace(new_ack=dev(new_ack), dup_ack=dev(dup_ack))
