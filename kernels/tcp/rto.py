"""Retransmission timeout of a BSD-style sender with a coarse clock.

Source: Jacobson, "Congestion avoidance and control" (SIGCOMM 1988), appendix A, with the order of RFC 2988
(minimum first, then back-off) that is ns-2's default. The RTT is measured in whole ticks; srtt has 3 fraction
bits and rttvar 2.
"""

from typing import Any

import numpy as np

BACKOFF_FORGETS = 8
"""Back-off factor above which the smoothed RTT is discarded (ns-2: `rtt_backoff`)."""


def measure(sent: Any, now: Any, phase: Any, tick: Any) -> Any:
    """Return the RTT in ticks of a clock that is `phase` ahead; times in ns."""
    ticks = ((sent + phase) % tick + (now - sent)) // tick
    return max(ticks, np.int64(1))


def smooth(rtt: Any, srtt: Any, rttvar: Any) -> Any:
    """Return the new (srtt, rttvar) [ticks / 8, ticks / 4] after an RTT sample [ticks]."""
    if srtt == 0:
        return rtt << np.int64(3), rtt << np.int64(1)
    delta = rtt - (srtt >> np.int64(3))
    srtt = max(srtt + delta, np.int64(1))
    rttvar = max(rttvar + abs(delta) - (rttvar >> np.int64(2)), np.int64(1))
    return srtt, rttvar


def timeout_of(current: Any, backoff: Any, minimum: Any, maximum: Any, tick: Any) -> Any:
    """Return the timeout [ns] for the estimate `current` [ns], backed off by a factor."""
    return max(min(max(current, minimum) * backoff, maximum), 2 * tick)


def back_off(backoff: Any, srtt: Any, rttvar: Any, timeout: Any, maximum: Any) -> Any:
    """Return the new (backoff, srtt, rttvar) after a timeout of this length [ns]."""
    if backoff < 64 or timeout < maximum:
        backoff <<= 1
    if backoff > BACKOFF_FORGETS:
        return backoff, np.int64(0), rttvar + (srtt >> np.int64(3))
    return backoff, srtt, rttvar
