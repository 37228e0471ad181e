"""Where requirements stop to hold along a row of values: brackets, then bisection, then more replications."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

HOLDS, OPEN, FAILS = 1, 0, -1
"""What is known of a value."""

FIRST_CAP = 256
"""Replications at one value before the search looks elsewhere; then `GROWTH` times as many, and so on."""

GROWTH = 4


class Bracket(NamedTuple):
    """What a search has found among values 0 to n - 1, which hold up to some value and then fail."""

    low: int
    """The last that is known to hold; -1: none."""
    high: int
    """The first that is known to fail; n: none."""

    @property
    def closed(self) -> bool:
        """Whether no value between them is open."""
        return self.high - self.low <= 1


def search(n: int, decide: Callable[[int, int], int], *, most: int) -> Iterator[Bracket]:
    """Narrow the bracket of `n` values until it is closed or every open value has had `most` replications.

    `decide(i, cap)` replicates value i until it is known to hold or to fail, or has `cap` replications.  The
    bracket is given after every value, and it is as good as the decisions at any time.
    """
    low, high = -1, n
    for cap in caps(most):
        for end in (0, n - 1):
            if low < end < high:
                verdict = decide(end, cap)
                low, high = (end if verdict == HOLDS else low), (end if verdict == FAILS else high)
                yield Bracket(low, high)
        # The last that holds is looked for with open values taken for failing, then the first that fails.
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


def caps(most: int) -> Iterator[int]:
    """The replications after which the search looks elsewhere, the last of them `most`."""
    cap = FIRST_CAP
    while cap < most:
        yield cap
        cap *= GROWTH
    yield most
