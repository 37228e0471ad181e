"""Philox4x32-10, a counter-based random number generator.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
There is no state: draw `i` of stream (seed, scenario, replication, stream) is a pure function of
those numbers, so any draw can be made anywhere, in any order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> tuple[Any, Any, Any, Any]:
    """Return ten rounds of a 4-word counter under a 2-word key; each word is a uint64 below 2**32.

    Works on scalars and, element by element, on arrays.
    """
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ k0, p1 & _LOW, (p0 >> _32) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


def draw(seed: Any, scenario: Any, replication: Any, stream: Any, i: Any) -> Any:
    """Return the four words (uint64 below 2**32) of block `i` of a stream.

    The five arguments are integers, the last four below 2**32.
    """
    key = np.uint64(seed)
    return philox4x32(
        np.uint64(i) & _LOW,
        np.uint64(stream) & _LOW,
        np.uint64(replication) & _LOW,
        np.uint64(scenario) & _LOW,
        key & _LOW,
        key >> _32,
    )


def uniforms(
    seed: int, scenario: int | NDArray[np.int64], replications: NDArray[np.int64], stream: int, i: int = 0
) -> NDArray[np.float64]:
    """Return draw `i` of a stream for many replications at once, on the host.

    Replications are of one scenario, or of one each. Returns float64[n] in [0, 1) with 53 random bits.
    """
    c2 = replications.astype(np.uint64)
    zero = np.zeros_like(c2)
    k = np.uint64(seed)
    a, b, _, _ = philox4x32(
        zero + np.uint64(i),
        zero + np.uint64(stream),
        c2,
        zero + np.uint64(scenario),
        zero + (k & _LOW),
        zero + (k >> _32),
    )
    bits = (a >> np.uint64(5)) << np.uint64(26) | (b >> np.uint64(6))
    return np.asarray(bits, dtype=np.float64) * 2.0**-53
