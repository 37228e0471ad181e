"""Plans about the year: states of the year instead of random moments, and verdicts on shares of the year."""

from typing import Any

import numpy as np
import pytest

from netcarlo.errors import InputError
from netcarlo.numerics.arrays import Floats
from netcarlo.planning import make_plan, plan
from netcarlo.planning import run as runs
from netcarlo.planning.search import FAILS, HOLDS, Bracket
from netcarlo.planning.states import States
from netcarlo.planning.year import YearLedger
from netcarlo.reports.plan import wording
from netcarlo.scenario import Scenario

DOWN = 0.01
"""Share of the year in which each cable is down."""


def data(cables: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a plan of the delay of a line, in which cables are down in 1 % of the year."""
    ends = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")][: 2 * cables]
    outages = {"availability": f"{100 * (1 - DOWN)} %", "mttr": "100 days"}
    return {
        "scenario": {
            "duration": "1 s",
            "transport": {"protocol": "newreno"},
            "shared": {
                "links": [{"ends": list(each), "rate": "10 Mbit/s", "delay": "1 ms"} for each in ends],
                "failures": [{"cables": "each", "outages": outages}],
                "flows": [{"udp": {"rate": "0.1 Mbit/s", "payload": "1200 B"}, "route": "0"}],
            },
        },
        "quantity": {
            "name": "wait",
            "field": "shared.links.0.delay",
            "linear": ["1 ms", "9 ms"],
            "step": "2 ms",
        },
        "requirements": {"it": {"goal": "loss_ratio <= 1 %", "probability": "99.5 %"}},
        "replications": 8000,
        **changes,
    }


class Years:
    """Coins by state of the year.

    The requirement holds without an outage; otherwise its probability decreases along the values."""

    def __init__(self, seed: int) -> None:
        self.rng, self.coins = np.random.default_rng(seed), dict[tuple[int, tuple[Any, ...]], Floats]()
        self.simulated = self.used = self.damaged = 0

    def of(self, scenario: Scenario, n: int) -> dict[str, Floats]:
        """Return outcomes of the first `n` replications."""
        assert scenario.shared is not None
        value = round(1e3 * float(scenario.shared.links[0].delay))  # type: ignore[arg-type]
        parts = tuple(each.outages.during for each in scenario.shared.failures)  # type: ignore[union-attr]
        coins = self.coins.get((value, parts), np.zeros(0))
        self.coins[value, parts] = coins = np.append(coins, self.rng.random(max(n - len(coins), 0)))
        good = 1.0 if set(parts) <= {"up"} else 1 - value / 10
        return {"loss_ratio": (coins[:n] >= good).astype(float)}


def answered(monkeypatch: pytest.MonkeyPatch, seed: int = 1, **changes: Any) -> Any:
    monkeypatch.setattr(runs, "ReplicationRunner", lambda *_, **__: Years(seed))
    return plan(make_plan(data(**changes)))


def test_a_share_of_the_year_is_that_of_the_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """At value v the requirement fails in v / 10 of the 1 % of the year with an outage: 0.5 % at 5 ms."""
    found = answered(monkeypatch)
    assert found.holds is not None and found.fails is not None
    assert 0.003 <= found.holds <= 0.005 <= found.fails <= 0.007
    for point in found.curve:
        [share] = point.shares
        truth = 1 - point.value * 100 * DOWN
        assert share.low <= truth <= share.high
        assert share.probability == pytest.approx(truth, abs=0.003)
    assert found.plan.of_year and wording.OF_YEAR in wording.explanation(found)
    assert "99." in wording.requirements(found)[0]["at 3 ms"]


def test_verdicts_are_correct_at_the_limit() -> None:
    """A value with just the required share of the year gets the verdict "fails" in 1 % of plans or less."""
    asked = make_plan(data())
    verdicts = [YearLedger(asked, Years(seed)).decide(2, 1000) for seed in range(20)]  # type: ignore[arg-type]
    assert verdicts.count(FAILS) <= 1


def test_states_that_are_simulated_are_the_year_but_for_several_outages() -> None:
    both = States.of(make_plan(data(cables=2)).base)
    assert len(both.shares) == 7 and 1 - both.shares.sum() == pytest.approx(DOWN**2, rel=0.01)
    parts = {
        tuple(each.outages.during for each in scenario.shared.failures)  # type: ignore[union-attr]
        for scenario in both.scenarios
    }
    one = "failure", "down", "repair"
    assert parts == {("up", "up"), *((part, "up") for part in one), *(("up", part) for part in one)}


def test_several_outages_at_once_are_not_counted_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cables are down at once in 0.01 % of the year, which bounds the share of the year."""
    found = answered(
        monkeypatch, cables=2, requirements={"it": {"goal": "loss_ratio <= 1 %", "probability": 0.9}}
    )
    assert all(share.high - share.low > DOWN**2 for point in found.curve for share in point.shares)


def test_runs_of_one_part_of_the_year_or_of_drawn_length_are_no_year() -> None:
    part, length = data(), data()
    part["scenario"]["shared"]["failures"][0]["outages"]["during"] = "down"
    length["scenario"]["duration"] = {"uniform": ["1 s", "2 s"]}
    assert [make_plan(each).of_year for each in (data(), part, length)] == [True, False, False]


def test_resources_are_refused() -> None:
    with pytest.raises(InputError, match=r"resources: not supported with outages of years.*across"):
        make_plan(data(resources={"rate": {"field": "shared.links.0.rate", "add": "1 Mbit/s"}}))


def test_replications_that_are_too_few_for_a_year_are_refused_with_a_number_that_is_enough() -> None:
    """Each state needs replications of its own, so more are needed than for runs of one kind."""
    with pytest.raises(
        InputError, match=r"replications = 1500 is too small.*expected (\d+) or more"
    ) as error:
        make_plan(data(replications=1500))
    least = int(str(error.value).partition("expected ")[2].partition(" ")[0])
    asked = make_plan(data(replications=least))
    sure = Years(1)
    sure.of = lambda scenario, n: {"loss_ratio": np.zeros(n)}  # type: ignore[method-assign]
    assert YearLedger(asked, sure).decide(0, least) == HOLDS  # type: ignore[arg-type]


def test_a_probability_above_the_share_of_the_simulated_states_is_refused() -> None:
    """Two cables are down at once in 0.01 % of the year."""
    asked = {"it": {"goal": "loss_ratio <= 1 %", "probability": "99.995 %"}}
    with pytest.raises(InputError, match=r"several outages at once take 0.01 %.*at most 99.9899 %"):
        make_plan(data(cables=2, requirements=asked))


def test_the_forecast_is_that_of_a_year(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares near 1 and several states need more replications than a plan about random moments.

    The limit is between two values; one that just has the required share takes the maximum.
    """
    easier = {"it": {"goal": "loss_ratio <= 1 %", "probability": 0.996}}
    found = answered(monkeypatch, requirements=easier)
    used = sum(point.replications for point in found.curve)
    asked = found.plan
    assert asked.least_replications == States.of(asked.base).needed(0.996, asked.level)
    assert used / 2 <= runs._remaining(asked, Bracket(-1, len(asked.values)), {}) <= 2 * used


def test_a_forecast_does_not_fall_by_a_value_that_fails_soon() -> None:
    asked = make_plan(data())
    left = runs._remaining(asked, Bracket(-1, len(asked.values)), {4: 64})
    assert left > runs._remaining(asked, Bracket(-1, 1), {4: 64}) >= asked.least_replications
    easier = asked.with_requirements({"it.probability": 0.98})
    assert easier.least_replications < asked.least_replications
