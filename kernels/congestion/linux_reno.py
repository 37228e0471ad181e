"""Reno as Linux 2.6 has it: a packet more per window of packets acknowledged, not of ACKs.

Source: RFC 5681 and RFC 3465 (appropriate byte counting, L = 1), in whole packets.
"""

from typing import Any

SND_CWND_CNT = 0
"""Word of memory: packets acknowledged since the window grew or was cut, in a recovery as well."""


def on_linux_ack(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, memory: Any) -> None:
    """An ACK has arrived; see `linux26`."""
    memory[SND_CWND_CNT] += packets


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The congestion window after an ACK of new data [packet]."""
    if cwnd <= ssthresh:
        memory[SND_CWND_CNT] = 0.0
        return cwnd + 1.0
    if memory[SND_CWND_CNT] < cwnd:
        return cwnd
    memory[SND_CWND_CNT] -= cwnd
    return cwnd + 1.0


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The slow start threshold after a loss [packet]."""
    memory[SND_CWND_CNT] = 0.0
    return max(float(window // 2.0), 2.0)


def min_cwnd(ssthresh: Any, size: Any, memory: Any) -> Any:
    """The window during a recovery [packet]: half of what will be right after it."""
    return ssthresh // 2
