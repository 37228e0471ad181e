from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from netcarlo.simulation.executors import open_workers
from netcarlo.sweeps.execution import forecast as forecasts
from netcarlo.sweeps.execution.forecast import forecast
from netcarlo.sweeps.execution.run import run
from netcarlo.sweeps.space.file import make_sweep
from netcarlo.sweeps.store.store import Store

SWEEP = {
    "name": "forecast",
    "scenario": {
        "duration": "5 s",
        "transport": {"protocol": "newreno", "window": 16},
        "hops": [{"rate": {"uniform": ["1 Mbit/s", "3 Mbit/s"]}, "delay": "10 ms", "loss": "2 %"}],
    },
    "axes": {"transport.protocol": ["newreno", "vegas"]},
    "draw": 64,
    "replications": 8,
}


@pytest.fixture
def workers():
    with open_workers(models=make_sweep(SWEEP).models()) as found:
        yield found


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(forecasts, "PILOT_S", 1.0)


@pytest.mark.full
def test_a_forecast_is_what_comes(tmp_path, workers):
    sweep = make_sweep(SWEEP)
    store = Store.create(tmp_path / "store", sweep.manifest())
    found = forecast(sweep, workers, store=store)
    assert store.scan().n_files == 0
    assert store.runs() == []
    assert (found.cells, found.networks) == (128, 1024)
    summary = run(sweep, store, executor=workers.executor, slots=workers.slots)
    assert found.packets == pytest.approx(summary.packets, rel=0.25)
    assert found.disk_bytes == pytest.approx(store.scan().n_bytes, rel=0.6)
    assert found.memory_bytes > 1e7
    assert found.failed == 0
    assert forecast(sweep, workers, store=store).cells == 0


@pytest.mark.full
def test_the_time_is_as_forecast(tmp_path, workers):
    """One of three forecasts is right: other tests may load the machine during the pilot or the run alone."""
    sweep = make_sweep(SWEEP)
    factors = []
    for number in range(3):
        store = Store.create(tmp_path / f"store{number}", sweep.manifest())
        least_s, most_s = forecast(sweep, workers, store=store).time_s
        wall_s = run(sweep, store, executor=workers.executor, slots=workers.slots).wall_s
        factors.append(max(least_s / wall_s, wall_s / most_s))
        if factors[-1] < 3:
            break
    assert min(factors) < 3


@pytest.mark.full
def test_the_pilot_is_spread_over_the_sweep(workers):
    sweep = make_sweep(SWEEP | {"draw": 4096})
    pilot = forecasts._Pilot(sweep, workers, np.ones(sweep.n_cells, bool))
    cells = np.sort(pilot.rows["cell"].to_numpy())
    assert set(pilot.rows["transport.protocol"].to_pylist()) == {"newreno", "vegas"}
    draws = np.unique(cells // 2)
    assert len(draws) >= 2
    assert np.diff(np.array([0, *draws, 4096])).max() < 4096 * 3 / len(draws)


@pytest.mark.full
def test_a_precision_is_forecast_from_the_variance(workers):
    precise = SWEEP | {"draw": 4, "precision": "2 %"}
    del precise["replications"]
    sweep = make_sweep(precise)
    found = forecast(sweep, workers)

    class Nowhere(forecasts._Pilot):
        def __init__(self) -> None:
            self.missing, self.tables, self.each = np.ones(8, bool), [], []

    summary = run(sweep, Nowhere(), executor=workers.executor, slots=workers.slots)
    assert found.networks == pytest.approx(summary.networks, rel=0.35)


def test_half_the_error_needs_four_times_as_many_replications():
    """Forecast of a cell whose standard deviation is 30 % of its mean, with the margin of the stopping
    rule."""
    half = 1.96 * 3e5 / 8
    values = {
        "goodput_bps": [1e6, np.nan],
        "goodput_bps_sd": [3e5, np.nan],
        "goodput_bps_low": [1e6 - half, np.nan],
        "goodput_bps_high": [1e6 + half, np.nan],
    }
    pilot = object.__new__(forecasts._Pilot)
    pilot.rows = pa.table({"status": ["ok", "failed"], **values})
    for precision in (0.01, 0.02):
        pilot.asked = SimpleNamespace(base=SimpleNamespace(precision=precision))
        assert pilot.replications == pytest.approx(1.1 * (1.96 * 0.3 / precision) ** 2)
