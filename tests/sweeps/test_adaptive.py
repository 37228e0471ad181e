"""Adaptive fidelity (`fidelity: auto`): the fidelity that answers each cell, for any executor and
interruption."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.errors import InputError
from netcarlo.reports.sweep.page import sweep_page
from netcarlo.reports.sweep.results import Results
from netcarlo.reports.sweep.wins import wins
from netcarlo.scenario import Scenario
from netcarlo.schema import document
from netcarlo.simulation.executors import Workers, open_workers
from netcarlo.sweeps.analysis import decisions
from netcarlo.sweeps.execution import adaptive
from netcarlo.sweeps.execution.forecast import forecast
from netcarlo.sweeps.execution.run import Summary
from netcarlo.sweeps.space import identity
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.space.space import Sweep
from netcarlo.sweeps.store.query import query
from netcarlo.sweeps.store.store import Store
from tests.reports.browser import Page
from tests.sweeps.examples import all_keys

AUTO: dict[str, Any] = {
    "name": "auto",
    "scenario": {
        "fidelity": "auto",
        "duration": "3 s",
        "replications": 1,
        "transport": {"protocol": "newreno", "header": "40 B", "window": 32},
        "hops": [
            {
                "rate": {"log_uniform": ["0.5 Mbit/s", "8 Mbit/s"]},
                "delay": {"uniform": ["2 ms", "40 ms"]},
                "queue": {"integers": [10, 60]},
                "loss": {"uniform": [0, "2 %"]},
            }
        ],
    },
    "axes": {
        "protocol": {"field": "transport.protocol", "values": ["newreno", "vegas"]},
    },
    "draw": {"count": 200, "blocks": 10},
    "auto": {"wrong": "5 %", "sample": "45 %"},
    "outcomes": ["goodput_bps", "timeouts"],
    "goals": {"fast": "goodput_bps >= 1 Mbit/s"},
}


def made(**changes: Any) -> Sweep:
    return make_sweep({**AUTO, **changes})


def by_packets(**changes: Any) -> Sweep:
    plain = {key: value for key, value in {**AUTO, **changes}.items() if key != "auto"}
    return make_sweep({**plain, "scenario": {**plain["scenario"], "fidelity": "packet"}})


def run(space: Sweep, folder: Path, *, workers: int = 2, **options: Any) -> tuple[Store, Summary]:
    store = Store.create(folder, space.manifest())
    with ThreadPoolExecutor(workers) as pool:
        return store, adaptive.run(space, store, executor=pool, slots=lambda: workers, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Store, Summary]:
    space = made()
    return space, *run(space, tmp_path_factory.mktemp("auto") / "store")


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return run(by_packets(), tmp_path_factory.mktemp("packets") / "store")[0].frame()


@pytest.mark.full
def test_every_cell_has_one_answer_and_says_whose(whole: tuple[Sweep, Store, Summary]) -> None:
    space, store, summary = whole
    frame = store.frame()
    assert frame["cell"].tolist() == list(range(space.n_cells)) and summary.done == space.n_cells
    assert set(frame["status"]) == {"ok"}
    assert {tuple(pair) for pair in frame[["answered_by", "because"]].to_numpy()} == {
        ("fluid", "clear"), ("packet", "sample"), ("packet", "doubt"),
    }  # fmt: skip
    assert summary.answered == decisions.answered(frame)
    assert [each["phase"] for each in store.runs()] == ["sample, screened", "sample", "screening", "in doubt"]
    # Groups are answered as a whole, and the sample has the size in the definition.
    per_group = frame.groupby(frame["cell"] // 2)
    assert (per_group["because"].nunique() == 1).all()
    assert space.screening is not None
    sampled = (per_group["because"].first() == "sample").to_numpy()
    assert np.array_equal(sampled, space.screening.sample()) and sampled.sum() == 90


@pytest.mark.full
def test_answers_are_those_of_the_fidelity_that_gave_them(
    whole: tuple[Sweep, Store, Summary], packets: pd.DataFrame
) -> None:
    space, store, _ = whole
    frame, cheap = store.frame(), store.screened()
    assert len(cheap) == space.n_cells and set(cheap["answered_by"]) == {"fluid"}  # both values are kept
    clear = (frame["because"] == "clear").to_numpy()
    pd.testing.assert_frame_equal(frame[clear], cheap[clear][frame.columns])
    both = [name for name in packets.columns if name in frame.columns]
    pd.testing.assert_frame_equal(frame.loc[~clear, both], packets.loc[~clear, both])
    assert frame["key"].tolist() == [
        (all_keys(space) if not c else all_keys(space.screened()))[i] for i, c in enumerate(clear)
    ]
    for cell in (int(np.argmax(clear)), int(np.argmin(clear))):
        resolved = identity.scenario(space.answering(frame["answered_by"][cell]), cell)
        assert identity.key(resolved) == frame["key"][cell]


@pytest.mark.full
def test_hardly_a_decision_is_wrong(whole: tuple[Sweep, Store, Summary], packets: pd.DataFrame) -> None:
    _, store, _ = whole
    frame = store.frame()
    clear = frame["because"] == "clear"
    assert clear.mean() > 0.4
    assert ((frame["fast"] > 0.5) != (packets["fast"] > 0.5)).mean() <= 0.05


@pytest.mark.full
def test_winners_are_decided_too(tmp_path: Path) -> None:
    """A window of 4 is too small for most networks, and as good as one of 12 for the others."""
    axes = {"window": {"field": "transport.window", "values": [4, 12]}}
    auto = {"decide": ["winner"], "wrong": "5 %", "sample": "45 %"}
    store, _ = run(made(axes=axes, compare="window", auto=auto), tmp_path / "store")
    plain = by_packets(axes=axes, compare="window")
    frame, packets = store.frame(), run(plain, tmp_path / "packets")[0].frame()
    assert (frame["because"] == "clear").mean() > 0.2
    best = [table["goodput_bps"].to_numpy().reshape(-1, 2).argmax(axis=1) for table in (frame, packets)]
    assert np.mean(best[0] != best[1]) <= 0.05
    share = [
        wins(results, "goodput_bps")
        for results in (
            Results(store.manifest, frame, store.screened()),
            Results(plain.manifest(), packets),
        )
    ]
    assert (share[0].low <= share[1].share).all() and (share[1].share <= share[0].high).all()


@pytest.mark.full
def test_means_are_corrected_and_cover_those_of_packets(
    whole: tuple[Sweep, Store, Summary], packets: pd.DataFrame
) -> None:
    _, store, _ = whole
    results = Results(store.manifest, store.frame(), store.screened())
    truth = Results(by_packets().manifest(), packets)
    one = results.everywhere()
    for column in ("goodput_bps", "timeouts", "fast", "goodput_bps_gain", "fast_gain"):
        mine, theirs = (each.estimates(column, one, 1) for each in (results, truth))
        for k in range(column.endswith("gain"), 2):
            assert mine.low[0, k] <= theirs.mean[0, k] <= mine.high[0, k], column
            assert mine.low[0, k] < mine.mean[0, k] < mine.high[0, k]


@pytest.mark.full
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chunk=st.one_of(st.none(), st.integers(1, 80)),
    workers=st.integers(1, 3),
    stops=st.lists(st.integers(0, 25), max_size=3),
)
def test_the_same_bits_whatever_runs_it_and_however_it_is_interrupted(
    whole: tuple[Sweep, Store, Summary],
    tmp_path_factory: pytest.TempPathFactory,
    chunk: int | None,
    workers: int,
    stops: list[int],
) -> None:
    space, first, _ = whole
    folder = tmp_path_factory.mktemp("again") / "store"
    for most in stops:
        left = most

        def stop(summary: Summary) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt

        try:
            run(space, folder, chunk=chunk, workers=workers, progress=stop)
        except KeyboardInterrupt:
            continue
    again, _ = run(space, folder, chunk=chunk, workers=workers)
    assert again.digest() == first.digest()
    screened = [each.screened().sort_values("cell").reset_index(drop=True) for each in (again, first)]
    pd.testing.assert_frame_equal(*screened)


@pytest.mark.full
def test_the_same_bits_from_processes(
    whole: tuple[Sweep, Store, Summary], two_processes: Workers, tmp_path: Path
) -> None:
    space, first, _ = whole
    store = Store.create(tmp_path / "store", space.manifest())
    options = {"executor": two_processes.executor, "slots": two_processes.slots, "chunk": 40}
    adaptive.run(space, store, target=two_processes.target, **options)
    assert store.digest() == first.digest()


@pytest.mark.full
def test_a_lost_chunk_of_any_kind_is_made_again(whole: tuple[Sweep, Store, Summary], tmp_path: Path) -> None:
    space, first, _ = whole
    run(space, tmp_path / "store", chunk=20)
    for kind in ("screened", "cells"):
        lost = sorted((tmp_path / "store" / "chunks").glob(f"{kind}-*"))[3]
        lost.write_bytes(lost.read_bytes()[:100])
    again, _ = run(space, tmp_path / "store")
    assert again.digest() == first.digest() and len(again.screened()) == space.n_cells


@pytest.mark.full
@pytest.mark.parametrize(
    ("phase", "head"), [("sample, screened", "No answer"), ("sample", "has the highest mean")]
)
def test_a_report_of_an_unfinished_sweep(tmp_path: Path, phase: str, head: str) -> None:
    """Reports after one phase have no answers, and after two those of the sample; both list the missing
    parts.
    """

    def stop(summary: Summary) -> None:
        if summary.phase == phase and summary.done == summary.todo:
            raise KeyboardInterrupt

    space = made()
    with pytest.raises(KeyboardInterrupt):
        run(space, tmp_path / "store", progress=stop)
    store = Store.open(tmp_path / "store")
    page = sweep_page(store.manifest, store.frame(), store="store", cheap=store.screened(), runs=store.runs())
    assert head in page and ("are not simulated yet" in page or "of 400 cells has a result" in page)


@pytest.mark.full
def test_ties_are_no_answers_so_packets_answer_everything(tmp_path: Path) -> None:
    axes = {"setup": {"cases": {"one": {"transport.window": 32}, "the same": {"transport.window": 32}}}}
    space = made(
        axes=axes,
        compare="setup",
        goals={},
        draw={"count": 60, "blocks": 6},
        auto={"decide": ["winner"], "wrong": "5 %"},
    )
    store, _ = run(space, tmp_path / "store")
    assert set(store.frame()["answered_by"]) == {"packet"}
    assert [each["phase"] for each in store.runs()] == ["sample, screened", "sample", "in doubt"]
    results = Results(store.manifest, store.frame(), store.screened())
    assert results.screened is not None and not results.screened.facts([])["useful"]


@pytest.mark.full
def test_of_a_small_sweep_packets_answer_everything_at_once(tmp_path: Path) -> None:
    store, summary = run(made(draw={"count": 40, "blocks": 4}), tmp_path / "store")
    assert summary.answered == {("packet", "sample"): 80} and not len(store.screened())
    assert "scenario" in sweep_page(store.manifest, store.frame(), store="store", cheap=store.screened())


@pytest.mark.full
def test_with_nothing_to_decide_the_sample_is_all_that_packets_answer(tmp_path: Path) -> None:
    space = made(auto={"decide": [], "sample": "40 %"}, goals={})
    summary = run(space, tmp_path / "store")[1]
    assert summary.answered == {("fluid", "clear"): 240, ("packet", "sample"): 160}


@pytest.mark.full
def test_cells_that_no_cheap_model_knows_are_for_packets(tmp_path: Path) -> None:
    """The fluid model has no send buffer and the formulae have no end, so each fails for some groups of
    cells."""
    cases = {
        "plain": {},
        "short": {"transport.bytes": "30 kB"},
        "small": {"transport.send_buffer": {"size": "16 kB"}},
        "both": {"transport.bytes": "30 kB", "transport.send_buffer": {"size": "16 kB"}},
    }
    axes = {"how": {"cases": cases}, **AUTO["axes"]}
    changes = {
        "axes": axes,
        "draw": {"count": 40, "blocks": 4},
        "compare": "protocol",
        "outcomes": ["goodput_bps"],
    }
    space = made(**changes, auto={"wrong": "10 %"})
    assert space.screening is not None and space.screening.known.mean() == 0.75
    store, _ = run(space, tmp_path / "store")
    frame = store.frame()
    assert set(frame[frame["how"] == "both"]["because"]) == {"unknown"}
    assert "unknown" not in set(frame[frame["how"] != "both"]["because"])
    by = frame[frame["because"] == "clear"].groupby("how")["answered_by"].unique()
    assert {how: list(models) for how, models in by.items()} == {
        "plain": ["fluid"], "short": ["fluid"], "small": ["formula"],
    }  # fmt: skip
    truth = run(by_packets(**changes), tmp_path / "packets")[0].frame()
    assert ((frame["fast"] > 0.5) != (truth["fast"] > 0.5)).mean() < 0.1


def test_a_failed_cell_is_no_answer_of_a_cheap_model() -> None:
    """A failed cell is not an answer of a cheap model, and a failed cell of the sample does not confirm
    it."""
    n, rng = 400, np.random.default_rng(1)
    cells = np.arange(n)
    margin = rng.normal(0, 1, n)
    sweep = {
        "axes": [],
        "compare": None,
        "n_cells": n,
        "auto": {"goals": ["fast"], "winner": None, "wrong": 0.05},
    }
    status = np.where(cells % 7 == 0, "failed", "ok")
    because = np.where(cells < 100, "sample", "doubt")
    cheap = pd.DataFrame({"cell": cells, "status": status, "fast_margin": margin})
    right = pd.DataFrame({"cell": cells, "status": "ok", "because": because, "fast_margin": margin + 0.1})
    decision = decisions.decide_from_tables(sweep, cheap, right, group=1)
    assert decision.useful and not decision.clear[status == "failed"].any()
    assert decision.clear[status == "ok"].mean() > 0.9
    broken = right.assign(status=np.where(cells % 3 == 0, "failed", "ok"))
    fewer = decisions.decide_from_tables(sweep, cheap, broken, group=1)
    assert fewer.limits["fast, 0"] > 2 * decision.limits["fast, 0"]


def test_goals_are_met_by_more_than_half_of_the_replications() -> None:
    space = made()
    goal = space.goals["fast"]
    values = {
        "goodput_bps": np.array([[2e6, 3e6, 0.5e6], [2e6, 0.5e6, 0.1e6], [1e6] * 3, [np.nan, np.nan, 9e6]])
    }
    margins = goal.margins(values)
    np.testing.assert_allclose(margins, [np.log(2), -np.log(2), 0.0, -np.inf])
    assert np.array_equal(margins[:2] > 0, goal.held(values)[:2].mean(axis=1) > 0.5)
    share = make_sweep({**AUTO, "goals": {"few": "drop_ratio <= 5 %"}, "scenario": SHARED}).goals["few"]
    np.testing.assert_allclose(share.margins({"drop_ratio": np.array([[0.01], [0.2]])}), [0.04, -0.15])


SHARED: dict[str, Any] = {
    "fidelity": "auto",
    "duration": "4 s",
    "transport": {"protocol": "newreno", "window": 32},
    "shared": {
        "dumbbell": {"rate": {"log_uniform": ["1 Mbit/s", "4 Mbit/s"]}, "delay": "10 ms", "queue": 20},
        "access": {"source_delay": "2 ms", "sink_delay": "2 ms"},
        "flows": [{"count": 3}],
    },
}


NO_CHEAP_MODEL = {"protocol": "linux26", "congestion_control": "westwood", "window": 32}
"""Transport without a cheap model."""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"keep": "replications"}, "keep = replications cannot be combined with fidelity: auto"),
        ({"goals": {}, "auto": {"decide": ["goals"]}}, "decide = goals, but the sweep has no goals"),
        ({"axes": {}, "compare": None, "auto": {"decide": ["winner"]}}, "decide = winner needs a comparison"),
        ({"auto": {"wrong": "50 %"}}, "auto.wrong = '50 %' is above the limit; expected 0.1 % to 20 %"),
        ({"auto": {"decide": ["all"]}}, "expected 'goals' or 'winner'"),
        ({"goals": {"slow": "mean_delay_s <= 1 s"}}, "mean_delay_s"),
        ({"axes": {"of": {"field": "fidelity", "values": ["packet", "fluid"]}}}, "of sets fidelity, but"),
        (
            {"axes": {}, "scenario": {**AUTO["scenario"], "transport": NO_CHEAP_MODEL}},
            "fidelity = auto has no cheap model for this sweep .*linux.*; write packet",
        ),
        (
            {"axes": {"of": {"cases": {"newreno": {}, "own": {"transport.congestion_control": "bic"}}}}},
            "fidelity = auto has no cheap model for 1 of the 2 compared settings.*; write packet, or leave",
        ),
        (
            {"scenario": {**AUTO["scenario"], "fidelity": "packet"}},
            "auto needs fidelity: auto; write fidelity: auto in the scenario, or remove auto",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make_sweep({**AUTO, **changes})


def test_auto_is_for_sweeps() -> None:
    with pytest.raises(InputError, match=r"fidelity = auto is supported only in sweeps.*write packet"):
        Scenario.check(AUTO["scenario"])


@pytest.mark.full
def test_a_forecast_reaches_from_the_sample_to_packets_everywhere() -> None:
    space, plain = made(draw={"count": 4000, "blocks": 10}), by_packets(draw={"count": 4000, "blocks": 10})
    with open_workers(models=space.models()) as found:
        both, alone = forecast(space, found), forecast(plain, found)
    assert both.cells == alone.cells == 8000
    assert both.networks == pytest.approx(2 * alone.networks)
    assert 0 < both.time_s[0] < both.time_s[1]


@pytest.mark.full
@pytest.mark.needs("chromium")
def test_from_the_command_line(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("auto.yaml").write_text(document.yaml_text(AUTO))

    def said(*args: str, code: int = 0) -> str:
        found = CliRunner().invoke(app, list(args))
        assert found.exit_code == code, found.output
        return found.stdout

    assert re.search(r"time +\S+ \S+ to ", said("sweep", "auto.yaml", "--dry-run"))
    first = said("sweep", "auto.yaml", "--out", "store")
    assert "400 of 400 cells are stored, 400 of them new, 0 failed" in first
    assert re.search(r"answered by fluid: \d+ \(\d+ %, clear\), packet: \d+ .*in doubt.*180 .*sampled", first)
    assert "all 400 cells are stored already" in said("sweep", "auto.yaml", "--out", "store")
    assert "answered by fluid" in said("status", "store") and "screening, finished" in said("status", "store")
    assert sum(json.loads(said("status", "store", "--json"))["answered"].values()) == 400
    store = Store.open("store")
    counts = query(store, "SELECT answered_by, count(*) AS n FROM cells GROUP BY ALL ORDER BY ALL")
    assert counts["answered_by"].tolist() == ["fluid", "packet"]
    joined = "SELECT count(*) AS n FROM cells JOIN screened USING (cell) WHERE cells.because <> 'clear'"
    assert query(store, joined)["n"][0] == counts["n"][1]
    for by in ("fluid", "packet"):
        key = store.frame()["key"][(store.frame()["answered_by"] == by).to_numpy()].iloc[0]
        assert "is bit-identical to the store" in said("rerun", "store", key)
    said("export", "store", "--to", "csv", "--out", "cells.csv")
    assert set(pd.read_csv("cells.csv")["because"]) == {"clear", "doubt", "sample"}
    said("export", "store", "--to", "netcdf", "--out", "cells.nc")
    said("report", "store", "--out", "page.html")
    said("sweep", "auto.yaml", "--out", "store", "--set", "auto.wrong=10 %", code=2)  # another sweep
    page.open(tmp_path / "page.html", width=1600, height=1000)
    assert page.complaints() == []
    text = page.evaluate("document.getElementById('screened').innerText")
    assert re.match(r"\d+ of 400 cells \([\d.]+ %\) were answered without packets\.", text)
    assert "of each decision (fast) at most 5.00 % of the cells are expected to be wrong" in text
    assert "packets everywhere would have taken about" in text
    rows = page.evaluate("document.querySelectorAll('table.answered tbody tr').length")
    assert rows == 3
