"""The demands of `--check`, on numbers made for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from netcarlo.cells import Cell, Cells
from netcarlo.claims import Claim
from netcarlo.comparison import Check, Compared, check, compare
from netcarlo.kernels.layout import Out
from netcarlo.scenario import Scenario
from netcarlo.study import Condition, Description, Published, Study, Tolerance, matches

SCENARIO = Scenario.check(
    {"duration": "1 s", "transport": {"protocol": "reno"}, "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}]}
)


class Made(Study):
    """A study of one condition, with the published numbers and the tolerance given."""

    def __init__(
        self, tolerance: Sequence[dict[str, Any]], published: Sequence[float] = (100.0, 200.0)
    ) -> None:
        self.name = "made"
        self.description = Description.check(
            {
                "title": "", "source": "", "question": "", "replications": 2, "seed": 1, "scenario": "",
                "conditions": {"size": {"label": "Size", "unit": "m"}}, "metrics": {},
                "labels": {"speed": "velocity"}, "tolerance": list(tolerance),
            }
        )  # fmt: skip
        self.published = [  # type: ignore[misc]  # a property of a study that is read
            Published(place={}, conditions={"size": k + 1.0}, metric="speed", unit="m/s", text=str(value),
                      step=1, kind="printed")
            for k, value in enumerate(published)
        ]  # fmt: skip


def cells(study: Study, samples: Sequence[Sequence[float]], variation: str = "") -> Cells:
    """A cell for each list of samples, whose metric `speed` they are."""
    made = []
    for k, values in enumerate(samples):
        outcomes = np.zeros((len(values), len(Out)), np.int64)
        outcomes[:, Out.SENT] = values
        made.append(Cell({"size": k + 1.0}, SCENARIO, outcomes, variation))
    return Cells(study, made, {"speed": lambda cell: cell.out(Out.SENT)})


def judge(demand: dict[str, Any], samples: Sequence[Sequence[float]]) -> Check:
    """The demand on a study whose cells have these samples."""
    study = Made([demand])
    found = cells(study, samples)
    (only,) = check(study, compare(study, found, {}), [], found)
    return only


def test_mean_and_median_error() -> None:
    samples = [[104, 104], [200, 200]]
    assert judge({"metric": "speed", "mean_error": 0.02}, samples) == Check(
        "velocity: mean error of 2 numbers at most 2 %", "2.00%", True
    )
    assert not judge({"metric": "speed", "mean_error": 0.019}, samples).passed
    samples = [[104, 104], [190, 190]]
    assert judge({"metric": "speed", "median_error": 0.045}, samples).passed
    assert not judge({"metric": "speed", "median_error": 0.044}, samples).passed


def test_twice_the_spread_of_a_mean_of_runs() -> None:
    noisy = [[90, 130], [200, 200]]  # mean 110, standard deviation 28.3
    assert not judge({"metric": "speed", "rel_error": 0.05}, noisy).passed
    assert judge({"metric": "speed", "rel_error": 0.05, "runs": 2}, noisy).passed
    # 2 x 28.3 / 110 / sqrt(30) = 9.4 %, less than the error of 10 %.
    found = judge({"metric": "speed", "rel_error": 0.05, "runs": 30}, noisy)
    assert not found.passed and "1 outside" in found.reached


def test_absolute_error_is_in_the_unit() -> None:
    samples = [[103, 103], [200, 200]]
    assert judge({"metric": "speed", "abs_error": 3.0}, samples) == Check(
        "velocity: every number within 3 m/s", "worst 3.00 of 2", True
    )
    assert not judge({"metric": "speed", "abs_error": 2.9}, samples).passed


def test_a_demand_may_be_on_some_numbers_only() -> None:
    samples = [[103, 103], [240, 240]]
    assert judge({"metric": "speed", "where": {"size": 1}, "rel_error": 0.05}, samples).passed
    found = judge({"metric": "speed", "unless": [{"size": 2}], "rel_error": 0.05}, samples)
    assert found == Check("velocity (without 2 m): every number within 5 %", "worst 3.00% of 1", True)
    assert not judge({"metric": "speed", "where": {"size": [1, 2]}, "rel_error": 0.05}, samples).passed


def test_a_number_without_an_estimate_fails() -> None:
    study = Made([{"metric": "speed", name: 1.0} for name in ("mean_error", "rel_error", "abs_error")])
    found = cells(study, [[100, 100]])
    assert [demand.passed for demand in check(study, compare(study, found, {}), [], found)] == [False] * 3


def test_cells_need_no_published_number() -> None:
    samples = [[80, 100], [20, 20]]
    assert judge({"metric": "speed", "where": {"size": 1}, "at_least": 90}, samples).passed
    assert not judge({"metric": "speed", "at_least": 90}, samples).passed
    assert not judge({"metric": "speed", "at_most": 89}, samples).passed
    assert not judge(
        {"metric": "speed", "where": {"size": 3}, "at_least": 0}, samples
    ).passed  # there is none


def test_a_variation_is_judged_by_its_own_cells() -> None:
    demand = {"metric": "speed", "variation": "other", "at_least": 50}
    study = Made([demand])
    both = cells(study, [[10, 10]])._every + cells(study, [[60, 60]], "other")._every
    found = Cells(study, both, {"speed": lambda cell: cell.out(Out.SENT)})
    assert len(found.all) == len(found.varied("other").all) == 1
    assert check(study, [], [], found)[0].passed


def test_claims_are_compared_with_what_is_expected() -> None:
    study = Made([{"claims": "as expected"}])
    claims = [
        Claim("A1", "", "", "held", ""), Claim("A2", "", "", "not held", "", expected="not held"),
    ]  # fmt: skip
    assert check(study, [], claims, cells(study, []))[0].passed
    surprise = Claim("A3", "", "", "held", "", expected="not held")
    found = check(study, [], [*claims, surprise], cells(study, []))[0]
    assert not found.passed and found.reached == "2 of 3, not A3"


@pytest.mark.parametrize(
    ("tolerance", "allowed"),
    [
        ([], np.inf),
        ([{"metric": "other", "abs_error": 1.0}], np.inf),
        ([{"metric": "speed", "abs_error": 3.0}, {"metric": "speed", "rel_error": 0.05}], 3.0),
        ([{"metric": "speed", "rel_error": 0.05}, {"metric": "speed", "rel_error": 0.02}], 2.0),
        ([{"metric": "speed", "rel_error": 0.05}, {"metric": "speed", "unless": [{}], "abs_error": 1}], 5),
    ],
)  # fmt: skip
def test_the_strictest_demand_counts(tolerance: list[dict[str, Any]], allowed: float) -> None:
    study = Made(tolerance)
    first: Compared = compare(study, cells(study, [[104, 104], [200, 200]]), {})[0]
    assert first.allowed == pytest.approx(allowed)
    assert first.within is (None if np.isinf(allowed) else bool(allowed >= 4))
    assert study.description.exact is False


def test_conditions_in_words() -> None:
    description = Made([{"metric": "speed", "matches_printed": 1}]).description
    assert description.exact
    assert description.label("speed") == "velocity" and description.label("a_b") == "a b"
    assert description.say({"size": [1.0, 2.5], "metric": "speed"}) == "1 m and 2.5 m"
    assert Condition(label="", set={"a.b": "{} ms"}).fields(2.0, {}) == {"a.b": "2.0 ms"}
    demand = Tolerance(metric="speed", where={"size": 1.0}, unless=[{"size": 2.0}])
    assert description.say_demand(demand) == "velocity (1 m; without 2 m)"
    assert matches({"a": 1.0}, {}) and not matches({"a": 1.0}, {"b": 1.0})
