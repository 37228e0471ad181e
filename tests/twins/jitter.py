"""Gaps of a source of datagrams."""

from netcarlo.kernels.base.layout import STREAM_DATAGRAM
from tests.twins.random_numbers import Streams


def gap(streams: Streams, number: int, interval: int, spread: int, *, flow: int = 0) -> int:
    """Return the time from datagram `number` to the next [ns]: uniform around the interval, by half the
    spread at most."""
    if spread == 0:
        return interval
    word = streams.block(STREAM_DATAGRAM + flow, number)[0]
    return max(interval - spread // 2 + spread * word // 2**32, 1)
