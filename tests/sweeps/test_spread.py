"""Commands other than sweeps on workers: results equal those of threads, and no kernel runs in this
process.
"""

import json
import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import netcarlo
from netcarlo.calibration.fit.candidates import Simulator
from netcarlo.calibration.fit.free import free_fields
from netcarlo.cli.main import app
from netcarlo.kernels.runtime import launch
from netcarlo.scenario import scenario_of
from netcarlo.simulation import spread
from netcarlo.simulation.executors import StoppedError, Workers, WrongVersion
from netcarlo.simulation.launches import Job
from netcarlo.simulation.provenance import model_version
from netcarlo.simulation.simulate import simulate_all

LOSSY = {"rate": {"uniform": ["1 Mbit/s", "9 Mbit/s"]}, "delay": "10 ms", "loss": "1 %"}
PATH: dict[str, Any] = {
    "duration": "2 s",
    "replications": 40,
    "transport": {"protocol": "newreno"},
    "hops": [LOSSY],
}
PLAN: dict[str, Any] = {
    "name": "plan",
    "scenario": PATH,
    "quantity": {"name": "delay", "field": "hops.0.delay", "linear": ["1 ms", "4 ms"], "step": "1 ms"},
    "requirements": {"goodput": "goodput_bps >= 0.5 Mbit/s"},
}


@contextmanager
def elsewhere(workers: Workers) -> Iterator[None]:
    """Simulate on workers, and fail if a kernel runs in this process."""
    with pytest.MonkeyPatch.context() as patch, spread.within(workers):
        patch.delattr(launch, "run")
        yield


@pytest.mark.full
def test_networks_of_any_size_have_the_bits_of_threads(two_processes: Workers) -> None:
    several = {**PATH, "hops": [LOSSY, {"rate": "3 Mbit/s", "delay": "5 ms", "queue": 5}]}
    jobs = [
        Job(scenario_of({**PATH, "name": "one"}), 3, 37),
        Job(scenario_of({**several, "name": "two"}), 0, 11),
        Job(scenario_of({**PATH, "name": "formula", "fidelity": "formula"}), 0, 5),
        Job(scenario_of({**several, "name": "fluid", "fidelity": "fluid"}), 0, 1),
    ]
    seen: list[int] = []
    here = simulate_all(jobs, target="cpu")
    with elsewhere(two_processes):
        there = simulate_all(jobs, target="cpu", progress=lambda done, _: seen.append(done))
    for ours, theirs in zip(here, there, strict=True):
        assert np.array_equal(ours.integers, theirs.integers)
        assert ours.frame.equals(theirs.frame)
    assert seen == sorted(seen) and seen[-1] == 54


@pytest.mark.full
@pytest.mark.parametrize(
    "arguments",
    [
        ["estimate", "path.yaml", "--precision", "5%"],
        ["compare", "path.yaml", "path.yaml", "--set", "B:hops.0.loss=2%"],
        ["plan", "plan.yaml"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_print_the_same(
    arguments: list[str], two_processes: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in ("path", PATH), ("plan", PLAN):
        Path(f"{name}.yaml").write_text(json.dumps(data))

    @contextmanager
    def shared(**options: Any) -> Iterator[Workers]:
        assert options["workers"] == 2
        yield two_processes

    monkeypatch.setattr(spread, "open_workers", shared)
    here = CliRunner().invoke(app, [*arguments, "--json"])
    monkeypatch.delattr(launch, "run")
    there = CliRunner().invoke(app, [*arguments, "--json", "--workers", "2"])
    assert here.exit_code == there.exit_code == 0, there.output
    assert _untimed(here.stdout) == _untimed(there.stdout)


def _untimed(text: str) -> Any:
    """Return JSON without elapsed times."""
    found = json.loads(text)
    found.get("cost", {}).pop("seconds", None)
    for name in "packet_s", "draws_s":
        (found.get("saving") or {}).pop(name, None)
    return found


@pytest.mark.full
def test_candidates_of_a_fit_have_the_bits_of_threads(two_processes: Workers) -> None:
    made = scenario_of(PATH)
    free = free_fields(made, ["hops.0.delay=1..100 ms"])

    def simulated() -> Any:
        return Simulator(made, free, target="cpu").run(
            np.array([[0.2], [0.7]]), (0.0, 2.0), first=0, edges=[0.5, 1.0]
        )

    here = simulated()
    with elsewhere(two_processes):
        there = simulated()
    assert np.array_equal(here.seen_s, there.seen_s)


class _Pool(Executor):
    """Executor whose futures all end with an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def submit(self, *args: Any, **options: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_exception(self.error)
        return future


class KilledWorker(Exception):  # noqa: N818
    """Error of `distributed` for a task whose workers died."""


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (KilledWorker("x"), StoppedError),
        (ImportError("worker w has no netcarlo"), WrongVersion),
        (WrongVersion("worker w has 1"), WrongVersion),
        (MemoryError("too much"), netcarlo.InputError),
    ],
)
def test_errors_of_workers(error: Exception, raised: type[Exception]) -> None:
    with (
        spread.within(Workers(_Pool(error), lambda: 1, "w", "cpu", local=False)),
        pytest.raises(raised, match=r"died|worker w|too much"),
    ):
        netcarlo.simulate(PATH, replications=2)


def test_a_worker_with_other_models_refuses() -> None:
    task = pickle.dumps(None)
    with pytest.raises(WrongVersion, match=f"{model_version()}, the client has 0123"):
        spread.simulate_slice(task, target="cpu", version="0123", most_bytes=None)
