"""Random numbers from their published definitions, one Python integer at a time.

Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from collections.abc import Iterator, Sequence
from itertools import count

WORD = 0xFFFFFFFF


def philox4x32_10(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    """Return ten Philox rounds of a counter of four 32-bit words under a key of two."""
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * x0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * x2, 1 << 32)
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
        k0 = (k0 + 0x9E3779B9) & WORD  # the golden ratio
        k1 = (k1 + 0xBB67AE85) & WORD  # sqrt(3) - 1
    return [x0, x1, x2, x3]


class Streams:
    """Random streams of one replication."""

    def __init__(self, seed: int, scenario: int, replication: int) -> None:
        self.key = (seed & WORD, (seed >> 32) & WORD)
        self.scenario = scenario
        self.replication = replication

    def block(self, stream: int, i: int) -> list[int]:
        """Draw block `i` of a stream: four 32-bit words."""
        return philox4x32_10((i, stream, self.replication, self.scenario), self.key)

    def gaps(self, stream: int, thresholds: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of survivors before each loss."""
        return (self.gap(stream, thresholds, k) for k in count())

    def gap(self, stream: int, thresholds: Sequence[int], k: int) -> int:
        """Return gap k: its digit j is 1 if word j of its 32 words is below threshold j."""
        words = [word for block in range(8) for word in self.block(stream, 8 * k + block)]
        return sum(1 << j for j in range(32) if words[j] < thresholds[j])
