"""Final answers of a live page: equal to those of `estimate` to the last digit, for any batches."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from netcarlo import estimate
from netcarlo.cli.main import app
from netcarlo.live import words
from netcarlo.live.desk import Desk
from netcarlo.live.known import Known, Sharpening
from netcarlo.live.of_scenario import OfScenario
from netcarlo.live.runs import Look, Runs
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
CLASSED = {**DRAWN, "transport": {**FIXED["transport"], "class": "bulk"}}  # type: ignore[dict-item]


def rested(runs: Runs, of: str) -> None:
    job = Sharpening(Known(), runs, of)
    while job.left() is not None:
        job.work(lambda *_: None)


CASES = [
    (FIXED, "goodput_bps", None),
    (DRAWN, "goodput_bps", "formula"),
    ({**DRAWN, "precision": "8 %"}, "goodput_bps", "formula"),
    ({**DRAWN, "precision": "30 %"}, "in_flight", None),
    ({**FIXED, "precision": "0.5 %"}, "goodput_bps", None),
    pytest.param({**DRAWN, "precision": "12 %"}, "timeouts", "fluid", marks=pytest.mark.full),
    pytest.param({**CLASSED, "precision": "3 %"}, "bulk_mean_flow_bps", "fluid", marks=pytest.mark.full),
]


@pytest.mark.parametrize(("data", "of", "control"), CASES)
def test_in_the_middle_and_at_rest_it_is_the_estimate(
    data: dict[str, Any], of: str, control: str | None
) -> None:
    """Number and table of outcomes equal the estimate, with the replications so far and with all."""
    scenario, checked = Scenario.check(data), 0
    runs = Runs(scenario)
    job, looks = Sharpening(Known(), runs, of), list[Look]()
    while job.left() is not None:
        job.work(lambda *_: None)
        now = runs.now(of)
        look = runs.look(of)
        if look is None or runs.wanted(now) is not None:  # a batch whose draws are missing
            continue
        looks.append(look)
        if look.rest or len(looks) in (1, 3):
            middle = None if look.rest else runs.done()
            found = estimate(scenario, control=control, of=of, replications=middle)
            columns = [*Mean._fields]
            assert list(look.mean) == found.table.loc[of, columns].tolist()
            for name, mean in runs.means(now, runs.measured).items():
                assert np.array_equal(mean, found.table.loc[name, columns], equal_nan=True), name
            assert look.draws == (0 if found.saving is None else found.saving.draws)
            assert (look.rest, look.by) == (middle is None, "packet")
            assert found.precise or not look.rest
            checked += 1
    assert runs.control(of) == control
    assert checked >= 2 and looks[-1].rest
    widths = [mean.ci_high - mean.ci_low for mean in runs.history[of]]
    assert len(widths) > 1 and widths[-1] < widths[0]


def test_replications_that_another_outcome_needed_are_no_part_of_an_estimate() -> None:
    scenario = Scenario.check({**FIXED, "precision": "6 %"})
    runs = Runs(scenario)
    rested(runs, "timeouts")
    more = runs.done()
    rested(runs, "goodput_bps")
    found = estimate(scenario, of="goodput_bps")
    look = runs.look("goodput_bps")
    assert look is not None and look.mean.n == len(found.outcomes.frame) < more == runs.done()
    means = runs.means(runs.now("goodput_bps"), runs.measured)
    assert list(means["sent"]) == found.table.loc["sent", [*Mean._fields]].tolist()


def test_the_first_answer_is_the_formulas() -> None:
    runs = Runs(Scenario.check(FIXED))
    guess = runs.guess("goodput_bps")
    assert guess is not None and guess.by == "formula" and runs.done() == 0
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


@pytest.mark.parametrize("of", ["goodput_bps", "timeouts"])
def test_the_command_on_the_page_says_what_the_page_says(
    of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that the page shows gives its numbers, also with a precision and other outcomes than
    the goodput."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "precise.yaml"
    file.write_text(json.dumps({**FIXED, "precision": "6 %"}))
    subject = OfScenario(kinds.read(file, kinds.SCENARIO), {}, Desk())
    state, _ = subject.state(f"?of={of}")
    runs = subject.known.runs(subject.scenario(state))
    rested(runs, of)
    [command] = subject.numbers(state, "me").commands
    said = CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"])
    found = json.loads(said.stdout)["outcomes"]
    look = runs.look(of)
    assert look is not None and (found[of]["n"], found[of]["mean"]) == (look.mean.n, look.mean.mean)


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
