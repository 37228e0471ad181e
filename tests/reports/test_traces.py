"""Pages of traces: the data of their figures, and the moving map in a browser."""

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from netcarlo import Scenario, trace
from netcarlo.networks.adhoc.events import moves
from netcarlo.networks.interruption import Interruption
from netcarlo.reports import trace_page
from netcarlo.reports.parts import setting as trace_setting
from netcarlo.reports.trace import history
from netcarlo.reports.trace import links as trace_links
from netcarlo.reports.trace import map as trace_map
from netcarlo.reports.trace import radio as trace_radio
from netcarlo.simulation.ensemble import build
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.outcomes import MEANING
from tests.reports import exported
from tests.reports.adhoc_events import END_S, SPEED_M_PER_S, events
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, first_look

WINDOWS = {"wide": (1400, 900, False), "phone": (390, 844, True)}
MIB = 1 << 20
FRAME = moves(events())


def to(page: Page, moment: int) -> None:
    """Move the slider as a reader does."""
    page.evaluate(
        f"(s => {{ s.value = {moment}; s.dispatchEvent(new Event('input')); }})"
        "(document.getElementById('moment'))"
    )


def said(page: Page) -> dict[str, str]:
    found = page.evaluate(
        "[...document.querySelectorAll('[data-said]')].map(e => [e.dataset.said, e.innerText])"
    )
    return dict(found)


def drawn(page: Page, number: int) -> Any:
    return page.evaluate(
        f"(t => [Array.from(t.x), Array.from(t.y)])(document.getElementById('map').data[{number}])"
    )


def test_nodes_are_where_their_legs_say() -> None:
    x, y = history.places(FRAME, np.array([0.0, 9.9, 12.5, 20.0]))
    assert x[:, 2].tolist() == [50] * 4
    assert y[:, 2] == pytest.approx([0, 0, 2.5 * SPEED_M_PER_S, 10 * SPEED_M_PER_S])
    assert y[:, 3].tolist() == [-20] * 4


def test_links_routes_and_the_shortest_way() -> None:
    found = history.links(FRAME, np.array([0.0, 19.9, 20.0, 29.9, 30.0]))
    assert found == [[(0, 2), (1, 2)], [(0, 2), (1, 2)], [], [], [(0, 3), (1, 3)]]
    since_s, nodes = history.routes(FRAME)
    assert since_s.tolist() == [1, 21, 30]
    assert nodes == [[0, 2, 1], [], [0, 3, 1]]
    assert history.ends(FRAME) == (0, 1)
    assert history.stopped(FRAME) == [(21, 30)]
    times_s, hops = history.shortest(FRAME)
    assert times_s.tolist() == [0, 20, 30]
    assert hops[[0, 2]].tolist() == [2, 2]
    assert np.isnan(hops[1])


def test_a_sender_that_stays_stopped_is_so_to_the_end() -> None:
    frame = FRAME[~((FRAME["event"] == "state") & (FRAME["on"] == 0))]
    assert history.stopped(frame) == [(21, pytest.approx(END_S + 0.02))]


def test_moments_say_what_happens() -> None:
    moments = trace_map.moving(FRAME)["moments"]
    assert len(moments) == trace_map.MOST_MOMENTS
    at = {t: next(m for m in moments if m["t"] >= t) for t in (0, 5, 20.2, 25, 35)}
    assert at[0]["says"][1:] == ["not started", "–", "–", "none"]
    assert at[5]["says"][1:] == ["sending", "20.0", "41", "0 → 2 → 1"]
    assert at[5]["lines"][1:] == [[-1, 0, 2, -1, 2, 1, -1], [-1], [0, 1]]
    assert at[20.2]["says"][4] == "0 → 2 → 1 (a link is broken)"
    assert at[20.2]["lines"] == [[-1], [-1], [-1, 0, 2, -1, 2, 1, -1], [0, 1]]
    assert at[25]["says"][1] == "probing or frozen"
    assert at[25]["says"][4] == "none"
    assert at[35]["says"][4] == "0 → 3 → 1"


def test_a_dense_network_has_fewer_moments() -> None:
    dense = events(nodes=40)
    links = np.zeros((780, dense.shape[1]))
    links[:, 1] = 7  # a link that exists from the start
    links[:, 2:4] = [(i, j) for i in range(40) for j in range(i + 1, 40)]
    links[:, 4] = 1
    frame = moves(np.concatenate([links, dense]))
    moving = trace_map.moving(frame)
    assert trace_map.FEWEST_MOMENTS <= len(moving["moments"]) < 100
    assert len(trace_page(frame, "dense")) < 8 * MIB


def test_a_flow_without_any_route_has_a_page() -> None:
    frame = FRAME[FRAME["event"].isin(["place", "link", "timeout"])]
    assert trace_map.moving(frame)["moments"][-1]["says"][4] == "none"
    assert "<html" in trace_page(frame, "no route")


def test_figures_are_valid() -> None:
    moving = trace_map.moving(FRAME)
    plots = [moving["map"], moving["window"], *(figure["plot"] for figure in trace_map.figures(FRAME))]
    for plot in plots:
        go.Figure(plot)  # refuses properties that plotly does not know
    sequence, _, hops, _ = plots[2:]
    names = [part["name"] for part in sequence["data"]]
    assert names[-3:] == ["another route", "no route", "probing or frozen"]
    assert sequence["data"][-2]["x"] == [21, 21, 30, 30, None]
    used = next(part for part in hops["data"] if part["name"] == "route in use")
    assert list(zip(used["x"], used["y"], strict=True))[:4] == [(1, 2), (21, 2), (21, None), (30, 2)]


def path_events() -> pd.DataFrame:
    """Return a trace with a window of at most 4, a threshold of 1000, a loss and a timeout."""
    return pd.DataFrame(
        {
            "time_s": [0.0, 1.0, 2.0, 4.0, 9.0],
            "event": ["send", "ack", "lost", "timeout", "ack"],
            "sequence": [0, 1, 2, 2, 3],
            "path": 0,
            "cwnd_packets": [1.0, 2.0, 4.0, 1.0, 2.0],
            "ssthresh_packets": [1000.0, 1000.0, 1000.0, 2.0, 2.0],
            "rto_s": 1.0,
            "acked": [-1, 0, 1, 1, 2],
        }
    )


def test_the_window_sets_the_scale_and_what_interrupts_a_path_is_marked() -> None:
    down = [Interruption("outage", 2.0, 3.0), Interruption("handover", 5.0, 99.0)]
    text = trace_page(path_events(), "a path", interruptions=down)
    figure = json.loads(re.findall(r'id="window-data">(.*?)</script>', text, flags=re.DOTALL)[0])
    go.Figure(figure)
    parts = {part["name"]: part for part in figure["data"]}
    assert set(parts) == {"cwnd", "ssthresh", "timeout", "lost", "outage", "handover"}
    assert [v for v in parts["ssthresh"]["y"] if v is not None] == [2.0, 2.0]
    assert "1,000 packets" in text
    assert parts["lost"]["x"] == [2.0]
    assert parts["outage"]["x"] == [2, 2, 3, 3, None]
    assert parts["handover"]["x"] == [5, 5, 9, 9, None]  # not beyond the last event


def test_the_page_says_what_was_set_and_drawn_and_what_came_of_it() -> None:
    hop = {"rate": "10 Mbit/s", "delay": {"uniform": ["10 ms", "20 ms"]}, "loss": "0.1 %"}
    data = {"duration": "30 s", "transport": {"protocol": "newreno"}, "hops": {"count": 2, "each": hop}}
    scenario = Scenario.check({**data, "hops": [data["hops"]]})
    drawn_ = build(scenario, replications=1).drawn
    outcomes = pd.DataFrame(dict.fromkeys(MEANING, np.nan), index=drawn_.index).join(drawn_)
    outcomes["goodput_bps"] = 1.25e6
    found = {row["name"]: row for row in trace_setting.setting(scenario, outcomes)}
    assert found["paths.0.hops.0.each.loss"]["value"] == "0.1 %"
    assert found["paths.0.hops.0.each.delay"]["value"] == "uniform, 10 ms … 20 ms"
    assert len(found["paths.0.hops.0.each.delay"]["drawn"].split(", ")) == 2
    assert "transport.window" not in found and "seed" not in found
    text = trace_page(path_events(), "a path", scenario=scenario, outcomes=outcomes)
    assert "1.25 Mbit/s" in text and 'id="setting"' in text


@pytest.mark.needs("chromium")
def test_first_look_at_trace(glance: Page, tmp_path: Path) -> None:
    """The page of a path that is down for one second has no fault at first view."""
    hop = {"rate": "10 Mbit/s", "delay": "10 ms", "outages": [{"start": "2 s", "duration": "1 s"}]}
    scenario = Scenario.check({"duration": "9 s", "transport": {"protocol": "newreno"}, "hops": [hop]})
    outcomes = pd.DataFrame([dict.fromkeys(MEANING, np.nan) | {"goodput_bps": 1.25e6}])
    text = trace_page(
        path_events(), "A path that is down", scenario=scenario, outcomes=outcomes,
        interruptions=[Interruption("outage", 2.0, 3.0)],
    )  # fmt: skip
    (tmp_path / "trace.html").write_text(text, encoding="utf-8")
    first_look(glance, tmp_path / "trace.html", says="1.25 Mbit/s", figure="window")


@pytest.mark.needs("chromium")
def test_first_look_at_trace_of_moving_nodes(glance: Page, tmp_path: Path) -> None:
    (tmp_path / "map.html").write_text(trace_page(FRAME, "A node walks away"), encoding="utf-8")
    first_look(glance, tmp_path / "map.html", says=f"{len(FRAME)} events in 40.020 s.", figure="map")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("window", WINDOWS)
def test_the_map_follows_the_slider(page: Page, window: str, tmp_path: Path) -> None:
    (tmp_path / "trace.html").write_text(trace_page(FRAME, "A node walks away"), encoding="utf-8")
    assert (tmp_path / "trace.html").stat().st_size < 6 * MIB
    width, height, mobile = WINDOWS[window]
    page.open(tmp_path / "trace.html", width=width, height=height, mobile=mobile)
    to(page, 100)  # of 299 moments in 40.02 s
    t = 100 / 299 * (END_S + 0.02)
    x, y = drawn(page, 3)
    assert (x[2], y[2]) == pytest.approx((50, SPEED_M_PER_S * (t - 10)), abs=0.06)
    assert drawn(page, 1)[0] == [None, 0, 50, None, 50, 100, None]
    assert drawn(page, 2)[0] == [None]
    assert drawn(page, 4) == [[0, 100], [0, 0]]
    assert exported.faults(page) == []
    route = [row for row in exported.tables(page)["map"].rows if row[0] == "route in use"]
    assert [(float(row[1]), row[2]) for row in route] == [(pytest.approx(t, abs=0.001), k) for k in "0221"]
    assert page.evaluate("document.getElementById('map-window').layout.shapes[0].x0") == pytest.approx(
        t, abs=0.001
    )
    assert said(page) == {
        "time": f"{t:.1f} s",
        "sender": "sending",
        "cwnd": "20.0",
        "acknowledged": "124",
        "route": "0 → 2 → 1",
    }
    to(page, 190)
    assert said(page)["sender"] == "probing or frozen"
    assert page.complaints() == []
    assert page.barriers() == []
    assert page.evaluate(TOO_WIDE) <= 0


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_the_map_plays_and_stops(page: Page, tmp_path: Path) -> None:
    (tmp_path / "trace.html").write_text(trace_page(FRAME, "A node walks away"), encoding="utf-8")
    page.open(tmp_path / "trace.html", width=1400, height=900)

    def at() -> int:
        return int(page.evaluate("Number(document.getElementById('moment').value)"))

    def press() -> None:
        page.evaluate("document.getElementById('play').click()")

    to(page, 295)
    press()
    assert "pause" in page.evaluate("document.getElementById('play').innerText")
    deadline = time.monotonic() + 60
    while at() < 299 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert at() == 299
    while "pause" in page.evaluate("document.getElementById('play').innerText"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    press()  # from the beginning
    assert at() < 250
    press()
    stopped = at()
    time.sleep(0.3)
    assert at() == stopped
    assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("protocol", ["newreno", "udp"])
def test_the_page_of_an_80211_network(page: Page, protocol: str, tmp_path: Path) -> None:
    rate = {"rate": "2 Mbit/s"} if protocol == "udp" else {"window": 32}
    scenario = Scenario.check(
        {
            "duration": "2 s",
            "transport": {"protocol": protocol, "payload": "1000 B", **rate},
            "wireless": {
                "standard": "802.11g", "chain": {"hops": 2}, "rate": "6 Mbit/s", "queue": "5 packets",
                "frame_error": "20 %",
            },
        }
    )  # fmt: skip
    frame = trace(scenario).frame
    figures = {figure["name"]: figure["plot"] for figure in trace_radio.figures(frame)}
    assert set(figures) == {"frames", "arrivals", *(("window", "rto") if protocol == "newreno" else ())}
    for plot in figures.values():
        go.Figure(plot)
    first = figures["frames"]["data"][0]
    sent = frame[(frame["event"] == "send") & (frame["carries"] == "data")]
    assert len(first["x"]) == len(sent)
    arrived = frame[(frame["event"] == "receive") & (frame["node"] == 2) & (frame["carries"] == "data")]
    assert figures["arrivals"]["data"][0]["y"][-1] == arrived["sequence"].nunique()
    (tmp_path / "trace.html").write_text(trace_page(frame, "A chain"), encoding="utf-8")
    page.open(tmp_path / "trace.html", width=390, height=844, mobile=True)
    assert exported.faults(page) == []
    assert page.complaints() == []
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate("document.querySelectorAll('.plot .main-svg .trace').length") >= len(figures)


CABLE = {"rate": "4 Mbit/s", "delay": "10 ms", "queue": 10}
LINKS = [
    {"ends": [0, 1], **CABLE}, {"ends": [1, 0], **CABLE}, {"ends": [0, 2], **CABLE},
    {"ends": [2, 0], **CABLE}, {"ends": [2, 1], **CABLE}, {"ends": [1, 2], **CABLE},
]  # fmt: skip
STREAM = {"udp": {"rate": "300 kbit/s"}}


def of_links(*flows: Any, **fields: Any) -> Scenario:
    shared = {"links": LINKS, "flows": [{"source": 0, "sink": 1, **flow} for flow in flows], **fields}
    return Scenario.check({"duration": "6 s", "transport": {"protocol": "newreno"}, "shared": shared})


def parts_of(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the parts of each figure by name."""
    plots = {figure["name"]: figure["plot"] for figure in trace_links.figures(frame)}
    for plot in plots.values():
        go.Figure(plot)
    return {name: {part.get("name", ""): part for part in plot["data"]} for name, plot in plots.items()}


@pytest.mark.full
def test_figures_of_links_show_who_took_what() -> None:
    frame = trace(of_links({}, {"start": "2 s"}, STREAM)).frame
    figures = parts_of(frame)
    assert list(figures) == ["goodput", "fairness", "window", "rtt", "rto", "queues", "losses"]
    areas = figures["goodput"]
    assert set(areas) == {"flow 0, newreno", "flow 1, newreno", "flow 2, udp"}
    arrived = frame[frame["event"] == "receive"].groupby("flow")["bytes"].sum()
    for k, part in enumerate(areas[name] for name in sorted(areas)):
        x, y = np.array(part["x"]), np.array(part["y"])
        assert (np.diff(x) * y[:-1]).sum() * 1e6 / 8 == pytest.approx(arrived[k], rel=1e-5)
    # A single flow is compared with none; from the start of the other one on, with that.
    (fairness,) = figures["fairness"].values()
    told = [x for x, y in zip(fairness["x"], fairness["y"], strict=True) if y is not None]
    assert min(told) >= 2 and max(told) == 6 and 0.5 <= min(y for y in fairness["y"] if y) <= 1
    assert max(figures["queues"]["link 0 (0-1)"]["y"]) == 10
    dropped = frame[frame["event"] == "dropped"]
    assert len(figures["queues"]["dropped by a queue"]["x"]) == len(dropped) > 0
    assert sum(figures["losses"]["link 0 (0-1)"]["y"][::2]) == len(dropped)
    assert set(figures["losses"]) == {"link 0 (0-1)"}
    assert "link 2 (0-2)" not in figures["queues"]  # no packet goes there


@pytest.mark.full
def test_many_flows_have_a_map_and_lines_of_a_few() -> None:
    frame = trace(of_links(*[{}] * 9)).frame
    figures = parts_of(frame)
    assert len(figures["goodput"]) == trace_links.MOST_LINES
    others = figures["goodput"]["the other 3 together"]
    (rows,) = figures["map"].values()
    assert rows["y"] == [f"flow {k}" for k in range(9)]
    shown = {name for name in figures["goodput"] if name.startswith("flow")}
    rest = [row for name, row in zip(rows["y"], rows["z"], strict=True) if name not in shown]
    unit = max(others["y"]) / np.sum(rest, axis=0).max()
    np.testing.assert_allclose(others["y"][::2], np.sum(rest, axis=0) * unit, rtol=1e-5)
    assert {name.removeprefix("RTT, ") for name in figures["rtt"]} == shown
    captions = {figure["name"]: figure["caption"] for figure in trace_links.figures(frame)}
    assert captions["window"].startswith(f"{trace_links.WINDOW}; of 9 flows the 6 with the highest goodput")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("width", [1600, 390])
def test_the_page_of_shared_links(page: Page, width: int, tmp_path: Path) -> None:
    fails = [{"cables": [0], "outages": [{"start": "2 s", "duration": "1 s"}]}]
    around = {"route": [0], "backup": [2, 4], "detection": "200 ms", "source": None, "sink": None}
    scenario = of_links(around, *[{}] * 7, STREAM, failures=fails)
    frame, outcomes = trace(scenario)
    text = trace_page(
        frame, "A cable fails", scenario=scenario, outcomes=outcomes.frame,
        interruptions=interruptions(scenario),
    )  # fmt: skip
    (tmp_path / "trace.html").write_text(text, encoding="utf-8")
    page.open(tmp_path / "trace.html", width=width, height=900, mobile=width < 1000)
    assert page.complaints() == []
    assert page.evaluate(TOO_WIDE) <= 0
    names = page.evaluate("[...document.querySelectorAll('.plot')].map(e => e.id)")
    assert exported.faults(page) == []
    assert names == ["goodput", "map", "fairness", "window", "rtt", "rto", "queues", "losses"]
    marks = page.evaluate(
        "[...document.querySelectorAll('.plot')].map(e => e.data.map(t => t.name).slice(-2).join())"
    )
    assert set(marks) == {"outage,detour"}
