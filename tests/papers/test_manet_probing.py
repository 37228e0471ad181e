"""Study of TCP-Probing in a mobile ad hoc network, compared with the available parts of its paper."""

from pathlib import Path

import numpy as np
import pytest

from netcarlo.kernels.adhoc.layout import METRE, Manet
from netcarlo.kernels.base.parameters import ReliableP
from netcarlo.numerics.statistics import mean
from netcarlo.studies.cells import Cells, simulate_cells
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.manet_probing import claims, metrics
from netcarlo.studies.study import Study, load
from tests.studies.reproductions import reproduction

RUNS = 20


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the study without its variations."""
    found = load("manet_probing")
    found.description.variations.clear()
    return found


@pytest.fixture(scope="module")
def cells(study: Study) -> Cells:
    """Return a few runs of every cell."""
    return Cells(study, simulate_cells(study, replications=RUNS, seed=1, target="cpu"), claims.METRICS)


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return reproduction("manet_probing")[1]


@pytest.mark.full
def test_conditions_reach_the_kernel(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.all:
        assert cell.parameter(Manet.SPEED_MIN) == cell["speed_mps"] * METRE
        network, lossy = cell.scenario.adhoc, cell["error_percent"] > 0
        assert network is not None
        assert (network.residual_error, network.ack_error > 0) == (0.05 if lossy else 0, lossy)
    readings = evaluation.cells.varied("min_rto").all
    assert {cell.parameter(ReliableP.MIN_RTO) / 1e9 for cell in readings} == {
        cell["min_rto"] for cell in readings
    }
    for cell in evaluation.cells.varied("range_m").all:
        assert cell.parameter(Manet.RANGE) == cell["range_m"] * METRE
        assert cell.scenario.adhoc is not None
        assert (cell.scenario.adhoc.frame_error > 0) == (cell["layer"] in ("radio", "both"))
    for cell in evaluation.cells.varied("start_m").all:
        assert cell.parameter(Manet.APART_MAX) == cell["start_m"] * METRE
        assert cell.parameter(Manet.RANGE) == cell["range_m"] * METRE


@pytest.mark.full
def test_walkers_start_near_each_other_and_part(cells: Cells) -> None:
    """Reason M1: routes have one hop at the start, and become longer and break sooner at higher speed."""
    slow, fast = (cells.one(protocol="newreno", speed_mps=v, error_percent=5.0) for v in (2.0, 14.0))
    assert slow.parameter(Manet.APART_MAX) == 75 * METRE < slow.parameter(Manet.RANGE)
    for name in ("mean_shortest_hops", "breaks"):
        assert mean(fast.outcome(name) - slow.outcome(name)).ci_low > 0


@pytest.mark.full
def test_runs_of_the_senders_are_paired(cells: Cells) -> None:
    for speed in (2.0, 14.0):
        shares = [claims.at(cells, "throughput", p, speed, 0.0) for p in ("newreno", "probing")]
        assert np.corrcoef(*shares)[0, 1] > 0.9


@pytest.mark.full
def test_a_transfer_is_5_MB(cells: Cells) -> None:  # noqa: N802
    for cell in cells.all:
        kbit = cells.samples("throughput", cell) * cells.samples("transfer_time", cell)
        np.testing.assert_allclose(kbit, 40e3, rtol=1e-9)


@pytest.mark.full
def test_energy_is_that_of_the_states(cells: Cells) -> None:
    for cell in cells.all:
        seconds = cells.samples("transfer_time", cell) * 10
        joules = cells.samples("energy", cell)
        assert (joules > 0.843 * seconds).all() and (joules < 1.327 * seconds).all()
        np.testing.assert_allclose(cells.samples("joules_per_mb", cell), joules / 5)


def test_ratio_has_the_interval_of_pairs() -> None:
    rng = np.random.default_rng(5)
    b = rng.normal(100, 20, 4000)
    a = 1.2 * b + rng.normal(0, 1, 4000)
    found = mean(metrics.gain_of_means(a, b))
    assert found.mean == pytest.approx(100 * (a.mean() / b.mean() - 1))
    assert found.half_width < 0.06  # unpaired it would be 0.8
    means = [
        100 * (x.mean() / y.mean() - 1) for x, y in zip(a.reshape(40, -1), b.reshape(40, -1), strict=True)
    ]
    assert found.sd / 10 == pytest.approx(np.std(means, ddof=1), rel=0.3)


def test_slope() -> None:
    lines = [np.array([1.0, 5.0]), np.array([3.0, 5.0]), np.array([5.0, 4.0])]
    np.testing.assert_allclose(metrics.slope(lines, (2, 4, 6)), [1.0, -0.25])


@pytest.mark.full
def test_maps_show_every_reading(evaluation: Evaluation) -> None:
    variations = evaluation.study.description.variations
    shapes = {(len(v.values), len(next(iter(v.by.values())).values)) for v in variations.values()}
    assert {found.values.shape for found in evaluation.maps} == shapes
    for found in evaluation.maps:
        assert np.isfinite(found.values).all() and found.at is not None
    first = next(found for found in evaluation.maps if found.title == "TCP-Probing over NewReno")
    row, column = first.at or (0, 0)
    losses = variations["min_rto"].by["ack_loss"].values
    reading = {"min_rto": variations["min_rto"].values[row], "ack_loss": losses[column]}
    pairs = [
        [
            evaluation.cells.varied("min_rto").value(
                "throughput", protocol=p, speed_mps=v, error_percent=5.0, **reading
            ).mean()
            for p in ("probing", "newreno")
        ]
        for v in claims.ENDS
    ]  # fmt: skip
    assert first.values[row, column] == pytest.approx(np.mean([100 * (a / b - 1) for a, b in pairs]))


@pytest.mark.full
def test_index_lists_the_study() -> None:
    text = Path(reproduction("manet_probing")[0], "index.html").read_text(encoding="utf-8")
    assert "manet_probing/report.html" in text and "New TCP-Probing in a mobile ad hoc network" in text
