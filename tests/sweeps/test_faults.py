"""Kernel faults: a fault ends its process, a worker is replaced, a sweep without workers stops."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from netcarlo.errors import MachineError
from netcarlo.kernels.runtime.device_errors import DeviceError
from netcarlo.simulation import launches
from netcarlo.simulation.executors import StoppedError, open_workers
from netcarlo.sweeps.execution import chunk as chunks
from netcarlo.sweeps.execution import run as running
from netcarlo.sweeps.execution.run import run
from tests.sweeps import fakes


@pytest.fixture(autouse=True)
def no_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "failed", fakes.failed)


def sweep(folder: Path, *, poison: Any = ()) -> Any:
    found = fakes.Sweep(6, poison=poison)
    found.definition["notes"] = str(folder)
    return found


@pytest.mark.full
def test_a_fault_ends_the_worker_and_another_goes_on(tmp_path: Path) -> None:
    """Only the faulty cell fails, and only after it has ended some workers alone."""
    store = fakes.Store(asked := sweep(tmp_path, poison=[3]))
    with open_workers(workers=1) as found:
        run(asked, store, executor=found.executor, slots=found.slots, submit=fakes.faulty_chunk, chunk=2)
    assert dict(store.written) == {cell: "failed" if cell == 3 else "ok" for cell in range(6)}
    assert store.times().total() == 6
    assert 3 <= len(list(tmp_path.iterdir())) <= 12  # processes


def test_a_fault_without_workers_stops_the_sweep(tmp_path: Path) -> None:
    store = fakes.Store(asked := sweep(tmp_path, poison=[4]))
    with ThreadPoolExecutor(1) as pool, pytest.raises(StoppedError, match="CUDA device 0 failed"):
        run(asked, store, executor=pool, slots=lambda: 1, submit=fakes.faulty_chunk, chunk=1)
    assert {status for _, status in store.written} <= {"ok"}  # nothing is recorded as failed
    assert store.records[0]["outcome"].startswith("stopped: CUDA device 0 failed")


def test_a_fault_is_no_outcome_of_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise DeviceError("CUDA device 0 failed")

    found = chunks._ChunkRun(None, None, "cuda", 1)  # type: ignore[arg-type]
    with pytest.raises(DeviceError):
        found._isolate(None, [1, 2], broken)  # type: ignore[arg-type]
    assert not found.errors


def test_a_fault_is_one_line_about_the_machine() -> None:
    with pytest.raises(MachineError, match="CUDA device 1 failed"), launches.refusals():
        raise DeviceError("CUDA device 1 failed")
