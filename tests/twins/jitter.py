"""Intervals of a UDP source."""

from netcarlo.kernels.base.layout import STREAM_DATAGRAM
from tests.twins.random_numbers import Streams

LN2 = 744_261_118
"""Logarithm of 2 in units of 2**-30."""


def gap(streams: Streams, number: int, interval: int, spread: int, *, stream: int = STREAM_DATAGRAM) -> int:
    """Return the time from datagram `number` to the next [ns]: uniform in the interval plus or minus half the
    spread, or exponential with a spread of -1."""
    if spread == 0:
        return interval
    word = streams.block(stream, number)[0]
    if spread == -1:
        return max(interval * exponential(word) // 2**20, 1)
    return max(interval - spread // 2 + spread * word // 2**32, 1)


def exponential(word: int) -> int:
    """Return -ln(u) in units of 2**-20, where u = word / 2**32 (at least 2**-32).

    -log2(u) is rounded up to 16 binary digits. Each squaring of x in [1, 2) doubles its logarithm, and x is
    kept with 30 binary digits.
    """
    odd = word | 1
    zeros = 32 - odd.bit_length()
    x = (odd << zeros) // 2  # 2**30 is 1
    digits = ""
    for _ in range(16):
        x = x * x // 2**30
        digits += str(x // 2**31)
        x //= 2 ** int(digits[-1])
    logarithm = (zeros + 1) * 2**16 - int(digits, 2)
    return logarithm * LN2 // 2**26
