"""Page of a comparison: its text, its figures, and its behaviour in a browser."""

import csv
import re
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from netcarlo.comparison.comparison import Comparison
from netcarlo.comparison.pairs import compared
from netcarlo.comparison.side import Side, cells, from_sd
from netcarlo.networks.outcome import ANY, SHARE, Outcome
from netcarlo.reports.comparison import figures, wording
from netcarlo.reports.comparison.page import comparison_page
from netcarlo.reports.parts.scales import Scale
from netcarlo.simulation.outcomes import BY_NAME
from tests.reports import exported
from tests.reports.browser import Page
from tests.reports.first_look import TOO_WIDE, first_look
from tests.reports.test_take import taken

WINDOWS = {"wide": (1600, 1000, False), "phone": (390, 844, True)}
AXES = {"hops.0.loss": "fraction", "hops.0.rate": "bit/s"}
AT = [(loss, rate) for loss in (0.001, 0.003, 0.01) for rate in (1e6, 2e6, 4e6, 8e6)]


def made(label: str, seed: int, *, slower: float = 0.0, axes: bool = True) -> Side:
    """Return a sweep whose goodput is a formula, with timeouts that depend on it."""
    rng = np.random.default_rng(seed)
    at = cells(AT if axes else [()])
    rate = np.array([rate for _, rate in AT] if axes else [4e6])
    loss = np.array([loss for loss, _ in AT] if axes else [0.01])
    noise = 0.02 * rate * rng.normal(size=len(rate))
    tables = {
        "goodput_bps": from_sd(at, [20] * len(at), rate * (0.9 - slower * loss) + noise, 0.09 * rate),
        "timeouts": from_sd(at, [20] * len(at), 900 * loss + rng.normal(0, 0.2, len(at)), [1.0] * len(at)),
    }
    setting = {"netcarlo": "1", "seed": str(seed), "transport.min_rto": "0.2 s" if not slower else "1 s"}
    quantities = {name: BY_NAME[name] for name in tables}
    return Side(label, "store", setting, AXES if axes else {}, quantities, tables, stream=str(seed))


def plan(label: str, low: float) -> Side:
    """Return the answer of a plan with the share at two values."""
    bands = from_sd(cells([(5.0,), (10.0,)]), [90, 90], [0.5, 0.6], [0.1, 0.1])[["n", "mean"]]
    limit = from_sd(cells([("",)]), [90], [low], [0.1])[["n", "mean"]]
    tables = {
        "fast": bands.assign(low=[0.4, 0.5], high=[0.6, 0.7]),
        "limit": limit.assign(low=low, high=low + 1),
    }
    fast, most = Outcome("fast", None, None, "", SHARE), Outcome("limit", None, None, "", ANY, "users")
    quantities = {"fast": fast, "limit": most}
    return Side(label, "plan", {"seed": "1"}, {"users": ""}, quantities, tables)


CASES: dict[str, list[Side]] = {
    "seed": [made("before", 1), made("after", 2)],
    "constant": [made("results/with a very long name of a folder", 1), made("after", 2, slower=60)],
    "three": [made("a", 1), made("b", 2, slower=60), made("c", 3)],
    "single": [made("a.yaml", 1, axes=False), made("b.yaml", 2, slower=60, axes=False)],
    "plans": [plan("small", 17), plan("large", 19)],
}


@pytest.fixture(scope="module")
def found() -> dict[str, Comparison]:
    return {name: compared(sides) for name, sides in CASES.items()}


def test_the_answer_comes_first(found: dict[str, Comparison]) -> None:
    assert wording.headline(found["seed"]) == "No result differs by more than chance."
    assert wording.explanation(found["seed"]).startswith(
        "24 results are within chance. 24 differences were judged together"
    )
    head = wording.headline(found["constant"])
    assert re.fullmatch(
        r"after against results/with a very long name of a folder: goodput −\d\d(\.\d)? % "
        r"\[−[\d.]+, −[\d.]+\] "
        r"\(hops.0 loss 1 %, hops.0 rate \d Mbit/s\)"
        r"\. \d+ of 24 results differ by more than chance\.",
        head,
    )
    assert "limit" in found["plans"].differing.index.get_level_values("outcome")
    assert wording.explanation(found["plans"]).endswith("for all values together, do not overlap.")
    html = comparison_page(found["constant"])
    places = [html.index(f'id="{name}"') for name in ("verdict", "setting", "results", "chance", "rows")]
    assert places == sorted(places)


def test_a_row_says_where_and_by_how_much(found: dict[str, Comparison]) -> None:
    row = wording.rows(found["constant"], found["constant"].ordered)[0]
    assert row["where"].startswith("hops.0 loss 1 %, hops.0 rate ") and row["quantity"] == "goodput"
    assert row["difference"].startswith("−") and row["difference"].endswith("bit/s")
    assert row[""] == "differs" and re.fullmatch(r"\[−\S+, −\S+\]", row["interval"])
    first = found["three"].of_pair(("a", "b")).index[0]
    assert wording.cell(found["three"], first).startswith("b against a: hops.0 loss 1 %")
    assert wording.said("0.2 s") == "200 ms" and wording.said("4000000 bit/s") == "4 Mbit/s"


@pytest.mark.parametrize("case", CASES)
def test_figures_are_valid_and_show_what_was_judged(found: dict[str, Comparison], case: str) -> None:
    one = found[case]
    drawn = figures.differences(one)
    assert drawn is not None
    go.Figure(data=drawn["data"], layout=drawn["layout"])
    shown = {trace["name"]: len(trace["x"]) for trace in drawn["data"]}
    assert shown["differs"] == len(one.differing) or "choices" in drawn
    noise = figures.chance(one)
    assert (noise is None) == (case in ("single", "plans"))
    if noise is not None:
        go.Figure(data=noise["data"], layout=noise["layout"])
        by_name = {trace["name"]: trace["y"] for trace in noise["data"]}
        assert all(abs(y) > 1 for y in by_name["differs"])
        assert all(abs(y) <= 1 for y in by_name["within chance"])


@pytest.fixture(scope="module")
def pages(found: dict[str, Comparison], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("comparisons")
    for name, one in found.items():
        (folder / f"{name}.html").write_text(comparison_page(one), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in found}


@pytest.mark.needs("chromium")
def test_first_look_at_comparison(found: dict[str, Comparison], pages: dict[str, Path], glance: Page) -> None:
    first_look(glance, pages["constant"], says=wording.headline(found["constant"]), figure="differences")


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize(
    ("case", "window"),
    [("constant", "wide"), ("constant", "phone"), ("three", "phone"), ("single", "phone"), ("plans", "wide")],
)
def test_page_is_drawn_without_complaints(pages: dict[str, Path], page: Page, case: str, window: str) -> None:
    width, height, mobile = WINDOWS[window]
    page.open(pages[case], width=width, height=height, mobile=mobile)
    assert page.complaints() == []
    assert page.barriers() == []
    assert exported.faults(page) == []
    assert page.evaluate(TOO_WIDE) <= 0


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_intervals_leave_the_page_with_the_differences(
    pages: dict[str, Path], page: Page, tmp_path: Path
) -> None:
    page.open(pages["constant"], width=1600, height=1000)
    table = list(csv.reader(taken(page, tmp_path, "differences", "CSV").decode().splitlines()))
    assert table[0][-2:] == ["low", "high"]
    assert all(float(row[-2]) < float(row[1]) < float(row[-1]) for row in table[1:])


def several(label: str, mean: float, drops: float) -> Side:
    """Return one cell with five outcomes of the same mean, and drops with another one."""
    names = ("goodput_bps", "throughput_bps", "retransmitted", "fast_retransmits", "sent")
    tables = {name: from_sd(cells([()]), [20], [mean], [1.0]) for name in names}
    tables["drops_queue"] = from_sd(cells([()]), [20], [drops], [1.0])
    return Side(label, "store", {"seed": "1"}, {}, {name: BY_NAME[name] for name in tables}, tables)


def test_a_difference_far_beyond_the_others_is_named_at_the_edge() -> None:
    drawn = figures.differences(compared([several("before", 100, 100), several("after", 110, 6000)]))
    assert drawn is not None
    low, high = drawn["layout"]["xaxis"]["range"]
    assert low < 0 and 10 < high < 100  # the others increase by 10 %
    [note] = drawn["layout"]["annotations"]
    assert (note["y"], note["text"], note["x"]) == ("Queue drops", "+5,900 % →", 1)
    assert 5900 in [x for trace in drawn["data"] for x in trace["x"]]  # the data are complete


def test_similar_differences_need_no_edge() -> None:
    drawn = figures.differences(compared([several("before", 100, 100), several("after", 110, 130)]))
    assert drawn is not None
    assert "range" not in drawn["layout"]["xaxis"] and drawn["layout"]["annotations"] == []


def test_the_interval_of_a_side_contains_its_mean() -> None:
    """The mean 16,377 with the interval from 16,352 to 16,403 needs more than three digits."""
    row = {"baseline": 16377.0, "baseline_low": 16352.0, "baseline_high": 16403.0}
    shown = wording._alone(row, "baseline", Scale(1.0, ""))
    assert shown == "[16,350 to 16,400]"
