"""Answers at rest are those of `estimate`, to the digit, whatever batches they came in."""

from pathlib import Path
from typing import Any

import pytest

from netcarlo import estimate
from netcarlo.live import words
from netcarlo.live.desk import Desk
from netcarlo.live.known import Known, Sharpening
from netcarlo.live.of_scenario import OfScenario
from netcarlo.live.runs import Runs
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.scenario import Scenario
from netcarlo.schema import kinds

CONFIGS = Path(__file__).parents[2] / "configs"

FIXED = {
    "duration": "2 s", "replications": 40,
    "transport": {"protocol": "newreno", "window": 16},
    "hops": [{"rate": "4 Mbit/s", "delay": "10 ms", "queue": 20, "loss": "1 %"}],
}  # fmt: skip
DRAWN = {**FIXED, "hops": [{**FIXED["hops"][0], "rate": {"uniform": ["1 Mbit/s", "8 Mbit/s"]}}]}  # type: ignore[dict-item, index]


def rested(runs: Runs, of: str) -> None:
    job = Sharpening(Known(), runs, of)
    while job.left() is not None:
        job.work(lambda *_: None)


@pytest.mark.parametrize(
    ("data", "control"),
    [
        (FIXED, None), (DRAWN, "formula"),
        ({**DRAWN, "precision": "8 %"}, "formula"), ({**FIXED, "precision": "0.5 %"}, None),
    ],
)  # fmt: skip
def test_at_rest_it_is_the_estimate(data: dict[str, Any], control: str | None) -> None:
    scenario, of = Scenario.check(data), "goodput_bps"
    runs = Runs(scenario)
    rested(runs, of)
    assert runs.control(of) == control
    found = estimate(scenario, control=control, of=of)
    look = runs.look(of)
    assert look is not None and look.rest and look.by == "packet"
    columns = ["n", "mean", "sd", "ci_low", "ci_high"]
    assert list(look.mean) == found.table.loc[of, columns].tolist()
    for name, mean in runs.better(of).items():
        assert list(mean) == found.table.loc[name, columns].tolist()
    widths = [mean.ci_high - mean.ci_low for mean in runs.history[of]]
    assert len(widths) > 1 and widths[-1] < widths[0]


def test_the_first_answer_is_the_formulas() -> None:
    runs = Runs(Scenario.check(FIXED))
    guess = runs.guess("goodput_bps")
    assert guess is not None and guess.by == "formula" and runs.done("packet") == 0
    exact = estimate(Scenario.check({**FIXED, "fidelity": "formula"}), replications=1)
    assert guess.mean.mean == exact.table.loc["goodput_bps", "mean"]
    assert runs.first("timeouts") == "fluid" and runs.first("rto_backoffs_max") is None


def test_what_nobody_waits_for_is_given_up() -> None:
    desk, calls = Desk(), list[int]()

    class Slow:
        about = 1

        def left(self) -> int:
            return 0

        def work(self, check: Any) -> None:
            calls.append(1)
            desk.look_at("me", [])
            check()
            calls.append(2)

    desk.look_at("me", [Slow()])
    desk._work(Slow())
    assert calls == [1]
    assert desk._next() is None


def test_numbers_that_packets_overtook_do_not_pass_for_the_last(lossy: Path) -> None:
    subject = OfScenario(kinds.read(lossy, kinds.SCENARIO), {}, Desk())
    state, _ = subject.state("")
    early = subject.numbers(state, "me")
    rested(subject.known.runs(subject.scenario(state)), state.of)
    late = subject.numbers(state, "me")
    assert subject.drawn(state, budget_s=60).rest
    assert (early.rest, late.rest) == (False, True) and early.items != late.items


@pytest.mark.full
@pytest.mark.parametrize("family", ["adhoc", "shared", "wireless"])
def test_at_rest_a_page_of_every_family_says_what_its_command_says(family: str) -> None:
    file = CONFIGS / "starters" / f"{family}.yaml"
    subject = OfScenario(kinds.read(file, kinds.SCENARIO), {}, Desk())
    state, _ = subject.state("")
    runs = subject.known.runs(subject.scenario(state))
    rested(runs, state.of)
    numbers = subject.numbers(state, "me")
    found = estimate(file, control=runs.control(state.of), of=state.of).table.loc[state.of]
    scale = scales.scale([found["mean"]], words.unit(state.of))
    mean = Mean(*(found[column] for column in Mean._fields))
    assert numbers.rest and numbers.items[0].text == words.number(mean, scale)
    assert numbers.items[0].interval == words.interval(mean, scale)
