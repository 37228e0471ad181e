"""How a congestion window grows and shrinks, by the round trip instead of by the packet.

Source: Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with
an application to RED" (SIGCOMM 2000).  Constants are those of the packet engine (`bic`, `cubic`).

No product of floats is added to anything unless one factor is a power of two: so compilers that fuse
multiplication and addition change no bit.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from netcarlo.kernels.congestion import bic, cubic
from netcarlo.kernels.shared.layout import BIC, CUBIC, TAHOE, VEGAS, WESTWOOD

# Words of float memory of a flow.
W = 0  # congestion window [packet]
SSTHRESH = 1  # [packet]
LEAST_RTT = 2
MOST = 3  # receiver's window [packet]
MAXIMUM = 4  # BIC, CUBIC: where packets were lost last, or a little less; 0: not yet [packet]
EPOCH = 5  # CUBIC: when growth began; 0: not yet [s / 1024]
PLATEAU = 6  # CUBIC: from then to the plateau [s / 1024]
ORIGIN = 7  # CUBIC: the window there [packet]
STANDARD = 8  # CUBIC: what standard TCP would have reached since the epoch [packet]
ALPHA = 9  # Vegas: packets of its own in queues at least,
BETA = 10  # at most,
GAMMA = 11  # and at the end of slow start
RAW = 12  # Westwood: bandwidth, filtered once and
BANDWIDTH = 13  # twice [packet / unit of time]
TICK = 14  # of the sender's clock [as the RTT]
WORDS = 15

FLOOR = 2.0
"""Least ssthresh [packet]."""
FOREVER = 1e9
_CUT = bic.ONE / bic.BETA  # a window is divided by it
_FRIENDLY = cubic.FRIENDLY / 8.0
_HURRY = 31.0 / 16.0  # BIC, CUBIC: what their rounded count of packets per ACK does to the growth
_E_FOLD = 1.0 / math.log(2.0)  # slow start doubles the window in a round trip, not more
_PER_ROUND = 1.0 / (_E_FOLD - 1.0)
_FILTER = 8.0  # round trips of Westwood's filters
_LEAST_GROWTH = 0.01  # as `cubic`: a packet per hundred windows of ACKs [packet]


class Window(NamedTuple):
    """The compiled rules; `g` is float memory, in which the flow's words begin at `at`."""

    grow: Any
    """`(g, at, kind, acked, rtt, rounds, clock, frozen)`: `acked` ACKs came in so many round trips; `clock`
    in s / 1024, `rtt` in any unit of time, always the same.  In a repair the window is `frozen`."""
    kept: Any
    """`(g, at, kind, rtt) -> float`: what a loss leaves of the window [packet]."""
    cut: Any
    """`(g, at, kind, rtt)`: duplicate ACKs told of losses."""
    collapse: Any
    """`(g, at, kind, rtt)`: the timer ran out."""


def make_window(dev: Callable[[Any], Any]) -> Window:
    """Compile the rules of all kinds for a target."""

    def steer(g: Any, at: Any, acked: Any, rtt: Any, rounds: Any) -> Any:
        # Vegas: the window that it has next, from its packets that wait in queues.
        w = g[at + W]
        waiting = w - w / (rtt / g[at + LEAST_RTT])
        if w < g[at + SSTHRESH]:
            if waiting <= g[at + GAMMA] + 0.5:  # counts are rounded
                return w + acked / (_E_FOLD - rounds / _PER_ROUND) / 2.0  # grows in every other round trip
            g[at + SSTHRESH] = FLOOR
            return max(w - w / 8.0, FLOOR)
        if waiting > g[at + BETA] + 0.5:
            return max(w - rounds, FLOOR)
        if waiting < g[at + ALPHA] - 0.5:
            return w + rounds
        return w

    steer = dev(steer)

    def by_bic(g: Any, at: Any) -> Any:
        # BIC: packets per round trip, beyond the window of standard TCP.
        w = g[at + W]
        below = g[at + MAXIMUM] - w
        step = min(float(int(below / bic.SEARCH)), float(bic.MAX_INCREMENT))
        if below > -bic.SEARCH and step <= 1.0:
            step = bic.SEARCH / bic.SMOOTH
        elif below <= 0.0:
            step = min(-below / (bic.SEARCH - 1), float(bic.MAX_INCREMENT))
        return max(step, w / bic.HASTE) if g[at + MAXIMUM] == 0.0 else step

    by_bic = dev(by_bic)

    def by_cubic(g: Any, at: Any, acked: Any, clock: Any) -> Any:
        # CUBIC: packets per round trip.
        w = g[at + W]
        if g[at + EPOCH] == 0.0:
            g[at + EPOCH] = clock
            g[at + STANDARD] = w
            g[at + ORIGIN] = max(g[at + MAXIMUM], w)
            cube = int(g[at + ORIGIN] - w) * cubic.ROOT_FACTOR
            root = 0
            for bit in range(cubic.ROOT_BITS):
                more = root + (cubic.LONGEST >> (bit + 1))
                if more * more * more <= cube:
                    root = more
            g[at + PLATEAU] = float(root)
        past = int(clock - g[at + EPOCH] - g[at + PLATEAU])
        away = min(abs(past), cubic.LONGEST)
        rise = float((cubic.SCALE * away * away * away) >> 40)
        missing = g[at + ORIGIN] + (rise if past >= 0 else -rise) - w
        g[at + STANDARD] += acked / (w * _FRIENDLY)
        more_packets = max(max(missing, g[at + STANDARD] - w), _LEAST_GROWTH)
        return max(more_packets, w / cubic.HASTE) if g[at + MAXIMUM] == 0.0 else more_packets

    by_cubic = dev(by_cubic)

    def listen(g: Any, at: Any, acked: Any, rtt: Any, rounds: Any) -> None:
        # Westwood: measure the bandwidth.
        rate = acked / (rtt * rounds)
        if g[at + BANDWIDTH] == 0.0:
            g[at + RAW] = rate
            g[at + BANDWIDTH] = rate
        g[at + RAW] += (rate - g[at + RAW]) / (_FILTER / rounds)
        g[at + BANDWIDTH] += (g[at + RAW] - g[at + BANDWIDTH]) / (_FILTER / rounds)

    listen = dev(listen)

    def grow(g: Any, at: Any, kind: Any, acked: Any, rtt: Any, rounds: Any, clock: Any, frozen: Any) -> None:
        w = g[at + W]
        least = rtt
        if kind == WESTWOOD:  # measured in ticks
            least = max(float(int(rtt / g[at + TICK])), 1.0) * g[at + TICK]
        g[at + LEAST_RTT] = min(g[at + LEAST_RTT], least)
        if kind == WESTWOOD and rounds > 0.0:
            listen(g, at, acked, rtt, rounds)
        if frozen:
            return
        if kind == VEGAS:
            w = steer(g, at, acked, rtt, rounds)
        elif w < g[at + SSTHRESH]:
            w += acked / (_E_FOLD - rounds / _PER_ROUND)
        elif kind == BIC and w > bic.LOW_WINDOW:
            w += acked / (w / by_bic(g, at) / _HURRY + 1.0)
        elif kind == CUBIC:
            w += acked / (w / by_cubic(g, at, acked, clock) / _HURRY + 1.0)
        else:
            w += acked / w
        g[at + W] = min(w, g[at + MOST])

    def kept(g: Any, at: Any, kind: Any, rtt: Any) -> Any:
        w = g[at + W]
        if kind == VEGAS:
            return w - w / 4.0
        if kind == WESTWOOD:
            return g[at + BANDWIDTH] * g[at + LEAST_RTT]
        if kind == CUBIC or (kind == BIC and w > bic.LOW_WINDOW):
            return w / _CUT
        return w / 2.0

    kept = dev(kept)

    def cut(g: Any, at: Any, kind: Any, rtt: Any) -> None:
        w = g[at + W]
        left = kept(g, at, kind, rtt)
        g[at + MAXIMUM] = (w + w / _CUT) / 2.0 if w < g[at + MAXIMUM] else w
        g[at + EPOCH] = 0.0
        g[at + SSTHRESH] = max(left, FLOOR)
        g[at + W] = 1.0 if kind == TAHOE else max(left, 1.0)

    def collapse(g: Any, at: Any, kind: Any, rtt: Any) -> None:
        left = g[at + W] / 2.0 if kind == VEGAS else kept(g, at, kind, rtt)
        g[at + MAXIMUM] = 0.0
        g[at + EPOCH] = 0.0
        g[at + SSTHRESH] = max(left, FLOOR)
        g[at + W] = FLOOR if kind == VEGAS else 1.0

    return Window(dev(grow), kept, dev(cut), dev(collapse))
