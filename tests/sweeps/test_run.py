import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netcarlo.errors import InputError
from netcarlo.simulation.executors import StoppedError, WrongVersion
from netcarlo.sweeps.execution import run as running
from netcarlo.sweeps.execution.chunk import Chunk
from netcarlo.sweeps.execution.chunk_plan import LARGEST_CHUNK, ChunkPlan
from netcarlo.sweeps.execution.run import run
from tests.sweeps import fakes


@pytest.fixture(autouse=True)
def no_simulation(monkeypatch):
    monkeypatch.setattr(running, "failed", fakes.failed)


def run_in_threads(sweep: Any, store: Any, n: int = 2, **options: Any) -> Any:
    with ThreadPoolExecutor(n) as pool:
        return run(sweep, store, executor=pool, slots=lambda: n, submit=fakes.run_chunk, **options)


class Chaos(Executor):
    """Executor that runs chunks on request in any order; some of them fail at first."""

    def __init__(self, data: st.DataObject, deaths: int) -> None:
        self.data, self.deaths = data, deaths
        self.waiting: list[tuple[Future[Chunk], Callable[[], Chunk]]] = []
        self.asked: list[int] = []

    def submit(self, function: Any, /, definition: Any, cells: Any, **options: Any) -> Future[Chunk]:
        future: Future[Chunk] = Future()
        self.asked += [int(cell) for cell in cells]
        self.waiting.append((future, lambda: function(definition, cells, **options)))
        return future

    def slots(self) -> int:
        """Finish one chunk, and return the present number of workers."""
        if self.waiting:
            number = self.data.draw(st.integers(0, len(self.waiting) - 1))
            future, call = self.waiting.pop(number)
            if self.deaths and self.data.draw(st.booleans()):
                self.deaths -= 1
                future.set_exception(OSError("killed"))
            else:
                try:
                    future.set_result(call())
                except Exception as error:
                    future.set_exception(error)
        return self.data.draw(st.integers(0, 4))


@pytest.mark.full
@settings(deadline=None, max_examples=80)
@given(data=st.data())
def test_every_key_is_assigned_exactly_once(data: st.DataObject) -> None:
    n_cells, group = data.draw(st.integers(1, 120)), data.draw(st.integers(1, 7))
    some = st.sets(st.integers(0, n_cells - 1))
    done, bad, poison = (
        data.draw(some),
        data.draw(some),
        data.draw(some.map(lambda cells: set(list(cells)[:2]))),
    )
    shuffled = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(n_cells)
    order = shuffled[: data.draw(st.integers(1, n_cells))] if data.draw(st.booleans()) else None
    seconds = data.draw(st.lists(st.sampled_from([1e-4, 0.1, 3.0, 100.0]), min_size=1))
    sweep = fakes.Sweep(n_cells, group, bad=bad, poison=poison)
    store = fakes.Store(sweep, done=done)
    deaths = data.draw(st.integers(0, 6))
    chaos = Chaos(data, deaths)

    def submit(definition: str, cells: Any, **options: Any) -> Chunk:
        found = fakes.run_chunk(definition, cells, **options)
        wall_s = seconds[int(cells[0]) % len(seconds)]
        return Chunk(found.cells, None, found.networks, found.packets, found.kernel_s, wall_s)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "POLL_S", 0)
        summary = run(
            sweep, store, executor=chaos, slots=chaos.slots, submit=submit,
            chunk=data.draw(st.none() | st.integers(1, 50)),
            cells=order,
        )  # fmt: skip
    wanted = set(range(n_cells) if order is None else order.tolist()) - done
    assert store.times() == dict.fromkeys(wanted, 1)
    assert set(chaos.asked) <= wanted
    assert summary.done + summary.failed == summary.todo == len(wanted)
    lost = {cell for cell, status in store.written if status == "failed"}
    assert bad & wanted <= lost
    if not deaths:
        guilty = {cell // group for cell in poison & wanted}
        assert lost == {cell for cell in wanted if cell in bad or cell // group in guilty}


def test_the_innocent_are_not_blamed():
    sweep = fakes.Sweep(64, 2, poison=[13])
    store = fakes.Store(sweep)
    summary = run_in_threads(sweep, store, chunk=32)
    assert {cell for cell, status in store.written if status == "failed"} == {12, 13}
    assert summary.failures == [
        ("key 12", "MemoryError: worker died"),
        ("key 13", "MemoryError: worker died"),
    ]
    assert store.times() == dict.fromkeys(range(64), 1)


def test_a_suspect_runs_alone():
    started, together = threading.Event(), []
    at_once, lock = [0], threading.Lock()

    def submit(definition: str, cells: Any, **options: Any) -> Chunk:
        with lock:
            at_once[0] += 1
        try:
            if 5 in cells:
                if started.is_set():
                    together.append(at_once[0])
                started.set()
            return fakes.run_chunk(definition, cells, **options)
        finally:
            with lock:
                at_once[0] -= 1

    sweep = fakes.Sweep(40, poison=[5])
    with ThreadPoolExecutor(4) as pool:
        run(sweep, fakes.Store(sweep), executor=pool, slots=lambda: 4, submit=submit, chunk=1)
    assert together == [1]


def test_chunks_grow_with_what_they_cost():
    sweep = fakes.Sweep(3000, 3)
    store = fakes.Store(sweep)
    run_in_threads(sweep, store, n=1)
    sizes = np.array(store.chunks) // 3
    assert sizes[0] == 1
    assert max(sizes) > 100
    largest = np.maximum.accumulate(sizes)
    assert all(sizes[1:] <= 4 * largest[:-1])
    assert sizes[-1] < max(sizes) / 2  # the last ones are small, so that all workers finish together


def test_a_chunk_is_bounded_in_time_and_memory():
    def largest(group: int, replications: int, wall_s: float) -> int:
        plan = ChunkPlan(np.ones(1_000_000, bool), group=group, replications=replications)
        found = 0
        for _ in range(30):
            task = plan.next_task(2, alone=False)
            found = max(found, len(task.cells))
            n = len(task.cells)
            plan.record_cost(task.cells, Chunk(None, None, n * replications, 0, 0.0, wall_s * n))
        return found

    assert largest(5, 20, 1e-9) == LARGEST_CHUNK // 100 * 5
    assert largest(1, 20, 0.1) == 100
    assert largest(5, 100_000, 1e-9) == 5


def test_a_run_leaves_a_record():
    sweep = fakes.Sweep(20, 2, bad=[3])
    store = fakes.Store(sweep, done=[0, 1])
    seen = []
    summary = run_in_threads(
        sweep, store, workers="2 threads", command="sweep x", progress=lambda s: seen.append(s.done)
    )
    (record,) = store.records
    assert record["outcome"] == "finished"
    assert (record["cells"], record["failed"], record["networks"]) == (17, 1, 54)
    assert record["packets"] == 5400
    assert record["command"] == "sweep x"
    assert record["versions"]["netcarlo"]
    assert record["client_peak_bytes"] > 1e7
    assert record["kernel_share"] > 0
    assert (summary.stored, summary.todo, summary.done) == (2, 18, 17)
    assert seen[-1] == 17


def test_another_version_stops_at_once():
    sweep = fakes.Sweep(500)
    store = fakes.Store(sweep)

    def submit(definition: str, cells: Any, **options: Any) -> Chunk:
        if 40 in cells:
            raise WrongVersion("worker w has models 2")
        return fakes.run_chunk(definition, cells, **options)

    with ThreadPoolExecutor(2) as pool, pytest.raises(WrongVersion, match="worker w"):
        run(sweep, store, executor=pool, slots=lambda: 2, submit=submit, chunk=10)
    assert "worker w has models 2" in store.records[0]["outcome"]
    assert len(store.written) < 100


def test_a_lost_scheduler_keeps_what_is_finished():
    class Lost(Executor):
        def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Chunk]:
            future: Future[Chunk] = Future()
            if 0 in args[1]:
                future.set_result(function(*args, **options))
            elif 2 in args[1]:
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    sweep = fakes.Sweep(100)
    store = fakes.Store(sweep)
    with pytest.raises(StoppedError, match="connection to the scheduler was lost"):
        run(sweep, store, executor=Lost(), slots=lambda: 2, submit=fakes.run_chunk, chunk=1)
    assert store.written == [(0, "ok")]
    assert store.records[0]["cells"] == 1


def test_a_full_disk_stops_with_what_is_stored():
    class Full(fakes.Store):
        def write(self, cells: Any, replications: Any) -> None:
            if len(self.written) > 20:
                raise InputError("store x: cannot be written (No space left on device)")
            super().write(cells, replications)

        def add_run(self, record: dict[str, Any]) -> None:
            super().add_run(record)
            raise InputError("store x: cannot be written (No space left on device)")

    sweep = fakes.Sweep(500)
    store = Full(sweep)
    with pytest.raises(StoppedError, match="No space left on device"):
        run_in_threads(sweep, store)
    assert "No space left" in store.records[0]["outcome"]
    assert store.times() == dict.fromkeys([cell for cell, _ in store.written], 1)


def test_an_interrupt_is_recorded_and_passed_on():
    sweep = fakes.Sweep(500)
    store = fakes.Store(sweep)

    def interrupt(summary: Any) -> None:
        if summary.done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(sweep, store, progress=interrupt)
    assert store.records[0]["outcome"] == "interrupted"
    assert store.records[0]["cells"] == len(store.written)


@pytest.mark.full
def test_the_memory_of_the_client_does_not_grow_with_the_sweep():
    class Forgetful(fakes.Store):
        def write(self, cells: Any, replications: Any) -> None:
            self.chunks.append(len(cells))

    def most(n_cells: int) -> int:
        sweep = fakes.Sweep(n_cells, 5)
        tracemalloc.start()
        try:
            run_in_threads(sweep, Forgetful(sweep), chunk=1000)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert most(200_000) - most(20_000) < 16 * 180_000  # flags and numbers of groups, no results
