import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from netcarlo.numerics import statistics
from netcarlo.sweeps.analysis import population
from netcarlo.sweeps.space.designs import Design
from tests.campaigns.benchmarks import coverage

RUNS = 150
"""Runs of a check of coverage: 95 % has a standard error of 1.8 %; 84 % or less is detected in 95 of 100
cases."""


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "count"),
    [("plain", 200), ("latin", 200), ("sobol", 256), ("sobol", 1000), ("saltelli", 64)],
)
def test_intervals_of_a_population_cover_the_truth(method, count):
    found = coverage.measure_population(method, count, runs=RUNS)
    assert 0.89 <= found["mean"] <= 1.0
    assert all(found[f"P(value >= {x})"] >= 0.89 for x in coverage.THRESHOLDS)


def drawn(method, count, seed):
    design = Design(method=method, count=count, dimensions=4, seed=seed)
    draws = np.arange(design.size)
    return design.points(draws), design.block_of(draws)


def test_blocks_know_how_exact_a_sobol_estimate_is():
    def half_width(method):
        points, blocks = drawn(method, 1024, 1)
        return population.mean(coverage.smooth(points), blocks).half_width

    assert half_width("sobol") < half_width("latin") / 3 < half_width("plain") / 9


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=2, max_size=40),
    st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_where_each_network_is_a_block_the_interval_is_the_ordinary_one(values, random):
    blocks = random.sample(range(1000), len(values))
    np.testing.assert_array_equal(population.mean(values, blocks), statistics.mean(values))
    share = population.exceedance(values, blocks, [0.0])
    present = np.array(values)[~np.isnan(values)]
    np.testing.assert_allclose(
        share[["probability", "ci_low", "ci_high"]].iloc[0], statistics.proportion(present >= 0)[1:]
    )


@given(st.integers(2, 6), st.integers(2, 5), st.integers(0, 2**32), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_estimates_do_not_depend_on_the_order(blocks, size, seed, random):
    values = np.random.default_rng(seed).normal(0, 1, blocks * size)
    values[0] = np.nan
    which = np.repeat(np.arange(blocks), size)
    order = np.array(random.sample(range(blocks * size), blocks * size))
    assert population.mean(values[order], which[order]) == population.mean(values, which)
    a, b = (population.exceedance(values[i], which[i], [0.5, -1.0]) for i in (order, slice(None)))
    assert a.equals(b)


def test_the_interval_of_equal_blocks_is_students_over_their_means():
    values = np.array([1.0, 3.0, 2.0, 6.0, 5.0, 9.0])
    found = population.mean(values, [0, 0, 1, 1, 2, 2])
    low, high = stats.t.interval(0.95, 2, loc=13 / 3, scale=stats.sem([2.0, 4.0, 7.0]))
    assert found[:3] == statistics.mean(values)[:3]
    assert found[3:] == pytest.approx((low, high))


def test_unequal_blocks_count_by_their_size():
    values, blocks = np.array([1.0, 1.0, 1.0, 5.0]), [0, 0, 0, 1]
    assert population.mean(values, blocks).mean == 2.0
    expected = 12.706 * np.sqrt(2 * ((0.75 * 1) ** 2 + (0.25 * 3) ** 2))
    assert population.mean(values, blocks).half_width == pytest.approx(expected, rel=1e-4)


def test_a_lone_block_has_no_interval():
    found = population.mean([1.0, 2.0], [4, 4])
    assert found.mean == 1.5
    assert np.isnan([found.ci_low, found.ci_high]).all()
    assert population.exceedance([1.0, 2.0], [4, 4], [1.5])[["ci_low", "ci_high"]].isna().all(axis=None)


def test_nothing_gives_nan():
    assert population.mean([np.nan], [0]).n == 0
    assert population.exceedance([], [], [1.0])["probability"].isna().all()
    assert population.wins({"a": [np.nan], "b": [1.0]}, [0])["share"].isna().all()


def test_pairs_with_nan_are_left_out():
    found = population.paired([1.0, np.nan, 3.0], [2.0, 5.0, 5.0], [0, 1, 2])
    assert (found.n, found.mean) == (2, 1.5)


def test_what_never_or_always_happened_is_still_uncertain():
    points, blocks = drawn("sobol", 256, 1)
    table = population.exceedance(points[:, 0], blocks, [-1.0, 2.0])
    assert table["probability"].tolist() == [1.0, 0.0]
    # As with 256 independent draws: Wilson's 3.84 / (256 + 3.84).
    assert table["ci_low"].tolist() == pytest.approx([256 / 259.84, 0.0], rel=1e-4)
    assert table["ci_high"].tolist() == pytest.approx([1.0, 3.84 / 259.84], rel=1e-3)


def test_equal_blocks_are_no_proof_of_no_error():
    # Each block of 16 has half of its points above 1/2, always; but not above 0.51.
    points, blocks = drawn("latin", 256, 1)
    table = population.exceedance(points[:, 0], blocks, [0.5, 0.51])
    assert table["probability"][0] == 0.5
    assert (table["ci_high"] - table["ci_low"] > 2 * 1.9 * 1.9 / 256).all()
    assert (table["ci_high"] - table["ci_low"] < 0.05).all()  # independent draws: 0.12
    assert table["ci_low"][1] < 0.49 < table["ci_high"][1]


def test_wins_are_shared_by_equals_and_need_all_values():
    values = {"reno": [1.0, 2.0, 3.0, 9.0], "vegas": [1.0, 5.0, 1.0, np.nan], "sack": [0.0, 5.0, 0.0, 9.0]}
    blocks = [0, 1, 2, 3]
    most = population.wins(values, blocks)
    assert most["share"].to_dict() == pytest.approx({"reno": 1.5 / 3, "vegas": 1 / 3, "sack": 0.5 / 3})
    least = population.wins(values, blocks, smaller=True)
    assert least["share"].to_dict() == pytest.approx({"reno": 1 / 3, "vegas": 0.0, "sack": 2 / 3})
    assert ((most["ci_low"] <= most["share"]) & (most["share"] <= most["ci_high"])).all()


def test_intervals_of_wins_cover_the_truth():
    hits = np.zeros(2)
    for seed in range(RUNS):
        points, blocks = drawn("sobol", 200, seed)
        table = population.wins({"a": points[:, 0], "b": points[:, 1] * 0.8}, blocks)
        truth = np.array([0.6, 0.4])
        hits += (table["ci_low"] <= truth) & (truth <= table["ci_high"])
    assert (hits / RUNS >= 0.89).all()


def test_a_share_of_networks_has_an_interval_even_where_it_is_0_or_1():
    blocks = np.repeat(np.arange(8), 16)
    never = population.share(np.zeros(128), blocks)
    assert (never.probability, never.ci_low) == (0, 0)
    assert 0.02 < never.ci_high < 0.04  # Wilson's of 0 of 128 is 0.029
    always = population.share(np.ones(128), blocks)
    assert always.ci_high == 1
    assert 1 - always.ci_low == pytest.approx(never.ci_high)


def test_a_share_of_independent_networks_is_wilsons():
    held = np.arange(40) < 10
    found = population.share(held.astype(float), np.arange(40))
    assert found == pytest.approx(statistics.proportion(held))


def test_shares_over_points_are_a_mean_inside_0_and_1():
    blocks = np.repeat(np.arange(4), 4)
    values = np.where(blocks == 0, 0.7, 0.98)
    found, mean = population.share(values, blocks), population.mean(values, blocks)
    assert (found.probability, found.ci_low) == pytest.approx((mean.mean, mean.ci_low))
    assert mean.ci_high > 1 == found.ci_high
