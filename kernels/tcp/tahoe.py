"""TCP Tahoe: fast retransmit, then slow start from the first hole.

Source: Jacobson, "Congestion avoidance and control" (SIGCOMM 1988), in the form of ns-2
(`Agent/TCP`).
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import reno
from netcarlo.kernels.tcp.recovery import CUT, GO_BACK, LIMITED, NONE, RECOVER, SEND, Variant


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP Tahoe over a congestion control (`grow`, `reduce`; see `aimd`)."""
    base = reno.make(dev, control)
    base_timeout = base.timeout
    window = dev(reno.window_of)
    control_reduce = dev(control.reduce)

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        dupacks += 1
        threshold = parameters[P.DUPACKS]
        if dupacks < threshold:
            return cwnd, ssthresh, dupacks, SEND | LIMITED, NONE
        if dupacks > threshold or not (una > m[RECOVER] or una == 0):
            return cwnd, ssthresh, dupacks, SEND, NONE
        half = control_reduce(window(cwnd, 0, parameters[P.WINDOW]), False, now, rtt, constants, f)
        m[RECOVER] = top
        return 1.0, max(int(half), reno.FLOOR), dupacks, SEND | CUT | GO_BACK, NONE

    @cold
    def timeout(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        top: Any, dupacks: Any, cwnd: Any,
    ) -> Any:  # fmt: skip
        cwnd, ssthresh, _ = base_timeout(m, f, parameters, constants, now, rtt, top, dupacks, cwnd)
        return cwnd, ssthresh, dupacks  # Tahoe goes on counting

    return base._replace(dup_ack=dev(dup_ack), timeout=dev(timeout))
