"""How long all goes well on a path: until a packet is lost, or no use, or nobody looks any more."""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.fluid.way import Way


class Cause(IntEnum):
    """Why a round trip ends early, or badly."""

    NOTHING = 0
    RANDOM = 1
    OUTAGE = 2
    OVERFLOW = 3


def until_trouble(
    p: Any, way: Way, down: Any, t: Any, packets: Any, rtt: Any, expected: Any, hazard: Any, repaired: Any
) -> tuple[Any, Any, Any]:
    """How long all goes well from `t` on [ns], which part of a round trip that is, and the cause of its end.

    Of a round trip `rtt` [ns] with so many packets, of which so many losses are `expected`; the next comes
    when those expected reach `hazard`, and an outage at `down` [ns].  Until `repaired` [ns], if that is
    later, no queue overflows.
    """
    length = np.int64(rtt)
    repairs = repaired > t
    if repairs:
        length = min(length, repaired - t)
    cause = Cause.OVERFLOW if packets > way.room and not repairs else Cause.NOTHING
    part = float(length) / rtt
    if float(hazard) < float(expected) * part:
        part = float(hazard) / float(expected)
        length = np.int64(part * rtt)
        cause = Cause.RANDOM
    if down < t + length:
        length = max(down - t, np.int64(0))
        part = float(length) / rtt
        cause = Cause.OUTAGE
    if t + length > p[P.END]:
        length = p[P.END] - t
        part = float(length) / rtt
        cause = Cause.NOTHING
    return length, part, cause
