"""Search for the value at which requirements start to fail: bisection with growing numbers of
replications."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

HOLDS, OPEN, FAILS = 1, 0, -1
"""Verdicts on a value."""

FIRST_CAP = 256
"""Maximum number of replications at a value in the first pass of the search."""

GROWTH = 4
"""Ratio of this maximum in successive passes."""


class Bracket(NamedTuple):
    """State of a search among values 0 to n - 1, which hold up to some value and fail beyond it."""

    low: int
    """Last value that is known to hold; -1 if there is none."""
    high: int
    """First value that is known to fail; n if there is none."""

    @property
    def closed(self) -> bool:
        """True if there is no value between `low` and `high`."""
        return self.high - self.low <= 1


def search(n: int, decide: Callable[[int, int], int], *, most: int) -> Iterator[Bracket]:
    """Narrow the bracket of `n` values until it is closed or every open value has `most` replications.

    `decide(i, cap)` replicates value i until it is known to hold or to fail, or has `cap` replications, and
    returns its verdict. The bracket is yielded after every value; it is correct if the verdicts are.
    """
    low, high = -1, n
    for cap in replication_caps(most):
        for end in (0, n - 1):
            if low < end < high:
                verdict = decide(end, cap)
                low, high = (end if verdict == HOLDS else low), (end if verdict == FAILS else high)
                yield Bracket(low, high)
        # Look for the last value that holds (open values count as failing), then for the first that fails.
        for open_as in (FAILS, HOLDS):
            a, b = low, high
            while b - a > 1:
                middle = (a + b) // 2
                verdict = decide(middle, cap)
                low = middle if verdict == HOLDS else low
                high = middle if verdict == FAILS else high
                a, b = (middle, b) if (verdict or open_as) == HOLDS else (a, middle)
                yield Bracket(low, high)
        if high - low <= 1:
            return


def replication_caps(most: int) -> Iterator[int]:
    """Yield the maximum number of replications per value in each pass; the last one is `most`."""
    cap = FIRST_CAP
    while cap < most:
        yield cap
        cap *= GROWTH
    yield most
