"""Channel with random loss, independent or in bursts.

A channel with bursts has two states (Gilbert, BSTJ 39, 1960; Elliott, BSTJ 42, 1963), each with a probability
of loss and a probability of changing the state after a packet. Most packets are neither lost nor followed by
a change. Their number up to the next event is geometric and is drawn at once, as in `loss`. At the event it
is drawn whether the packet is lost, the state changes, or both. All other packets only decrement a counter.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.countdown import Countdown, draw_gap
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import CHANCE_BITS, STREAM_CHANNEL
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.philox import draw


class Channel(IntEnum):
    """Words of scratch of a channel."""

    GAP = Countdown.GAP  # packets until the next event
    GAPS = Countdown.GAPS  # gaps drawn
    ROW = 2  # row of the loss table for these gaps
    CHANCES = 3  # probabilities at the end of a gap, as `Hop.CHANCES`
    OTHER_ROW = 4  # row of the loss table in the other state
    OTHER_CHANCES = 5  # probabilities in the other state


_BITS = np.int64(CHANCE_BITS)
_MASK = np.int64((1 << CHANCE_BITS) - 1)


def lost(p: Any, losses: Any, m: Any, at: Any, stream: Any) -> Any:
    """Return True if a packet is lost in the channel at word `at` of scratch.

    Gaps are drawn from a `stream` with the thresholds `losses`; `p` are the parameters of the row.
    """
    left = m[at + Channel.GAP]
    if left == 0:
        return _happens(p, losses, m, at, stream)
    m[at + Channel.GAP] = left - 1
    return False


@noinline
def begin(p: Any, losses: Any, m: Any, at: Any, stream: Any) -> None:
    """Draw the first gap of a channel whose rows and chances are set; it starts outside a burst."""
    m[at + Channel.GAPS] = 0
    draw_gap(p, losses, m, at, m[at + Channel.ROW], stream)


@noinline
def _happens(p: Any, losses: Any, m: Any, at: Any, stream: Any) -> Any:
    """Draw the event at the end of a gap; return True if the packet is lost."""
    gone = True
    chances = m[at + Channel.CHANCES]
    if chances > 0:
        k = m[at + Channel.GAPS] - 1
        w0, w1, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], STREAM_CHANNEL + stream, k)
        gone = np.int64(w0) >> (32 - _BITS) < chances >> _BITS
        if not gone or np.int64(w1) >> (32 - _BITS) < (chances & _MASK):
            row = m[at + Channel.ROW]
            m[at + Channel.ROW], m[at + Channel.OTHER_ROW] = m[at + Channel.OTHER_ROW], row
            m[at + Channel.CHANCES], m[at + Channel.OTHER_CHANCES] = m[at + Channel.OTHER_CHANCES], chances
    draw_gap(p, losses, m, at, m[at + Channel.ROW], stream)
    return gone
