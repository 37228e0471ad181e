"""Westwood+ as Linux 2.6 has it: a recovery leaves what the measured bandwidth fills in a round trip.

Source: Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
congestion control" (CCR 34(2), 2004).  One bandwidth sample per round trip of at least 50 ms and two filters,
in whole bytes and ms; the least smoothed RTT.  ssthresh is half of the old window: that is the window after a
recovery, unless the measured one is larger.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.congestion import linux_reno

LEAST_MS = 50  # a bandwidth sample covers more than this, and more than a round trip
UNKNOWN_MS = 20_000  # the RTT as long as there is none

# Words of memory behind those of Reno; all are 0 at the start.
_BEGAN = 1  # the bandwidth sample began [ms]
_BYTES = 2  # acknowledged since then
_RAW = 3  # bandwidth, filtered once and
_BANDWIDTH = 4  # twice [byte / ms]
_RTT = 5  # smoothed [ms], 0: no ACK yet
_LEAST_RTT = 6  # [ms], 0: take the next
_AHEAD = 7  # bytes of duplicate ACKs that an ACK of new data will name again

grow = linux_reno.grow
reduce = linux_reno.reduce


def on_linux_ack(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, memory: Any) -> None:
    """An ACK has arrived; see `linux26`."""
    memory[linux_reno.ACKED] += packets
    ms = now // MS
    first = memory[_RTT] == 0.0
    if first:
        memory[_BEGAN] = ms
        memory[_RTT] = UNKNOWN_MS
    if packets > 0:
        memory[_RTT] = rtt // MS
    past = ms - int(memory[_BEGAN])
    if past > max(int(memory[_RTT]), LEAST_MS):
        sample = int(memory[_BYTES]) // past
        if memory[_BANDWIDTH] == 0.0 and memory[_RAW] == 0.0:
            memory[_RAW] = sample
            memory[_BANDWIDTH] = sample
        else:
            memory[_RAW] = (7 * int(memory[_RAW]) + sample) >> 3
            memory[_BANDWIDTH] = (7 * int(memory[_BANDWIDTH]) + int(memory[_RAW])) >> 3
        memory[_BEGAN] = ms
        memory[_BYTES] = 0.0
    news = packets * size
    if first:
        news = 0
    if not plain:
        if news == 0:
            news = size
            memory[_AHEAD] += size
        elif news > size:  # some of it has been counted at duplicates
            if memory[_AHEAD] >= news:
                memory[_AHEAD] -= news
                news = size
            else:
                news -= int(memory[_AHEAD])
                memory[_AHEAD] = 0.0
    memory[_BYTES] += news
    if memory[_LEAST_RTT] == 0.0 or memory[_RTT] < memory[_LEAST_RTT]:
        memory[_LEAST_RTT] = memory[_RTT]


def bottom(ssthresh: Any, size: Any, memory: Any) -> Any:
    """The window during a recovery [packet]."""
    return max(int(memory[_BANDWIDTH]) * int(memory[_LEAST_RTT]) // size, 2)
