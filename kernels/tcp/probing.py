"""TCP-Probing: before the window is reduced, probe segments ask whether the network is in order.

Source: Tsaoussidis and Badr, "TCP-Probing: towards an error control schema with energy and throughput
performance gains" (ICNP 2000), on the recovery of NewReno.  A timeout and a third duplicate acknowledgement
both begin a pause; after two undisturbed round trips, none much above the smoothed RTT, the window stays.
"""

from collections.abc import Callable
from typing import Any

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.tcp import newreno, reno
from netcarlo.kernels.tcp.recovery import (
    ASK,
    INFLATION,
    NONE,
    NORMAL,
    OWN,
    PAUSE,
    PHASE,
    RECOVER,
    RECOVERY,
    SEEN_PARTIAL,
    Pause,
    Variant,
)

ROUND_TRIPS = 2
"""Probes that must come back one after the other."""

_RESUMED = OWN  # the packet that was acknowledged last when a pause ended
_AGAIN = (
    OWN + 1
)  # duplicates since then: what was sent before has arrived or is lost, so they speak of the repair


def listen(m: Any, parameters: Any, at: Any, ack: Any, una: Any) -> None:
    """An acknowledgement in a pause: count on how many packets behind the hole have arrived."""
    if m[PHASE] == RECOVERY:
        m[INFLATION] = m[INFLATION] + 1 if ack == una else max(m[INFLATION] - (ack - una - 1), 0)


@cold
def repair(m: Any, parameters: Any, una: Any, top: Any, dupacks: Any) -> Any:
    """Go on as NewReno in a recovery; as after a timeout if most of what is outstanding is missing."""
    arrived = m[INFLATION] if m[PHASE] == RECOVERY else dupacks
    m[_RESUMED] = una
    m[_AGAIN] = 0
    m[SEEN_PARTIAL] = 0
    if top - una > 2 * arrived or una == top:
        m[PHASE] = NORMAL
        m[INFLATION] = 0
        m[RECOVER] = top
        return NONE, True
    m[PHASE] = RECOVERY
    m[RECOVER] = top
    m[INFLATION] = arrived
    return una + 1, False


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile TCP-Probing over a congestion control (`grow`, `reduce`; see `aimd`)."""
    base = newreno.make(dev, control)
    react = base.dup_ack
    window = dev(reno.window_of)
    control_reduce = dev(control.reduce)

    def prepare(m: Any, parameters: Any, free: Any) -> Any:
        m[_RESUMED] = NONE
        return free

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        threshold = parameters[P.DUPACKS]
        third = dupacks + 1 == threshold and (una > m[RECOVER] or una == 0)
        if m[_RESUMED] == una:
            m[_AGAIN] += 1
            third = third or m[_AGAIN] == threshold
        if third:
            if m[PHASE] == RECOVERY:
                m[INFLATION] += 1
            return cwnd, ssthresh, dupacks + 1, PAUSE, NONE
        return react(m, f, parameters, constants, now, rtt, at, una, seq, top, dupacks, cwnd, ssthresh)

    def timeout(current: Any, before: Any, backoff: Any) -> Any:
        return ASK

    def reduce(m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any, cwnd: Any) -> Any:
        half = control_reduce(window(cwnd, 0, parameters[P.WINDOW]), False, now, rtt, constants, f)
        return half, max(int(half), reno.FLOOR)

    return base._replace(
        prepare=dev(prepare),
        dup_ack=dev(dup_ack),
        pause=Pause(ROUND_TRIPS, True, 0, False, dev(timeout), dev(listen), dev(repair), dev(reduce)),
    )
