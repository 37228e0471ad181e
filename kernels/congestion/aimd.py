"""The standard congestion control: slow start, additive increase, multiplicative decrease.

Source: RFC 5681, in the packet-counting form of ns-2 (`windowOption_` 1, `precisionReduce_`).
This is also the model for a user's own congestion control: a Python file with these two functions.  It
may have a third, `acked(packets, memory)`, called before `grow` (see `bic`), and a fourth,
`on_ack(packets, now, rtt, memory)`, called at every ACK, whatever it does (see `westwood`).
"""

from typing import Any


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The congestion window after an ACK of new data [packet]."""
    if cwnd < ssthresh:
        return cwnd + 1.0
    return cwnd + 1.0 / cwnd


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """The window to continue with when `window` packets turned out too many [packet].

    Its integer part (at least 2) becomes ssthresh; after a timeout cwnd restarts from 1.
    """
    return window / 2.0
