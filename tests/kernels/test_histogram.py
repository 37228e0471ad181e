"""Histograms and quantiles: comparison with a slow, simple implementation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.kernels.base import points
from netcarlo.kernels.base.histogram import STEPS, bin_of, bins, count
from netcarlo.numerics.histogram import edges, quantiles
from tests.twins.shared.arrivals import edges as twin_edges
from tests.twins.shared.arrivals import value_at


@given(st.integers(0, 1 << 60))
def test_a_number_lies_in_its_bin_which_is_narrow(value: int) -> None:
    at = int(bin_of(np.int64(value)))
    found = edges(at + 2)
    assert found[at] <= value < found[at + 1]
    assert value < 2 * STEPS or found[at + 1] - found[at] <= value / STEPS


def test_bins_follow_each_other() -> None:
    n = bins(20)
    assert edges(n)[:n].tolist() == twin_edges(n)
    assert edges(n + 1)[n] == STEPS << 20  # the first number beyond the bins


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200), st.sampled_from([0.0, 0.5, 0.95, 0.99]))
def test_quantiles_are_within_two_percent(values: list[int], q: float) -> None:
    n = bins(26)
    m = np.zeros(n, np.int64)
    for value in values:
        count(m, 0, n, np.int64(value))
    exact = np.sort(values)[min(int(np.floor(q * len(values))), len(values) - 1)]
    assert abs(quantiles(m, q) - exact) <= max(0.02 * exact, 0.5)
    # The sum of two histograms is a histogram.
    assert quantiles(m + m, 0.5) <= quantiles(m, 1.0)


def test_of_nothing_there_is_no_quantile() -> None:
    assert np.isnan(quantiles(np.zeros((2, 64), np.int64), 0.5)).all()


def test_what_is_too_large_is_in_the_last_bin() -> None:
    m = np.zeros(bins(2), np.int64)
    count(m, 0, bins(2), np.int64(1 << 50))
    assert m[-1] == 1


@given(st.integers(0, (1 << 32) - 1), st.data())
def test_points_are_met_exactly(word: int, data: st.DataObject) -> None:
    places = [0, *sorted(data.draw(st.lists(st.integers(0, 1 << 32), max_size=9))), 1 << 32]
    values = data.draw(st.lists(st.integers(0, 1 << 41), min_size=len(places), max_size=len(places)))
    pairs = list(zip(places, values, strict=True))
    flat = np.array([7, len(pairs), *np.array(pairs).reshape(-1)], np.float64)
    found = int(points.value(flat, 1, np.int64(word)))
    assert found == value_at(word, pairs)
    below = max(k for k in range(len(places)) if places[k] <= word)
    assert min(values[below : below + 2]) <= found <= max(values[below : below + 2])
