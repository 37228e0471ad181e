"""Plans: files, answers that are the same to the bit, resources, the command."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from netcarlo.cli import app
from netcarlo.errors import InputError
from netcarlo.planning import Answer, Plan, load_plan, make_plan, plan
from netcarlo.planning import run as runs
from netcarlo.planning.board import Board
from netcarlo.planning.search import FAILS, HOLDS
from netcarlo.planning.trials import JOURNAL, Trials
from netcarlo.reports import plan_words as words
from tests.verification.plan_coverage import Coins

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "configs" / "plans").glob("*.yaml"))


def data(**changes: Any) -> dict[str, Any]:
    """A plan that takes a second: how long may the delay be, if the round-trip time is to be short?"""
    return {
        "scenario": {
            "duration": "1 s",
            "transport": {"protocol": "newreno", "window": 4, "payload": "1460 B"},
            "hops": [
                {"rate": "2 Mbit/s", "delay": "1 ms"},
                {"rate": "20 Mbit/s", "delay": {"uniform": ["0 ms", "20 ms"]}},
            ],
        },
        "quantity": {"name": "delay", "field": "hops.0.delay", "linear": ["1 ms", "40 ms"], "step": "3 ms"},
        "requirements": {"goodput": {"goal": "goodput_bps >= 0.6 Mbit/s", "probability": "80 %"}},
        "replications": 200,
        **changes,
    }


def same(answer: Answer) -> str:
    """All of an answer but what it cost."""
    return json.dumps({**answer.record(), "cost": None, "provenance": None})


@pytest.fixture(scope="module")
def answer() -> Answer:
    resources = {"rate": {"field": "hops.0.rate", "add": "1 Mbit/s"}}
    return plan(make_plan(data(resources=resources)), target="cpu")


def test_answer(answer: Answer) -> None:
    """Goodput is window / RTT: the packets' times on the links count, too."""
    # 4 payloads of 1460 bytes each 78 ms are 0.6 Mbit/s; connecting takes 1.5 RTT of the second.  That leaves
    # 33 ms one way, of which the drawn delay takes 16 ms or less in four fifths of the replications.
    assert answer.holds is not None
    assert answer.fails is not None
    assert 0.01 <= answer.holds <= 0.016 < 0.019 <= answer.fails <= 0.025
    assert answer.likely is not None
    assert answer.holds <= answer.likely <= answer.fails
    assert answer.monotone
    assert answer.binding == "goodput"
    verdicts = [point.verdict for point in answer.curve]
    assert verdicts == sorted(verdicts, reverse=True)
    for point in answer.curve:
        [share] = point.shares
        assert share.low <= share.probability <= share.high
        assert share.low < 0.8 or point.verdict == HOLDS
        assert share.high >= 0.8 or point.verdict == FAILS


def test_more_of_a_resource_helps(answer: Answer) -> None:
    [gain] = answer.gains
    assert gain.probability[1] >= gain.probability[0]
    assert gain.moved is not None
    move, low, high = gain.moved
    assert 0 < low <= move <= high
    assert gain.answer[1] - gain.answer[0] == pytest.approx(move)
    assert gain.resource.before == "2000000 bit/s"


def test_answer_does_not_depend_on_threads_or_interruptions(answer: Answer, tmp_path: Path) -> None:
    asked = answer.plan
    assert same(plan(asked, target="cpu", threads=1)) == same(answer)

    def interrupt(state: runs.State) -> None:
        if state.replications > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan(asked, folder=tmp_path, target="cpu", progress=interrupt)
    journal = tmp_path / JOURNAL
    kept = journal.read_text()
    assert kept
    journal.write_text(kept[:-20])  # the last line is cut off
    resumed = plan(asked, folder=tmp_path, target="cpu")
    assert same(resumed) == same(answer)
    assert resumed.cost["simulated"] < resumed.cost["replications"]
    again = plan(asked, folder=tmp_path, target="cpu")
    assert same(again) == same(answer)
    assert again.cost["simulated"] == 0


def test_what_was_simulated_serves_another_requirement(tmp_path: Path) -> None:
    first = plan(make_plan(data()), folder=tmp_path, target="cpu")
    other = data(requirements={"goodput": {"goal": "goodput_bps >= 0.6 Mbit/s", "probability": "75 %"}})
    second = plan(make_plan(other), folder=tmp_path, target="cpu")
    assert second.cost["simulated"] < second.cost["replications"]
    assert second.likely is not None and first.likely is not None
    assert second.likely >= first.likely


class Made:
    """Trials of a given curve instead of a network."""

    curve: list[float] = []

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return Coins(np.array(cls.curve), seed=3)


def on_curve(monkeypatch: pytest.MonkeyPatch, curve: list[float], **changes: Any) -> Answer:
    """The answer of a plan whose requirement holds so probably at queues of 1, 2, ..."""
    monkeypatch.setattr(runs, "Trials", Made)
    monkeypatch.setattr(Made, "curve", curve)
    asked = {
        "scenario": {
            "duration": "1 s",
            "transport": {"protocol": "newreno"},
            "hops": [{"rate": "1 Mbit/s", "delay": "1 ms", "queue": 1}],
        },
        "quantity": {"name": "queue", "field": "hops.0.queue", "linear": [1, len(curve)]},
        "requirements": {"it": {"goal": "goodput_bps >= 0.5 bit/s", "probability": 0.9}},
    }
    return plan(make_plan({**asked, **changes}))


def test_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    found = on_curve(monkeypatch, [0.2, 0.5, 0.8, 0.97, 0.99, 1.0], find="smallest")
    assert (found.holds, found.fails, found.undecided) == (4, 3, [])
    assert [point.value for point in found.curve] == [6, 5, 4, 3, 2, 1]


def test_undecided_values_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = on_curve(monkeypatch, [1.0, 0.99, 0.9, 0.9, 0.7, 0.1], replications=500)
    assert (found.holds, found.fails) == (2, 5)
    assert found.undecided == [3, 4]


@pytest.mark.parametrize(("curve", "ends"), [([1.0] * 5, (5, None)), ([0.0] * 5, (None, 1))])
def test_no_border_among_the_values(
    monkeypatch: pytest.MonkeyPatch, curve: list[float], ends: tuple[float | None, float | None]
) -> None:
    found = on_curve(monkeypatch, curve)
    assert (found.holds, found.fails) == ends
    assert found.likely is None


def test_a_curve_that_rises_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not on_curve(monkeypatch, [1.0, 0.3, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1]).monotone
    assert on_curve(monkeypatch, [1.0, 1.0, 1.0, 0.95, 0.8, 0.1, 0.1, 0.1]).monotone


def test_several_requirements_and_expressions() -> None:
    asked = data(
        requirements={
            "goodput": {"goal": "goodput_bps >= 0.3 Mbit/s", "probability": 0.8},
            "delay": {"goal": "mean_rtt_s - 2 * delay <= 45 ms", "probability": 0.9},
        }
    )
    found = plan(make_plan(asked), target="cpu")
    goodput, delay = found.plan.requirements
    assert delay.bound == 0.045
    assert (goodput.at_least, delay.at_least) == (True, False)
    board = Board(found.plan, Trials(found.plan.outcomes, target="cpu"))
    assert board.fails_level == board.holds_level / 2
    assert found.alone["delay"] is None  # the drawn delay alone decides
    assert found.binding == "goodput"


def test_derived_fields() -> None:
    asked = data(
        quantity={"name": "rtt", "linear": ["10 ms", "50 ms"], "points": 5},
        derive={"hops.0.delay": "rtt / 2", "transport.window": "rtt * 200"},
    )
    made = make_plan(asked)
    scenario = made.scenario(0.02)
    assert scenario.paths[0].hops[0].delay == 0.01  # type: ignore[union-attr]
    assert scenario.transport.window == 4  # type: ignore[union-attr]


def test_a_cheap_fidelity_says_so() -> None:
    asked = data(
        scenario={
            "duration": "10 s",
            "fidelity": "formula",
            "transport": {"protocol": "newreno"},
            "shared": {
                "dumbbell": {"rate": {"uniform": ["4 Mbit/s", "12 Mbit/s"]}, "delay": "5 ms"},
                "flows": [{"count": 2, "each": {}}],
            },
        },
        quantity={"name": "flows", "field": "shared.flows.0.count", "linear": [2, 16]},
        requirements={"share": {"goal": "goodput_bps / flows >= 1 Mbit/s", "probability": 0.75}},
    )
    found = plan(make_plan(asked))
    assert found.holds is not None and found.fails is not None
    assert found.holds <= 5 < 7 <= found.fails + 1  # 12 - 8 * 0.75 = 6 Mbit/s at least, less headers
    assert "no packet was simulated" in words.explanation(found)
    assert found.record()["fidelity"] == "formula"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_plans(file: Path) -> None:
    loaded: Plan = load_plan(file)
    assert loaded.name == file.stem
    assert loaded.description
    assert loaded.requirements


def test_file_in_the_documentation_is_a_plan(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "planning.md").read_text()
    [text] = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "users.yaml").write_text(text)
    assert load_plan(tmp_path / "users.yaml").quantity == "users"


WRONG = [
    ({"quantity": {"name": "delay", "field": "hops.0.dela", "linear": [1, 2]}}, "did you mean 'delay'?"),
    ({"quantity": {"field": "hops.0.delay", "linear": ["1 ms", "9 ms"]}}, "write step: 10 ms"),
    ({"quantity": {"name": "delay", "linear": ["1 ms", "9 ms"], "points": 3}}, "sets nothing"),
    ({"quantity": {"field": "hops.0.delay", "linear": ["9 ms", "1 ms"], "points": 3}}, "falling order"),
    ({"quantity": {"field": "hops.0.delay", "log": ["0 ms", "1 ms"], "points": 3}}, "raise the lower end"),
    ({"quantity": {"field": "hops.0.queue", "linear": [1, 9], "step": 0.5}}, "whole step"),
    ({"quantity": {"field": "hops.0.queue", "linear": [0, 9]}}, "write 1 packets or more"),
    ({"quantity": {"field": "hops.0.delay", "linear": ["1 B", "9 B"], "points": 3}}, "wrong unit 'B'"),
    ({"quantity": {"field": "hops.0.delay", "values": ["1 ms", "9 ms"], "points": 3}}, "remove points"),
    ({"quantity": {"name": "2x", "field": "hops.0.delay", "values": ["1 ms", "9 ms"]}}, "plain word"),
    ({"requirements": {"a": "goodput >= 1 Mbit/s"}}, "did you mean 'goodput_bps'?"),
    ({"requirements": {"a": "goodput_bps = 1"}}, "is no comparison"),
    ({"requirements": {"a": "goodput_bps" + " " * 40_000 + "\nb"}}, "at most 1000 characters"),
    ({"requirements": {"a": "goodput_bps >= 1 s"}}, "wrong unit 's'"),
    ({"requirements": {"a": "delay >= 1 s"}}, "has no outcome in it"),
    ({"requirements": {"a": {"goal": "goodput_bps >= 1 bit/s", "probability": 1}}}, "write 99.9 %"),
    ({"requirements": {}}, "requirements"),
    ({"replications": 20}, "replications = 20 cannot show what is asked; allowed is"),
    ({"confidence": "0 %"}, "confidence = 0 %"),
    ({"find": "best"}, "'largest' or 'smallest'"),
    ({"resources": {"x": {"field": "hops.0.delay", "add": "1 ms"}}}, "is what is planned"),
    ({"resources": {"x": {"field": "hops.1.delay", "add": "1 ms"}}}, "write to:"),
    ({"resources": {"x": {"field": "hops.0.rate"}}}, "needs one of add and to"),
    ({"derive": {"hops.1.delay": "dely / 2"}}, "did you mean 'delay'?"),
    ({"scenaro": {}}, "did you mean 'scenario'?"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_mistakes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make_plan(data(**changes))


def test_command(tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(json.dumps(data()))
    run = CliRunner()
    out = tmp_path / "out"
    done = run.invoke(app, ["plan", str(file), "--out", str(out), "--target", "cpu"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Delay: ")
    record = json.loads((out / "result.json").read_text())
    assert record["name"] == "small"
    assert record["holds"] < record["fails"]
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")
    again = run.invoke(app, ["plan", str(file), "--out", str(out), "--target", "cpu", "--json"])
    told = json.loads(again.output)
    assert told["cost"]["simulated"] == 0
    assert told["curve"] == record["curve"]
    other = run.invoke(app, ["plan", str(file), "--set", "confidence=2", "--target", "cpu"])
    assert other.exit_code == 2
    assert "confidence = 2" in other.output


def test_mistake_points_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "scenario: {duration: 1 s, transport: {protocol: newreno}, hops: [{rate: 1 Mbit/s, delay: 1 ms}]}\n"
        "quantity: {field: hops.0.queue, linear: [1, 9]}\n"
        "requirements: {a: goodput_bps >= 1 furlong}\n"
    )
    with pytest.raises(InputError, match=r"wrong.yaml:3: requirements: a: '1 furlong'"):
        load_plan(file)
