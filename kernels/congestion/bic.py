"""BIC: binary search for the window at which packets were last lost, growth by steps beyond it.

Source: Xu, Harfoush and Rhee, "Binary increase congestion control for fast long-distance networks"
(INFOCOM 2004), with the parameters and the whole numbers of Linux 2.6: a window of whole packets that
grows by one every so many ACKs, time in ms.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS

MAX_INCREMENT = 16  # most packets per round trip
LOW_WINDOW = 14  # up to this window it is standard TCP [packet]
SMOOTH = 20  # near the old maximum: round trips for a search range
SEARCH = 4  # a search step covers this part of the distance
BETA, ONE = 819, 1024  # share of the window kept after a loss
HASTE = 20  # most ACKs per packet of growth before the first loss
CACHED_MS = 31  # time that `_EVERY` holds while the window stays [ms]

# Words of memory; all are 0 at the start and after a timeout.
_EVERY = 0  # the window grows by one packet after more ACKs than this
_WAITED = 1  # ACKs since the window grew
_MAXIMUM = 2  # where packets were lost last, or a little less [packet]
_LOST = 3  # 1 after a loss
_WINDOW = 4  # for which window, and
_TIME = 5  # when `_EVERY` was found [ms]
_PER_ACK = 6  # packets that an ACK acknowledges, averaged: sixteenths beyond 2 packets
_WORDS = 7


def acked(packets: Any, memory: Any) -> None:
    """Take notice of an ACK of new data for so many packets."""
    memory[_PER_ACK] += packets - ((32 + int(memory[_PER_ACK])) >> 4)


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The congestion window after an ACK of new data [packet]."""
    if cwnd <= ssthresh:
        return cwnd + 1.0
    ms = now // MS
    if cwnd != memory[_WINDOW] or ms - int(memory[_TIME]) > CACHED_MS:
        memory[_WINDOW] = cwnd
        memory[_TIME] = ms
        window = int(cwnd)
        every = window
        if window > LOW_WINDOW:
            below = int(memory[_MAXIMUM]) - window
            step = min(below // SEARCH, MAX_INCREMENT)
            if below > -SEARCH and step <= 1:  # near the maximum
                every = window * SMOOTH // SEARCH
            elif below > 0:  # on the way to it
                every = window // step
            else:  # beyond it, ever faster
                every = max(window * (SEARCH - 1) // -below, window // MAX_INCREMENT)
            if memory[_LOST] == 0.0:
                every = min(every, HASTE)
            every = max((every << 4) // (32 + int(memory[_PER_ACK])), 1)
        memory[_EVERY] = every
    if memory[_WAITED] < memory[_EVERY]:
        memory[_WAITED] += 1.0
        return cwnd
    memory[_WAITED] = 0.0
    return cwnd + 1.0


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The window to continue with when `window` packets turned out too many [packet]."""
    packets = int(window)
    if timeout:
        for word in range(_WORDS):
            memory[word] = 0.0
    else:
        lower = packets < memory[_MAXIMUM]  # others need room: leave them some (fast convergence)
        memory[_MAXIMUM] = packets * (ONE + BETA) // (2 * ONE) if lower else packets
        memory[_LOST] = 1.0
        memory[_WAITED] = 0.0
    if packets <= LOW_WINDOW:
        return max(float(packets // 2), 2.0)
    return max(float(packets * BETA // ONE), 2.0)
