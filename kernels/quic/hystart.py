"""HyStart++: end of slow start when the RTT rises (RFC 9406).

A rise of the minimum RTT of a round ends slow start; conservative slow start, which grows a quarter as fast,
follows for five rounds, unless the RTT falls again. It applies to the first slow start only.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, MS
from netcarlo.kernels.base.parameters import QuicP
from netcarlo.kernels.quic.state import NONE, Word

MIN_RTT_THRESH, MAX_RTT_THRESH = np.int64(4 * MS), np.int64(16 * MS)
"""Smallest and largest rise of the RTT that ends slow start [ns]."""
MIN_RTT_DIVISOR = 8
"""Divisor of the RTT for that rise between the two."""
N_RTT_SAMPLE = 8
"""RTT samples of a round before its minimum counts [n]."""
CSS_GROWTH_DIVISOR = 4
"""Divisor of the growth in conservative slow start."""
CSS_ROUNDS = 5
"""Rounds of conservative slow start [n]."""
L = 8
"""Packets by which a window grows at most at an ACK if the sender does not pace [packets]."""


def growth(p: Any, s: Any, acked: Any) -> Any:
    """Return the growth of the window in slow start for newly acknowledged bytes [bytes]."""
    if s[Word.HYSTART] == 0:
        return acked
    if p[QuicP.PACING] == 0:
        acked = min(acked, L * s[Word.DATAGRAM])
    return acked // CSS_GROWTH_DIVISOR if s[Word.CSS] > 0 else acked


@noinline
def on_ack(s: Any, rtt: Any) -> None:
    """Process an ACK in slow start, after the growth (RFC 9406, section 4.2).

    `rtt` is its sample [ns], or NONE.
    """
    if s[Word.HYSTART] == 0 or s[Word.CWND] >= s[Word.SSTHRESH]:
        return
    if rtt != NONE:
        s[Word.ROUND_MIN] = min(s[Word.ROUND_MIN], rtt)
        s[Word.ROUND_SAMPLES] += 1
    if s[Word.ROUND_SAMPLES] >= N_RTT_SAMPLE:
        least, before = s[Word.ROUND_MIN], s[Word.LAST_ROUND_MIN]
        rise = max(MIN_RTT_THRESH, min(before // MIN_RTT_DIVISOR, MAX_RTT_THRESH))
        if s[Word.CSS] > 0:
            if least < s[Word.CSS_BASELINE]:
                s[Word.CSS] = 0
        elif before != FOREVER and least >= before + rise:
            s[Word.CSS] = 1
            s[Word.CSS_BASELINE] = least
    if s[Word.LARGEST_ACKED] >= s[Word.ROUND_END]:
        if s[Word.CSS] > CSS_ROUNDS - 1:
            s[Word.SSTHRESH] = s[Word.CWND]
        s[Word.CSS] += 1 if s[Word.CSS] > 0 else 0
        s[Word.LAST_ROUND_MIN] = s[Word.ROUND_MIN]
        s[Word.ROUND_MIN] = FOREVER
        s[Word.ROUND_SAMPLES] = 0
        s[Word.ROUND_END] = s[Word.NEXT_NUMBER] - 1
