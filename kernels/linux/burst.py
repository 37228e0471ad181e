"""How many new packets leave at once: large segments are cut into packets, the last of which is marked PSH.

Source: Linux sizes a burst by the rate: what it would send in about a millisecond, two packets at least (E.
Dumazet, "TSO packets automatic sizing", 2013).  The receiver's application reads what a PSH ends, and an ACK
goes out: so ACKs of pairs stay in step with the pairs.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.linux import pacing
from netcarlo.kernels.linux.state import PACED, Tcp, in_flight

LEAST = 2
"""Packets of a burst."""
BYTES = 65536
"""Most of one."""


def size(p: Any, s: Any) -> Any:
    """Of a full one [packet]: 1/1024 s of the rate cwnd / RTT, twice that in slow start, 1.2 times beyond."""
    percent = 200 if s[Tcp.CWND] < s[Tcp.SSTHRESH] // 2 else 120
    window = max(s[Tcp.CWND], s[Tcp.NXT] - s[Tcp.UNA]) * p[P.DATA]
    rate = window * percent * 80_000 // max(s[Tcp.SRTT], 1)  # [byte / s]
    return max(min(rate >> 10, BYTES) // max(p[P.DATA], 1), LEAST)


def next_burst(p: Any, s: Any) -> Any:
    """How many packets go out as one now; 0: no window has room."""
    room = min(s[Tcp.CWND] - in_flight(s), max(s[Tcp.CWND] >> 1, 1))
    allowed = min(s[Tcp.UNA] + p[P.WINDOW], s[Tcp.LAST] + 1) - s[Tcp.NXT]
    room = min(room, allowed)
    if PACED:
        return min(room, pacing.size(p, s)) if room > 0 else np.int64(0)
    if room <= LEAST:
        return max(room, np.int64(0))
    return min(room, size(p, s))
