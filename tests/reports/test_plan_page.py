"""Report of a plan: its text, its figures, and its behaviour in a browser."""

import json
import math
import re
import xml.etree.ElementTree as ET
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import netcarlo
from netcarlo.planning import Answer, load_plan, make_plan, plan
from netcarlo.planning import run as runs
from netcarlo.reports.plan import figures, wording
from netcarlo.reports.plan.page import plan_page
from netcarlo.scenario import Scenario
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, first_look
from tests.tiers import parameters

WINDOWS = {"wide": (1600, 1000, False), "phone": (390, 844, True)}


class Made:
    """Trials of a network that is a formula: a normal goodput that decreases with the queue."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.simulated = self.used = self.damaged = 0
        self.noise = np.random.default_rng(5).normal(0, 0.4e6, 4000)

    def of(self, scenario: Scenario, n: int) -> dict[str, np.ndarray[Any, Any]]:
        hop: Any = scenario.paths[0].hops[0]
        goodput = hop.rate - 0.2e6 * hop.queue + self.noise[:n]
        return {"goodput_bps": goodput, "mean_rtt_s": np.full(n, 0.004 * hop.queue)}


def answered(**changes: Any) -> Answer:
    """Return a finished plan with two requirements and resources."""
    return plan(make_plan({**DATA, **changes}))


DATA: dict[str, Any] = {
    "name": "made",
    "description": "How long may the queue be?",
    "scenario": {
        "duration": "1 s",
        "transport": {"protocol": "newreno"},
        "hops": [{"rate": "10 Mbit/s", "delay": "1 ms", "queue": 1}],
    },
    "quantity": {"name": "queue", "field": "hops.0.queue", "linear": [1, 40]},
    "requirements": {
        "goodput": {"goal": "goodput_bps >= 6 Mbit/s", "probability": "90 %"},
        "delay": {"goal": "mean_rtt_s <= 0.1 s", "probability": "90 %"},
    },
    "resources": {
        "faster": {"field": "hops.0.rate", "add": "1 Mbit/s"},
        "much faster": {"field": "hops.0.rate", "add": "90 Mbit/s"},
    },
    "replications": 1000,
}


def test_a_range_begins_with_the_smaller_value() -> None:
    """Ranges are ordered in both directions of search; values of a plan that seeks the smallest one
    decrease."""
    made = make_plan(DATA)
    said = wording.between(made, [20.0, 40.0])
    assert said == wording.between(made, [40.0, 20.0]) == "20 packets to 40 packets"


CASES: dict[str, dict[str, Any]] = {
    "both": {},
    "log": {"quantity": {"name": "queue", "field": "hops.0.queue", "log": [1, 4096], "points": 30}},
    "none holds": {"requirements": {"goodput": "goodput_bps >= 60 Mbit/s"}, "resources": {}},
    "all hold": {"requirements": {"goodput": "goodput_bps >= 0.1 bit/s"}, "resources": {}},
    "undecided": {"replications": 150},
    "smallest": {"find": "smallest", "requirements": {"goodput": "goodput_bps <= 6 Mbit/s"}, "resources": {}},
}


class Answers(dict[str, Answer]):
    """Answers of the cases, computed when a test requests them."""

    def __missing__(self, case: str) -> Answer:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runs, "ReplicationRunner", Made)
            self[case] = answered(**CASES[case])
        return self[case]


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return Answers()


@pytest.mark.full
def test_it_shows_itself(answers: dict[str, Answer]) -> None:
    found = answers["both"]
    known = "queue holds at 17, fails at 18; active constraint: goodput"
    assert repr(found) == f"Answer of {found.plan.name}: {known}"
    shown = [[cell.text for cell in row] for row in ET.fromstring(found._repr_html_()).iterfind("tbody/tr")]
    assert [float(str(row[1])) for row in shown] == found.to_frame()["queue"].tolist()
    names = [requirement.name for requirement in found.plan.requirements]
    assert {trace.name.partition(":")[0] for trace in netcarlo.plot(found).data if trace.name} >= {*names}


@pytest.mark.full
def test_words_of_the_answer(answers: dict[str, Answer]) -> None:
    # 10 Mbit/s minus 0.2 Mbit/s per packet minus 1.28 sd is 6 Mbit/s at a queue of 17.4 packets.
    found = answers["both"]
    assert (found.holds, found.fails) == (17, 18)
    assert wording.headline(found) == "Queue: 17 packets."
    assert wording.explanation(found) == (
        "With 95 % confidence all requirements hold up to 17 packets, and goodput fails at 18 packets. "
        "The active constraint is goodput."
    )
    goodput, delay = wording.requirements(found)
    assert goodput["goal"] == "goodput ≥ 6 Mbit/s"
    assert goodput["alone"] == "17 packets"  # a count, as in the headline
    assert delay["alone"] == "25 packets"


@pytest.mark.full
def test_words_of_other_answers(answers: dict[str, Answer]) -> None:
    assert wording.headline(answers["none holds"]) == "Queue: no value is known to meet the requirements."
    assert "fails at 1 packet." in wording.explanation(answers["none holds"])
    assert wording.headline(answers["all hold"]) == "Queue: 40 packets or more."
    assert "widen them" in wording.explanation(answers["all hold"])
    undecided = answers["undecided"]
    interval = r"with 95 % confidence the limit is \d+ packets to \d+ packets\."
    assert re.fullmatch(rf"Queue: about 17 packets; {interval}", wording.headline(undecided))
    assert "undecided after 150 replications each" in wording.explanation(undecided)
    smallest = answers["smallest"]
    assert smallest.holds is not None and smallest.fails is not None
    assert smallest.holds > smallest.fails
    assert f"holds from {smallest.holds:.0f} packets on" in wording.explanation(smallest)


class FailsByChance(Made):
    """Trials that fail at the first value in 6 % of the replications, and at no other value up to 20."""

    def of(self, scenario: Scenario, n: int) -> dict[str, np.ndarray[Any, Any]]:
        hop: Any = scenario.paths[0].hops[0]
        numbers = np.arange(n)
        failing = numbers % 17 == 0 if hop.queue == 1 else np.full(n, hop.queue > 20)
        return {"goodput_bps": np.where(failing, 5e6, 8e6 - 0.05e6 * hop.queue)}


def test_point_estimate_is_not_before_the_value_that_is_known_to_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "ReplicationRunner", FailsByChance)
    asked = {"goodput": {"goal": "goodput_bps >= 6 Mbit/s", "probability": "95 %"}}
    found = answered(requirements=asked, resources={}, replications=300)
    assert found.holds == 20 and found.fails == 21
    assert found.likely is not None and 20 <= found.likely <= 21
    assert wording.alone(found, "goodput") == "20 packets"


@pytest.mark.full
def test_resources_move_the_answer_as_the_formula_says(answers: dict[str, Answer]) -> None:
    faster, much_faster = answers["both"].gains
    assert faster.moved is not None
    move, low, high = faster.moved
    assert move == pytest.approx(5, abs=0.3)  # 1 Mbit/s at 0.2 Mbit/s per packet
    assert low <= move <= high
    assert much_faster.binding == "delay"
    row = wording.gains(answers["both"])[0]
    assert "all hold at 18 packets (first 256 replications)" in row
    assert row["change"] == "10 Mbit/s → 11 Mbit/s"
    assert row["gain"].startswith("+")


def test_a_resource_that_is_a_queue_management_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "ReplicationRunner", Made)
    rate = {"name": "rate", "field": "hops.0.rate", "linear": ["4 Mbit/s", "8 Mbit/s"], "points": 2}
    aqm = {"aqm": {"field": "hops.0.queue", "to": "codel"}}
    [row] = wording.gains(answered(quantity=rate, find="smallest", resources=aqm))
    assert row["change"] == "drop-tail 1 packets → codel"


@pytest.mark.parametrize("case", parameters(CASES, full=["log", "smallest", "undecided"]))
def test_figures_are_valid(answers: dict[str, Answer], case: str) -> None:
    found = answers[case]
    drawn = [figures.curve(found), *(figures.measure(found, k) for k in range(len(found.plan.requirements)))]
    if (bars := figures.resources(found)) is not None:
        drawn.append(bars)
    for figure in drawn:
        go.Figure(data=figure["data"], layout=figure["layout"])
        numbers = [v for trace in figure["data"] for v in trace["y"] if isinstance(v, float)]
        assert all(map(math.isfinite, numbers))


def test_band_covers_the_curve_and_zones_meet_at_the_answer(answers: dict[str, Answer]) -> None:
    figure = figures.curve(answers["both"])
    band, line, _ = (np.array(trace["y"]) for trace in figure["data"][:3])
    high, low = band[: len(line)], band[: len(line) - 1 : -1]
    assert (low <= line).all()
    assert (line <= high).all()
    ends = [(zone["x0"], zone["x1"]) for zone in figure["layout"]["shapes"]]
    assert ends == [(1, 17), (17, 18), (18, 40)]


def test_a_measure_is_shaded_by_its_own_verdict_around_it_and_in_the_unit_of_its_bound(
    answers: dict[str, Answer],
) -> None:
    """The delay holds far beyond the value at which the plan fails, and is 100 ms at a queue of 25
    packets."""
    goodput, delay = (figures.measure(answers["both"], k) for k in (0, 1))
    ends = [(zone["x0"], zone["x1"]) for zone in goodput["layout"]["shapes"]]
    assert ends[0][1] == 17 and ends[1] == (17, 18)
    low, high = goodput["layout"]["xaxis"]["range"]
    assert 10 < low < 17 and 18 < high < 25
    low, high = goodput["layout"]["yaxis"]["range"]
    assert 4 < low < 6 < high < 8
    holds, open_, fails = ((zone["x0"], zone["x1"]) for zone in delay["layout"]["shapes"])
    assert 18 <= holds[1] <= 25 < fails[0]
    assert open_ == (holds[1], fails[0])
    assert delay["data"][1]["y"] == [100, 100]  # the bound
    assert delay["layout"]["yaxis"]["title"]["text"] == "mean RTT [ms]"
    assert wording.goal(answers["both"].plan, 1) == "mean RTT ≤ 100 ms"


@pytest.mark.full
def test_page_says_how_to_get_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "ReplicationRunner", Made)
    file = tmp_path / "a plan.yaml"
    file.write_text(json.dumps(DATA))
    html = plan_page(plan(load_plan(file, values={"confidence": "90 %", "seed": 3})))
    again = f"netcarlo plan '{file}' --set 'confidence=90 %' --set seed=3"
    assert again in unescape(html)


def test_answer_comes_first(answers: dict[str, Answer]) -> None:
    html = plan_page(answers["both"])
    places = [html.index(f'id="{name}"') for name in ("verdict", "curve", "limits", "resources", "values")]
    assert places == sorted(places)
    assert "nan" not in re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL).lower().split()


@pytest.fixture(scope="module")
def pages(answers: dict[str, Answer], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("plans")
    found = {}
    for case in CASES:
        found[case] = folder / f"{case}.html"
        found[case].write_text(plan_page(answers[case]), encoding="utf-8")
    return found


@pytest.mark.needs("chromium")
def test_first_look_at_plan(answers: dict[str, Answer], glance: Page, tmp_path: Path) -> None:
    file = tmp_path / "plan.html"
    file.write_text(plan_page(answers["both"]), encoding="utf-8")
    first_look(glance, file, says="Queue: 17 packets.", figure="probability")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize(
    ("case", "window", "count"),
    [("both", "wide", 4), ("both", "phone", 4), ("log", "phone", 4), ("none holds", "wide", 2)],
)
def test_page_is_drawn_without_complaints(
    pages: dict[str, Path], page: Page, case: str, window: str, count: int
) -> None:
    width, height, mobile = WINDOWS[window]
    page.open(pages[case], width=width, height=height, mobile=mobile)
    assert page.complaints() == []
    assert page.barriers() == []
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate("document.querySelectorAll('.plot').length") == count
    rights = "[...document.querySelectorAll('.plot .main-svg')].map(p => p.getBoundingClientRect().right)"
    assert max(page.evaluate(rights)) <= width
    markup = re.sub(r"<script>.*?</script>", "", pages[case].read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', markup) == []
