"""Source of datagrams at a constant bit rate, with jitter or without, or with exponential gaps.

The gap after datagram k is draw k of a random stream, so the sending time of any datagram can be computed
from that of another one: no engine has to store sending times.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.exponential import FRACTION_BITS, exponential_of
from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.base.layout import FOREVER, STREAM_DATAGRAM
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.base.philox import draw

MOST_SPREAD = 1 << 31
"""Largest `UdpP.SPREAD` [ns]: its product with 32 random bits fits an int64."""

EXPONENTIAL = -1
"""`UdpP.SPREAD` of exponential gaps with the mean INTERVAL: Poisson arrivals."""

_SHARE_BITS = np.int64(20)
_SHARE_MASK = np.int64((1 << 20) - 1)


class Known(IntEnum):
    """Words of one datagram with a known sending time; all 0 if there is none."""

    NUMBER = 0
    OFFSET = 1
    """Sending time, less START [ns]."""
    SIZE = 2


def gap(p: Any, stream: Any, number: Any, interval: Any, spread: Any) -> Any:
    """Return the time from datagram `number` to the next [ns], at least 1 ns: uniform around `interval`, or
    exponential."""
    wait = interval
    if spread != 0:
        w0, _, _, _ = draw(p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, number)
        if spread > 0:
            wait += (spread * np.int64(w0) >> np.int64(32)) - (spread >> np.int64(1))
        else:
            wait = _exponential_gap(np.int64(w0), interval)
    return max(wait, np.int64(1))


@noinline
def _exponential_gap(word: Any, mean: Any) -> Any:
    """Return an exponential time [ns] of 32 random bits.

    The mean is multiplied in two parts, so that the product of a long one fits an int64.
    """
    share = exponential_of(word) >> (np.int64(FRACTION_BITS) - _SHARE_BITS)
    return (mean >> _SHARE_BITS) * share + ((mean & _SHARE_MASK) * share >> _SHARE_BITS)


def offset_of(p: Any, m: Any, known: Any, stream: Any, number: Any, interval: Any, spread: Any) -> Any:
    """Return the sending time of datagram `number`, less START [ns].

    `known` is the first of the words of `Known` in scratch `m`. The cost is one draw for each datagram
    between this one and the one computed last.
    """
    if spread == 0:
        return number * interval
    k, offset = m[known + Known.NUMBER], m[known + Known.OFFSET]
    while k < number:
        offset += gap(p, stream, k, interval, spread)
        k += 1
    while k > number:
        k -= 1
        offset -= gap(p, stream, k, interval, spread)
    m[known + Known.NUMBER], m[known + Known.OFFSET] = number, offset
    return offset


def first(p: Any) -> Any:
    """Return the sending time of the first datagram of the flow of this row [ns], or FOREVER if there is
    none."""
    return p[RowP.START] if p[RowP.LIMIT] > 0 and p[RowP.START] < p[UdpP.STOP] else np.int64(FOREVER)


def size_of(p: Any, number: Any) -> Any:
    """Return the size of a datagram of the flow of this row on the wire [byte]; the last one may be
    shorter."""
    return p[RowP.DATA] + p[RowP.HEADER] - (p[RowP.SHORT] if number + 1 == p[RowP.LIMIT] else 0)


def following(p: Any, number: Any, sent: Any) -> Any:
    """Return the sending time of the datagram after `number`, which was sent at `sent` [ns]; FOREVER if it
    was the last."""
    t = sent + gap(p, np.int64(STREAM_DATAGRAM), number, p[UdpP.INTERVAL], p[UdpP.SPREAD])
    return t if number + 1 < p[RowP.LIMIT] and t < p[UdpP.STOP] else np.int64(FOREVER)
