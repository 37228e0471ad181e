"""Additive increase, multiplicative decrease, paced: a window and a rate.

Named in a scenario as `congestion_control: paced_aimd.py` with `protocol: linux`, which paces. Like
`aimd.py`, but `grow` and `reduce` return the window [packet] and the pacing rate [packet / s].
"""

CONSTANTS = {"increase": 1.0, "decrease": 0.7, "surplus": 1.2}
"""Packets per round trip without loss; fraction of the window kept after a loss; rate in windows per round
trip."""


def acked(packets, memory):
    """Store the number of packets that an ACK acknowledges; called before `grow`."""
    memory[0] = packets


def grow(cwnd, ssthresh, now, rtt, constants, memory):
    """Return the window [packet] and the pacing rate [packet / s] after an acknowledgement of new data."""
    if cwnd < ssthresh:
        window = cwnd + memory[0]
        return window, 2.0 * window * 1e9 / rtt
    window = cwnd + constants[0] * memory[0] / cwnd
    return window, constants[2] * window * 1e9 / rtt


def reduce(window, timeout, now, rtt, constants, memory):
    """Return the window [packet] and the pacing rate [packet / s] after a loss with `window` packets in
    flight."""
    kept = window * constants[1]
    return kept, constants[2] * kept * 1e9 / rtt
