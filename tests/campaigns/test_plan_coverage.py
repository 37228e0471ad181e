"""Plans with a known answer: a few of the repetitions of `plan_coverage`."""

import numpy as np
import pytest

from tests.campaigns.verification.plan_coverage import (
    Case,
    cables_by_themselves,
    covers,
    covers_coins,
    covers_coins_across,
    rate_over_flows,
    single_failures,
    window_over_rtt,
    windows_and_delays,
)  # fmt: skip


@pytest.mark.parametrize(("asked", "slope"), [(0.5, 0.05), (0.95, 0.01)])
def test_where_the_answer_is_just_good_enough(asked: float, slope: float) -> None:
    found = [covers_coins(asked, slope, seed) for seed in range(40)]
    assert np.mean([covered for covered, _ in found]) >= 0.95
    assert np.mean([width for _, width in found]) < 6  # of 40 values: it says something


def test_of_two_quantities_too() -> None:
    found = [covers_coins_across(0.9, 0.02, seed) for seed in range(10)]
    assert all(covered for covered, _ in found)
    assert np.mean([width for _, width in found]) < 6


@pytest.mark.parametrize("case", [window_over_rtt(), rate_over_flows()], ids=lambda case: case.name)
def test_networks_with_a_known_answer(case: Case) -> None:
    found = [covers(case, seed) for seed in (1, 2)]
    assert all(covered for covered, _ in found)
    assert all(width <= 4 for _, width in found)


CASES = [(windows_and_delays(), 4), (single_failures(), 12), (cables_by_themselves(), 12)]


@pytest.mark.parametrize(("case", "widest"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_two_quantities_and_failures(case: Case, widest: float) -> None:
    covered, width = covers(case, 1)
    assert covered
    assert width <= widest
