"""UDP sources: constant bit rate with jitter, always on or in exponential times of sending and silence."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import cold
from netcarlo.kernels.base.layout import FOREVER, P
from netcarlo.kernels.shared.layout import STREAM_DATAGRAM, STREAM_PERIOD, Flow
from netcarlo.kernels.shared.state import F_NEXT, F_NUMBER, F_PERIODS, F_UNTIL

_PERIOD_BITS = np.int64(10)  # lengths come in 1/1024 of their mean


def make_sources(dev: Callable[[Any], Any], draw: Any, gap: Any) -> tuple[Any, Any]:
    """Compile `(begin, put_out)`; `b` is where the block of flow `i` begins in `m`.

    `begin(p, m, b, losses, i)` prepares a source; `put_out(p, m, b, losses, i, t) -> int` gives the number of
    the datagram that goes out at `t` and sets the time of the next.
    """

    @cold
    def length(p: Any, m: Any, b: Any, losses: Any, i: Any, mean: Any) -> Any:
        k = m[b + F_PERIODS]
        m[b + F_PERIODS] = k + 1
        slots = gap(
            losses, m[b + Flow.PERIODS], p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_PERIOD + i, k
        )
        return ((slots + 1) * mean) >> _PERIOD_BITS

    length = dev(length)

    def begin(p: Any, m: Any, b: Any, losses: Any, i: Any) -> None:
        m[b + F_UNTIL] = FOREVER
        if m[b + Flow.ON] > 0:
            m[b + F_UNTIL] = m[b + P.START] + length(p, m, b, losses, i, m[b + Flow.ON])
        if m[b + P.START] >= m[b + Flow.STOP] or m[b + P.LIMIT] <= 0:
            m[b + F_NEXT] = FOREVER

    def put_out(p: Any, m: Any, b: Any, losses: Any, i: Any, t: Any) -> Any:
        number = m[b + F_NUMBER]
        m[b + F_NUMBER] = number + 1
        wait = m[b + Flow.INTERVAL]
        spread = m[b + Flow.SPREAD]
        if spread > 0:
            w0, _, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_DATAGRAM + i, number)
            wait += (spread * np.int64(w0) >> np.int64(32)) - (spread >> np.int64(1))
        following = t + max(wait, np.int64(1))
        while following > m[b + F_UNTIL]:
            following = m[b + F_UNTIL] + length(p, m, b, losses, i, m[b + Flow.OFF])
            m[b + F_UNTIL] = following + length(p, m, b, losses, i, m[b + Flow.ON])
        if following >= m[b + Flow.STOP] or number + 1 >= m[b + P.LIMIT]:
            following = np.int64(FOREVER)
        m[b + F_NEXT] = following
        return number

    return dev(begin), dev(put_out)
