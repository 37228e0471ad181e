"""A worker is killed midway: identical results on a Dask scheduler with two workers over TLS."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import netcarlo
from netcarlo.calibration.calibrate import calibrate
from netcarlo.kernels.runtime import launch
from netcarlo.planning import plan
from netcarlo.simulation import spread
from netcarlo.simulation.executors import Workers, open_workers
from netcarlo.studies.evaluation import evaluate
from tests.studies import known_study
from tests.sweeps.test_spread import PATH, PLAN

Progress = Callable[..., None]
SWEEP = {
    "name": "sweep",
    "scenario": PATH,
    "axes": {"loss": {"field": "hops.0.loss", "values": [0, "1 %", "2 %"]}},
}


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Workers]:
    """Start two workers of a scheduler with TLS."""
    with open_workers(workers=2, target="cpu") as found:
        assert found.executor.client.scheduler.address.startswith("tls://")  # type: ignore[attr-defined]
        yield found


class Killer:
    """Progress callback that kills one worker when the first results arrive."""

    def __init__(self, workers: Workers) -> None:
        self.client: Any = workers.executor.client  # type: ignore[attr-defined]
        self.killed = 0

    def __call__(self, *_: object) -> None:
        """Kill a worker unless one has been killed."""
        if not self.killed:
            self.killed = next(iter(self.client.run(os.getpid).values()))
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.full
def test_a_sweep(two_workers: Workers) -> None:
    killer = Killer(two_workers)
    there = netcarlo.sweep(SWEEP, scheduler=killer.client.cluster, target="cpu", progress=killer)
    assert killer.killed and there.equals(netcarlo.sweep(SWEEP, target="cpu"))


def elsewhere(workers: Workers, answer: Callable[[Progress], Any]) -> Any:
    """Return an answer on workers, one of which is killed; no kernel runs in this process."""
    killer = Killer(workers)
    with pytest.MonkeyPatch.context() as patch, spread.within(workers):
        patch.delattr(launch, "run")
        found = answer(killer)
    assert killer.killed
    return found


@pytest.mark.full
def test_a_plan(two_workers: Workers) -> None:
    def answer(progress: Progress) -> Any:
        return plan(PLAN, target="cpu", progress=progress).record() | {"cost": None}

    assert elsewhere(two_workers, answer) == answer(lambda *_: None)


@pytest.mark.full
def test_a_calibration_and_a_study(
    two_workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = known_study.brief(known_study.write(tmp_path / "known", seed=1))
    known_study.own_module(monkeypatch, "known")

    def fitted(progress: Progress) -> Any:
        found = calibrate(study, target="cpu", progress=progress)
        return found.model_dump(exclude={"work"})

    def reproduced(progress: Progress) -> Any:
        return [row.estimate for row in evaluate(study, target="cpu", progress=progress).rows]

    for answer in fitted, reproduced:
        assert elsewhere(two_workers, answer) == answer(lambda *_: None)
