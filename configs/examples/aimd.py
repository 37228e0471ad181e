"""Additive increase, multiplicative decrease, with constants of your own.

Named in a scenario as `congestion_control: aimd.py`; compiled like the built-in ones, for CPU and GPU.
Arguments are scalars: windows in packets, times in integer nanoseconds.  `constants` holds the values
of `CONSTANTS` in this order, `memory` 16 numbers that last for the transfer and start at 0.
"""

CONSTANTS = {"increase": 1.0, "decrease": 0.5}
"""Packets per round trip without loss; share of the window kept after a loss."""


def grow(cwnd, ssthresh, now, rtt, constants, memory):
    """The congestion window after an acknowledgement of new data [packet]."""
    if cwnd < ssthresh:
        return cwnd + 1.0
    return cwnd + constants[0] / cwnd


def reduce(window, timeout, now, rtt, constants, memory):
    """The window to go on with when `window` packets were too many [packet]."""
    return window * constants[1]
