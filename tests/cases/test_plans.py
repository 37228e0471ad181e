"""Plans: losses that a delay does not show, loads above capacity, and interrupted plans."""

import json
import re
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from netcarlo import estimate
from netcarlo.cli.main import app
from netcarlo.planning import Answer, Frontier, Stopped, frontier, make_plan, plan
from netcarlo.reports.frontier import wording as of_two
from netcarlo.reports.frontier.page import frontier_page
from netcarlo.reports.plan import wording
from netcarlo.reports.plan.page import plan_page
from netcarlo.scenario import Scenario
from netcarlo.schema.notes import Note
from netcarlo.simulation import cautions
from netcarlo.sweeps.space.file import load_sweep

CALL = {"protocol": "udp", "rate": "4 Mbit/s", "payload": "972 B", "class": "call", "late": "50 ms"}
SHORT = {"rate": "8 Mbit/s", "delay": "2 ms", "queue": 8}


def streams(**changes: Any) -> dict[str, Any]:
    """Return a plan: the largest rate of a stream over a link with a short queue, if its packets may not
    wait."""
    return {
        "name": "call", "replications": 400,
        "scenario": {"duration": "4 s", "transport": dict(CALL), "hops": [dict(SHORT)]},
        "quantity": {"name": "rate", "field": "transport.rate", "linear": ["6 Mbit/s", "10 Mbit/s"],
                     "step": "1 Mbit/s"},
        "requirements": {"wait": "call_delay_p95_s <= 50 ms"},
    } | changes  # fmt: skip


BURSTS = {"rate": "4 Mbit/s", "on": "1 s", "off": "1 s"}


@pytest.fixture(scope="module")
def lossy() -> Answer:
    return plan(make_plan(streams()), target="cpu")


@pytest.mark.full
def test_a_delay_does_not_hide_its_loss(lossy: Answer) -> None:
    """All answers say that a fifth of the packets is lost at 10 Mbit/s on 8, although no delivered packet
    is late."""
    assert lossy.holds == 10e6 and lossy.binding is None
    [loss] = lossy.losses
    assert loss.share == pytest.approx(1 - 8 / (10 * 1000 / 972), abs=0.02)
    first, second = lossy.warnings
    assert "call loses 2" in first and "`call in time: call_in_time >= 95 %`" in first
    assert "offer 10.29 Mbit/s to hops.0, which carries 8 Mbit/s" in second
    record = json.loads(json.dumps(lossy.record(), allow_nan=False))
    assert record["warnings"] == lossy.warnings
    assert record["losses"][0]["share"] == loss.share and record["overload"]["link"] == "hops.0"
    page = plan_page(lossy)
    assert page.count('<div class="verdict open" role="note">') == 2 and "call_in_time" in page
    assert 'class="verdict good"' not in page


@pytest.mark.full
def test_the_remedy_can_be_pasted(lossy: Answer, tmp_path: Path) -> None:
    """The requirement that the warning suggests is accepted, and gives the intended answer."""
    remedy = lossy.warnings[0].split("`")[1]
    text = yaml.safe_dump(streams()).rstrip() + "\n"
    (tmp_path / "call.yaml").write_text(text.replace("requirements:\n", f"requirements:\n  {remedy}\n"))
    done = CliRunner().invoke(app, ["plan", str(tmp_path / "call.yaml"), "--json", "--target", "cpu"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["holds"] == 8e6 and record["binding"] == "call in time"
    assert record["losses"][0]["bounded"] and record["losses"][0]["warning"] is None
    assert all("offer 8.23 Mbit/s to hops.0" in text for text in record["warnings"])  # also with in_time


@pytest.mark.full
def test_the_terminal_warns(tmp_path: Path) -> None:
    (tmp_path / "call.yaml").write_text(json.dumps(streams()))
    done = CliRunner().invoke(app, ["plan", str(tmp_path / "call.yaml"), "-q", "--target", "cpu"])
    assert done.output.count("Warning: ") == 2 and "No constraint is active." in done.output


@pytest.mark.full
def test_a_small_loss_is_reported_without_a_warning() -> None:
    hop = SHORT | {"loss": "0.5 %", "rate": "20 Mbit/s"}
    scenario = {"duration": "4 s", "transport": dict(CALL), "hops": [hop]}
    found = plan(make_plan(streams(scenario=scenario)), target="cpu")
    assert found.warnings == [] and found.losses[0].share == pytest.approx(0.005, abs=0.002)
    assert re.search(r"At 10 Mbit/s call loses 0\.\d\d % of its packets\.", wording.explanation(found))


@pytest.mark.full
def test_what_is_retransmitted_is_in_the_delay() -> None:
    hop = {"rate": "10 Mbit/s", "delay": "5 ms", "queue": 50, "loss": "3 %"}
    transport = {"protocol": "newreno", "class": "bulk", "window": 30}
    asked = streams(
        scenario={"duration": "4 s", "transport": transport, "hops": [hop]},
        quantity={"name": "window", "field": "transport.window", "linear": [10, 12]},
        requirements={"wait": "bulk_delay_p95_s <= 10 s"},
    )
    found = plan(make_plan(asked), target="cpu")
    assert found.warnings == [] and found.losses[0].share > 0.01
    assert "all of which are retransmitted" in wording.explanation(found)


@pytest.mark.full
def test_an_estimate_warns(tmp_path: Path) -> None:
    fast = CALL | {"rate": "10 Mbit/s"}
    scenario = {"duration": "4 s", "replications": 8, "transport": fast, "hops": [SHORT]}
    found = estimate(scenario, goals=["call_delay_p95_s <= 50 ms"], target="cpu")
    assert len(found.warnings) == 2 and "--goal 'call_in_time >= 95 %'" in found.warnings[0]
    bounded = estimate(scenario, goals=["call_delay_p95_s <= 50 ms", "call_in_time >= 95 %"], target="cpu")
    assert len(bounded.warnings) == 1 and "offer" in bounded.warnings[0]
    (tmp_path / "call.yaml").write_text(json.dumps(scenario))
    command = ["estimate", str(tmp_path / "call.yaml"), "--target", "cpu"]
    done = CliRunner().invoke(app, command)
    assert "warning: constant-rate flows offer" in done.output
    told = CliRunner().invoke(app, [*command, "--json"])
    assert len(json.loads(told.stdout)["warnings"]) == 1


def test_goals_of_a_sweep_are_noted(tmp_path: Path) -> None:
    """A goal on a delay is noted to exclude losses; the goal of the note is accepted without a further
    note."""
    data = {
        "scenario": {"duration": "4 s", "transport": dict(CALL), "hops": [dict(SHORT)]},
        "axes": {"rate": {"field": "transport.rate", "values": ["6 Mbit/s", "10 Mbit/s"]}},
        "goals": {"wait": "call_delay_p95_s <= 50 ms"},
    }
    file = tmp_path / "sweep.yaml"
    file.write_text(json.dumps(data))
    with pytest.warns(Note, match="call_arrives: call_in_time >= 95 %"):
        load_sweep(file)
    data["goals"]["call_arrives"] = "call_in_time >= 95 %"
    file.write_text(json.dumps(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "call_arrives" in load_sweep(file).goals


@pytest.mark.parametrize(
    ("flows", "link"),
    [
        ([{"count": 50, "each": {"udp": {"rate": "4 Mbit/s", "payload": "1200 B"}}}], "shared.dumbbell"),
        ([{"count": 48, "each": {"udp": {"rate": "4 Mbit/s", "payload": "1200 B"}}}], ""),
        ([{"count": 80, "each": {"udp": BURSTS}}], ""),
        ([{"count": 120, "each": {"udp": BURSTS}}], "shared.dumbbell"),
        ([{"count": 60, "each": {"udp": {"rate": "4 Mbit/s", "packets": 100}}}], ""),
        ([{"count": 60, "each": {}}], ""),
    ],
)
def test_the_load_is_that_of_the_streams(flows: list[Any], link: str) -> None:
    """200 Mbit/s carry 48 streams of 4 Mbit/s with headers; TCP and flows that end are not a constant
    load."""
    dumbbell = {"rate": "200 Mbit/s", "delay": "10 ms", "queue": 133}
    asked = Scenario.check({
        "duration": "4 s", "transport": {"protocol": "newreno"},
        "shared": {"dumbbell": dumbbell, "flows": flows},
    })  # fmt: skip
    found = cautions.overload(asked)
    assert (found.link if found else "") == link
    if found:
        assert found.offered_bps > found.capacity_bps == pytest.approx(200e6)


def test_cross_traffic_and_managed_hops_count() -> None:
    for extra in ({"cross_traffic": {"rate": "6 Mbit/s"}}, {"codel": {}, "rate": "3 Mbit/s"}):
        hops = [{"rate": "20 Mbit/s", "delay": "1 ms"}, SHORT | extra]
        asked = Scenario.check({"duration": "4 s", "transport": CALL, "hops": hops})
        assert cautions.overload(asked).link == "hops.1"  # type: ignore[union-attr]


def test_an_overloaded_cell_warns_of_its_loss() -> None:
    asked = {
        "name": "cell", "replications": 200,
        "scenario": {
            "duration": "1 s", "transport": {"protocol": "udp", "rate": "2 Mbit/s", "payload": "1000 B"},
            "wireless": {"cell": {"stations": 1}, "rate": "6 Mbit/s", "queue": 2},
        },
        "quantity": {"name": "users", "field": "wireless.cell.stations", "linear": [3, 5]},
        "requirements": {"wait": "delay_p95_s <= 1 s"},
    }  # fmt: skip
    found = plan(make_plan(asked), target="cpu")
    assert "UDP loses" in found.warnings[0] and "`UDP loss: loss_ratio <= 1 %`" in found.warnings[0]


# Stopped plans. The progress callback raises `Stopped`, so the tests do not depend on a clock.

SLOW = {
    "name": "slow", "confidence": "99.9 %", "replications": 100_000,
    "scenario": {
        "duration": "1 s", "fidelity": "formula",
        "transport": {"protocol": "newreno", "window": 4, "payload": "1460 B"},
        "hops": [
            {"rate": "2 Mbit/s", "delay": "1 ms"},
            {"rate": "20 Mbit/s", "delay": {"uniform": ["0 ms", "20 ms"]}},
        ],
    },
    "quantity": {"name": "delay", "field": "hops.0.delay", "linear": ["1 ms", "40 ms"], "step": "0.1 ms"},
    "requirements": {"goodput": {"goal": "goodput_bps >= 0.6 Mbit/s", "probability": "79.9 %"}},
}  # fmt: skip
ACROSS = {
    "across": {"name": "rate", "field": "hops.0.rate", "values": ["2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]},
    "cost": "10e6 / rate + 0.001 / delay", "currency": "EUR",
}  # fmt: skip


def after(replications: int, asked: dict[str, Any], why: str = "after 60 s") -> Answer | Frontier:
    """Return the answer of a plan that is stopped after a number of replications."""

    def stop(state: Any) -> None:
        if state.replications > replications:
            raise Stopped(why)

    made = make_plan(asked)
    return (frontier if made.designs else plan)(made, target="cpu", progress=stop)


@pytest.mark.full
def test_the_reason_is_the_time() -> None:
    found = after(600, SLOW)
    assert isinstance(found, Answer) and found.undecided and not found.exhausted
    text = wording.explanation(found)
    assert "not decided within the time limit" in text and "100,000" not in text
    low, high = sorted((found.undecided[0], found.undecided[-1]))
    assert f"{wording.value(found.plan, low)} to {wording.value(found.plan, high)} are not decided" in text
    interrupted = after(600, SLOW, "interrupted")
    assert isinstance(interrupted, Answer) and "are not decided yet" in wording.explanation(interrupted)


@pytest.mark.full
def test_the_reason_is_the_replications() -> None:
    found = plan(make_plan(SLOW | {"replications": 200, "confidence": "95 %"}), target="cpu")
    assert found.undecided and found.exhausted
    assert "undecided after 200 replications each" in wording.explanation(found)


@pytest.mark.full
def test_the_cheapest_so_far_and_what_no_design_can_cost_less_than() -> None:
    found = after(900, SLOW | ACROSS)
    assert isinstance(found, Frontier) and found.cheapest is not None and found.least is not None
    assert found.missing and found.provisional
    every = [one.price(value) for one in found.missing for value in one.values]
    assert found.least.cost <= min(filter(None, every))
    head, text, page = of_two.headline(found), of_two.explanation(found), frontier_page(found)
    assert head.startswith("Cheapest so far: ")
    assert "within the time limit" in text and "were not evaluated" in text
    assert f"No design costs less than {of_two.price(found, found.least.cost)}" in text
    assert head in page.replace("\xa0", " ") and "cheapest so far" in page and "none costs less than" in page
    assert "not evaluated" in page
    record = found.record()
    assert record["so_far"]
    assert record["not_evaluated"] == [one.beside.value for one in found.missing if one.beside]
    assert record["least"]["cost"] == found.least.cost
    assert "cheapest so far" in repr(found) and "stopped (after 60 s)" in repr(found)


@pytest.mark.full
def test_no_constraint_is_active_where_all_holds(lossy: Answer) -> None:
    assert "active constraint: none" in repr(lossy) and lossy.record()["binding"] is None
    assert "<dt>active constraint</dt><dd>none " in plan_page(lossy)


@pytest.mark.full
def test_the_words_of_a_curve_are_above_it(lossy: Answer) -> None:
    """The labels of a curve are above its axis, which would overlap them at 0 %."""
    from netcarlo.reports.plan import figures

    layout = figures.curve(lossy)["layout"]
    assert not any("label" in shape for shape in layout["shapes"])
    [word] = [a for a in layout["annotations"] if a["text"] == "holds"]
    assert (word["yref"], word["y"], word["yanchor"]) == ("paper", 1, "bottom")


@pytest.mark.full
def test_the_live_page_shows_the_range_until_it_is_decided() -> None:
    """The page shows a range, not an interpolated value, until the answer is decided."""
    live = pytest.importorskip("netcarlo.live.plan_page")
    _guess, _item = live._guess, live._item
    found = after(600, SLOW)
    assert isinstance(found, Answer) and found.likely is not None
    item = _item(SimpleNamespace(plan=found.plan, answer=found, final=False), "simulating")
    assert item.text == "10.7 ms to 39.9 ms" and item.interval == "known so far"
    whole = plan(make_plan(SLOW | {"replications": 300, "confidence": "95 %"}), target="cpu")
    item = _item(SimpleNamespace(plan=whole.plan, answer=whole, final=True), "")
    assert item.text == wording.known(whole) and "point estimate" in item.interval
    near, far = {"goodput_bps": np.full(8, 1e6)}, {"goodput_bps": np.full(8, 1e5)}
    values = found.plan.values
    guess = _guess(found.plan, {values[0]: near, values[20]: near, values[50]: far})
    assert guess == f"≈ {wording.between(found.plan, [values[20], values[49]])}"
    guess = _guess(found.plan, {values[20]: near, values[21]: far})
    assert guess == f"≈ {wording.value(found.plan, values[20])}"
    assert _guess(found.plan, {values[0]: far}) == "≈ none"
    assert _guess(found.plan, {values[-1]: near}).endswith("or more")
