"""Additive increase, multiplicative decrease, paced: a window and a rate.

Named in a scenario as `congestion_control: paced_aimd.py` under `protocol: linux`, which paces.  As `aimd.py`
otherwise, but `grow` and `reduce` return the window [packet] and the rate [packet / s].
"""

CONSTANTS = {"increase": 1.0, "decrease": 0.7, "surplus": 1.2}
"""Packets per round trip without loss; share of the window kept after a loss; rate in windows per
round trip."""


def acked(packets, memory):
    """So many packets have been acknowledged, before `grow` is asked."""
    memory[0] = packets


def grow(cwnd, ssthresh, now, rtt, constants, memory):
    """The window, and the rate to pace at, after an acknowledgement of new data."""
    if cwnd < ssthresh:
        window = cwnd + memory[0]
        return window, 2.0 * window * 1e9 / rtt
    window = cwnd + constants[0] * memory[0] / cwnd
    return window, constants[2] * window * 1e9 / rtt


def reduce(window, timeout, now, rtt, constants, memory):
    """The window to go on with when `window` packets were too many, and the rate."""
    kept = window * constants[1]
    return kept, constants[2] * kept * 1e9 / rtt
