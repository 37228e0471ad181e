"""Plans with a known answer: a few of the repetitions of `plan_coverage`."""

import numpy as np
import pytest

from tests.verification.plan_coverage import Case, covers, covers_coins, rate_over_flows, window_over_rtt


@pytest.mark.parametrize(("asked", "slope"), [(0.5, 0.05), (0.95, 0.01)])
def test_where_the_answer_is_just_good_enough(asked: float, slope: float) -> None:
    found = [covers_coins(asked, slope, seed) for seed in range(40)]
    assert np.mean([covered for covered, _ in found]) >= 0.95
    assert np.mean([width for _, width in found]) < 6  # of 40 values: it says something


@pytest.mark.parametrize("case", [window_over_rtt(), rate_over_flows()], ids=lambda case: case.name)
def test_networks_with_a_known_answer(case: Case) -> None:
    found = [covers(case, seed) for seed in (1, 2)]
    assert all(covered for covered, _ in found)
    assert all(width <= 4 for _, width in found)
