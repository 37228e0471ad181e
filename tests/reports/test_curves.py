"""Figures of a stored sweep: outcomes over columns, and their files."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import netcarlo
from netcarlo import InputError, StoredSweep
from netcarlo.cli.main import app
from netcarlo.reports import images
from netcarlo.reports.sweep.features import bins
from netcarlo.reports.sweep.results import Results

LINK = {
    "duration": "4 s",
    "transport": {"protocol": "newreno"},
    "hops": [{"rate": "4 Mbit/s", "delay": "10 ms", "queue": 20}],
}
AXES = {
    "transport.protocol": ["newreno", "sack"], "hops.0.loss": ["0.1 %", "5 %"], "hops.0.queue": [5, 10, 20]
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of a small sweep by fluid models, which compile quickly."""
    folder = tmp_path_factory.mktemp("curves") / "store"
    sweep = {"scenario": {**LINK, "fidelity": "formula"}, "axes": AXES, "replications": 2}
    netcarlo.sweep(sweep, out=folder)
    return folder


def test_an_open_store_has_cells_a_dataset_and_queries(store: Path) -> None:
    opened = netcarlo.open(store)
    assert isinstance(opened, StoredSweep) and "12 cells" in repr(opened)
    assert opened.axes["hops.0.queue"] == [5, 10, 20] and len(opened.cells) == 12
    rows = opened.query('SELECT goodput_bps FROM cells WHERE "hops.0.queue" = 5 ORDER BY cell')
    wanted = opened.cells[opened.cells["hops.0.queue"] == 5].sort_values("cell")["goodput_bps"]
    assert rows["goodput_bps"].tolist() == wanted.tolist()
    assert opened.to_xarray()["goodput_bps"].size == 12
    with pytest.raises(InputError):
        netcarlo.open(store / "nothing")


def test_a_line_is_the_cells_of_its_value(store: Path) -> None:
    figure = netcarlo.plot(store, x="hops.0.loss", y="goodput_bps", where={"hops.0.queue": 10})
    lines = {trace.name: trace for trace in figure.data if trace.mode == "lines+markers"}
    assert {*lines} == {"newreno", "sack"}
    cells = netcarlo.open(store).cells
    for name, line in lines.items():
        own = cells[(cells["transport.protocol"] == name) & (cells["hops.0.queue"] == 10)]
        own = own.sort_values("hops.0.loss")
        assert line.x == pytest.approx(100 * own["hops.0.loss"]) and line.y == pytest.approx(
            own["goodput_bps"] / 1e6, rel=1e-3
        )
    assert figure.layout.xaxis.title.text == "hops.0 loss [%]"
    assert figure.layout.yaxis.title.text == "goodput [Mbit/s]"


def test_cells_that_differ_in_another_axis_are_not_averaged(store: Path) -> None:
    with pytest.raises(InputError, match=r"cells differ in hops.0.queue; .*--where hops.0.queue=5"):
        netcarlo.plot(store, x="hops.0.loss", by="transport.protocol")
    with pytest.raises(InputError, match="y='goodput' is not a column of the cells; did you mean"):
        netcarlo.plot(store, y="goodput")
    with pytest.raises(InputError, match="no finished cell has"):
        netcarlo.plot(store, where={"hops.0.queue": 7})


def test_intervals_over_drawn_networks_are_those_of_the_page(tmp_path: Path) -> None:
    hop = {"rate": {"uniform": ["1 Mbit/s", "9 Mbit/s"]}, "delay": "10 ms", "queue": 20, "loss": "1 %"}
    sweep = {
        "scenario": {**LINK, "hops": [hop], "fidelity": "formula"}, "axes": {"hops.0.loss": ["1 %", "2 %"]},
        "draw": {"count": 64, "blocks": 8}, "replications": 1,
    }  # fmt: skip
    netcarlo.sweep(sweep, out=tmp_path / "store")
    cells = netcarlo.open(tmp_path / "store").cells
    figure = netcarlo.plot(tmp_path / "store", x="hops.0.loss", y="goodput_bps")
    line = next(trace for trace in figure.data if trace.mode == "lines+markers")
    means = cells.groupby("hops.0.loss")["goodput_bps"].mean() / 1e6
    assert line.y == pytest.approx(means.tolist(), rel=1e-3)
    opened = netcarlo.open(tmp_path / "store").store
    results = Results(opened.manifest, opened.frame())
    of_page = results.estimates("goodput_bps", np.arange(2), 2)
    assert line.meta["low"] == pytest.approx(of_page.low[:, 0] / 1e6)
    independent = 1.96 * cells.groupby("hops.0.loss")["goodput_bps"].std() / np.sqrt(64) / 1e6
    assert (np.array(line.meta["high"]) - line.y < 0.7 * independent).all()  # blocks of a design are better

    drawn = netcarlo.plot(tmp_path / "store", x="bottleneck_bps", y="goodput_bps", by="hops.0.loss")
    lines = [trace for trace in drawn.data if trace.mode == "lines+markers"]
    assert [len(trace.x) for trace in lines] == [8, 8]  # bins, not 64 networks
    with pytest.raises(InputError) as unknown:
        netcarlo.plot(tmp_path / "store", x="lossy")
    known = "base_rtt_s, bdp_packets, bottleneck_bps, hops.0.loss, path_loss"
    assert str(unknown.value).endswith(f"known: {known}")


def test_sizes_are_in_millimetres() -> None:
    assert images.size("85x60 mm") == images.size("85 mm x 60mm") == (85, 60)
    for wrong in ("85", "85x", "5x60", "85x60 cm", "85x2000"):
        with pytest.raises(InputError, match="write 85x60 mm"):
            images.size(wrong)


@pytest.mark.full
def test_figures_are_files_of_the_size_asked_for(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "figures"
    command = ["report", str(store), "--figures", str(folder), "--size", "100x50 mm", "--x", "hops.0.loss"]
    found = CliRunner().invoke(app, [*command, "--by", "transport.protocol", "--where", "hops.0.queue=10"])
    assert found.exit_code == 0, found.output
    png = (folder / "goodput_bps.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(png[k : k + 4]) for k in (16, 20))
    assert (width, height) == (4 * round(100 * 96 / 25.4), 4 * round(50 * 96 / 25.4))
    assert b"goodput [Mbit/s]" in (folder / "goodput_bps.svg").read_bytes()
    assert (folder / "goodput_bps.pdf").read_bytes()[:5] == b"%PDF-"


def test_the_remedy_for_a_missing_kaleido_names_the_extra(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    command = ["report", str(store), "--figures", str(tmp_path), "--where", "hops.0.queue=10"]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 2 and "pip install 'netcarlo[figures]'" in found.output


def test_a_browser_that_does_not_start_is_found_before_any_figure(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kaleido = pytest.importorskip("kaleido")
    pytest.importorskip("plotly")
    closed = []

    def fails(**options: object) -> None:
        raise RuntimeError("Kaleido requires Google Chrome\nmore")

    monkeypatch.setattr(kaleido, "start_sync_server", fails)
    monkeypatch.setattr(kaleido, "stop_sync_server", lambda **options: closed.append(options))
    command = ["report", str(store), "--figures", str(tmp_path / "none"), "--where", "hops.0.queue=10"]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 2 and closed
    text = " ".join(found.output.split())
    assert "pip install 'netcarlo[figures]'" in text and "plotly_get_chrome" in text
    assert "(Kaleido requires Google Chrome)" in text and not (tmp_path / "none").exists()


@given(st.lists(st.one_of(st.integers(0, 12).map(float), st.just(math.nan)), min_size=1, max_size=200))
def test_no_bin_of_a_feature_is_empty(values: list[float]) -> None:
    """Features of networks often have few values that occur many times, such as rates of a table."""
    found = np.array(values)
    centres, place = bins(found)
    assert [*np.unique(place[place >= 0])] == [*range(len(centres))]
    assert ((place == -1) == np.isnan(found)).all()
    assert (np.diff(centres) > 0).all()
    assert all((found[place == k] <= later).all() for k, later in enumerate(centres[1:]))
