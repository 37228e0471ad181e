"""Approximate cost of a row, in packets or events, estimated from its parameters alone.

A device processes rows in order of cost, and this many at a time. Outcomes do not depend on it, so an
estimate need only be larger, in most cases, for the longer row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def transfer(
    span: Any, limit: Any, *, packet: Any, rtt: Any, window: Any, loss: Any = 0.0, rto: Any = 1e9
) -> Floats:
    """Return the packets that an association sends in `span` [ns], at most `limit`.

    The slowest hop needs `packet` [ns] per packet, and a window is sent per `rtt` [ns]. Random `loss`, with
    timeouts of `rto` [ns], reduces it (Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998, equation 30).
    """
    halvings = rtt * np.sqrt(2 * loss / 3)
    waits = rto * np.minimum(1.0, 3 * np.sqrt(3 * loss / 8)) * loss * (1 + 32 * loss**2)
    each = np.maximum(np.maximum(packet, rtt / np.maximum(window, 1)), halvings + waits)
    return np.minimum(limit, span / np.maximum(each, 1.0))  # type: ignore[no-any-return]


def datagrams(span: Any, interval: Any) -> Floats:
    """Return the number of datagrams in `span` at this `interval` [ns]; 0 if the interval is 0."""
    return np.where(interval > 0, span / np.maximum(interval, 1), 0.0)
