"""Plans: files, answers that are equal to the bit, resources, and the command."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from signal import SIGINT
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.planning import Answer, Plan, load_plan, make_plan, plan
from netcarlo.planning import run as runs
from netcarlo.planning.ledger import Ledger
from netcarlo.planning.runner import JOURNAL, ReplicationRunner
from netcarlo.planning.search import FAILS, HOLDS, OPEN
from netcarlo.reports.plan import wording
from tests.campaigns.verification.plan_coverage import Coins

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "configs" / "plans").glob("*.yaml"))


def data(**changes: Any) -> dict[str, Any]:
    """Return a plan that takes one second: the largest delay for a short round-trip time."""
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
    """Return an answer without its effort."""
    return json.dumps({**answer.record(), "cost": None, "provenance": None})


@pytest.fixture(scope="module")
def answer() -> Answer:
    resources = {"rate": {"field": "hops.0.rate", "add": "1 Mbit/s"}}
    return plan(make_plan(data(resources=resources)), target="cpu")


@pytest.mark.full
def test_answer(answer: Answer) -> None:
    """Goodput is window / RTT, which includes the transmission times of packets."""
    # 4 payloads of 1460 bytes every 78 ms are 0.6 Mbit/s; the handshake takes 1.5 RTT of the 1 s. This leaves
    # # 33 ms one way; in 80 % of the replications the random delay is at most 16 ms of it.
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


@pytest.mark.full
def test_more_of_a_resource_helps(answer: Answer) -> None:
    [gain] = answer.gains
    assert gain.probability[1] >= gain.probability[0]
    assert gain.moved is not None
    move, low, high = gain.moved
    assert 0 < low <= move <= high
    assert gain.answer[1] - gain.answer[0] == pytest.approx(move)
    assert gain.resource.before == "2000000 bit/s"


@pytest.mark.full
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
    journal.write_text(kept[:-20])  # the last line is truncated
    resumed = plan(asked, folder=tmp_path, target="cpu")
    assert same(resumed) == same(answer)
    assert resumed.cost["simulated"] < resumed.cost["replications"]
    again = plan(asked, folder=tmp_path, target="cpu")
    assert same(again) == same(answer)
    assert again.cost["simulated"] == 0


@pytest.mark.full
def test_what_was_simulated_serves_another_requirement(tmp_path: Path) -> None:
    first = plan(make_plan(data()), folder=tmp_path, target="cpu")
    other = data(requirements={"goodput": {"goal": "goodput_bps >= 0.6 Mbit/s", "probability": "75 %"}})
    second = plan(make_plan(other), folder=tmp_path, target="cpu")
    assert second.cost["simulated"] < second.cost["replications"]
    assert second.likely is not None and first.likely is not None
    assert second.likely >= first.likely


class Made:
    """Replications of a given curve instead of a network."""

    curve: list[float] = []

    def __new__(cls, *_: Any, **__: Any) -> Any:
        return Coins(np.array(cls.curve), seed=3)


def on_curve(monkeypatch: pytest.MonkeyPatch, curve: list[float], **changes: Any) -> Answer:
    """Return the answer of a plan whose requirement holds with these probabilities at queues of 1, 2, ..."""
    monkeypatch.setattr(runs, "ReplicationRunner", Made)
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


@pytest.mark.full
def test_an_answer_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer of a plan about coins: decisions, replications and band of each value, as recorded
    earlier."""
    curve = [1.0, 0.99, 0.96, 0.88, 0.7, 0.1]
    found = on_curve(monkeypatch, curve)
    assert (found.holds, found.fails, found.undecided) == (3, 5, [4])
    ledger = Ledger(found.plan, Coins(np.array(curve), seed=3))
    verdicts = [ledger.decide(i, 4000) for i in range(len(curve))]
    points = [*zip(verdicts, ledger.points(range(len(curve))), strict=True)]
    assert [(verdict, point.replications) for verdict, point in points] == [
        (HOLDS, 72), (HOLDS, 72), (HOLDS, 243), (OPEN, 4000), (FAILS, 48), (FAILS, 32)
    ]  # fmt: skip
    bands = [(share.low, share.high) for _, point in points for share in point.shares]
    assert np.array(bands) == pytest.approx(np.array([
        (0.8891896877, 1), (0.8891896877, 1), (0.9149395047, 0.9950957487), (0.8622837645, 0.9016208824),
        (0.4073520206, 0.8922174298), (0.0151332225, 0.5140250296),
    ]), abs=1e-9)  # fmt: skip


@pytest.mark.parametrize(("curve", "ends"), [([1.0] * 5, (5, None)), ([0.0] * 5, (None, 1))])
def test_no_border_among_the_values(
    monkeypatch: pytest.MonkeyPatch, curve: list[float], ends: tuple[float | None, float | None]
) -> None:
    found = on_curve(monkeypatch, curve)
    assert (found.holds, found.fails) == ends
    assert found.likely is None


@pytest.mark.full
def test_a_curve_that_rises_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not on_curve(monkeypatch, [1.0, 0.3, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1]).monotone
    assert on_curve(monkeypatch, [1.0, 1.0, 1.0, 0.95, 0.8, 0.1, 0.1, 0.1]).monotone


@pytest.mark.full
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
    ledger = Ledger(found.plan, ReplicationRunner(found.plan.outcomes, target="cpu"))
    assert ledger.fails_level == ledger.holds_level / 2
    assert found.alone["delay"] is None  # only the drawn delay decides
    assert found.binding is None  # both requirements hold at all values
    assert "No constraint is active." in wording.explanation(found)
    assert "active constraint: none" in repr(found)
    assert found.record()["binding"] is None


def test_derived_fields() -> None:
    asked = data(
        quantity={"name": "rtt", "linear": ["10 ms", "50 ms"], "points": 5},
        derive={"hops.0.delay": "rtt / 2", "transport.window": "rtt * 200"},
    )
    made = make_plan(asked)
    scenario = made.scenario(0.02)
    assert scenario.paths[0].hops[0].delay == 0.01  # type: ignore[union-attr]
    assert scenario.transport.window == 4  # type: ignore[union-attr]


@pytest.mark.full
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
    assert found.holds <= 5 < 7 <= found.fails + 1  # at least 12 - 8 * 0.75 = 6 Mbit/s, minus headers
    assert "an approximation without simulated packets" in wording.explanation(found)
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


RATE = {"name": "rate", "field": "hops.0.rate", "values": ["1 Mbit/s", "2 Mbit/s", "8 Mbit/s"]}
WRONG = [
    ({"quantity": {"name": "delay", "field": "hops.0.dela", "linear": [1, 2]}}, "mean 'hops.0.delay'?"),
    ({"quantity": {"field": "hops.0.delay", "linear": ["1 ms", "9 ms"]}}, "write step: 10 ms"),
    ({"quantity": {"name": "delay", "linear": ["1 ms", "9 ms"], "points": 3}}, "sets no field"),
    ({"quantity": {"field": "hops.0.delay", "linear": ["9 ms", "1 ms"], "points": 3}}, "do not increase"),
    ({"quantity": {"field": "hops.0.delay", "log": ["0 ms", "1 ms"], "points": 3}}, "a lower end above 0"),
    ({"quantity": {"field": "hops.0.queue", "linear": [1, 9], "step": 0.5}}, "integer step"),
    ({"quantity": {"field": "hops.0.queue", "linear": [0, 9]}}, "write 1 or more"),
    ({"quantity": {"field": "hops.0.delay", "linear": ["1 B", "9 B"], "points": 3}}, "wrong unit 'B'"),
    ({"quantity": {"field": "hops.0.delay", "values": ["1 ms", "9 ms"], "points": 3}}, "remove points"),
    ({"quantity": {"name": "2x", "field": "hops.0.delay", "values": ["1 ms", "9 ms"]}}, "is not allowed"),
    ({"quantity": {"field": "precision", "values": ["1 %", "2 %"]}}, "precision has no effect"),
    ({"requirements": {"a": "goodput >= 1 Mbit/s"}}, "did you mean 'goodput_bps'?"),
    ({"requirements": {"a": "goodput_bps = 1"}}, "is not a comparison"),
    ({"requirements": {"a": "goodput_bps" + " " * 40_000 + "\nb"}}, "at most 1000 characters"),
    ({"requirements": {"a": "goodput_bps >= 1 s"}}, "wrong unit 's'"),
    ({"requirements": {"a": "loss_ratio <= 2"}}, "is a share from 0 to 1, not 2"),
    ({"requirements": {"a": "delay >= 1 s"}}, "contains no outcome"),
    ({"requirements": {"a": {"goal": "goodput_bps >= 1 bit/s", "probability": 1}}}, "write 99.9 %"),
    ({"requirements": {}}, "requirements"),
    ({"replications": 20}, "replications = 20 is too small to decide the requirements; expected"),
    ({"confidence": "0 %"}, "confidence = 0 %"),
    ({"find": "best"}, "'largest' or 'smallest'"),
    ({"resources": {"x": {"field": "hops.0.delay", "add": "1 ms"}}}, "is set by the quantity"),
    ({"resources": {"x": {"field": "hops.1.delay", "add": "1 ms"}}}, "write to:"),
    ({"resources": {"x": {"field": "hops.0.rate"}}}, "needs exactly one of add and to"),
    ({"resources": {"x": {"field": "transport.protocol", "to": "sak"}}}, "did you mean 'sack'"),
    ({"resources": {"x": {"field": "transport.protocol", "add": "sack"}}}, "is not a number"),
    ({"derive": {"hops.1.delay": "dely / 2"}}, "did you mean 'delay'?"),
    ({"scenaro": {}}, "did you mean 'scenario'?"),
    ({"quantity": {"name": "goodput_bps", "field": "hops.0.delay", "values": ["1 ms", "2 ms"]}}, "outcome"),
    ({"requirements": {"a": "goodput_bps and 5 >= 1"}}, "a: 'goodput_bps and 5' has no value at"),
    ({"requirements": {"a": "goodput_bps if goodput_bps else delay >= 1"}}, "has no value at delay"),
    ({"requirements": {"a": "'goodput_bps' >= 1"}}, "has no value at delay"),
    ({"requirements": {"a": f"goodput_bps * {'9' * 400} >= 1"}}, "has no value at delay"),
    ({"requirements": {"a": "goodput_bps * 'a' >= 1"}}, "has no value at delay"),
    ({"requirements": {"a": "max() + goodput_bps >= 1"}}, "has no value at delay"),
    ({"requirements": {"a": "goodput_bps / 0 >= 1"}}, "it is never a finite number"),
    ({"requirements": {"a": "goodput_bps / (1 / (delay - 0.004)) >= 1"}}, "has no value here"),
    ({"requirements": {"a": "delay_p95_s <= 50 ms"}}, "'delay_p95_s' is not measured here"),
    ({"requirements": {"a": "completion_s <= 1 s"}}, "'completion_s' is not measured here"),
    ({"requirements": {"a": "longest_silence_s + goodput_bps <= 1 s"}}, "'longest_silence_s' is not"),
    ({"derive": {"hops.1.rate": "2e6 + 0 / (delay - 0.004)"}}, "derive.hops.1.rate: '2e6"),
    ({"resources": {"x": {"field": "transport.bytes", "to": "1 MB"}}}, "transport.bytes is not set"),
    ({"cost": "delay"}, "cost needs a second quantity; write across"),
    ({"across": {"name": "delay", "field": "hops.0.rate", "values": [1, 2]}}, "have the same name"),
    ({"across": {"field": "hops.0.rat", "values": [1, 2]}}, "did you mean 'hops.0.rate'?"),
    ({"across": {"field": "hops.0.queue", "values": [9, 99999]}}, "across: paths.0.hops.0.queue = 99999"),
    ({"across": {"field": "hops.0.delay", "values": ["1 ms", "2 ms"]}}, "across: hops.0.delay is set"),
    ({"across": RATE, "derive": {"hops.0.rate": "rate"}}, "derive: hops.0.rate is set by"),
    ({"across": {**RATE, "values": None, "log": ["1 Mbit/s", "9 Mbit/s"], "points": 1000}}, "than 10000"),
    ({"derive": {"hops.1.queue": "9 ** 9 ** 9 ** 9 + delay"}}, "has no value at delay = 0.001 (inf)"),
    ({"across": {"name": "rate", "field": "hops.0.rate", "values": ["9 kB/s", "1 kB/s"]}}, "do not increase"),
    ({"across": RATE, "cost": "rat + delay"}, "'rat' is neither an outcome nor a column; did you mean"),
    ({"across": RATE, "cost": "1 / (delay - 0.019)"}, "cost: '1 / (delay - 0.019)' has no value"),
    ({"across": RATE, "cost": "sqrt(delay - 0.019)"}, "has no value at delay = 0.001 (nan)"),
    ({"across": RATE, "resources": {"x": {"field": "hops.0.queue", "to": 9}}}, "cannot be combined"),
    ({"across": RATE, "replications": 40}, "replications = 40 is too small"),
]  # fmt: skip


def test_a_resource_may_be_a_word() -> None:
    resources = {"selective acknowledgements": {"field": "transport.protocol", "to": "sack"}}
    asked = make_plan(data(resources=resources))
    (resource,) = asked.resources
    assert asked.scenario(asked.values[0], resource).transport.protocol == "sack"
    shown = [wording.resource_text(asked, resource, more=more) for more in (False, True)]
    assert shown == ["newreno", "sack"]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_mistakes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make_plan(data(**changes))


@pytest.mark.full
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


@pytest.mark.full
def test_a_measure_may_be_the_same_in_all_replications() -> None:
    """A measure that depends only on the quantity holds in all replications or in none."""
    goal = {"goal": "0 * goodput_bps + 3 if delay > 0.02 else 5 >= 4", "probability": 0.8}
    found = plan(make_plan(data(requirements={"a": goal})), target="cpu")
    assert (found.holds, found.fails) == (0.019, 0.022)


def test_a_cheap_fidelity_decides_only_what_its_bias_is_known_of() -> None:
    """Plans refuse fluid and formula for a requirement whose bias is unknown: 11 downloads fit by
    packets, none by them."""
    asked = load_plan(ROOT / "configs" / "plans" / "shared_link_flows.yaml")
    assert {name for r in asked.requirements for name in r.outcomes} > {"loss_ratio"}
    for cheap in ("formula", "fluid"):
        values = {"scenario.fidelity": cheap}
        with pytest.raises(InputError, match=f"fidelity = {cheap} cannot decide about"):
            load_plan(ROOT / "configs" / "plans" / "shared_link_flows.yaml", values=values)


@pytest.mark.full
def test_little_is_spent_beside_the_answer(answer: Answer) -> None:
    """Few replications are spent on values far from the answer, and few on the effect of a resource."""
    assert answer.holds is not None and answer.fails is not None
    far = [p for p in answer.curve if not answer.holds <= p.value <= answer.fails]
    assert sum(p.replications for p in far) <= 64 * len(far)
    [gain] = answer.gains
    assert gain.moved is not None
    search = sum(point.replications for point in answer.curve)
    assert answer.cost["replications"] <= search + 4 * 200 + 6 * 32


def stopped(at: int, why: str = "interrupted", **changes: Any) -> Answer:
    """Return the answer of a plan that is stopped after a number of replications."""

    def stop(state: runs.State) -> None:
        if state.replications > at:
            raise runs.Stopped(why)

    return plan(make_plan(data(**changes)), target="cpu", progress=stop)


def test_a_stopped_plan_answers_with_what_it_knows(answer: Answer) -> None:
    resources = {"rate": {"field": "hops.0.rate", "add": "1 Mbit/s"}}
    found = stopped(at=200, resources=resources)
    assert found.stopped == "interrupted"
    assert found.decided
    assert found.undecided
    for mine, whole in ((found.holds, answer.holds), (answer.fails, found.fails)):
        assert mine is None or whole is None or mine <= whole
    text = wording.explanation(found)
    assert "not decided yet. The plan was stopped (interrupted): " in text
    tried = f"{found.cost['values']} of {found.cost['of_values']} values were tried"
    assert tried in text
    assert "the effect of more of these resources was not computed: rate" in text
    assert found.record()["stopped"] == "interrupted"
    assert answer.record()["stopped"] is None
    with pytest.raises(runs.Stopped):
        stopped(at=-1)


def test_a_plan_stopped_while_it_writes_its_answer_has_it(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time limit that ends after the last replication loses nothing."""
    hashed = iter([runs.Stopped("after 10 s")])

    def model_version() -> str:
        for ends in hashed:
            raise ends
        return answer.provenance["model_version"]  # type: ignore[no-any-return]

    monkeypatch.setattr(runs, "model_version", model_version)
    found = plan(make_plan(data()), target="cpu")
    assert (found.holds, found.fails) == (answer.holds, answer.fails)
    assert found.to_frame().equals(answer.to_frame())


@pytest.mark.full
@pytest.mark.parametrize("signal", ["time", "interrupt"])
def test_command_answers_when_it_is_stopped(tmp_path: Path, signal: str) -> None:
    """`--time` and Ctrl-C end a plan that would take hours with an answer and its page."""
    slow = data(confidence="99.9999 %", replications=10_000_000)
    slow["scenario"]["fidelity"] = "formula"  # nothing is compiled
    slow["quantity"] = {**slow["quantity"], "step": "0.01 ms"}
    slow["requirements"] = {"goodput": {"goal": "goodput_bps >= 0.6 Mbit/s", "probability": "79.9 %"}}
    (tmp_path / "slow.yaml").write_text(json.dumps(slow))
    options = ["--out", "out", "-q", "--target", "cpu"]
    command = [sys.executable, "-m", "netcarlo.cli.main", "plan", "slow.yaml", *options]
    begun = time.monotonic()
    if signal == "time":
        command += ["--time", "4 s"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if signal == "interrupt":
            journal = tmp_path / "out" / JOURNAL
            while not journal.exists() or len(journal.read_text().splitlines()) < 60:
                time.sleep(0.1)
                assert time.monotonic() - begun < 60
            process.send_signal(SIGINT)
        told, said = (text.decode() for text in process.communicate(timeout=60))
    assert process.returncode == (0 if signal == "time" else 130), said
    assert told.startswith("Delay: ")
    assert f"stopped ({'after 4.0 s' if signal == 'time' else 'interrupted'})" in " ".join(told.split())
    assert "the same command continues" in said
    assert json.loads((tmp_path / "out" / "result.json").read_text())["undecided"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "netcarlo plan slow.yaml" in page


@pytest.mark.full
def test_a_damaged_journal_is_noticed_and_its_runs_made_again(answer: Answer, tmp_path: Path) -> None:
    """Altered outcomes and short lines of a journal are detected, and their runs repeated."""
    asked = answer.plan
    plan(asked, folder=tmp_path, target="cpu")
    journal = tmp_path / JOURNAL
    whole = [line for line in journal.read_text().splitlines() if line]
    altered, shorter, typed = (json.loads(line) for line in whole[:3])
    altered["outcomes"]["goodput_bps"][0] *= 2
    shorter["outcomes"]["goodput_bps"].pop()
    typed["first"] = "a"
    lines = [*map(json.dumps, (altered, shorter, typed)), "[]", "5", '{"sha256": 1}', *whole[3:]]
    journal.write_text("\n".join(lines))
    again = plan(asked, folder=tmp_path, target="cpu")
    assert same(again) == same(answer)
    assert again.cost["damaged"] == 6
    assert again.cost["simulated"] > 0
    assert "6 damaged lines of runs.jsonl did not count" in wording.spent(again.cost)


def test_mistake_in_the_scenario_points_at_its_line(tmp_path: Path) -> None:
    hops = "hops:\n  - {rate: 1 Mbit/s, delay: 1 furlong}\n"
    scenario = "duration: 1 s\ntransport: {protocol: newreno}\n" + hops
    rest = "quantity: {field: hops.0.queue, linear: [1, 9]}\nrequirements: {a: goodput_bps >= 1 bit/s}\n"
    (tmp_path / "scn.yaml").write_text(scenario)
    (tmp_path / "two.yaml").write_text("scenario: scn.yaml\n" + rest)
    with pytest.raises(InputError, match=r"scn.yaml:4: .*delay"):
        load_plan(tmp_path / "two.yaml")
    inside = "".join(f"  {line}\n" for line in scenario.splitlines())
    (tmp_path / "one.yaml").write_text("scenario:\n" + inside + rest)
    with pytest.raises(InputError, match=r"one.yaml:5: .*delay"):
        load_plan(tmp_path / "one.yaml")


def test_mistake_points_at_its_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "scenario: {duration: 1 s, transport: {protocol: newreno}, hops: [{rate: 1 Mbit/s, delay: 1 ms}]}\n"
        "quantity: {field: hops.0.queue, linear: [1, 9]}\n"
        "requirements: {a: goodput_bps >= 1 furlong}\n"
    )
    with pytest.raises(InputError, match=r"wrong.yaml:3: requirements: a: '1 furlong'"):
        load_plan(file)
