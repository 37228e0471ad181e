"""Exponential numbers and gaps: the bits of their definition, the distribution, and the ends of the range."""

import math

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from netcarlo.kernels.base.bind import bind
from netcarlo.kernels.base.exponential import FRACTION_BITS, exponential
from netcarlo.kernels.base.parameters import P, RowP
from netcarlo.kernels.udp import source
from tests.twins import jitter
from tests.twins.random_numbers import Streams

DRAW = bind(exponential, numba.njit)
GAP = bind(source.gap, numba.njit)
RESOLUTION = math.log(2) / 2**16


def row() -> np.ndarray:
    p = np.zeros(len(P), np.int64)
    p[[RowP.SEED, RowP.SCENARIO, RowP.REPLICATION]] = 1, 2, 3
    return p


@pytest.mark.parametrize("mean", [1, 7, 10**6, 10**9, 5 * 10**12])
def test_gaps_equal_their_definition(mean: int) -> None:
    streams = Streams(1, 2, 3)
    for k in range(500):
        assert GAP(row(), 9, k, mean, -1) == jitter.gap(streams, k, mean, -1, stream=9)


@given(st.integers(0, 2**32 - 1))
@example(0)
@example(2**32 - 1)
@example(2**31)
def test_definition_is_a_logarithm(word: int) -> None:
    """Check that the number exceeds -ln(u) by at most its resolution, and that it is never 0."""
    found, exact = jitter.exponential(word) / 2**20, -math.log((word | 1) / 2**32)
    assert -(2**-19) < found - exact < RESOLUTION * 1.001
    assert found > 0


def test_distribution_is_exponential() -> None:
    """Kolmogorov-Smirnov test, mean and variance of 20,000 numbers.

    A correct sampler fails with probability 1e-6. A mean that is wrong by 8 % is detected with a power above
    99 %: the distance of the distributions is 0.028, 1.3 / sqrt(n) above the critical one, and its standard
    deviation is at most 0.5 / sqrt(n).
    """
    n = 20_000
    drawn = np.array([DRAW(row(), 4, k) for k in range(n)]) / 2.0**FRACTION_BITS
    assert stats.kstest(drawn, "expon").pvalue > 1e-6
    assert stats.kstest(1.08 * drawn, "expon").pvalue < 1e-6  # a sampler with a wrong mean fails
    assert drawn.mean() == pytest.approx(1, abs=4.9 / math.sqrt(n))
    assert drawn.var() == pytest.approx(1, abs=4.9 * math.sqrt(8 / n))
    assert np.corrcoef(drawn[1:], drawn[:-1])[0, 1] == pytest.approx(0, abs=4.9 / math.sqrt(n))
