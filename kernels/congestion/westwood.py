"""Westwood+: the window after a loss is the measured bandwidth times the minimum RTT.

Source: Mascolo, Casetti, Gerla, Sanadidi and Wang, "TCP Westwood: bandwidth estimation for enhanced transport
over wireless links" (MobiCom 2001); Grieco and Mascolo, "Performance evaluation and comparison of Westwood+,
New Reno, and Vegas TCP congestion control" (CCR 34(2), 2004). There is one bandwidth sample per round trip,
two filters and the integer arithmetic of Linux 2.6: bytes, ms and a window of whole packets, which grows by
one per window of acknowledged packets.
"""

from typing import Any

from netcarlo.kernels.base.layout import MS

SEGMENT = 1460  # payload of a packet [bytes]; it affects only rounding
WESTWOOD_RTT_MIN_MS = 50  # minimum duration of a bandwidth sample, which also covers a round trip [ms]

# Words of memory; all are 0 at the start.
_RTT_WIN_SX = 0  # start of the bandwidth sample [ms]
_BK = 1  # bytes acknowledged in the bandwidth sample
_BW_NS_EST = 2  # bandwidth, filtered once [bytes / ms]
_BW_EST = 3  # bandwidth, filtered twice [bytes / ms]
_RTT_MIN = 4  # minimum RTT [ms]; 0: take the next sample
_ACCOUNTED = 5  # bytes counted at duplicate ACKs, which an ACK of new data acknowledges again
_FIRST_ACK_SEEN = 6  # 1 after the first ACK
_CWND_CNT = 7  # packets acknowledged since the window grew


def on_ack(packets: Any, now: Any, rtt: Any, memory: Any) -> None:
    """Update bandwidth and minimum RTT with an ACK.

    `packets` are newly acknowledged, 0 for a duplicate ACK; `rtt` is the latest measurement before it [ns].
    """
    ms = now // MS
    if memory[_FIRST_ACK_SEEN] == 0.0:
        memory[_FIRST_ACK_SEEN] = 1.0
        memory[_RTT_WIN_SX] = ms
    past = ms - int(memory[_RTT_WIN_SX])
    if rtt > 0 and past > max(rtt // MS, WESTWOOD_RTT_MIN_MS):
        sample = int(memory[_BK]) // past
        if memory[_BW_EST] == 0.0 and memory[_BW_NS_EST] == 0.0:
            memory[_BW_NS_EST] = sample
            memory[_BW_EST] = sample
        else:
            memory[_BW_NS_EST] = (7 * int(memory[_BW_NS_EST]) + sample) >> 3
            memory[_BW_EST] = (7 * int(memory[_BW_EST]) + int(memory[_BW_NS_EST])) >> 3
        memory[_RTT_WIN_SX] = ms
        memory[_BK] = 0.0
    news = packets * SEGMENT
    if packets == 0:
        news = SEGMENT
        memory[_ACCOUNTED] += SEGMENT
    elif packets > 1:  # some were counted at duplicate ACKs, except the latest
        counted = min(int(memory[_ACCOUNTED]), news)
        news = max(news - counted, SEGMENT)
        memory[_ACCOUNTED] -= counted
    memory[_BK] += news
    if rtt > 0:
        sample = max(rtt // MS, 1)
        if memory[_RTT_MIN] == 0.0 or sample < memory[_RTT_MIN]:
            memory[_RTT_MIN] = sample


def acked(packets: Any, memory: Any) -> None:
    """Count newly acknowledged packets, outside of recovery."""
    memory[_CWND_CNT] += packets


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the congestion window after an ACK of new data [packets]."""
    if cwnd <= ssthresh:
        return cwnd + 1.0
    if memory[_CWND_CNT] < cwnd:
        return cwnd
    memory[_CWND_CNT] -= cwnd
    return cwnd + 1.0


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the window after a loss [packets]."""
    packets = int(memory[_BW_EST]) * int(memory[_RTT_MIN]) // SEGMENT
    memory[_CWND_CNT] = 0.0
    if timeout:
        memory[_RTT_MIN] = 0.0
    return float(max(packets, 2))
