"""CUBIC: the window is a cubic function of the time since packets were last lost.

Source: Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant" (ACM SIGOPS Operating
Systems Review 42(5), 2008) and RFC 8312, with the parameters and the whole numbers of Linux 2.6.2x: no
HyStart, a window of whole packets that grows by one every so many ACKs, time in ms and in 1/1024 s.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS

BETA, ONE = 819, 1024  # share of the window kept after a loss
SCALE = 410  # C = 410 / 1024 packets / s^3
ROOT_FACTOR = (1 << 40) // SCALE  # K^3 [(s / 1024)^3] of a packet below the maximum
ROOT_BITS = 18  # K is shorter than 256 s
LONGEST = 1 << ROOT_BITS  # |t - K| beyond it counts as this [s / 1024]: the cube fits in 63 bits
FRIENDLY = 23  # standard TCP with the same BETA grows a packet per 23/8 windows of ACKs
MAX_INCREMENT = 16  # most packets per 0.1 s beyond the old maximum
HASTE = 50  # ACKs per packet of growth before the first loss
CACHED_MS = 31  # time that `_EVERY` holds while the window stays [ms]
SETTLE_MS = 1000  # after a loss no measurement counts for the least RTT

# Words of memory; all are 0 at the start and after a timeout.
_EVERY = 0  # the window grows by one packet after more ACKs than this
_WAITED = 1  # ACKs since the window grew
_MAXIMUM = 2  # where packets were lost last, or a little less [packet]
_LOST = 3  # 1 after a loss
_WINDOW = 4  # for which window, and
_TIME = 5  # when `_EVERY` was found [ms]
_PER_ACK = 6  # packets that an ACK acknowledges, averaged: sixteenths beyond 2 packets
_EPOCH = 7  # when growth began after a loss [ms], 0: not yet
_ORIGIN = 8  # plateau of the cubic [packet]
_K = 9  # from the epoch to the plateau [s / 1024]
_LEAST_RTT = 10  # [ms / 8]
_ACKS = 11  # ACKs that `_STANDARD` has not seen
_STANDARD = 12  # the window that standard TCP would have [packet]
_WORDS = 13


def acked(packets: Any, memory: Any) -> None:
    """Take notice of an ACK of new data for so many packets."""
    memory[_PER_ACK] += packets - ((32 + int(memory[_PER_ACK])) >> 4)


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The congestion window after an ACK of new data [packet]."""
    ms = now // MS + 1
    epoch = int(memory[_EPOCH])
    least = int(memory[_LEAST_RTT])
    if rtt > 0 and (epoch == 0 or ms - epoch >= SETTLE_MS):
        sample = max(rtt // MS * 8, 1)
        if least == 0 or sample < least:
            least = sample
            memory[_LEAST_RTT] = least
    if cwnd <= ssthresh:
        return cwnd + 1.0
    memory[_ACKS] += 1.0
    if cwnd != memory[_WINDOW] or ms - int(memory[_TIME]) > CACHED_MS:
        memory[_WINDOW] = cwnd
        memory[_TIME] = ms
        window = int(cwnd)
        if epoch == 0:
            epoch = ms
            memory[_EPOCH] = ms
            memory[_ACKS] = 1.0
            memory[_STANDARD] = cwnd
            cube = max(int(memory[_MAXIMUM]) - window, 0) * ROOT_FACTOR
            root = 0
            for bit in range(ROOT_BITS):
                more = root + (LONGEST >> (bit + 1))
                if more * more * more <= cube:
                    root = more
            memory[_K] = root
            memory[_ORIGIN] = max(memory[_MAXIMUM], cwnd)
        past = ((ms + (least >> 3) - epoch) << 10) // 1000 - int(memory[_K])
        away = min(abs(past), LONGEST)
        rise = (SCALE * away * away * away) >> 40
        missing = int(memory[_ORIGIN]) + (rise if past >= 0 else -rise) - window
        every = window // missing if missing > 0 else 100 * window
        if past >= 0 and least > 0:
            every = max(every, window * 8000 // (10 * MAX_INCREMENT * least))
        if memory[_LOST] == 0.0:
            every = HASTE
        acks = int(memory[_ACKS])
        share = window * FRIENDLY >> 3
        steps = (acks - 1) // share
        memory[_ACKS] = acks - steps * share
        memory[_STANDARD] += steps
        behind = int(memory[_STANDARD]) - window
        if behind > 0:
            every = min(every, window // behind)
        memory[_EVERY] = max((every << 4) // (32 + int(memory[_PER_ACK])), 1)
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
        memory[_EPOCH] = 0.0
    return max(float(packets * BETA // ONE), 2.0)
