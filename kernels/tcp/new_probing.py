"""New TCP-Probing: selective retransmission without reduction; probes after a timeout if the RTT has grown.

Source: a change of TCP-Probing for ad hoc networks (Kong, Choi, Rhee and Chung), on SACK TCP.  Duplicate
acknowledgements are taken for bit errors; a timeout too, unless the estimated timeout has risen or this is
not the first timeout since it was measured: then the link may be broken, and probe segments ask.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from netcarlo.kernels.tcp import sack
from netcarlo.kernels.tcp.probing import ROUND_TRIPS
from netcarlo.kernels.tcp.recovery import ASK, CUT, SPARE, SPARE_IT, Pause, Variant


def make(dev: Callable[[Any], Any], control: Any) -> Variant:
    """Compile New TCP-Probing over a congestion control (`grow`, `reduce`; see `aimd`)."""
    reduce = dev(control.reduce)

    def at_timeouts_only(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
        return reduce(window, timeout, now, rtt, constants, memory) if timeout else window

    careful = SimpleNamespace(**{**vars(control), "reduce": at_timeouts_only})
    base = sack.make(dev, careful, restarts=True)
    react, pause = base.dup_ack, base.pause
    assert pause is not None

    def dup_ack(
        m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any,
        at: Any, una: Any, seq: Any, top: Any, dupacks: Any, cwnd: Any, ssthresh: Any,
    ) -> Any:  # fmt: skip
        _, _, dupacks, order, forced = react(
            m, f, parameters, constants, now, rtt, at, una, seq, top, dupacks, cwnd, ssthresh
        )
        return cwnd, ssthresh, dupacks, order | SPARE if order & CUT else order, forced

    def timeout(current: Any, before: Any, backoff: Any) -> Any:
        return SPARE_IT if backoff == 1 and current <= before else ASK

    def keep(m: Any, f: Any, parameters: Any, constants: Any, now: Any, rtt: Any, cwnd: Any) -> Any:
        return cwnd, 0  # never asked: duplicate ACKs begin no pause

    return base._replace(
        dup_ack=dev(dup_ack),
        pause=Pause(ROUND_TRIPS, True, 0, False, dev(timeout), pause.listen, pause.repair, dev(keep)),
    )
