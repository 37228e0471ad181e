"""Launches of a run on a fake device: their sizes, and the rows built beside them."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netcarlo import load_scenario
from netcarlo.kernels.runtime import batches
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.simulation import launches
from netcarlo.simulation.launches import Job
from netcarlo.simulation.simulate import simulate
from tests import toy
from tests.device.cupy import fake_cupy, install

EXAMPLES = Path(__file__).parents[2] / "configs" / "examples"


def test_rows_are_built_while_the_device_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    lossy_hop = load_scenario(EXAMPLES / "lossy_hop.yaml")
    begun: list[int] = []
    monkeypatch.setattr(compilers, "ptx", lambda model: "")
    install(monkeypatch, fake_cupy(lambda ptx: lambda grid, block, arguments: begun.append(int(grid[0]))))
    monkeypatch.setitem(launches.MAX_LAUNCH, "cuda", 100)
    part, threads = Job.part, set[str]()

    def noted(job: Job) -> Any:
        threads.add(threading.current_thread().name)
        return part(job)

    monkeypatch.setattr(Job, "part", noted)
    seen: list[tuple[int, int]] = []
    with np.errstate(invalid="ignore"):  # division of zero packets by zero time
        found = simulate(
            lossy_hop, replications=250, target="cuda",
            progress=lambda done, total: seen.append((done, total)),
        )  # fmt: skip
    assert begun == [2, 2, 1]  # blocks of 64 rows
    assert threads == {"netcarlo"}
    assert found.frame.index.tolist() == list(range(250))
    assert seen == sorted(seen) and seen[0] == (100, 250) and seen[-1] == (250, 250)
    assert launches.max_replications([lossy_hop], "cuda") == 100


def test_costs_are_asked_of_few_rows_at_a_time() -> None:
    asked: list[int] = []

    def cost(rows: Any) -> Any:
        asked.append(len(rows.parameters))
        return np.arange(len(rows.parameters)) + 1000.0 * len(asked)

    rows = toy.rows(20_000)
    found = batches.costs(toy.TOY._replace(cost=cost), rows)
    assert max(asked) < 20_000 and sum(asked) == 20_000
    assert (found == np.concatenate([np.arange(n) + 1000.0 * (k + 1) for k, n in enumerate(asked)])).all()
