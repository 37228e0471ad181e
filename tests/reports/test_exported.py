"""Exported CSV and table of a figure: they contain its data with every interval, name and digit."""

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netcarlo.planning import frontier, make_plan
from netcarlo.planning import run as runs
from netcarlo.reports.frontier.page import frontier_page
from netcarlo.reports.parts import bars
from netcarlo.reports.plan.page import plan_page
from netcarlo.reports.sweep.page import sweep_page
from tests.reports import exported
from tests.reports.browser import Page
from tests.reports.test_frontier_page import ASKED
from tests.reports.test_plan_page import DATA, Made, answered
from tests.reports.test_sweep_page import AXES, made
from tests.reports.test_take import taken
from tests.sweeps import tables

CONTROLS = ["newreno", "cubic", "bbr"]
THREE: dict[str, Any] = {
    "axes": [tables.axis("buffer", [0.2, 1.0, 5.0], log=True), tables.axis("control", CONTROLS)],
    "compare": "control",
    "outcomes": ["goodput_bps", "timeouts"],
}
SWEEPS: dict[str, dict[str, Any]] = {
    "three by three": THREE,
    "axes": {"axes": AXES},
    "five labels": {},
    "one label": {"axes": [tables.axis("loss", [0.0, 0.01, 0.02])], "compare": None},
    "drawn": {"draw": 24, "method": "saltelli", "outcomes": ["goodput_bps", "timeouts"]},
}


def open_(page: Page, folder: Path, html: str) -> None:
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    page.open(file, width=1600, height=1000)


def swept(case: str) -> str:
    manifest, frame = made(**SWEEPS[case])
    return sweep_page(manifest, frame, store="results/it")


def replicated() -> str:
    manifest, frame = made(**THREE, keep_replications=True)
    rng = np.random.default_rng(4)
    kept = pd.DataFrame({"cell": np.repeat(frame["cell"].to_numpy(), 20)})
    for outcome in THREE["outcomes"]:
        mean = kept["cell"].map(frame.set_index("cell")[outcome])
        kept[outcome] = rng.poisson(5, len(kept)) * mean / 5
    return sweep_page(manifest, frame, store="results/it", replications=kept)


@pytest.fixture(autouse=True, scope="module")
def formula() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "ReplicationRunner", Made)
        yield


def planned() -> str:
    more = {"short": "mean_rtt_s <= 0.12 s", "slow": "goodput_bps >= 4 Mbit/s"}
    return plan_page(answered(requirements={**DATA["requirements"], **more}))


PAGES = {
    **{case: (lambda case=case: swept(case)) for case in SWEEPS},
    "replications": replicated,
    "plan": lambda: plan_page(answered()),
    "plan with four requirements": planned,
    "frontier": lambda: frontier_page(frontier(make_plan(ASKED))),
}


@pytest.mark.full
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("case", PAGES)
def test_rows_of_every_figure_are_sound(case: str, page: Page, tmp_path: Path) -> None:
    open_(page, tmp_path, PAGES[case]())
    assert exported.faults(page) == []
    for name in exported.choices(page):
        assert exported.faults(page, name) == []
    assert page.complaints() == []


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_a_row_for_each_cell_with_the_interval_of_the_store(page: Page, tmp_path: Path) -> None:
    manifest, frame = made(**THREE)
    open_(page, tmp_path, sweep_page(manifest, frame, store="results/it"))
    read = list(csv.reader(taken(page, tmp_path, "line-0", "CSV").decode().splitlines()))
    assert read[0] == ["series", "buffer", "goodput [Mbit/s]", "low", "high"]
    rows = {(name, float(x)): [float(v) for v in values] for name, x, *values in read[1:]}
    assert len(rows) == len(read) - 1 == 9
    for (i, x), (k, name) in itertools.product(enumerate([0.2, 1.0, 5.0]), enumerate(CONTROLS)):
        cell = frame.iloc[3 * i + k]
        kept = [cell[f"goodput_bps{end}"] / 1e6 for end in ("", "_low", "_high")]
        assert rows[name, x] == pytest.approx(kept, rel=1e-13)


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_a_gain_has_one_row_a_point(page: Page, tmp_path: Path) -> None:
    manifest, frame = made(**THREE)
    open_(page, tmp_path, sweep_page(manifest, frame, store="results/it"))
    table = exported.tables(page)["line-gain-0"]
    found = {(row[0], float(row[1])): [float(v) for v in row[2:]] for row in table.rows}
    assert len(found) == len(table.rows) == 6
    cell = frame.iloc[3 * 1 + 2]
    kept = [cell[f"goodput_bps_gain{end}"] for end in ("", "_low", "_high")]
    unit = 1e6 if "Mbit/s" in table.head[2] else 1e3
    assert found["bbr", 1.0] == pytest.approx([v / unit for v in kept], rel=1e-13)


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_all_nine_bars_are_drawn(page: Page, tmp_path: Path) -> None:
    open_(page, tmp_path, swept("three by three"))
    drawn = page.evaluate(
        "document.getElementById('line-0').data.map(t => t.error_y.array.filter(v => v !== null).length)"
    )
    assert drawn == [3, 3, 3]


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_a_map_of_the_best_names_it(page: Page, tmp_path: Path) -> None:
    open_(page, tmp_path, swept("axes"))
    table = exported.tables(page)["map"]
    assert set(table.column("best label")) <= {"TCP", "SCTP"}
    assert set(table.column("clear at 95 %")) <= {"yes", "no"}


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_parallel_coordinates_are_exported_as_values(page: Page, tmp_path: Path) -> None:
    manifest, frame = made(**SWEEPS["drawn"])
    open_(page, tmp_path, sweep_page(manifest, frame, store="results/it"))
    table = exported.tables(page)["parallel"]
    best = frame.set_index(frame["key"].str[: len(table.rows[0][1])])["goodput_bps"]
    [shown] = [name for name in table.head if name.startswith("goodput")]
    for key, value in zip(table.column("cell"), table.column(shown), strict=True):
        assert float(value) * {"k": 1e3, "M": 1e6}[shown[-7]] == pytest.approx(best[key], rel=1e-12)


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_a_plan_names_its_requirements_and_bands(page: Page, tmp_path: Path) -> None:
    found = answered()
    open_(page, tmp_path, plan_page(found))
    table = exported.tables(page)["probability"]
    assert len(table.rows) == 2 * len(found.curve)
    for k, requirement in enumerate(found.plan.requirements):
        mine = [row for row in table.rows if row[0].startswith(f"{requirement.name}:")]
        shares = [100 * point.shares[k].probability for point in found.curve]
        assert [float(row[2]) for row in mine] == pytest.approx(shares, rel=1e-13)
        assert {float(row[3]) for row in mine} == {100 * requirement.probability}


def line(x: list[Any], y: list[float], half: float) -> dict[str, Any]:
    return {"x": x, "y": y, "error_y": {"array": [half] * len(y), "arrayminus": [half] * len(y)}}


def kept(trace: dict[str, Any]) -> list[int]:
    return [i for i, v in enumerate(trace["error_y"]["array"]) if v is not None]


def test_bars_that_do_not_touch_are_all_drawn() -> None:
    apart = [line(list(range(40)), [float(k)] * 40, 0.4) for k in range(5)]
    assert [len(kept(trace)) for trace in bars.uncrowded(apart, log=False)] == [40] * 5


def test_bars_that_touch_are_thinned_and_every_line_keeps_some() -> None:
    together = [line(list(range(40)), [0.0] * 40, 1.0) for _ in range(5)]
    thin = bars.uncrowded(together, log=False)
    places = [kept(trace) for trace in thin]
    assert all(places) and sorted(itertools.chain(*places)) == list(range(40))
    assert [len(trace["error_y"]["array"]) for trace in together] == [40] * 5


@pytest.mark.full
@given(
    st.lists(
        st.tuples(st.floats(0.01, 100), st.floats(-5, 5)), min_size=10, max_size=60, unique_by=lambda p: p[0]
    ),
    st.floats(0.01, 3), st.booleans(),
)  # fmt: skip
def test_drawn_bars_never_overlap_where_they_are_many(
    points: list[tuple[float, float]], half: float, log: bool
) -> None:
    x, y = (list(each) for each in zip(*sorted(points), strict=True))
    traces = [line(x, y, half), line(x, [v + 1 for v in y], half)]
    found = bars.uncrowded(traces, log=log)
    if 2 * len(x) <= bars.FEW:
        assert found == traces
        return
    place = np.log(x) if log else np.array(x)
    place = (place - place.min()) / np.ptp(place)
    drawn = [(place[i], trace["y"][i]) for trace in found for i in kept(trace)]
    for (a, b), (c, d) in itertools.combinations(drawn, 2):
        assert abs(a - c) >= bars.APART or abs(b - d) > 2 * half - 1e-9  # rounding of the ends
    assert drawn
