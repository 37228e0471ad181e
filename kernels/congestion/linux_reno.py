"""Reno as in Linux 2.6: one packet per window of acknowledged packets, not of ACKs.

Source: RFC 5681 and RFC 3465 (appropriate byte counting, L = 1), in whole packets.
"""

from typing import Any

SND_CWND_CNT = 0
"""Word of memory: packets acknowledged since the window grew or was reduced, also in recovery."""


def on_linux_ack(packets: Any, plain: Any, now: Any, rtt: Any, size: Any, memory: Any) -> None:
    """Count the acknowledged packets (see `tcp.linux26`)."""
    memory[SND_CWND_CNT] += packets


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the congestion window after an ACK of new data [packets]."""
    if cwnd <= ssthresh:
        memory[SND_CWND_CNT] = 0.0
        return cwnd + 1.0
    if memory[SND_CWND_CNT] < cwnd:
        return cwnd
    memory[SND_CWND_CNT] -= cwnd
    return cwnd + 1.0


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the slow start threshold after a loss [packets]."""
    memory[SND_CWND_CNT] = 0.0
    return max(float(window // 2.0), 2.0)


def min_cwnd(ssthresh: Any, size: Any, memory: Any) -> Any:
    """Return the window during a recovery [packets], half of that after it."""
    return ssthresh // 2
