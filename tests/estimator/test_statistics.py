import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from netcarlo import statistics
from netcarlo.statistics import StoppingRule, until_precise

TRUTHS = 2000
"""Repetitions of a coverage check; the standard error of a coverage of 95 % is then 0.49 %."""

# Skewed samples are larger: Student's interval is exact for normal data only.
LAWS = {
    "normal": (lambda rng, n: rng.normal(10, 3, n), 10.0, 5),
    "uniform": (lambda rng, n: rng.random(n), 0.5, 10),
    "exponential": (lambda rng, n: rng.exponential(2.0, n), 2.0, 100),
    "bernoulli": (lambda rng, n: (rng.random(n) < 0.2) * 1.0, 0.2, 100),
    "lognormal": (lambda rng, n: rng.lognormal(0.0, 0.5, n), math.exp(0.125), 100),
}


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.randoms())
def test_mean_and_sd_are_exact_and_do_not_depend_on_the_order(values, random):
    found = statistics.mean(values)
    assert found.mean == pytest.approx(np.mean(values), rel=1e-12, abs=1e-9)
    assert found.sd == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-9)
    shuffled = random.sample(values, len(values))
    assert statistics.mean(shuffled) == found


def test_a_mean_far_from_zero_keeps_its_sd():
    # NIST StRD NumAcc4: mean 10000000.2, sd 0.1
    values = np.r_[10000000.2, np.tile([10000000.1, 10000000.3], 500)]
    found = statistics.mean(values)
    assert found.mean == pytest.approx(10000000.2, rel=1e-14)
    assert found.sd == pytest.approx(0.1, rel=1e-7)  # the data themselves have no more digits


def test_the_interval_is_students():
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0])
    low, high = stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    found = statistics.mean(values)
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), rel=1e-12)


def test_degenerate_samples_have_degenerate_intervals():
    assert statistics.mean([3.0] * 7) == (7, 3.0, 0.0, 3.0, 3.0)
    one = statistics.mean([3.0])
    assert one[:2] == (1, 3.0)
    assert all(map(math.isnan, one[2:]))
    none = statistics.mean([math.nan])
    assert none.n == 0
    assert math.isnan(none.mean)
    assert statistics.mean([1.0, math.nan, 3.0])[:2] == (2, 2.0)


@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_the_mean_cover_the_truth(law):
    draw, truth, n = LAWS[law]
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(TRUTHS):
        found = statistics.mean(draw(rng, n))
        hits += found.ci_low <= truth <= found.ci_high
    assert 0.93 <= hits / TRUTHS <= 0.97


@pytest.mark.parametrize(
    ("law", "relative"),
    [("normal", 0.02), ("uniform", 0.03), ("exponential", 0.05), ("bernoulli", 0.1), ("lognormal", 0.03)],
)
def test_intervals_cover_the_truth_under_the_stopping_rule(law, relative):
    # Precisions that need some 1000 replications, several batches.
    draw, truth, _ = LAWS[law]
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(TRUTHS // 2):
        values = until_precise(StoppingRule(relative), lambda first, count: draw(rng, count))
        found = statistics.mean(values)
        assert found.half_width <= relative * found.mean
        hits += found.ci_low <= truth <= found.ci_high
    assert 0.93 <= hits / (TRUTHS // 2) <= 0.97


def test_the_stopping_rule_is_not_wasteful():
    rng = np.random.default_rng(3)
    used = [len(until_precise(StoppingRule(0.01), lambda _, n: rng.normal(10, 3, n))) for _ in range(100)]
    needed = (1.96 * 0.3 / 0.01) ** 2
    assert needed < np.mean(used) < 1.3 * needed


def test_the_stopping_rule_gives_up_where_it_cannot_be_met():
    rule = StoppingRule(0.01, most=3000)
    values = until_precise(rule, lambda _, n: np.resize([-1.0, 1.0], n))
    assert len(values) == 3000
    assert not rule.met(values)
    assert len(until_precise(StoppingRule(0.01), lambda _, n: np.full(n, 4.0))) == StoppingRule(0.01).first


def test_batches_are_asked_for_one_after_the_other():
    asked = []

    def draw(first, count):
        asked.append((first, count))
        return np.random.default_rng(first).exponential(1.0, count)

    values = until_precise(StoppingRule(0.02), draw)
    assert [first for first, _ in asked] == np.cumsum([0] + [n for _, n in asked])[:-1].tolist()
    assert len(values) == sum(n for _, n in asked)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (57, 1000)])
def test_proportions_have_wilsons_interval(k, n):
    found = statistics.proportion([True] * k + [False] * (n - k))
    wilson = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert found[:2] == (n, k / n)
    assert (found.ci_low, found.ci_high) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


def test_quantiles_leave_nan_out():
    assert statistics.quantiles([3.0, math.nan, 1.0, 2.0], [0.0, 0.5, 1.0]).tolist() == [1.0, 2.0, 3.0]
    assert np.isnan(statistics.quantiles([], [0.5])).all()


def test_pairing_removes_what_the_two_have_in_common():
    rng = np.random.default_rng(4)
    shared = rng.normal(0, 10, 400)
    a, b = shared + rng.normal(0, 1, 400), shared + 0.5 + rng.normal(0, 1, 400)
    difference = statistics.paired(a, b)
    assert difference.ci_low < 0.5 < difference.ci_high
    assert difference.half_width < 0.2 < statistics.mean(b).half_width
    assert difference.ci_low > 0  # power: 0.5 is 7 standard errors
    with pytest.raises(ValueError, match="as many values"):
        statistics.paired([1.0], [1.0, 2.0])
