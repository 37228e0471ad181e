"""UDP sources: constant bit rate with jitter, always on or in exponential times of sending and silence."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.hints import cold
from netcarlo.kernels.layout import FOREVER, P
from netcarlo.kernels.shared.layout import STREAM_DATAGRAM, STREAM_PERIOD, Flow
from netcarlo.kernels.shared.state import F_NEXT, F_NUMBER, F_PERIODS, F_UNTIL

_PERIOD_BITS = np.int64(10)  # lengths come in 1/1024 of their mean


def make_sources(dev: Callable[[Any], Any], draw: Any, gap: Any) -> tuple[Any, Any]:
    """Compile `(begin, put_out)`; `state` is where the memory of flow `i` begins in `m`.

    `begin(p, flow, losses, m, state, i)` prepares a source; `put_out(p, flow, losses, m, state, i, t) -> int`
    gives the number of the datagram that goes out at `t` and sets the time of the next.
    """

    @cold
    def length(p: Any, flow: Any, losses: Any, m: Any, state: Any, i: Any, mean: Any) -> Any:
        k = m[state + F_PERIODS]
        m[state + F_PERIODS] = k + 1
        slots = gap(
            losses, flow[Flow.PERIODS], p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_PERIOD + i, k
        )
        return ((slots + 1) * mean) >> _PERIOD_BITS

    length = dev(length)

    def begin(p: Any, flow: Any, losses: Any, m: Any, state: Any, i: Any) -> None:
        m[state + F_UNTIL] = FOREVER
        if flow[Flow.ON] > 0:
            m[state + F_UNTIL] = flow[P.START] + length(p, flow, losses, m, state, i, flow[Flow.ON])
        if flow[P.START] >= flow[Flow.STOP] or flow[P.LIMIT] <= 0:
            m[state + F_NEXT] = FOREVER

    def put_out(p: Any, flow: Any, losses: Any, m: Any, state: Any, i: Any, t: Any) -> Any:
        number = m[state + F_NUMBER]
        m[state + F_NUMBER] = number + 1
        wait = flow[Flow.INTERVAL]
        spread = flow[Flow.SPREAD]
        if spread > 0:
            w0, _, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_DATAGRAM + i, number)
            wait += (spread * np.int64(w0) >> np.int64(32)) - (spread >> np.int64(1))
        following = t + max(wait, np.int64(1))
        while following > m[state + F_UNTIL]:
            following = m[state + F_UNTIL] + length(p, flow, losses, m, state, i, flow[Flow.OFF])
            m[state + F_UNTIL] = following + length(p, flow, losses, m, state, i, flow[Flow.ON])
        if following >= flow[Flow.STOP] or number + 1 >= flow[P.LIMIT]:
            following = np.int64(FOREVER)
        m[state + F_NEXT] = following
        return number

    return dev(begin), dev(put_out)
