"""Plans about the year with known answers: a repetition of the campaign `plans_of_years`, and its verdict."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.campaigns.verification import plans_of_years
from tests.campaigns.verification.plans_of_years import Planned, Quantity, repeated, right, up_time


@pytest.mark.full
def test_the_plan_of_a_stream_is_right_and_narrow() -> None:
    [(found, width, replications)] = repeated(up_time(0), 1)
    assert found and width <= 2 and replications > 1000


@pytest.mark.full
def test_a_wrong_year_is_noticed() -> None:
    """If outages last 20 % longer than the plan assumes, its bands are wrong."""
    case = up_time(0)
    longer = [share / (share + 1.2 * (1 - share)) for share in case.shares]
    [(found, _, _)] = repeated(replace(case, shares=longer), 1)
    assert not found


def answer(holds: float | None, fails: float | None, bands: dict[float, tuple[float, float]]) -> Any:
    curve = [
        SimpleNamespace(value=value, shares=[SimpleNamespace(low=low, high=high)])
        for value, (low, high) in bands.items()
    ]
    # The plan asks for the smallest value, so values begin with the largest.
    plan = SimpleNamespace(values=[3.0, 2.0, 1.0])
    return SimpleNamespace(plan=plan, holds=holds, fails=fails, curve=curve)


def test_an_answer_is_right_if_interval_and_bands_are() -> None:
    case = Planned("", lambda seed: {}, (0.5, 0.8, 0.9), 0.7, True, 3)
    good = {3.0: (0.85, 0.95), 1.0: (0.4, 0.6)}
    assert case.limit == 1
    assert right(case, answer(2.0, 1.0, good)) and right(case, answer(3.0, None, good))
    assert right(case, answer(None, None, good))
    assert not right(case, answer(1.0, None, good)) and not right(case, answer(3.0, 2.0, good))
    assert not right(case, answer(2.0, 1.0, good | {1.0: (0.51, 0.6)}))
    assert not right(case, answer(2.0, 1.0, good | {3.0: (0.85, 0.89)}))


def test_a_year_that_does_not_tell_the_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans_of_years.availability, "brute_force", lambda *_: (0.86, 0.01))
    quantity = Quantity("rate", ["a"], (1, 2), "s", 0.85, True, 3)
    with pytest.raises(ValueError, match=r"a share of 0\.8600 is too near 0\.85"):
        quantity.of_calls(SimpleNamespace(name="case"), 100)  # type: ignore[arg-type]


def test_the_campaign_fails_if_plans_are_wrong_too_often_or_too_wide(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plans_of_years, "CASES", (up_time,))
    monkeypatch.setattr("sys.argv", ["plans_of_years", "20"])
    for wrong, width, status in ((1, 3, 0), (2, 3, 1), (1, 4, 1)):
        found = [(k >= wrong, width, 1000) for k in range(20)]
        monkeypatch.setattr(plans_of_years, "repeated", lambda case, repetitions, found=found: found)
        assert plans_of_years.main() == status
        assert ("expected: 95 % or more" in capsys.readouterr().out) == bool(status)
