"""Launches on fake devices: their arguments, their order, and the state after a failure."""

import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.layout import Out, Rows
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import batches, device, launch, modules
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime.device_errors import DeviceError
from tests import toy
from tests.device.cupy import IllegalAddressError, Launch, Machine, fake_cupy, install


def view(words: list[int], dtype: Any, dimensions: int) -> np.ndarray[Any, Any]:
    """Return the array that a kernel constructs from its next parameters."""
    _, _, items, itemsize, address = (words.pop(0) for _ in range(5))
    shape = tuple(words.pop(0) for _ in range(dimensions))
    strides = tuple(words.pop(0) for _ in range(dimensions))
    assert items == np.prod(shape) and itemsize == np.dtype(dtype).itemsize
    if not items:
        return np.empty(shape, dtype)
    import ctypes

    buffer = (ctypes.c_char * (items * itemsize)).from_address(address)
    return np.ndarray(shape, dtype, buffer, strides=strides)


def as_python(launches: list[int]) -> Callable[[str], Launch]:
    """Return the function that a launch runs: the plain Python of the toy model, one thread after
    the other."""

    def kernel(grid: tuple[int], block: tuple[int], args: tuple[np.int64, ...]) -> None:
        assert all(type(arg) is np.int64 for arg in args)
        words = [int(arg) for arg in args]
        dimensions = compilers.cuda_dimensions(toy.TOY)
        arrays = [view(words, *kind) for kind in zip(compilers._TYPES, dimensions, strict=True)]
        assert not words
        flow = toy.make(compilers.plain)
        warps, _, lanes = arrays[7].shape
        launches.append(len(np.unique(arrays[0][:, RowP.REPLICATION])))  # the last row fills its warp
        assert 0 <= grid[0] * block[0] - warps * lanes < block[0]
        for i in range(warps * lanes):
            mine = [a if k in (4, 8) else a[i // lanes, ..., i % lanes] for k, a in enumerate(arrays)]
            flow(*mine)

    return lambda ptx: kernel


Pretend = Callable[..., Machine]


@pytest.fixture
def launches() -> list[int]:
    """Return the rows of every launch."""
    return []


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch, launches: list[int]) -> Pretend:
    """Return `pretend(free=, pool=, devices=)`, which makes devices on which the toy model is launched."""
    monkeypatch.setattr(compilers, "ptx", lambda model: ".visible .entry netcarlo(")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return lambda **options: install(monkeypatch, fake_cupy(as_python(launches), **options))


def even(n: int) -> Rows:
    """Return rows of equal cost, none of which needs a larger ring."""
    rows = toy.rows(n)
    rows.parameters[:, RowP.REPLICATION] = 1 + 3 * np.arange(n)
    rows.parameters[:, RowP.WINDOW] = 1
    return rows


def uneven(n: int) -> Rows:
    """Return rows of different costs, every third of which needs a larger ring."""
    rows = toy.rows(n)
    rows.parameters[:, RowP.WINDOW] = 1 + np.arange(n) * 7 % 40
    return rows


@pytest.mark.full
def test_every_array_is_passed(pretend: Pretend) -> None:
    pretend(free=1 << 30)
    rows = uneven(100)
    frozen = Rows(*(np.asfortranarray(field) for field in rows))
    for field in frozen:
        field.setflags(write=False)
    expected = launch.run(toy.TOY, rows, target="cpu")
    assert (launch.run(toy.TOY, rows, target="cuda") == expected).all()
    assert (launch.run(toy.TOY, frozen, target="auto") == expected).all()
    assert launch.run(toy.TOY, toy.rows(0), target="cuda").shape == (0, len(Out))
    assert device.devices() == [device.Device("Pretended", "9.0", 1 << 30)]


@pytest.mark.full
@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("at_once", [7, 64, 1000])
def test_neither_order_nor_pieces_nor_devices_change_a_bit(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch, launches: list[int], devices: int, at_once: int
) -> None:
    machine = pretend(devices=devices)
    monkeypatch.setattr(device, "THREADS_AT_ONCE", at_once)
    rows, seen = uneven(301), list[int]()
    expected = launch.run(toy.TOY, rows, target="cpu")
    assert (launch.run(toy.TOY, rows, target="cuda", progress=seen.append) == expected).all()
    assert seen == sorted(seen) and seen[-1] == 301
    assert set(machine.loaded) <= set(range(devices)) and len(machine.loaded) == len(set(machine.loaded))
    if at_once < 301:
        assert len(seen) > 1
    again = np.random.default_rng(1).permutation(301)
    shuffled = Rows(*(field[again] for field in rows[:4]), rows.losses)
    assert (launch.run(toy.TOY, shuffled, target="cuda") == expected[again]).all()


def test_several_devices_share_the_rows(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = pretend(devices=2)
    monkeypatch.setattr(device, "THREADS_AT_ONCE", 10)
    other = threading.Event()
    load = machine.load

    def wait_for_the_other(text: str) -> Launch:
        found = load(text)
        if len(machine.loaded) == 2:
            other.set()
        return found

    monkeypatch.setattr(machine, "load", wait_for_the_other)
    run = device.start_launch
    monkeypatch.setattr(device, "start_launch", lambda *args: [run(*args), other.wait(30)][0])
    launch.run(toy.TOY, even(500), target="cuda")
    assert sorted(machine.loaded) == [0, 1]
    assert min(machine.most_used) > 0
    launch.run(toy.TOY, even(10), target="cuda")  # one device runs all of them at once
    assert machine.used == [0, 0]


def test_a_model_is_loaded_once(pretend: Pretend) -> None:
    machine = pretend()
    for _ in range(3):
        launch.run(toy.TOY, uneven(20), target="cuda")  # launches rows with full rings again
    assert machine.loaded == [0]


@pytest.mark.full
@pytest.mark.parametrize("row_s", [0.0, 0.001, 0.01, 1.0])
def test_launches_are_bounded_in_time(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch, launches: list[int], row_s: float
) -> None:
    """Check that a launch lasts at most a second, unless the device runs all of its rows at once."""
    pretend()
    monkeypatch.setattr(device, "time", SimpleNamespace(perf_counter=lambda: row_s * sum(launches)))
    monkeypatch.setattr(device, "THREADS_AT_ONCE", 40)
    rows = even(5000)
    assert (launch.run(toy.TOY, rows, target="cuda") == launch.run(toy.TOY, rows, target="cpu")).all()
    assert sum(launches) == 5000 and launches[:2] == [40, 40]
    assert max(launches) == {0.0: 1280, 0.001: 1000, 0.01: 100, 1.0: 40}[row_s]
    assert all(later <= 2 * max(launches[: i + 1]) for i, later in enumerate(launches[1:]))


def test_costly_rows_come_first_and_fewer_at_a_time(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend()
    cost = np.repeat([1.0, 100.0, 10.0], 1000)
    dealt = batches.Batches(cost)
    pace = batches.BatchSize(10)
    first = dealt.take(pace)
    assert first and first.rows.tolist() == list(range(1000, 1010))  # equal costs keep their order
    pace.learn(10, 1000.0, 0.02)  # 500 of these rows, or 5000 of the next, take a second
    pace.rows = 10_000
    sizes = []
    while piece := dealt.take(pace):
        sizes.append(len(piece.rows))
        assert piece.cost <= 50_000 and piece.cost == cost[piece.rows].sum()
    assert sizes == [500, 490 + 100, 900 + 1000]
    for costs in (np.array([np.nan, np.inf, -1.0, 1e300, 3.0]), np.zeros(5)):
        dealt, taken = batches.Batches(costs), list[int]()
        while piece := dealt.take(batches.BatchSize(2)):
            taken += piece.rows.tolist()
        assert sorted(taken) == list(range(5))


@pytest.mark.full
def test_memory_is_divided_among_launches_and_the_pool_counts(pretend: Pretend, launches: list[int]) -> None:
    rows = even(4000)
    expected = launch.run(toy.TOY, rows, target="cpu")
    largest = []
    for free, pool in ((4_000_000, 0), (8_000_000, 0), (4_000_000, 4_000_000)):
        launches.clear()
        machine = pretend(free=free, pool=pool)
        assert (launch.run(toy.TOY, rows, target="cuda") == expected).all()
        assert machine.most_used[0] <= device.MEMORY_SHARE * (free + pool) + rows.losses.nbytes
        largest.append(max(launches))
    assert 1.9 < largest[1] / largest[0] < 2.1 and largest[2] == largest[1]


@pytest.mark.full
def test_what_has_no_room_after_all_is_halved(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test an allocation that fails because another process uses the memory: launches are halved."""
    machine = pretend(free=1_000_000)
    runtime = sys.modules["cupy"].cuda.runtime
    monkeypatch.setattr(runtime, "memGetInfo", lambda: (1 << 30, 1 << 30))
    rows = even(300)
    assert (launch.run(toy.TOY, rows, target="cuda") == launch.run(toy.TOY, rows, target="cpu")).all()
    assert machine.used == [0]
    pretend(free=1000)
    monkeypatch.setattr(sys.modules["cupy"].cuda.runtime, "memGetInfo", lambda: (1 << 30, 1 << 30))
    with pytest.raises(MemoryError, match="Out of memory allocating"):
        launch.run(toy.TOY, rows, target="cuda")
    pretend(free=1000)
    with pytest.raises(MemoryError, match="one replication needs"):
        launch.run(toy.TOY, rows, target="cuda")


def test_what_is_interrupted_begins_no_further_launch(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch, launches: list[int]
) -> None:
    machine = pretend(devices=2)
    monkeypatch.setattr(device, "THREADS_AT_ONCE", 10)
    monkeypatch.setattr(batches, "LAUNCH_S", 0.0)

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        launch.run(toy.TOY, even(3000), target="cuda", progress=stop)
    end = time.monotonic() + 30
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before
    assert 10 <= sum(launches) < 1500
    assert machine.used == [0, 0]  # no launch in progress holds memory


def test_a_fault_is_one_clear_error_and_ends_the_use_of_devices(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> Launch:
        def kernel(*_: object) -> None:
            raise IllegalAddressError

        return kernel

    install(monkeypatch, fake_cupy(broken))
    for _ in range(2):
        with pytest.raises(DeviceError, match=r"CUDA device 0 failed .*cudaErrorIllegalAddress.*target cpu"):
            launch.run(toy.TOY, toy.rows(10), target="cuda")


def test_an_error_that_cuda_forgets_is_no_fault(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend()
    cuda = sys.modules["cupy"].cuda

    def refuse(model: Any) -> None:
        raise cuda.runtime.CUDARuntimeError(1)

    monkeypatch.setattr(modules, "kernel", refuse)
    with pytest.raises(cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        launch.run(toy.TOY, toy.rows(10), target="cuda")


def test_workers_keep_to_one_device_each(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(devices=3)
    assert device.mine() == [0, 1, 2]
    for name, number in ((0, 0), (2, 2), ("node-4", 1), ("tcp://127.0.0.1:40001", 2), ("alone", 0)):
        with device.shared_by_workers(name):
            assert device.mine() == [number]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,0,1")  # set by dask-cuda: the own device first
    with device.shared_by_workers(2):
        assert device.mine() == [0]
    assert device.mine() == [0, 1, 2]


@pytest.mark.full
def test_without_a_device_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert device.devices() == []
    with pytest.raises(RuntimeError, match="no CUDA device"):
        launch.run(toy.TOY, toy.rows(1), target="cuda")
    assert len(launch.run(toy.TOY, toy.rows(1), target="auto")) == 1
