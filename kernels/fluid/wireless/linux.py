"""Share of packets with an ACK of their own in the fluid of 802.11, for today's Linux and SCTP.

A receiver acknowledges every second packet, but each one while an earlier one is missing (RFC 5681, section
4.2; RFC 4960, section 6.2). If a queue overflows, a sender is in loss recovery for one round trip per cycle
of its window. Source of the cycles: RFC 9438, section 4.3. Between losses the window grows linearly from beta
W to W, by one packet (CUBIC: 3 (1 - beta) / (1 + beta)) per round trip.
"""

import math
from typing import Any

from netcarlo.kernels.senders import ALONE, LINUX_BBR, LINUX_CUBIC, LINUX_RENO

_RENO, _CUBIC = 0.5, 0.7
"""Window after a loss as a share of the window before it."""
_CUBIC_GROWTH = 3.0 * (1.0 - _CUBIC) / (1.0 + _CUBIC)
_BBR = 1.0 - math.exp(-1.0)
"""Share for BBR v1, which does not reduce its window: it loses one packet of each window on average."""


def recovering(kind: Any, window: Any) -> Any:
    """Return the share of its packets that a sender sends in loss recovery if a queue overflows.

    `kind` is the number of the sender, `window` the mean number of its packets in flight. 0 for the TCPs of
    ns-2.
    """
    if kind == LINUX_BBR:
        return _BBR
    if kind in (LINUX_RENO, ALONE):  # SCTP also halves its window
        return _share(window, _RENO, 1.0)
    return _share(window, _CUBIC, _CUBIC_GROWTH) if kind == LINUX_CUBIC else 0.0


def _share(window: Any, beta: Any, growth: Any) -> Any:
    """Return one round trip's share of the packets of a window cycle, with this `beta` and growth per round
    trip."""
    most = window / ((1.0 + beta) / 2.0)
    rounds = (1.0 - beta) * most / growth
    return most / (most + rounds * window)
