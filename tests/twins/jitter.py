"""Intervals of a UDP source."""

from netcarlo.kernels.base.layout import STREAM_DATAGRAM
from tests.twins.random_numbers import Streams


def gap(streams: Streams, number: int, interval: int, spread: int, *, flow: int = 0) -> int:
    """Return the time from datagram `number` to the next [ns]: uniform in the interval plus or minus half the
    spread."""
    if spread == 0:
        return interval
    word = streams.block(STREAM_DATAGRAM + flow, number)[0]
    return max(interval - spread // 2 + spread * word // 2**32, 1)
