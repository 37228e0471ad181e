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
from netcarlo.live import wording
from netcarlo.live.cache import Refinement, ReplicationCache
from netcarlo.live.replications import LiveReplications, Snapshot
from netcarlo.live.scenario_page import ScenarioPage
from netcarlo.live.scheduler import Scheduler
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


def rested(runs: LiveReplications, of: str) -> None:
    job = Refinement(ReplicationCache(), runs, of)
    while job.work_done() is not None:
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
    runs = LiveReplications(scenario)
    job, looks = Refinement(ReplicationCache(), runs, of), list[Snapshot]()
    while job.work_done() is not None:
        job.work(lambda *_: None)
        now = runs.current_aim(of)
        look = runs.snapshot(of)
        if look is None or runs.wanted(now) is not None:  # a batch with missing draws
            continue
        looks.append(look)
        if look.final or len(looks) in (1, 3):
            middle = None if look.final else runs.done()
            found = estimate(scenario, control=control or "none", of=of, replications=middle)
            columns = [*Mean._fields]
            assert list(look.mean) == found.table.loc[of, columns].tolist()
            for name, mean in runs.means(now, runs.measured).items():
                assert np.array_equal(mean, found.table.loc[name, columns], equal_nan=True), name
            assert look.draws == (0 if found.saving is None else found.saving.draws)
            assert (look.final, look.by) == (middle is None, "packet")
            assert found.precise or not look.final
            checked += 1
    assert runs.control(of) == control
    assert checked >= 2 and looks[-1].final
    widths = [mean.ci_high - mean.ci_low for mean in runs.history[of]]
    assert len(widths) > 1 and widths[-1] < widths[0]


def test_replications_that_another_outcome_needed_are_no_part_of_an_estimate() -> None:
    scenario = Scenario.check({**FIXED, "precision": "6 %"})
    runs = LiveReplications(scenario)
    rested(runs, "timeouts")
    more = runs.done()
    rested(runs, "goodput_bps")
    found = estimate(scenario, of="goodput_bps")
    look = runs.snapshot("goodput_bps")
    assert look is not None and look.mean.n == len(found.outcomes.frame) < more == runs.done()
    means = runs.means(runs.current_aim("goodput_bps"), runs.measured)
    assert list(means["sent"]) == found.table.loc["sent", [*Mean._fields]].tolist()


def test_the_first_answer_is_the_formulas() -> None:
    runs = LiveReplications(Scenario.check(FIXED))
    guess = runs.preview("goodput_bps")
    assert guess is not None and guess.by == "formula" and runs.done() == 0
    exact = estimate(Scenario.check({**FIXED, "fidelity": "formula"}), replications=1)
    assert guess.mean.mean == exact.table.loc["goodput_bps", "mean"]
    assert (
        runs.cheapest_fidelity("timeouts") == "fluid" and runs.cheapest_fidelity("rto_backoffs_max") is None
    )


def test_what_nobody_waits_for_is_given_up() -> None:
    scheduler, calls = Scheduler(), list[int]()

    class Slow:
        work_id = 1

        def work_done(self) -> int:
            return 0

        def work(self, check: Any) -> None:
            calls.append(1)
            scheduler.watch("me", [])
            check()
            calls.append(2)

    scheduler.watch("me", [Slow()])
    scheduler._work(Slow())
    assert calls == [1]
    assert scheduler._next() is None


def test_numbers_that_packets_overtook_do_not_pass_for_the_last(lossy: Path) -> None:
    page = ScenarioPage(kinds.read(lossy, kinds.SCENARIO), {}, Scheduler())
    state, _ = page.state("")
    early = page.numbers(state, "me")
    rested(page.cache.runs(page.scenario(state)), state.of)
    late = page.numbers(state, "me")
    assert page.details(state, budget_s=60).final
    assert (early.final, late.final) == (False, True) and early.items != late.items


@pytest.mark.parametrize("of", ["goodput_bps", "timeouts"])
def test_the_command_on_the_page_says_what_the_page_says(
    of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that the page shows gives its numbers, also with a precision and other outcomes than
    the goodput."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "precise.yaml"
    file.write_text(json.dumps({**FIXED, "precision": "6 %"}))
    page = ScenarioPage(kinds.read(file, kinds.SCENARIO), {}, Scheduler())
    state, _ = page.state(f"?of={of}")
    runs = page.cache.runs(page.scenario(state))
    rested(runs, of)
    [command] = page.numbers(state, "me").commands
    said = CliRunner().invoke(app, [*shlex.split(command)[1:], "--json"])
    found = json.loads(said.stdout)["outcomes"]
    look = runs.snapshot(of)
    assert look is not None and (found[of]["n"], found[of]["mean"]) == (look.mean.n, look.mean.mean)


@pytest.mark.full
@pytest.mark.parametrize("family", ["adhoc", "shared", "wireless"])
def test_at_rest_a_page_of_every_family_says_what_its_command_says(family: str) -> None:
    file = CONFIGS / "starters" / f"{family}.yaml"
    page = ScenarioPage(kinds.read(file, kinds.SCENARIO), {}, Scheduler())
    state, _ = page.state("")
    runs = page.cache.runs(page.scenario(state))
    rested(runs, state.of)
    numbers = page.numbers(state, "me")
    found = estimate(file, control=runs.control(state.of), of=state.of).table.loc[state.of]
    scale = scales.scale([found["mean"]], wording.unit(state.of))
    mean = Mean(*(found[column] for column in Mean._fields))
    assert numbers.final and numbers.items[0].text == wording.number(mean, scale)
    assert numbers.items[0].interval == wording.interval(mean, scale)
