"""Expected costs of rows: sorted by cost, the threads of a warp end at about the same time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netcarlo
from netcarlo.kernels import models
from netcarlo.kernels.base.cost import transfer
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.base.loss import probabilities, thresholds
from netcarlo.kernels.base.parameters import RowP, UdpP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.runtime.batches import LARGEST, Batches, BatchSize
from netcarlo.simulation.launches import Job, model_of
from tests.twins.rows import rows_of

EXAMPLES = Path(__file__).parents[2] / "configs" / "examples"
WARP = 32


def efficiency(work: Any) -> float:
    """Return the share of time in which threads work; a warp lasts as long as its longest row."""
    warps = np.concatenate([work, np.zeros(-len(work) % WARP)]).reshape(-1, WARP)
    return float(work.sum() / (WARP * warps.max(axis=1).sum()))


def as_launched(model: Any, rows: Any) -> Any:
    batch = Batches(model.cost(rows)).take(BatchSize(LARGEST))
    assert batch and len(batch.rows) == len(rows.parameters)
    return batch.rows


def test_sorted_random_topologies_fill_their_warps() -> None:
    scenario = netcarlo.load_scenario(EXAMPLES / "random_topology.yaml")
    rows, model = Job(scenario, 0, 2000).part().rows, model_of(scenario)
    work = launch.run(model, rows, target="cpu")[:, Out.SENT]
    before, after = efficiency(work), efficiency(work[as_launched(model, rows)])
    assert before < 0.25
    assert after > 0.6
    assert after > 0.75 * efficiency(np.sort(work))  # nearly as good as sorted by the actual work


@pytest.mark.full
def test_so_do_corner_cases_though_outages_and_timers_decide_them() -> None:
    model, rows = models.model("tcp_newreno"), rows_of("tcp_newreno", 1000, seed=7)
    work = launch.run(model, rows, target="cpu")[:, Out.SENT]
    assert efficiency(work[as_launched(model, rows)]) > 2 * efficiency(work)


@pytest.mark.full
@pytest.mark.parametrize("name", models.NAMES)
def test_each_model_estimates_each_row(name: str) -> None:
    rows = rows_of(name, 40, seed=3)
    model = models.model(name)
    cost = model.cost(rows)
    assert cost.shape == (len(rows.parameters),) and cost.dtype == np.float64
    assert np.isfinite(cost).all() and (cost >= 0).all()
    longer = rows.parameters.copy()
    longer[:, [RowP.END, UdpP.STOP]] *= 4
    assert (model.cost(rows._replace(parameters=longer)) >= cost).all()
    assert model.cost(type(rows)(*(field[:0] for field in rows[:4]), rows.losses)).shape == (0,)


def test_packets_of_an_association() -> None:
    second = 1e9
    of_window = transfer(second, 1e18, packet=1e5, rtt=1e8, window=np.array([10, 100, 1e6]))
    np.testing.assert_allclose(of_window, [100, 1000, 10_000])
    assert transfer(second, 50, packet=1e5, rtt=1e8, window=10) == 50
    lossy = transfer(second, 1e18, packet=1e5, rtt=1e8, window=1e6, loss=np.array([0.0, 1e-4, 0.01, 1.0]))
    assert (np.diff(lossy) < 0).all()
    np.testing.assert_allclose(lossy[1], 10 * np.sqrt(1.5 / 1e-4), rtol=0.05)  # rare loss: 1 / sqrt(p)
    np.testing.assert_allclose(probabilities(thresholds([0.0, 1e-6, 0.3, 1.0])), [0, 1e-6, 0.3, 1], atol=1e-8)
