"""TCP Reno: fast retransmit and fast recovery with an inflated window.

Source: Jacobson (1990), RFC 2581 section 3.2, in the form of ns-2 (`Agent/TCP/Reno`).  Tahoe and
NewReno differ from it in the functions that their files replace.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp.recovery import (
    CUT,
    INFLATION,
    LIMITED,
    NONE,
    NORMAL,
    PHASE,
    RECOVER,
    RECOVERY,
    SEEN_PARTIAL,
    SEND,
    Variant,
)

FLOOR = 2
"""Least ssthresh [packet]."""


def window_of(cwnd: Any, inflation: Any, limit: Any) -> Any:
    """The usable window, not rounded [packet]."""
    return min(cwnd + inflation, float(limit))


def make_growth(dev: Callable[[Any], Any], control: Any) -> tuple[Any, Any]:
    """Compile what a congestion control does at an ACK of new data: `acked`, if it has that, and `grow`."""

    def acked(packets: Any, f: Any) -> None:
        pass

    return dev(getattr(control, "acked", acked)), dev(control.grow)


def make_dup_ack(dev: Callable[[Any], Any], control: Any, *, send: int, again: bool) -> Any:
    """Compile the reaction to a duplicate ACK: halve, resend the hole, inflate.

    `send` is the order that follows the threshold; `again` allows a fast retransmit directly after
    another (Reno).
    """
    window = dev(window_of)
    control_reduce = dev(control.reduce)

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        dupacks += 1
        threshold = parameters[P.DUPACKS]
        if dupacks < threshold:
            return cwnd, ssthresh, dupacks, LIMITED, NONE
        in_recovery = m[PHASE] == RECOVERY
        if dupacks > threshold:
            if in_recovery:
                m[INFLATION] += 1
            return cwnd, ssthresh, dupacks, send, NONE
        if not (una > m[RECOVER] or una == 0 or (again and in_recovery)):
            return cwnd, ssthresh, dupacks, send, NONE
        half = control_reduce(window(cwnd, m[INFLATION], parameters[P.WINDOW]), False, now, rtt, constants, f)
        m[PHASE] = RECOVERY
        m[RECOVER] = top
        m[INFLATION] = threshold
        return half, max(int(half), FLOOR), dupacks, send | CUT, una + 1

    return dev(dup_ack)


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP Reno over a congestion control (`grow`, `reduce`; see `aimd`)."""
    window = dev(window_of)
    control_acked, control_grow = make_growth(dev, control)
    control_reduce = dev(control.reduce)

    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        return free

    @cold
    def new_ack(m: Any, parameters: Any, at: Any, ack: Any, una: Any, cwnd: Any) -> Any:
        m[PHASE] = NORMAL
        m[INFLATION] = 0
        return cwnd, SEND, NONE

    def grow(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        ack: Any, before: Any, seq: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        control_acked(ack - before, f)
        return control_grow(cwnd, ssthresh, now, rtt, constants, f), ssthresh, 0, NONE

    @cold
    def timeout(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        top: Any, dupacks: Any, cwnd: Any,
    ) -> Any:  # fmt: skip
        half = control_reduce(window(max(cwnd, 1.0), 0, parameters[P.WINDOW]), True, now, rtt, constants, f)
        m[PHASE] = NORMAL
        m[RECOVER] = top
        m[INFLATION] = 0
        m[SEEN_PARTIAL] = 0
        return 1.0, max(int(half), FLOOR), 0

    def next_packet(m: Any, parameters: Any, una: Any, seq: Any, last: Any, cwnd: Any) -> Any:
        return NONE

    def on_send(m: Any, parameters: Any, packet: Any, now: Any) -> None:
        pass

    def heard(packets: Any, now: Any, rtt: Any, f: Any) -> None:
        pass

    return Variant(
        dev(prepare),
        dev(new_ack),
        dev(grow),
        make_dup_ack(dev, control, send=SEND, again=True),
        dev(timeout),
        dev(next_packet),
        dev(on_send),
        dev(getattr(control, "heard", heard)),
    )
