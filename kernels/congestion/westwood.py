"""Westwood+: after a loss, the window is what the measured bandwidth fills in the least round trip.

Source: Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: bandwidth estimation for enhanced
transport over wireless links" (MobiCom 2001); Grieco and Mascolo, "Performance evaluation and comparison of
Westwood+, New Reno, and Vegas TCP congestion control" (CCR 34(2), 2004).  One bandwidth sample per round
trip, two filters and the whole numbers of Linux 2.6: bytes, ms and a window of whole packets, which grows by
one per window of packets acknowledged.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS

SEGMENT = 1460  # bytes that a packet counts as; only rounding depends on it
LEAST_MS = 50  # a bandwidth sample covers more than this, and more than a round trip

# Words of memory; all are 0 at the start.
_BEGAN = 0  # the bandwidth sample began [ms]
_BYTES = 1  # acknowledged since then
_RAW = 2  # bandwidth, filtered once and
_BANDWIDTH = 3  # twice [byte / ms]
_LEAST_RTT = 4  # [ms], 0: take the next
_AHEAD = 5  # bytes of duplicate ACKs that an ACK of new data will name again
_LISTENING = 6  # 1 after the first ACK
_ACKED = 7  # packets acknowledged since the window grew


def heard(packets: Any, now: Any, rtt: Any, memory: Any) -> None:
    """An ACK has arrived: for so many new packets, 0 for a duplicate; `rtt` is that measured before [ns]."""
    ms = now // MS
    if memory[_LISTENING] == 0.0:
        memory[_LISTENING] = 1.0
        memory[_BEGAN] = ms
    past = ms - int(memory[_BEGAN])
    if rtt > 0 and past > max(rtt // MS, LEAST_MS):
        sample = int(memory[_BYTES]) // past
        if memory[_BANDWIDTH] == 0.0 and memory[_RAW] == 0.0:
            memory[_RAW] = sample
            memory[_BANDWIDTH] = sample
        else:
            memory[_RAW] = (7 * int(memory[_RAW]) + sample) >> 3
            memory[_BANDWIDTH] = (7 * int(memory[_BANDWIDTH]) + int(memory[_RAW])) >> 3
        memory[_BEGAN] = ms
        memory[_BYTES] = 0.0
    news = packets * SEGMENT
    if packets == 0:
        news = SEGMENT
        memory[_AHEAD] += SEGMENT
    elif packets > 1:  # some of them have been counted at duplicates; the one that came last has not
        counted = min(int(memory[_AHEAD]), news)
        news = max(news - counted, SEGMENT)
        memory[_AHEAD] -= counted
    memory[_BYTES] += news
    if rtt > 0:
        sample = max(rtt // MS, 1)
        if memory[_LEAST_RTT] == 0.0 or sample < memory[_LEAST_RTT]:
            memory[_LEAST_RTT] = sample


def acked(packets: Any, memory: Any) -> None:
    """Take notice of an ACK of new data for so many packets, outside of a recovery."""
    memory[_ACKED] += packets


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The congestion window after an ACK of new data [packet]."""
    if cwnd <= ssthresh:
        return cwnd + 1.0
    if memory[_ACKED] < cwnd:
        return cwnd
    memory[_ACKED] -= cwnd
    return cwnd + 1.0


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The window to continue with when packets were lost [packet]."""
    packets = int(memory[_BANDWIDTH]) * int(memory[_LEAST_RTT]) // SEGMENT
    memory[_ACKED] = 0.0
    if timeout:
        memory[_LEAST_RTT] = 0.0
    return float(max(packets, 2))
