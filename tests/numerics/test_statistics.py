import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from netcarlo.numerics import statistics
from netcarlo.numerics.statistics import Mean, StoppingRule
from tests.campaigns.benchmarks import coverage
from tests.estimation.naive import until_precise


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.randoms())
def test_mean_and_sd_are_exact_and_do_not_depend_on_the_order(values, random):
    found = statistics.mean(values)
    assert found.mean == pytest.approx(np.mean(values), rel=1e-12, abs=1e-9)
    assert found.sd == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-9)
    shuffled = random.sample(values, len(values))
    assert statistics.mean(shuffled) == found
    assert statistics.mean([*values, math.nan]) == found


def pi_digits(count):
    """Return digits of pi by Machin's formula in integers, with ten digits to spare."""
    one = 10 ** (count + 10)

    def arctan_of_inverse(x):
        power, total, k, sign = one // x, 0, 1, 1
        while power:
            total += sign * (power // k)
            power, k, sign = power // (x * x), k + 2, -sign
        return total

    halves = divmod(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)), 10 ** (count // 2))
    text = f"{halves[0]}{halves[1]:0{count // 2}}"  # Python prints 4300 digits at most
    return [int(digit) for digit in text[:count]]


def nist_pi_digits():
    """Return the digits of NIST's list, where the 957th is 3 instead of 8; the certified values refer to
    it."""
    digits = pi_digits(5000)
    digits[956] = 3
    return digits


def measured(name):
    return [float(word) for word in (Path(__file__).parent / "nist" / f"{name}.txt").read_text().split()]


# NIST, Statistical Reference Datasets, univariate summary statistics: data, certified mean and sd.
NIST = {
    "PiDigits": (nist_pi_digits, 4.53480000000000, 2.86733906028871),
    "Lottery": (lambda: measured("Lottery"), 518.958715596330, 291.699727470969),
    "Lew": (lambda: measured("Lew"), -177.435000000000, 277.332168044316),
    "Mavro": (lambda: measured("Mavro"), 2.00185600000000, 0.000429123454003053),
    "Michelso": (lambda: measured("Michelso"), 299.852400000000, 0.0790105478190518),
    "NumAcc1": (lambda: [10000001, 10000003, 10000002], 10000002, 1),
    "NumAcc2": (lambda: [1.2] + [1.1, 1.3] * 500, 1.2, 0.1),
    "NumAcc3": (lambda: [1000000.2] + [1000000.1, 1000000.3] * 500, 1000000.2, 0.1),
    "NumAcc4": (lambda: [10000000.2] + [10000000.1, 10000000.3] * 500, 10000000.2, 0.1),
}
# The decimals of these two have no exact binary form: the sd of the nearest floats agrees with the certified
# # one in this number of digits.
ROUNDED_DATA = {"NumAcc3": 9, "NumAcc4": 8}


def digits(found, exact):
    """Return the number of correct digits: the log relative error."""
    return math.inf if found == exact else -math.log10(abs((Fraction(found) - exact) / exact))


@pytest.mark.parametrize("name", NIST)
def test_nist_reference_sets_reach_twelve_digits(name):
    load, mean, sd = NIST[name]
    values = load()
    found = statistics.mean(values)
    assert digits(found.mean, Fraction(mean)) >= 12
    assert digits(found.sd, Fraction(sd)) >= ROUNDED_DATA.get(name, 12)
    exact = [Fraction(v) for v in values]
    centre = sum(exact) / len(exact)
    variance = sum((v - centre) ** 2 for v in exact) / (len(exact) - 1)
    assert digits(found.mean, centre) >= 15
    assert digits(found.sd, Fraction(math.sqrt(variance))) >= 14


@pytest.mark.full
@given(
    st.integers(0, 9).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(-1e9, 1e9) | st.just(math.nan), min_size=n, max_size=n), min_size=1, max_size=6
        )
    )
)
def test_many_rows_at_once_are_each_row_alone(rows):
    values = np.array(rows)
    found, spread = statistics.means(values), statistics.row_quantiles(values, [0.0, 0.3, 0.5, 1.0])
    shares = statistics.proportions(values > 0)
    for i, row in enumerate(values):
        kept = row[~np.isnan(row)]
        for alone in (statistics.mean(row), statistics.mean(kept[::-1])):
            np.testing.assert_array_equal([column[i] for column in found], alone)
        np.testing.assert_array_equal(spread[i], statistics.quantiles(kept, [0.0, 0.3, 0.5, 1.0]))
        np.testing.assert_array_equal([column[i] for column in shares], statistics.proportion(row > 0))


def test_rows_beyond_one_cache_load_agree_with_numpy():
    rng = np.random.default_rng(5)
    values = rng.lognormal(0, 1, (9000, 20))
    found = statistics.means(values)
    np.testing.assert_allclose(found.mean, values.mean(axis=1), rtol=1e-14)
    np.testing.assert_allclose(found.sd, values.std(axis=1, ddof=1), rtol=1e-13)
    p = [0.05, 0.25, 0.5, 0.75, 0.95]
    np.testing.assert_array_equal(statistics.row_quantiles(values, p), np.quantile(values, p, axis=1).T)
    assert statistics.means(np.zeros((0, 3))).n.shape == (0,)


def test_an_infinite_value_makes_an_infinite_mean_without_interval():
    found = statistics.mean([1.0, math.inf])
    assert found[:2] == (2, math.inf)
    assert all(map(math.isnan, found[2:]))


def test_the_interval_of_a_symmetric_sample_is_students():
    values = np.array([1.0, 2.0, 4.0, 6.0, 7.0])
    low, high = stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    found = statistics.mean(values)
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), rel=1e-12)


def test_the_ends_of_the_interval_solve_halls_cubic():
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 30.0])
    n, g = len(values), stats.skew(values)
    found = statistics.mean(values)
    for truth, t in ((found.ci_low, 1), (found.ci_high, -1)):
        z = (found.mean - truth) / found.sd
        cubic = math.sqrt(n) * (z + g * z**2 / 3 + g**2 * z**3 / 27 + g / (6 * n))
        assert cubic == pytest.approx(t * stats.t.ppf(0.975, n - 1), rel=1e-12)


def test_degenerate_samples_have_degenerate_intervals():
    assert statistics.mean([3.0] * 7) == (7, 3.0, 0.0, 3.0, 3.0)
    one = statistics.mean([3.0])
    assert one[:2] == (1, 3.0)
    assert all(map(math.isnan, one[2:]))
    none = statistics.mean([math.nan])
    assert none.n == 0
    assert math.isnan(none.mean)
    assert statistics.mean([1.0, math.nan, 3.0])[:2] == (2, 2.0)


@pytest.mark.full
def test_intervals_cover_the_truth_for_many_laws_and_sizes():
    # 2200 truths, 20 samples each: the coverage of all of them has a standard error of 0.10 %, that of a
    # law 0.34 %.  An interval that covers 92 % (Student's, for an exponential law) fails with certainty.
    found = coverage.measure(coverage.truths(2200, seed=1, laws=coverage.LAWS), samples=20)
    assert 0.94 <= found["coverage"].mean() <= 0.96
    by_law = found.groupby("law")["coverage"].mean()
    assert by_law.between(0.93, 0.97).all(), by_law


def test_intervals_of_few_skewed_values_beat_students():
    # Standard error 0.2 %.
    rng = np.random.default_rng(3)
    found = statistics.means(rng.exponential(2.0, (10_000, 12)))
    assert 0.935 <= np.mean((found.ci_low <= 2.0) & (found.ci_high >= 2.0)) <= 0.95
    half = statistics.student_t(11) * found.sd / math.sqrt(12)
    assert np.mean(abs(found.mean - 2.0) <= half) < 0.915


@pytest.mark.full
def test_intervals_cover_the_truth_under_the_stopping_rule():
    # 1100 runs: the standard error of a coverage of 95 % is 0.66 %, so that 95 % fails with a probability
    # of 0.2 % and 91.5 % or less with one of at least 96 %.
    found = coverage.measure_stopping(count=110, samples=10, seed=2, laws=coverage.LAWS)
    assert 0.93 <= found["coverage"].mean() <= 0.97
    assert found["used"].between(200, 20_000).all()


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


def test_a_half_width_of_exactly_the_bound_is_small_enough():
    exact = Mean(n=9, mean=-4.0, sd=1.0, ci_low=-5.0, ci_high=-3.0)
    assert StoppingRule(0.25).reached(exact)
    assert not StoppingRule(0.25).reached(exact._replace(ci_high=np.nextafter(-3.0, 0.0)))
    assert not StoppingRule(0.25).reached(exact._replace(n=1))


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
    assert statistics.quantiles([1.0, 2.0], 0.5) == 1.5
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
