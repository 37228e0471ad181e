"""Histograms of whole numbers in bins of equal relative width, from which quantiles are read.

Bins are log-linear (as those of HdrHistogram): up to 2 * STEPS each number has one of its own; every octave
above has STEPS of equal width, so none is wider than 1 / STEPS of what is in it, and its middle within
1.6 % of that.  Counts are integers: the sum of two histograms is that of all that is in either.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline

STEP_BITS = 5
STEPS = 1 << STEP_BITS
"""Bins in an octave."""


def bins(octaves: int) -> int:
    """Bins for numbers below STEPS * 2**octaves."""
    return STEPS * (octaves + 1)


@noinline
def octave_of(value: Any) -> Any:
    """The octave of a number that is not negative: its bins there are 2**octave wide."""
    shift, rest = np.int64(0), value >> np.int64(STEP_BITS + 1)
    width = np.int64(32)
    while width > 0:  # bits of `rest`
        if rest >> width > 0:
            rest >>= width
            shift += width
        width >>= np.int64(1)
    return shift + rest


def bin_of(value: Any) -> Any:
    """The bin of a number that is not negative."""
    octave = octave_of(value)
    return (octave << np.int64(STEP_BITS)) + (value >> octave)


def count(m: Any, at: Any, n: Any, value: Any) -> None:
    """Count a number in `n` bins from word `at` of scratch on; the last one has all that is larger, too."""
    m[at + min(bin_of(value), np.int64(n - 1))] += 1
