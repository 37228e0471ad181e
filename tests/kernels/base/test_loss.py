"""Gap to the next loss: exact digits, geometric law, and the ends of the range."""

from collections.abc import Iterator
from itertools import islice

import numba
import numpy as np
import pytest
from scipy import stats

from netcarlo.kernels.base import loss
from netcarlo.kernels.base.bind import bind
from tests.twins.random_numbers import Streams

GAP = bind(loss.gap, numba.njit)


def gaps(probability: float, count: int) -> Iterator[int]:
    """Return the first gaps of a stream, from the kernels' function."""
    table = loss.thresholds(probability)
    return (int(GAP(table, 0, 11, 3, 4, 16, k)) for k in range(count))


@pytest.mark.parametrize("probability", [0.9, 0.3, 0.02, 1e-3, 1e-6, 1e-9])
def test_gaps_equal_their_definition(probability: float) -> None:
    table = [int(value) for value in loss.thresholds(probability)[0]]
    expected = list(islice(Streams(11, 3, 4).gaps(16, table), 40))
    assert list(gaps(probability, 40)) == expected


def test_thresholds_are_the_digits_probabilities() -> None:
    for p in (1e-9, 1e-4, 0.05, 0.5, 0.999):
        exact = [(1 - p) ** (2.0**j) / (1 + (1 - p) ** (2.0**j)) for j in range(loss.DIGITS)]
        assert np.abs(loss.thresholds(p)[0] / 2.0**32 - exact).max() <= 2.0**-33 * 1.01
    rows = loss.thresholds([0.1, 0.2])
    assert (rows[1] == loss.thresholds(0.2)[0]).all()


@pytest.mark.parametrize("probability", [0.7, 0.2, 0.01, 1e-4])
def test_gaps_are_geometric(probability: float) -> None:
    """Chi-square test over equally likely bins.

    A correct sampler fails with probability 1e-6; a loss rate that is wrong by 8 % is detected with a power
    above 99 % (20,000 gaps: noncentrality 118 against a critical value of 62).
    """
    drawn = np.array(list(gaps(probability, 20_000)))
    assert chi_square(drawn, probability) > 1e-6
    assert chi_square(drawn, probability * 1.08) < 1e-6  # a sampler with a wrong rate fails


def chi_square(drawn: np.ndarray, probability: float) -> float:
    """Return the p-value of the gaps under P(gap = k) = p (1 - p)**k."""
    edges = np.unique(np.floor(stats.geom.ppf(np.linspace(0.0, 1.0, 21)[1:-1], probability)) - 1)
    cumulative = np.concatenate([[0.0], stats.geom.cdf(edges + 1, probability), [1.0]])
    expected = np.diff(cumulative) * drawn.size
    observed = np.bincount(np.searchsorted(edges, drawn), minlength=edges.size + 1)
    keep = expected > 5
    statistic = ((observed - expected)[keep] ** 2 / expected[keep]).sum()
    return float(stats.chi2.sf(statistic, keep.sum() - 1))


def test_successive_gaps_are_independent() -> None:
    drawn = np.array(list(gaps(0.1, 20_000)), dtype=float)
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 5.0 / np.sqrt(drawn.size)


def test_no_loss_and_certain_loss() -> None:
    assert set(gaps(0.0, 5)) == {loss.NO_LOSS}
    assert set(gaps(1.0, 5)) == {0}


def test_tiny_probability() -> None:
    """Test the gaps of a loss rate of 1e-7: mean and standard deviation are 10**7."""
    drawn = np.array(list(gaps(1e-7, 4000)), dtype=float)
    assert abs(drawn.mean() / 1e7 - 1.0) < 5.0 / np.sqrt(drawn.size)
    assert abs(drawn.std() / 1e7 - 1.0) < 0.15


def test_plain_python_has_the_same_bits() -> None:
    plain = loss.gap
    table = loss.thresholds([0.3, 1e-5])
    for row in (0, 1):
        for k in range(100):
            assert plain(table, row, 7, 1, 2, 18, k) == GAP(table, row, 7, 1, 2, 18, k)
