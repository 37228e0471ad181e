"""Additive increase, multiplicative decrease, with constants of your own.

Named in a scenario as `congestion_control: aimd.py`; compiled like the built-in controls, for CPU and GPU.
Arguments are scalars: windows in packets, times in integer nanoseconds. `constants` has the values of
`CONSTANTS` in this order, `memory` has 16 numbers that are 0 at the start of the transfer and persist.
"""

CONSTANTS = {"increase": 1.0, "decrease": 0.5}
"""Packets per round trip without loss; fraction of the window kept after a loss."""


def grow(cwnd, ssthresh, now, rtt, constants, memory):
    """Return the congestion window after an acknowledgement of new data [packet]."""
    if cwnd < ssthresh:
        return cwnd + 1.0
    return cwnd + constants[0] / cwnd


def reduce(window, timeout, now, rtt, constants, memory):
    """Return the congestion window after a loss with `window` packets in flight [packet]."""
    return window * constants[1]
