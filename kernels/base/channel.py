"""A channel that loses packets at random: always alike, or in bursts.

A bursty one has two states (Gilbert, BSTJ 39, 1960; Elliott, BSTJ 42, 1963).  Each has a probability that a
packet is lost, and one that the channel turns to the other state after it.  To a packet that survives and
turns nothing, nothing happens; of these there is a geometric number between two to which something does,
drawn at once as `loss` draws it.  What it is is drawn then: the packet is lost, or the channel turns, or
both.  No packet in between costs more than a count.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.countdown import Countdown, draw_gap
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import CHANCE_BITS, STREAM_CHANNEL, P
from netcarlo.kernels.base.philox import draw


class Channel(IntEnum):
    """Words of scratch of a channel."""

    GAP = Countdown.GAP  # packets until something happens
    GAPS = Countdown.GAPS  # gaps drawn so far
    ROW = 2  # row of the loss table for these gaps
    CHANCES = 3  # what happens then, as `Hop.CHANCES`
    OTHER_ROW = 4  # the same two in the other state
    OTHER_CHANCES = 5


_BITS = np.int64(CHANCE_BITS)
_MASK = np.int64((1 << CHANCE_BITS) - 1)


def lost(p: Any, losses: Any, m: Any, at: Any, stream: Any) -> Any:
    """Whether a packet is lost in the channel at word `at` of scratch.

    Gaps are drawn from a `stream` with thresholds of `losses`; `p` are the parameters of the row.
    """
    left = m[at + Channel.GAP]
    if left == 0:
        return _happens(p, losses, m, at, stream)
    m[at + Channel.GAP] = left - 1
    return False


@noinline
def begin(p: Any, losses: Any, m: Any, at: Any, stream: Any) -> None:
    """Draw the first gap of a channel whose rows and chances are filled in; it begins outside a burst."""
    m[at + Channel.GAPS] = 0
    draw_gap(p, losses, m, at, m[at + Channel.ROW], stream)


@noinline
def _happens(p: Any, losses: Any, m: Any, at: Any, stream: Any) -> Any:
    """Something happens to a packet; returns whether it is lost."""
    gone = True
    chances = m[at + Channel.CHANCES]
    if chances > 0:
        k = m[at + Channel.GAPS] - 1
        w0, w1, _, _ = draw(p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], STREAM_CHANNEL + stream, k)
        gone = np.int64(w0) >> (32 - _BITS) < chances >> _BITS
        if not gone or np.int64(w1) >> (32 - _BITS) < (chances & _MASK):
            row = m[at + Channel.ROW]
            m[at + Channel.ROW], m[at + Channel.OTHER_ROW] = m[at + Channel.OTHER_ROW], row
            m[at + Channel.CHANCES], m[at + Channel.OTHER_CHANCES] = m[at + Channel.OTHER_CHANCES], chances
    draw_gap(p, losses, m, at, m[at + Channel.ROW], stream)
    return gone
