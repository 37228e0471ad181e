"""Histograms of non-negative integers in bins of equal relative width, from which quantiles are read.

Bins are log-linear, as in HdrHistogram: each number up to 2 * STEPS has its own bin; every octave above has
STEPS bins of equal width. So a bin is at most 1 / STEPS as wide as its numbers, and its middle is within 1.6
% of them. Counts are integers, and histograms can be added.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline

STEP_BITS = 5
STEPS = 1 << STEP_BITS
"""Number of bins in an octave."""


def bins(octaves: int) -> int:
    """Return the number of bins for numbers below STEPS * 2**octaves."""
    return STEPS * (octaves + 1)


@noinline
def octave_of(value: Any) -> Any:
    """Return the octave of a non-negative number, in which bins are 2**octave wide."""
    shift, rest = np.int64(0), value >> np.int64(STEP_BITS + 1)
    width = np.int64(32)
    while width > 0:  # bits of `rest`
        if rest >> width > 0:
            rest >>= width
            shift += width
        width >>= np.int64(1)
    return shift + rest


def bin_of(value: Any) -> Any:
    """Return the bin of a non-negative number."""
    octave = octave_of(value)
    return (octave << np.int64(STEP_BITS)) + (value >> octave)


def count(m: Any, at: Any, n: Any, value: Any) -> None:
    """Count a number in `n` bins from word `at` of scratch on; the last bin includes all larger numbers."""
    m[at + min(bin_of(value), np.int64(n - 1))] += 1
