"""Westwood+ as in Linux 2.6: the window in recovery is the measured bandwidth times the minimum RTT.

Source: Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
congestion control" (CCR 34(2), 2004). There is one bandwidth sample per round trip of at least 50 ms and two
filters, in whole bytes and ms. The RTT is the minimum smoothed RTT. ssthresh is half of the old window: that
is the window after a recovery, unless the measured one is larger.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS
from netcarlo.kernels.congestion import linux_reno

WESTWOOD_RTT_MIN_MS = 50  # minimum duration of a bandwidth sample, which also covers a round trip [ms]
WESTWOOD_INIT_RTT_MS = 20_000  # RTT before the first measurement [ms]

# Words of memory after those of Reno; all are 0 at the start.
_RTT_WIN_SX = 1  # start of the bandwidth sample [ms]
_BK = 2  # bytes acknowledged in the bandwidth sample
_BW_NS_EST = 3  # bandwidth, filtered once [bytes / ms]
_BW_EST = 4  # bandwidth, filtered twice [bytes / ms]
_RTT = 5  # smoothed RTT [ms]; 0: no ACK yet
_RTT_MIN = 6  # minimum RTT [ms]; 0: take the next sample
_ACCOUNTED = 7  # bytes counted at duplicate ACKs, which an ACK of new data acknowledges again

grow = linux_reno.grow
reduce = linux_reno.reduce


def on_linux_ack(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, memory: Any) -> None:
    """Update bandwidth and RTT (see `tcp.linux26`)."""
    memory[linux_reno.SND_CWND_CNT] += packets
    ms = now // MS
    first = memory[_RTT] == 0.0
    if first:
        memory[_RTT_WIN_SX] = ms
        memory[_RTT] = WESTWOOD_INIT_RTT_MS
    if packets > 0:
        memory[_RTT] = rtt // MS
    past = ms - int(memory[_RTT_WIN_SX])
    if past > max(int(memory[_RTT]), WESTWOOD_RTT_MIN_MS):
        sample = int(memory[_BK]) // past
        if memory[_BW_EST] == 0.0 and memory[_BW_NS_EST] == 0.0:
            memory[_BW_NS_EST] = sample
            memory[_BW_EST] = sample
        else:
            memory[_BW_NS_EST] = (7 * int(memory[_BW_NS_EST]) + sample) >> 3
            memory[_BW_EST] = (7 * int(memory[_BW_EST]) + int(memory[_BW_NS_EST])) >> 3
        memory[_RTT_WIN_SX] = ms
        memory[_BK] = 0.0
    news = packets * size
    if first:
        news = 0
    if not plain:
        if news == 0:
            news = size
            memory[_ACCOUNTED] += size
        elif news > size:  # part of it was counted at duplicate ACKs
            if memory[_ACCOUNTED] >= news:
                memory[_ACCOUNTED] -= news
                news = size
            else:
                news -= int(memory[_ACCOUNTED])
                memory[_ACCOUNTED] = 0.0
    memory[_BK] += news
    if memory[_RTT_MIN] == 0.0 or memory[_RTT] < memory[_RTT_MIN]:
        memory[_RTT_MIN] = memory[_RTT]


def min_cwnd(ssthresh: Any, size: Any, memory: Any) -> Any:
    """Return the window during a recovery [packets]."""
    return max(int(memory[_BW_EST]) * int(memory[_RTT_MIN]) // size, 2)
