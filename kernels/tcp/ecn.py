"""Explicit congestion notification: reaction of the sender to an ECN echo.

Source: RFC 3168, section 6.1.2, at most once per window as in ns-2.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.bind import slot
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.tcp.acks import ACKS_ARE_IMPLICIT, ack_at
from netcarlo.kernels.tcp.state import Ack, Phase, Tcp
from netcarlo.kernels.tcp.window import clock_of, row_of

TIMESTAMPS: Any = slot("timestamps")

variant: Any = slot("variant")
kind: Any = slot("kind")


@noinline
def on_echo(p: Any, s: Any, g: Any, constants: Any, now: Any, ack_id: Any) -> None:
    """Reduce the window for the ECN echo of the ACK that is about to arrive."""
    ack = ack_id - 1 if ACKS_ARE_IMPLICIT else s[ack_at(p, s, ack_id) + Ack.CUMULATIVE]
    first = kind.first_of(p)
    recovers = s[Tcp.PHASE] != Phase.NORMAL and first == 1  # Vegas never returns to NORMAL
    if ack <= s[Tcp.ECN_RECOVER] or recovers or ack < first:
        return
    if TIMESTAMPS:
        row = row_of(p, s, g, constants)
        s[Tcp.SSTHRESH] = variant.on_mark(row, clock_of(s, now), s[Tcp.SND_MAX], s[Tcp.SSTHRESH])
    else:
        window = min(g[0], float(p[RowP.WINDOW]))
        half = max(kind.reduce(p, g[1:], constants, now, s[Tcp.RTT], window), 2.0)
        g[0] = half
        s[Tcp.SSTHRESH] = np.int64(half)
    s[Tcp.REDUCTIONS] += 1
    s[Tcp.ECN_RECOVER] = s[Tcp.SND_MAX]
    s[Tcp.CWR_PENDING] = 1
