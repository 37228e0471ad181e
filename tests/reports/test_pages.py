"""Pages in a browser: drawn, without errors, inside the window, on a screen, a phone and paper."""

import re
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

import netcarlo.reports
from netcarlo.kernels.base.layout import EVENT_SEND, Trace
from netcarlo.numerics.statistics import paired
from netcarlo.reports import trace_page
from netcarlo.reports.parts.bars import FEW
from netcarlo.reports.parts.figures import errors, identity
from netcarlo.reports.study.lines import gains, lines
from netcarlo.reports.study.maps import heat
from netcarlo.reports.study.runs import over_time, spread, window
from netcarlo.reports.study.verdict import headline
from netcarlo.scenario import load_scenario
from netcarlo.simulation.interruptions import interruptions
from netcarlo.simulation.trace import trace
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.study import load
from tests.reports import exported
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, faults, first_look
from tests.reports.first_look import WINDOWS as LOOKS

Reproduced = tuple[Path, Evaluation]
WINDOWS = {"wide": (1600, 900, False), "phone": (390, 844, True), "print": (794, 1123, False)}
MIB = 1 << 20


def overflow(page: Page) -> int:
    """Return the pixels by which the page is wider than its window."""
    return int(page.evaluate(TOO_WIDE))


@pytest.fixture(params=["sctp_linkdown", "mobility", "wlan_buffer", "wds", "manet_probing"])
def study(request: pytest.FixtureRequest) -> Reproduced:
    """Yield the reproduction of each study."""
    found: Reproduced = request.getfixturevalue(
        "reproduced" if request.param == "sctp_linkdown" else request.param
    )
    return found


@pytest.mark.needs("chromium")
def test_first_look_at_study(reproduced: Reproduced, glance: Page) -> None:
    out, evaluation = reproduced
    first_look(
        glance,
        out / "sctp_linkdown" / "report.html",
        says=headline(evaluation),
        figure="identity-utilisation",
    )


@pytest.mark.needs("chromium")
def test_first_look_at_index(reproduced: Reproduced, glance: Page) -> None:
    first_look(glance, reproduced[0] / "index.html", says="1 study is within the declared tolerance.")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("window", WINDOWS)
def test_report_is_drawn_without_complaints(study: Reproduced, page: Page, window: str) -> None:
    out, evaluation = study
    width, height, mobile = WINDOWS[window]
    page.open(out / evaluation.study.name / "report.html", width=width, height=height, mobile=mobile)
    assert page.complaints() == []
    assert overflow(page) <= 0
    if window != "print":
        assert page.barriers() == []
        # On a phone a table in the paper's layout scrolls in its box.
        too_wide = page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)"
            ".map(box => box.querySelector('table').className)"
        )
        assert set(too_wide) <= ({"layout"} if mobile else set())
    described = evaluation.study.description
    metrics = {metric for table in described.tables for metric in table.metrics}
    for kind, count in {
        "identity": len(metrics), "errors": len(metrics),
        "figure": len(described.figures) + len(described.traces), "spread": len(described.spreads),
        "map": len(evaluation.maps),
    }.items():  # fmt: skip
        assert page.evaluate(f"document.querySelectorAll('.plot[id^={kind}-]').length") == count
    empty = (
        "[...document.querySelectorAll('.plot')]"
        ".filter(p => !p.querySelector('.main-svg .trace path, .main-svg .bars path, .main-svg .hm image'))"
        ".length"
    )
    assert page.evaluate(empty) == 0
    if window == "wide":
        assert exported.faults(page, widths=False) == []
    rights = "[...document.querySelectorAll('.plot .main-svg')].map(p => p.getBoundingClientRect().right)"
    assert max(page.evaluate(rights)) <= width


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_numbers_are_marked_by_the_tolerance(mobility: Reproduced, page: Page) -> None:
    out, evaluation = mobility
    page.open(out / "mobility" / "report.html", width=1400, height=900)
    marked = page.evaluate("document.querySelectorAll('#tables ~ .scroll .layout td.off').length")
    assert marked == sum(row.within is False for row in evaluation.rows)
    assert page.evaluate("document.querySelectorAll('#tables ~ .scroll .paper').length") == 108
    # Two levels of headings over table 1: four error rates over three TCPs each.
    assert page.evaluate("document.querySelectorAll('#tables ~ .scroll th[colspan=\"3\"]').length") == 2 * 4
    own = page.evaluate("[...document.querySelectorAll('.claims li')].map(c => c.innerText)")
    assert any("C15 ·" in claim and "17 of 24" in claim for claim in own)


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_report_holds_every_number_and_claim(reproduced: Reproduced, page: Page) -> None:
    out, evaluation = reproduced
    page.open(out / "sctp_linkdown" / "report.html", width=1400, height=900)
    laid_out = page.evaluate("document.querySelectorAll('#tables ~ .scroll .paper').length")
    listed = page.evaluate("document.querySelectorAll('#numbers + .scroll td[data-label=published]').length")
    assert laid_out == 93
    assert laid_out + listed == len(evaluation.rows) == 158
    missed = sum(not row.matches_printed for row in evaluation.rows)
    assert (
        page.evaluate("document.querySelectorAll('#mismatches + .scroll td[data-label=error]').length")
        == missed
    )
    assert page.evaluate("document.querySelectorAll('.claims li').length") == len(evaluation.claims)


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_report_prints_in_full_width(reproduced: Reproduced, page: Page, tmp_path: Path) -> None:
    page.open(reproduced[0] / "sctp_linkdown" / "report.html", width=794, height=1123)
    page.call("Emulation.setEmulatedMedia", media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert overflow(page) <= 0
    page.call("Emulation.setEmulatedMedia", media="")
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("window", ["wide", "phone"])
def test_index_and_trace_are_quiet(reproduced: Reproduced, page: Page, window: str, tmp_path: Path) -> None:
    width, height, mobile = WINDOWS[window]
    scenario = load_scenario(load("sctp_linkdown").folder / "sctp_multi.yaml")
    traced = trace(scenario)
    text = trace_page(
        traced.frame, "SCTP (multi)",
        scenario=scenario, outcomes=traced.outcomes.frame, interruptions=interruptions(scenario),
    )  # fmt: skip
    (tmp_path / "trace.html").write_text(text, encoding="utf-8")
    for path in (reproduced[0] / "index.html", tmp_path / "trace.html"):
        page.open(path, width=width, height=height, mobile=mobile)
        assert page.complaints() == []
        assert overflow(page) <= 0
        assert exported.faults(page) == []
    assert page.evaluate("document.querySelectorAll('.plot .main-svg .trace').length") >= 3


@pytest.mark.full
def test_index_leads_to_the_report(reproduced: Reproduced) -> None:
    out, evaluation = reproduced
    text = (out / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^":#]+)"', text)
    assert "sctp_linkdown/report.html" in links
    assert all((out / link).is_file() for link in links)
    assert evaluation.study.description.title in text


@pytest.mark.full
def test_report_opens_offline_and_is_small(study: Reproduced) -> None:
    path = study[0] / study[1].study.name / "report.html"
    assert path.stat().st_size < 6 * MIB
    markup = re.sub(r"<script>.*?</script>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?:https?:)?//', markup) == []


@pytest.mark.full
def test_figures_are_valid(study: Reproduced) -> None:
    evaluation = study[1]
    described = evaluation.study.description
    plots = [
        draw(evaluation, metric)
        for draw in (identity, errors)
        for table in described.tables
        for metric in table.metrics
    ]
    plots += [spread(evaluation, figure) for figure in described.spreads]
    plots += [lines(evaluation, figure) for figure in described.figures]
    plots += [over_time(evaluation, figure) for figure in described.traces]
    beside = (gains(evaluation, figure) for figure in [*described.figures, *described.spreads])
    for plot in beside:
        assert plot is None or len(go.Figure(plot).data) >= 1
    for plot in plots:
        assert len(go.Figure(plot).data) >= 2  # refuses properties that plotly does not know


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([0], ["cwnd", "ssthresh"]),
        ([0, 1], ["cwnd, primary path", "ssthresh, alternate path"]),
        ([0, 1, 3], ["cwnd, path 1", "cwnd, path 2", "ssthresh, path 4"]),
    ],
)
def test_windows_of_several_paths_are_told_apart(paths: list[int], names: list[str]) -> None:
    events = np.zeros((len(paths), len(Trace)))
    events[:, Trace.EVENT], events[:, Trace.PATH] = EVENT_SEND, paths
    found = [part["name"] for part in window(events) if part.get("name")]
    assert {*names} <= {*found} and len({*found} - {"timeout"}) == 2 * len(paths)


@pytest.mark.full
def test_no_more_than_two_bands_and_bars_of_every_line(study: Reproduced) -> None:
    for figure in study[1].study.description.figures:
        drawn = [trace for trace in lines(study[1], figure)["data"] if trace.get("showlegend", True)]
        drawn = [trace for trace in drawn if "line" in trace]
        bands = [trace for trace in lines(study[1], figure)["data"] if trace.get("fill")]
        assert len(bands) == (len(drawn) if len(drawn) <= 2 else 0)
        if len(drawn) > 2:
            known = [sum(end is not None for end in trace["meta"]["low"]) for trace in drawn]
            barred = [sum(end is not None for end in trace["error_y"]["array"]) for trace in drawn]
            assert all(barred) and (barred == known or sum(known) > FEW)


@pytest.mark.full
def test_differences_are_those_of_paired_runs(mobility: Reproduced) -> None:
    evaluation = mobility[1]
    figure = evaluation.study.description.spreads[0]
    drawn = gains(evaluation, figure)
    assert drawn is not None
    assert [trace["name"] for trace in drawn["data"]] == ["Reno over Tahoe", "Vegas over Tahoe"]
    tahoe, vegas = (
        evaluation.cells.value("goodput_kbps", protocol="hmipv6", tcp=tcp, error_rate=0.01)
        for tcp in ("tahoe", "vegas")
    )
    at = drawn["layout"]["xaxis"]["ticktext"].index("1 %")
    expected = paired(tahoe, vegas)
    found = drawn["data"][1]
    assert found["y"][at] == pytest.approx(expected.mean)
    assert found["y"][at] + found["error_y"]["array"][at] == pytest.approx(expected.ci_high)
    assert found["y"][at] - found["error_y"]["arrayminus"][at] == pytest.approx(expected.ci_low)


@pytest.mark.full
def test_lines_that_are_apart_have_no_differences(wds: Reproduced) -> None:
    figures = {figure.figure: figure for figure in wds[1].study.description.figures}
    assert gains(wds[1], figures["3"]) is None  # radio and cables
    assert gains(wds[1], figures["4"]) is not None  # the directions


@pytest.mark.full
def test_maps_are_valid(manet_probing: Reproduced) -> None:
    for found in manet_probing[1].maps:
        (trace,) = go.Figure(heat(found)).data
        assert np.shape(trace.z) == np.shape(trace.text) == (len(found.rows), len(found.columns))


@pytest.mark.needs("chromium")
def test_the_browser_notices_what_it_should(page: Page, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<div style='width:3000px'>.</div><img src='http://127.0.0.1:9/x.png'>"
        "<script>console.error('said');setTimeout(() => { throw new Error('thrown') })</script>"
    )
    page.open(tmp_path / "bad.html", width=1400, height=900)
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    found = " ".join(page.complaints())
    assert all(word in found for word in ("said", "thrown", "request to http://127.0.0.1"))
    assert overflow(page) > 0


@pytest.mark.needs("chromium")
def test_a_first_look_notices_what_it_should(page: Page, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<p>seen at once</p><p style='display: none'>hidden</p>"
        "<p style='margin-left: -900px; width: 800px'>beside</p><p style='margin-top: 2000px'>far below</p>"
        "<div id='empty'><svg class='main-svg'></svg></div><script src='missing.js'></script>"
    )
    width, height, mobile = LOOKS["desktop"]
    page.open(tmp_path / "bad.html", width=width, height=height, mobile=mobile)
    found = faults(page, says="seen at once", figure="")
    assert len(found) == 2 and all("ERR_FILE_NOT_FOUND" in fault for fault in found)
    for said in ("far below", "hidden", "beside", "nowhere"):
        assert f"not seen without scrolling: {said}" in faults(page, says=said, figure="")
    for figure in ("empty", "none"):
        assert f"figure {figure} shows nothing" in faults(page, says="seen at once", figure=figure)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=\"width: 3000px\">wide</div>')")
    assert any("wider than its window" in fault for fault in faults(page, says="seen at once", figure=""))


def test_every_kind_of_page_has_a_first_look() -> None:
    """Each template and each kind of live page is opened by a test of the first tier."""
    tests, kinds = Path(__file__).parents[1], {"live_scenario", "live_plan"}
    for template in (Path(netcarlo.reports.__file__).parent / "templates").glob("*.html"):
        if template.read_text(encoding="utf-8").startswith('{% extends "base.html" %}'):
            kinds.add(template.stem)
    found = re.findall(
        r"((?:^@.*\n)*)^def test_first_look_at_(\w+)\(",
        "".join(
            file.read_text(encoding="utf-8")
            for name in ("reports", "live")
            for file in (tests / name).glob("test_*.py")
        ),
        flags=re.MULTILINE,
    )
    assert kinds - {kind for _, kind in found} == set()
    assert [kind for marks, kind in found if "full" in marks] == []
