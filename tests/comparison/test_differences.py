"""Detection of differences: rates of false and true positives, and the choice of the interval."""

import numpy as np
import pytest

from netcarlo.comparison.differences import (
    FALSE_DISCOVERY_RATE,
    Estimates,
    bracketed,
    independent,
    judge,
    paired,
)
from netcarlo.networks.outcome import ANY, YES_NO, Outcome

TIME, COUNT, HELD = (
    Outcome("delay_s", None, None, "", ANY),
    Outcome("timeouts", None, None, ""),
    Outcome("x", None, None, "", YES_NO),
)
ROWS, SWEEPS = 60, 150


def summed(values):
    n = np.full(len(values), values.shape[1])
    return Estimates(n, values.mean(1), values.std(1, ddof=1) / np.sqrt(n), n - 1.0)


LAWS = {
    "normal": (TIME, lambda rng, size: rng.normal(size=size)),
    "lognormal": (TIME, lambda rng, size: rng.lognormal(size=size)),
    "counts": (COUNT, lambda rng, size: rng.poisson(0.5, size=size).astype(float)),
    "two values": (COUNT, lambda rng, size: (rng.random(size) < 0.5).astype(float)),
    "yes or no": (HELD, lambda rng, size: (rng.random(size) < 0.8).astype(float)),
}


@pytest.mark.full
@pytest.mark.parametrize("n", [5, 20])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("how", ["paired", "independent"])
def test_of_nothing_but_noise_one_comparison_in_twenty_calls_any(law, n, how):
    outcome, draw = LAWS[law]
    rng = np.random.default_rng([len(law), n])
    called = 0
    for _ in range(SWEEPS):
        a, b = draw(rng, (ROWS, n)), draw(rng, (ROWS, n))
        found = (
            paired(outcome, a, b)
            if how == "paired"
            else independent(outcome, summed(a), summed(b), common=False)
        )
        called += (judge([found]).verdict == "differs").any()
    assert called / SWEEPS < FALSE_DISCOVERY_RATE + 3 * np.sqrt(
        FALSE_DISCOVERY_RATE * (1 - FALSE_DISCOVERY_RATE) / SWEEPS
    )


@pytest.mark.parametrize("how", ["paired", "independent"])
def test_of_those_called_few_are_false_and_most_real_ones_are(how):
    rng = np.random.default_rng(1)
    real = np.arange(ROWS) < 15
    false, power, covered = [], [], []
    for _ in range(SWEEPS):
        shift = np.where(real, 1.5, 0.0)[:, None]
        a, b = rng.normal(size=(ROWS, 20)), rng.normal(size=(ROWS, 20)) + shift
        found = (
            paired(TIME, a, b) if how == "paired" else independent(TIME, summed(a), summed(b), common=False)
        )
        judged = judge([found])
        called = judged.verdict == "differs"
        false.append((called & ~real).sum() / max(called.sum(), 1))
        power.append(called[real].mean())
        covers = (judged.low <= shift[:, 0]) & (shift[:, 0] <= judged.high)
        covered.append(1 - (called & ~covers).sum() / max(called.sum(), 1))
    assert np.mean(false) < FALSE_DISCOVERY_RATE
    assert np.mean(power) > 0.9
    assert np.mean(covered) > 1 - FALSE_DISCOVERY_RATE - 0.01  # of the intervals of the reported differences


def test_a_difference_is_called_where_its_interval_is_without_zero():
    rng = np.random.default_rng(2)
    judged = judge([paired(TIME, rng.normal(size=(ROWS, 9)), rng.normal(1, 1, size=(ROWS, 9)))])
    apart = (judged.low > 0) | (judged.high < 0)
    assert apart.any() and (apart == (judged.verdict == "differs")).all()
    assert judged.confidence == pytest.approx(1 - FALSE_DISCOVERY_RATE * apart.sum() / ROWS)


def test_what_never_varies_differs_but_for_a_few_counts():
    still = np.ones((1, 4))
    assert judge([paired(TIME, still, 2 * still)]).verdict.tolist() == ["differs"]
    assert judge([paired(COUNT, still, 2 * still)]).verdict.tolist() == ["noise"]  # four coins may, too
    many = np.ones((1, 12))
    assert judge([paired(COUNT, many, 2 * many)]).verdict.tolist() == ["differs"]
    assert judge([paired(TIME, still, still)]).verdict.tolist() == ["equal"]
    one = np.ones((1, 1))
    assert judge([paired(TIME, one, 2 * one)]).verdict.tolist() == ["unknown"]


def test_a_chance_of_exactly_the_level_is_called_and_a_larger_one_is_not():
    clear = paired(TIME, np.zeros((1, 9)), np.arange(1.0, 10.0)[None])
    exact, larger = (
        clear._replace(min_p_value=np.array([p]))
        for p in (FALSE_DISCOVERY_RATE, np.nextafter(FALSE_DISCOVERY_RATE, 1))
    )
    assert judge([exact]).verdict.tolist() == ["differs"]
    assert judge([larger]).verdict.tolist() == ["noise"]


def test_welch_s_interval_is_that_of_the_textbook():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(1, 14)), rng.normal(0.4, 3, size=(1, 14))
    found = independent(TIME, summed(a), summed(b), common=False)
    test = ttest_ind(b[0], a[0], equal_var=False)
    expected = test.confidence_interval(0.95)
    assert (found.ci_low[0], found.ci_high[0]) == pytest.approx((expected.low, expected.high), rel=0.03)
    assert found.ci_low[0] < expected.low  # degrees of freedom are rounded down


def test_newcombe_s_interval_is_that_of_his_paper():
    """The interval of 56 of 70 against 48 of 80 is 0.0524 to 0.3339 (Newcombe 1998, table II, method 10)."""
    b, a = (
        Estimates(np.array([n]), np.array([k / n]), np.array([np.nan]), np.array([n - 1.0]))
        for k, n in ((56, 70), (48, 80))
    )
    found = independent(HELD, a, b, common=False)
    assert (found.ci_low[0], found.ci_high[0]) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_brackets_differ_where_they_lie_apart():
    n = np.array([9, 9, 9, 9])
    a = (np.array([17.0, 17, 17, -np.inf]), np.array([17.0, 19, 17, -np.inf]))
    b = (np.array([18.0, 18, 17, 17]), np.array([20.0, 20, 17, 17]))
    means = (np.array([17.0, 18, 17, np.nan]), np.array([19.0, 19, 17, 17]))
    assert judge([bracketed(n, means, a, b)]).verdict.tolist() == ["differs", "noise", "equal", "differs"]


@pytest.mark.parametrize("moved", range(1, 13))
def test_the_chance_of_equal_signs_is_that_of_the_two_sided_sign_test(moved):
    """The probability that a count changes in the same direction in a number of pairs is that of the sign
    test.
    """
    from scipy.stats import binomtest

    a = np.zeros((1, 15))
    b = np.where(np.arange(15) < moved, 2.0, 0.0)[None]
    found = paired(COUNT, a, b)
    assert found.min_p_value[0] == pytest.approx(binomtest(moved, moved).pvalue) == 2 * 0.5**moved
    same = judge([paired(COUNT, a[:, :moved], b[:, :moved])]).verdict[0]
    assert same == ("unknown" if moved == 1 else "differs" if moved >= 6 else "noise")


@pytest.mark.parametrize(("n", "verdict"), [(2, "noise"), (3, "noise"), (4, "differs"), (9, "differs")])
def test_the_chance_that_all_larger_values_are_on_one_side_is_two_sided(n, verdict):
    """Two of the ways to choose n of 2 n independent values separate the sides."""
    from math import comb

    one, two = (
        Estimates(np.array([n]), np.array([mean]), np.zeros(1), np.array([n - 1.0])) for mean in (1.0, 2.0)
    )
    found = independent(COUNT, one, two, common=False)
    assert found.min_p_value[0] == pytest.approx(2 / comb(2 * n, n))
    assert judge([found]).verdict[0] == verdict


@pytest.mark.full
@pytest.mark.parametrize("moved", [0, 15])
def test_all_pairs_of_three_sides_are_one_family(moved):
    """Few of the reported differences over all pairs are false, if one side differs from two that are
    alike."""
    rng = np.random.default_rng([7, moved])
    real = np.arange(ROWS) < moved
    false, any_ = [], 0
    for _ in range(SWEEPS):
        a, b, c = (rng.normal(size=(ROWS, 20)) + shift for shift in (0, 0, np.where(real, 1.5, 0)[:, None]))
        judged = judge([paired(TIME, *pair) for pair in ((a, b), (a, c), (b, c))])
        assert judged.tested == 3 * ROWS
        called = judged.verdict == "differs"
        true = np.concatenate([np.zeros(ROWS, bool), real, real])
        false.append((called & ~true).sum() / max(called.sum(), 1))
        any_ += called.any()
    limit = FALSE_DISCOVERY_RATE + 3 * np.sqrt(FALSE_DISCOVERY_RATE * (1 - FALSE_DISCOVERY_RATE) / SWEEPS)
    assert np.mean(false) < (FALSE_DISCOVERY_RATE if moved else limit)
    assert moved or any_ / SWEEPS < limit


def test_the_step_of_benjamini_and_hochberg_is_that_of_p_values():
    """The k smallest of m p-values are reported for the largest k with p(k) <= 0.05 k / m."""
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(8)
    for _ in range(60):
        x = rng.normal(size=(12, 8)) + np.linspace(0, 1.6, 12)[:, None]
        p = ttest_1samp(x, 0.0, axis=1).pvalue
        below = np.flatnonzero(np.sort(p) <= FALSE_DISCOVERY_RATE * np.arange(1, 13) / 12)
        k = int(below[-1]) + 1 if len(below) else 0
        expected = p <= (np.sort(p)[k - 1] if k else -1.0)
        judged = judge([paired(TIME, np.zeros_like(x), x)])
        assert ((judged.verdict == "differs") == expected).all()
