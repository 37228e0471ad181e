"""How a congestion window grows and shrinks, by the round trip instead of by the packet.

Source: Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with
an application to RED" (SIGCOMM 2000).  Constants are those of the packet engine (`bic`, `cubic`).

No product of floats is added to anything unless one factor is a power of two: so compilers that fuse
multiplication and addition change no bit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from netcarlo.kernels import bic, cubic
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
WORDS = 12

FLOOR = 2.0
"""Least ssthresh [packet]."""
FOREVER = 1e9
_CUT = bic.ONE / bic.BETA  # a window is divided by it
_FRIENDLY = cubic.FRIENDLY / 8.0
_LEAST_GROWTH = 0.01  # as `cubic`: a packet per hundred windows of ACKs [packet]


class Window(NamedTuple):
    """The compiled rules; `g` is float memory, in which the flow's words begin at `at`."""

    grow: Any
    """`(g, at, kind, acked, rtt, rounds, clock)`: `acked` ACKs came in so many round trips; `clock` in
    s / 1024, `rtt` in any unit of time, but always the same."""
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
                return w + acked / 2.0  # grows in every other round trip
            g[at + SSTHRESH] = FLOOR
            return max(w - w / 8.0, FLOOR)
        if waiting > g[at + BETA] + 0.5:
            return max(w - rounds, FLOOR)
        if waiting < g[at + ALPHA] - 0.5:
            return w + rounds
        return w

    steer = dev(steer)

    def by_bic(g: Any, at: Any) -> Any:
        # BIC: packets per round trip.
        w = g[at + W]
        if w <= bic.LOW_WINDOW:
            return 1.0
        below = g[at + MAXIMUM] - w
        step = min(below / bic.SEARCH, float(bic.MAX_INCREMENT))
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

    def grow(g: Any, at: Any, kind: Any, acked: Any, rtt: Any, rounds: Any, clock: Any) -> None:
        w = g[at + W]
        g[at + LEAST_RTT] = min(g[at + LEAST_RTT], rtt)
        if kind == VEGAS:
            w = steer(g, at, acked, rtt, rounds)
        elif w < g[at + SSTHRESH]:
            w += acked
        elif kind == BIC:
            w += acked / (w / by_bic(g, at))
        elif kind == CUBIC:
            w += acked / (w / by_cubic(g, at, acked, clock))
        else:
            w += acked / w
        g[at + W] = min(w, g[at + MOST])

    def kept(g: Any, at: Any, kind: Any, rtt: Any) -> Any:
        w = g[at + W]
        if kind == VEGAS:
            return w - w / 4.0
        if kind == WESTWOOD:  # what fills the least round trip at the present rate
            return w / (rtt / g[at + LEAST_RTT])
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
