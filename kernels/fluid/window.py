"""How a congestion window grows and shrinks, as rates per round trip.

Source: Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with an
application to RED" (SIGCOMM 2000); time without a timer running out, and with, as in Padhye, Firoiu, Towsley
and Kurose, "Modeling TCP throughput" (SIGCOMM 1998).  Rules and constants of the variants are those of the
packet engine (`tahoe`, `reno`, `newreno`, `sack`, `vegas`, `bic`, `cubic`, `westwood`).

Every product of floats here is by a power of two or goes into nothing but a quotient, a comparison or an
integer: so a compiler that fuses multiplication and addition changes no bit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from netcarlo.kernels import bic, cubic
from netcarlo.kernels.shared.layout import BIC, CUBIC, TAHOE, VEGAS, WESTWOOD

# Words of float memory of a flow.
W = 0  # congestion window [packet]
SSTHRESH = 1  # [packet]
LEAST_RTT = 2  # [step]
MAXIMUM = 3  # BIC, CUBIC: where packets were lost last, or a little less; 0: not yet [packet]
EPOCH = 4  # CUBIC: when growth began [s / 1024]
PLATEAU = 5  # CUBIC: from then to the plateau [s / 1024]
ORIGIN = 6  # CUBIC: the window there [packet]
STANDARD = 7  # CUBIC: window of standard TCP since the epoch [packet]
WORDS = 8

FLOOR = 2.0
"""Least ssthresh [packet]."""
_KEPT = 1024.0 / bic.BETA


class Window(NamedTuple):
    """The compiled rules; `g` is the flow's float memory from word `at` on."""

    begin: Any
    """`(g, at, window, ssthresh)`."""
    grow: Any
    """`(g, at, kind, acked, rtt, base, now, most, alpha, beta, gamma)`: `acked` packets were acknowledged in
    a step; `rtt` and `base` (without queues) [step], `now` [s / 1024], windows [packet]."""
    cut: Any
    """`(g, at, kind, rtt, base)`: packets were lost; the lost ones are seen by duplicate ACKs."""
    collapse: Any
    """`(g, at, kind, rtt)`: the timer ran out."""


def make_window(dev: Callable[[Any], Any]) -> Window:
    """Compile the rules of all kinds for a target."""

    def begin(g: Any, at: Any, window: Any, ssthresh: Any) -> None:
        for word in range(WORDS):
            g[at + word] = 0.0
        g[at + W] = window
        g[at + SSTHRESH] = ssthresh

    def cubic_growth(g: Any, at: Any, rtt: Any, now: Any) -> Any:
        # Packets per round trip.
        w = g[at + W]
        if g[at + EPOCH] == 0.0:
            g[at + EPOCH] = now
            g[at + STANDARD] = w
            g[at + ORIGIN] = max(g[at + MAXIMUM], w)
            cube = int(g[at + ORIGIN] - w) * cubic.ROOT_FACTOR
            root = 0
            for bit in range(cubic.ROOT_BITS):
                more = root + (cubic.LONGEST >> (bit + 1))
                if more * more * more <= cube:
                    root = more
            g[at + PLATEAU] = float(root)
        past = int(now - g[at + EPOCH] - g[at + PLATEAU])
        away = min(abs(past), cubic.LONGEST)
        rise = float((cubic.SCALE * away * away * away) >> 40)
        missing = g[at + ORIGIN] + (rise if past >= 0 else -rise) - w
        return max(missing, 0.01)

    cubic_growth = dev(cubic_growth)

    def bic_growth(g: Any, at: Any) -> Any:
        # Packets per round trip.
        w = g[at + W]
        if w <= bic.LOW_WINDOW:
            return 1.0
        below = g[at + MAXIMUM] - w
        step = min(below / bic.SEARCH, float(bic.MAX_INCREMENT))
        if below > -bic.SEARCH and step <= 1.0:
            return bic.SEARCH / bic.SMOOTH
        if below > 0.0:
            return step
        return min(-below / (bic.SEARCH - 1), float(bic.MAX_INCREMENT))

    bic_growth = dev(bic_growth)

    def grow(
        g: Any, at: Any, kind: Any, acked: Any, rtt: Any, now: Any, most: Any,
        alpha: Any, beta: Any, gamma: Any,
    ) -> None:  # fmt: skip
        w = g[at + W]
        g[at + LEAST_RTT] = min(g[at + LEAST_RTT], rtt)
        if kind == VEGAS:
            waiting = w - w / (rtt / g[at + LEAST_RTT])
            if w < g[at + SSTHRESH]:
                if waiting > gamma + 0.5:
                    g[at + SSTHRESH] = FLOOR
                    g[at + W] = max(w - w / 8.0, FLOOR)
                else:
                    g[at + W] = w + acked / 2.0
            elif waiting > beta + 0.5:
                g[at + W] = max(w - 1.0 / rtt, FLOOR)
            elif waiting < alpha - 0.5:
                g[at + W] = w + 1.0 / rtt
        elif w < g[at + SSTHRESH]:
            g[at + W] = w + acked
        elif kind < BIC or kind == WESTWOOD:
            g[at + W] = w + acked / w
        else:
            more = bic_growth(g, at) if kind == BIC else cubic_growth(g, at, rtt, now)
            if g[at + MAXIMUM] == 0.0:
                more = max(more, w / (bic.HASTE if kind == BIC else cubic.HASTE))
            if kind == CUBIC:
                g[at + STANDARD] += acked / (w * (cubic.FRIENDLY / 8.0))
                more = max(more, g[at + STANDARD] - w)
            g[at + W] = w + acked / (w / more)
        g[at + W] = min(g[at + W], most)

    def cut(g: Any, at: Any, kind: Any, rtt: Any) -> None:
        w = g[at + W]
        if kind == VEGAS:
            kept = w - w / 4.0
        elif kind == WESTWOOD:
            kept = w / (rtt / g[at + LEAST_RTT])
        elif kind == BIC and w <= bic.LOW_WINDOW:
            kept = w / 2.0
        elif kind == BIC or kind == CUBIC:
            kept = w / _KEPT
        else:
            kept = w / 2.0
        g[at + MAXIMUM] = (w + w / _KEPT) / 2.0 if w < g[at + MAXIMUM] else w
        g[at + EPOCH] = 0.0
        g[at + SSTHRESH] = max(kept, FLOOR)
        g[at + W] = 1.0 if kind == TAHOE else max(kept, 1.0)

    def collapse(g: Any, at: Any, kind: Any, rtt: Any) -> None:
        w = g[at + W]
        kept = w / (rtt / g[at + LEAST_RTT]) if kind == WESTWOOD else w / 2.0
        if kind == BIC or kind == CUBIC:
            kept = w / _KEPT
        g[at + MAXIMUM] = 0.0
        g[at + EPOCH] = 0.0
        g[at + SSTHRESH] = max(kept, FLOOR)
        g[at + W] = FLOOR if kind == VEGAS else 1.0

    return Window(dev(begin), dev(grow), dev(cut), dev(collapse))
