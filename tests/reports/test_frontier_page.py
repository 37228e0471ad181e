"""Report of a plan of two quantities: valid figures, and its behaviour in a browser."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

import netcarlo
from netcarlo.planning import Frontier, frontier, make_plan
from netcarlo.planning import run as runs
from netcarlo.reports.frontier import figures, wording
from netcarlo.reports.frontier.page import frontier_page
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, first_look
from tests.reports.test_plan_page import DATA, WINDOWS, Made

ASKED: dict[str, Any] = {
    **DATA,
    "resources": {},
    "quantity": {**DATA["quantity"], "step": 13},
    "across": {"name": "rate", "field": "hops.0.rate", "log": ["4 Mbit/s", "32 Mbit/s"], "points": 4},
    "cost": "queue + rate / 1e6",
    "currency": "EUR",
}


@pytest.fixture(scope="module")
def found() -> Frontier:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "ReplicationRunner", Made)
        return frontier(make_plan(ASKED))


@pytest.mark.full
def test_figures_are_valid_and_show_what_is_known(found: Frontier) -> None:
    """Figures of a plan without a feasible value at 4 Mbit/s; faster links permit longer queues up to the
    delay limit."""
    border = figures.border(found)
    go.Figure(border)
    by_name = {trace["name"]: trace for trace in border["data"] if "name" in trace}
    assert by_name["known to hold"]["y"] == [answer.holds for answer in found.answers]
    assert by_name["known to hold"]["y"][0] is None
    assert by_name["cheapest"]["y"] == [found.cheapest.value]  # type: ignore[union-attr]
    costs = figures.costs(found)
    assert costs is not None
    go.Figure(costs)
    assert costs["data"][0]["y"] == found.to_frame()["cost"].dropna().tolist()


def test_without_costs_the_headline_has_the_limit_at_each_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "ReplicationRunner", Made)
    free = frontier(make_plan({k: v for k, v in ASKED.items() if k not in ("cost", "currency")}))
    limits = wording.headline(free).removeprefix("Queue: ").removesuffix(".").split(", ")
    assert limits[0] == "none at rate 4 Mbit/s" and len(limits) == 4
    assert limits[3].endswith(" packets at rate 32 Mbit/s")


@pytest.mark.full
def test_it_shows_itself(found: Frontier) -> None:
    assert netcarlo.plot(found).data[0].x == tuple(figures.border(found)["data"][0]["x"])
    known = "queue at 4 values of rate, cheapest Design("
    assert repr(found).startswith(f"Frontier of {found.plan.name}: {known}")
    assert len(ET.fromstring(found._repr_html_()).findall("tbody/tr")) == 4


@pytest.mark.needs("chromium")
def test_first_look_at_frontier(found: Frontier, glance: Page, tmp_path: Path) -> None:
    file = tmp_path / "frontier.html"
    file.write_text(frontier_page(found), encoding="utf-8")
    first_look(glance, file, says=wording.headline(found), figure="frontier")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("window", WINDOWS)
def test_page_is_drawn_without_complaints(found: Frontier, page: Page, window: str, tmp_path: Path) -> None:
    width, height, mobile = WINDOWS[window]
    file = tmp_path / "frontier.html"
    file.write_text(frontier_page(found), encoding="utf-8")
    page.open(file, width=width, height=height, mobile=mobile)
    assert page.complaints() == []
    assert page.barriers() == []
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate("document.querySelectorAll('.plot').length") == 2
    rights = "[...document.querySelectorAll('.plot .main-svg')].map(p => p.getBoundingClientRect().right)"
    assert max(page.evaluate(rights)) <= width
    markup = re.sub(r"<script>.*?</script>", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', markup) == []
