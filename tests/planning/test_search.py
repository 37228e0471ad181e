"""Search along the values, and the interpolated estimates."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.planning import make_plan
from netcarlo.planning.search import FAILS, HOLDS, OPEN, Bracket, replication_caps, search
from netcarlo.planning.thresholds import MarginCurve, crossing


def found(n: int, holds: int, fails: int, most: int = 4000) -> tuple[Bracket, list[tuple[int, int]]]:
    """Return the result of a search, and its calls, if values up to `holds` hold and those from `fails`
    on fail."""
    calls = []

    def decide(i: int, cap: int) -> int:
        calls.append((i, cap))
        return HOLDS if i <= holds else FAILS if i >= fails else OPEN

    bracket = Bracket(-1, n)
    for now in search(n, decide, most=most):
        assert bracket.low <= now.low <= holds
        assert fails <= now.high <= bracket.high
        bracket = now
    return bracket, calls


@given(st.integers(2, 300), st.data())
def test_search_finds_the_only_border(n: int, data: st.DataObject) -> None:
    holds = data.draw(st.integers(-1, n - 1))
    bracket, calls = found(n, holds, holds + 1)
    assert bracket == Bracket(holds, holds + 1)
    assert bracket.closed
    assert len(calls) <= 2 + math.ceil(math.log2(n))


@given(st.integers(2, 100), st.data())
def test_search_finds_both_ends_of_what_is_open(n: int, data: st.DataObject) -> None:
    holds = data.draw(st.integers(-1, n - 1))
    fails = data.draw(st.integers(holds + 1, n))
    bracket, calls = found(n, holds, fails)
    assert bracket == Bracket(holds, fails)
    assert max(cap for _, cap in calls) <= 4000


def test_replications_grow_to_the_most() -> None:
    assert list(replication_caps(4000)) == [256, 1024, 4000]
    assert list(replication_caps(100)) == [100]


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=9))
def test_crossing_lies_between_the_values_that_it_separates(margins: list[float]) -> None:
    values = [float(i + 1) for i in range(len(margins))]
    at = crossing(values, margins, log=False)
    below = [i for i, margin in enumerate(margins) if margin < 0]
    if not below:
        assert at == math.inf
    elif below[0] == 0:
        assert at == -math.inf
    else:
        assert values[below[0] - 1] <= at <= values[below[0]]


def test_crossing_interpolates() -> None:
    assert crossing([1, 2, 4], [3, 1, -1], log=False) == 3
    assert crossing([1, 4], [1, -1], log=True) == pytest.approx(2)
    assert crossing([1, 2], [1, -np.inf], log=False) == 1  # an event that never occurs has no distance


@pytest.mark.parametrize("goal", [">= 4 Mbit/s", "> 4 Mbit/s", "<= 4 Mbit/s", "< 4 Mbit/s"])
def test_a_measure_exactly_at_its_bound(goal: str) -> None:
    """A goodput exactly at its bound, with 4 packets in the queue, holds for <= and >= only."""
    at_least = goal.startswith(">")
    asked = make_plan({
        "scenario": {
            "duration": "1 s", "transport": {"protocol": "newreno"},
            "hops": [{"rate": "10 Mbit/s", "delay": "1 ms", "queue": 1}],
        },
        "quantity": {"name": "queue", "field": "hops.0.queue", "linear": [1, 8]},
        "requirements": {"goodput": f"goodput_bps {goal}"},
        "find": "largest" if at_least else "smallest",
    })  # fmt: skip

    class Exact:
        def of(self, scenario: Any, n: int) -> dict[str, Any]:
            return {"goodput_bps": np.full(n, 8e6 - 1e6 * scenario.paths[0].hops[0].queue)}

    line = MarginCurve(asked, Exact(), None, 8)  # type: ignore[arg-type]
    place = asked.values.index(4)
    assert line._holds(place, 8) == ("=" in goal)
    line.locate(0)
    beside = [asked.values[i] for i in sorted(line.measured)]
    last = 4 if "=" in goal else 3 if at_least else 5
    following = last + (1 if at_least else -1)
    assert {last, following} <= set(beside)
    margin = asked.requirements[0].margin
    assert margin(4e6) == 0.0
    assert crossing([1.0, 2.0, 3.0], [2.0, 0.0, -2.0], log=False) == 2.0
    assert crossing([1.0, 2.0], [0.0, -1.0], log=False) == 1.0
    assert crossing([1.0, 2.0], [1.0, 0.0], log=False) == np.inf
    assert crossing([1.0, 4.0], [1.0, -1.0], log=True) == pytest.approx(2.0)
    assert crossing([1.0, 2.0], [-1e-12, -1.0], log=False) == -np.inf


def test_the_last_cap_is_given_once() -> None:
    assert (
        list(replication_caps(256)) == [256]
        and list(replication_caps(1024)) == [256, 1024]
        and list(replication_caps(300)) == [256, 300]
    )


def test_the_quantile_of_a_requirement_is_where_its_share_holds() -> None:
    """At 90 % all but one of 10 values must hold, although 1 - 0.9 is a little less than a tenth."""
    asked = make_plan({
        "scenario": {
            "duration": "1 s", "transport": {"protocol": "newreno"},
            "hops": [{"rate": "10 Mbit/s", "delay": "1 ms"}],
        },
        "quantity": {"name": "delay", "field": "hops.0.delay", "values": ["1 ms", "2 ms"]},
        "requirements": {"goodput": {"goal": "goodput_bps >= 4 Mbit/s", "probability": "90 %"}},
    })  # fmt: skip
    assert asked.requirements[0].quantile(np.arange(10.0)) == 1.0


@pytest.mark.parametrize(("goal", "expected"), [("goodput_bps >= 1 bit/s", 1.0), ("completion_s <= 5 s", 9)])
def test_what_did_not_happen_is_the_worst(goal: str, expected: float) -> None:
    """At 90 % a requirement that one of ten replications lacks is decided by the worst of the others."""
    asked = make_plan({
        "scenario": {
            "duration": "1 s", "transport": {"protocol": "newreno", "packets": 9},
            "hops": [{"rate": "10 Mbit/s", "delay": "1 ms"}],
        },
        "quantity": {"name": "delay", "field": "hops.0.delay", "values": ["1 ms", "2 ms"]},
        "requirements": {"one": {"goal": goal, "probability": "90 %"}},
    })  # fmt: skip
    measured = np.array([*range(1, 10), np.nan])
    assert asked.requirements[0].quantile(measured) == expected
    assert not asked.requirements[0].held(measured)[-1]
