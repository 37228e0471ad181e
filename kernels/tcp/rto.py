"""The retransmission timeout of a BSD-style sender with a coarse clock.

Source: Jacobson, "Congestion avoidance and control" (SIGCOMM 1988), appendix A, with the RFC 2988
order (floor first, then back-off) that ns-2 uses by default.  RTT is measured in whole ticks; srtt
carries 3 fraction bits and rttvar 2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

BACKOFF_FORGETS = 8
"""Backed off beyond this factor, the smoothed RTT is given up (ns-2, `rtt_backoff`)."""


def make_rto(dev: Callable[[Any], Any], *, clock: Any = None) -> tuple[Any, Any, Any, Any]:
    """Compile `(measure, smooth, timeout, back_off)` for a target; all values int64.

    `clock` is another pair of functions in place of the first two.

    `measure(sent, now, phase, tick)` [ns] -> RTT in ticks of a clock that is `phase` ahead.
    `smooth(rtt, srtt, rttvar)` [tick, tick/8, tick/4] -> new (srtt, rttvar).
    `timeout(current, backoff, minimum, maximum, tick)` [ns] -> the timer's length [ns].
    `back_off(backoff, srtt, rttvar, timeout, maximum)` -> new (backoff, srtt, rttvar).
    """

    def measure(sent: Any, now: Any, phase: Any, tick: Any) -> Any:
        ticks = ((sent + phase) % tick + (now - sent)) // tick
        return max(ticks, np.int64(1))

    def smooth(rtt: Any, srtt: Any, rttvar: Any) -> Any:
        if srtt == 0:
            return rtt << np.int64(3), rtt << np.int64(1)
        delta = rtt - (srtt >> np.int64(3))
        srtt = max(srtt + delta, np.int64(1))
        rttvar = max(rttvar + abs(delta) - (rttvar >> np.int64(2)), np.int64(1))
        return srtt, rttvar

    def timeout(current: Any, backoff: Any, minimum: Any, maximum: Any, tick: Any) -> Any:
        return max(min(max(current, minimum) * backoff, maximum), 2 * tick)

    def back_off(backoff: Any, srtt: Any, rttvar: Any, timeout: Any, maximum: Any) -> Any:
        if backoff < 64 or timeout < maximum:
            backoff <<= 1
        if backoff > BACKOFF_FORGETS:
            return backoff, np.int64(0), rttvar + (srtt >> np.int64(3))
        return backoff, srtt, rttvar

    if clock is not None:
        return dev(clock[0]), dev(clock[1]), dev(timeout), dev(back_off)
    return dev(measure), dev(smooth), dev(timeout), dev(back_off)
