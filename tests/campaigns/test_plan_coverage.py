"""Plans with a known answer: a few of the repetitions of the campaign `plan_coverage`."""

import numpy as np
import pytest

from tests.campaigns.verification import plan_coverage
from tests.campaigns.verification.plan_coverage import (
    Case,
    cables_by_themselves,
    covers,
    covers_coins,
    covers_coins_across,
    rate_over_flows,
    window_over_rtt,
    windows_and_delays,
)  # fmt: skip

pytestmark = pytest.mark.full


@pytest.mark.parametrize(("asked", "slope"), [(0.5, 0.05), (0.95, 0.01)])
def test_where_the_answer_is_just_good_enough(asked: float, slope: float) -> None:
    found = [covers_coins(asked, slope, seed) for seed in range(5)]
    assert all(covered for covered, _ in found)
    assert np.mean([width for _, width in found]) < 6  # of 40 values: narrow enough to be informative


def test_of_two_quantities_too() -> None:
    covered, width = covers_coins_across(0.9, 0.02, 0)
    assert covered and width < 6


CASES = [window_over_rtt(), rate_over_flows(), windows_and_delays(), cables_by_themselves()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_networks_with_a_known_answer(case: Case) -> None:
    covered, width = covers(case, 1)
    assert covered and width <= case.widest


def test_the_campaign_fails_if_an_answer_is_covered_too_seldom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plan_coverage, "covers_coins", lambda asked, slope, seed: (True, 2.0))
    monkeypatch.setattr(plan_coverage, "covers_coins_across", lambda asked, slope, seed: (True, 2.0))
    monkeypatch.setattr("sys.argv", ["plan_coverage", "20"])
    for found, status in (((1, 3.0), 0), ((2, 3.0), 1), ((1, 5.0), 1)):
        missed, width = found
        monkeypatch.setattr(plan_coverage, "covers", lambda case, seed, m=missed, w=width: (seed > m, w))
        monkeypatch.setattr(plan_coverage, "CASES", (window_over_rtt,))
        assert plan_coverage.main() == status
        assert ("expected: 95 % covered or more" in capsys.readouterr().out) == bool(status)
