"""Sequential tests, valid at any time: exact error rates, as sums over all outcomes of trials."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from netcarlo.numerics import evidence

PROBABILITIES = (0.05, 0.5, 0.9, 0.99)


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("n", [1, 7, 60])
def test_evidence_is_1_on_average_under_p_and_less_below(p: float, n: int) -> None:
    s = np.arange(n + 1)
    found = np.exp(evidence.above(s, n, p))
    assert np.sum(binom.pmf(s, n, p) * found) == pytest.approx(1, rel=1e-9)
    assert np.sum(binom.pmf(s, n, 0.8 * p) * found) < 1


@pytest.mark.full
@pytest.mark.parametrize("p", PROBABILITIES)
def test_evidence_is_ever_large_as_seldom_as_promised(p: float) -> None:
    level, rejected = 0.05, 0.0
    alive = np.array([1.0])  # the probability of s successes so far, nothing rejected yet
    for n in range(1, 400):
        alive = np.append(alive * (1 - p), 0) + np.append(0, alive * p)
        out = evidence.above(np.arange(n + 1), n, p) >= -math.log(level)
        rejected += alive[out].sum()
        alive = np.where(out, 0, alive)
    assert 0.002 < rejected <= level


@pytest.mark.full
@given(st.integers(0, 200), st.integers(1, 200), st.floats(0.02, 0.98))
def test_more_successes_are_more_evidence(s: int, n: int, p: float) -> None:
    s = min(s, n)
    assert evidence.above(s, n + 1, p) <= evidence.above(s + 1, n + 1, p)
    assert evidence.below(s, n, p) == pytest.approx(float(evidence.above(n - s, n, 1 - p)))


@pytest.mark.parametrize(("s", "n"), [(0, 20), (20, 20), (13, 20), (950, 1000)])
def test_bands_end_where_the_tests_begin_to_reject(s: int, n: int) -> None:
    low, high = float(evidence.lower(s, n, 0.01)), float(evidence.upper(s, n, 0.01))
    assert low <= s / n <= high
    if s > 0:
        assert evidence.above(s, n, low * 0.999) > -math.log(0.01) > evidence.above(s, n, low * 1.001)
    if s < n:
        assert evidence.below(s, n, 1 - (1 - high) * 0.999) > -math.log(0.01)
    assert s > 0 or low == 0
    assert s < n or high == 1


@pytest.mark.parametrize("p", PROBABILITIES)
def test_fewer_trials_show_nothing(p: float) -> None:
    n = evidence.needed(p, 0.001)
    assert evidence.above(n - 1, n - 1, p) < -math.log(0.001) <= evidence.above(n, n, p)


def test_nothing_is_known_before_the_first_trial() -> None:
    assert (evidence.lower(0, 0, 0.01), evidence.upper(0, 0, 0.01)) == (0, 1)


def test_evidence_is_what_it_was() -> None:
    """The prior is as recorded. Any prior is valid, but another one would change answers of plans."""
    assert [evidence.needed(p, 0.001) for p in PROBABILITIES] == [7, 23, 95, 733]
    assert evidence.above([3, 18, 95], [10, 20, 100], 0.8) == pytest.approx(
        [-1.4926107792625, 0.5031768733808, 7.4042475057213], rel=1e-12
    )
    assert evidence.lower([3, 18, 95], [10, 20, 100], 0.05) == pytest.approx(
        [0.0228331043378, 0.5520499099814, 0.8666908916129], rel=1e-12
    )
