"""What a row costs, about: packets or events, estimated from its numbers alone.

A device takes rows in this order, and so many at a time: outcomes do not depend on it, so an estimate need
not be right, only the larger for the longer row more often than not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def transfer(
    span: Any, limit: Any, *, packet: Any, rtt: Any, window: Any, loss: Any = 0.0, rto: Any = 1e9
) -> Floats:
    """Packets that an association puts out in `span` [ns] if it has `limit` at most.

    The slowest hop takes `packet` [ns] for one, and a window leaves in each `rtt` [ns]; random `loss`, and
    waits of `rto` [ns] for the timer after it, make it less (Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998,
    equation 30).
    """
    halvings = rtt * np.sqrt(2 * loss / 3)
    waits = rto * np.minimum(1.0, 3 * np.sqrt(3 * loss / 8)) * loss * (1 + 32 * loss**2)
    each = np.maximum(np.maximum(packet, rtt / np.maximum(window, 1)), halvings + waits)
    return np.minimum(limit, span / np.maximum(each, 1.0))  # type: ignore[no-any-return]


def datagrams(span: Any, interval: Any) -> Floats:
    """Datagrams that come every `interval` [ns]; 0: none."""
    return np.where(interval > 0, span / np.maximum(interval, 1), 0.0)
