"""Standard congestion control: slow start, additive increase, multiplicative decrease.

Source: RFC 5681, in the packet-counting form of ns-2 (`windowOption_` 1, `precisionReduce_`).

A user's own congestion control is a Python file with these two functions. It may also have `acked(packets,
memory)`, called before `grow` (see `bic`), and `on_ack(packets, now, rtt, memory)`, called at every ACK (see
`westwood`).
"""

from typing import Any


def grow(cwnd: Any, ssthresh: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the congestion window after an ACK of new data [packets]."""
    if cwnd < ssthresh:
        return cwnd + 1.0
    return cwnd + 1.0 / cwnd


def reduce(window: Any, timeout: Any, now: Any, rtt: Any, constants: Any, memory: Any) -> Any:
    """Return the window after a loss at `window` packets [packets].

    Its integer part (at least 2) becomes ssthresh; after a timeout cwnd restarts from 1.
    """
    return window / 2.0
