"""TCP with explicit loss notification: a packet that the receiver saw destroyed is sent again, without a cut.

Source: Balakrishnan and Katz, "Explicit loss notification and wireless web performance" (IEEE Globecom
Internet Mini-Conference 1998), on NewReno: a third duplicate acknowledgement with the mark, which means that
the packet it asks for was seen destroyed, starts a recovery with the window as it is.  Timeouts are as ever.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import newreno
from netcarlo.kernels.tcp.receiver import make_bits
from netcarlo.kernels.tcp.recovery import (
    CUT,
    INFLATION,
    OWN,
    PHASE,
    RECOVER,
    RECOVERY,
    SEND_TWO,
    SPARE,
    Variant,
)

_BITS = OWN  # where the receiver keeps the packets that it saw destroyed
_PASSED = OWN + 1  # packets below have arrived
_MARK = 2  # word of an ACK


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP with ELN over a congestion control (`grow`, `reduce`; see `aimd`)."""
    base = newreno.make(dev, control)
    react = base.dup_ack
    test, put, drop = make_bits(dev)

    @cold
    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        m[_BITS] = free
        m[_PASSED] = 0
        for _ in range(parameters[P.RING] >> 6):
            m[free] = 0
            free += 1
        return free

    def corrupted(m: Any, parameters: Any, packet: Any, expected: Any) -> None:
        if packet >= expected:
            put(m, m[_BITS], parameters[P.RING] - 1, packet)

    @cold
    def mark(m: Any, parameters: Any, at: Any, expected: Any) -> None:
        mask = parameters[P.RING] - 1
        while m[_PASSED] < expected:
            drop(m, m[_BITS], mask, m[_PASSED])
            m[_PASSED] += 1
        m[at + _MARK] = 1 if test(m, m[_BITS], mask, expected) else 0

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        threshold = parameters[P.DUPACKS]
        if dupacks + 1 == threshold and (una > m[RECOVER] or una == 0) and m[at + _MARK] != 0:
            m[PHASE] = RECOVERY
            m[RECOVER] = top
            m[INFLATION] = threshold
            return cwnd, ssthresh, dupacks + 1, SEND_TWO | CUT | SPARE, una + 1
        return react(m, f, parameters, constants, now, rtt, at, una, seq, top, dupacks, cwnd, ssthresh)

    return base._replace(prepare=dev(prepare), dup_ack=dev(dup_ack), corrupted=dev(corrupted), mark=dev(mark))
