"""Launching: the same bits for any threads, blocks and rings; traces; CUDA launches up to the device."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import STATUS_OK, Out, P, Rows, Trace
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import device, launch
from netcarlo.kernels.runtime.threads import aside, each
from tests import toy
from tests.device.cupy import Launch, fake_cupy, pretend


def test_equals_plain_python() -> None:
    rows = toy.rows(20)
    out = launch.run(toy.TOY, rows, threads=1)
    assert (out == toy.plain(rows)).all()
    assert len(set(out[:, Out.SENT])) == 20


@pytest.mark.parametrize("threads", [2, 3, 7, 500])
def test_threads_change_nothing(threads: int) -> None:
    rows = toy.rows(301)
    assert (launch.run(toy.TOY, rows, threads=threads) == launch.run(toy.TOY, rows, threads=1)).all()


def test_chunks_change_nothing() -> None:
    rows = toy.rows(101)
    parts = [slice(0, 1), slice(1, 50), slice(50, 101)]
    pieces = [Rows(*(field[part] for field in rows[:4]), rows.losses) for part in parts]
    assert (
        np.concatenate([launch.run(toy.TOY, piece) for piece in pieces]) == launch.run(toy.TOY, rows)
    ).all()


def test_full_rings_are_enlarged_and_leave_the_input_alone() -> None:
    rows = toy.rows(10)
    before = rows.parameters.copy()
    out = launch.run(toy.TOY, rows)
    assert (out[:, Out.STATUS] == STATUS_OK).all()
    assert (rows.parameters == before).all()


def test_ring_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LARGEST_RING", 2048)
    with pytest.raises(MemoryError, match="in flight"):
        launch.run(toy.TOY, toy.rows(10))


def test_rings_hold_two_windows_and_are_powers_of_two() -> None:
    rows = toy.rows(4)
    rows.parameters[:, P.WINDOW] = [1, 31, 32, 4096]
    rows.parameters[:, P.DATA], rows.parameters[:, P.CHUNK_HEADER], rows.parameters[:, P.RWND] = 100, 28, 1280
    rings = launch._with_rings(toy.TOY, rows).parameters[:, P.RING]
    assert rings.tolist() == [128, 128, 128, 16384]
    assert launch._with_rings(models.model("sctp"), rows).parameters[:, P.RING].tolist() == [128] * 4


def test_no_rows() -> None:
    assert launch.run(toy.TOY, toy.rows(0)).shape == (0, len(Out))


def test_any_memory_layout_is_accepted() -> None:
    rows = toy.rows(9)
    frozen = Rows(*(np.asfortranarray(field) for field in rows))
    for field in frozen:
        field.setflags(write=False)
    assert (launch.run(toy.TOY, frozen) == launch.run(toy.TOY, rows)).all()


def test_progress_ends_at_all_rows() -> None:
    seen: list[int] = []
    launch.run(toy.TOY, toy.rows(300), threads=2, progress=seen.append)
    assert seen[-1] == 300 and seen == sorted(seen) and len(seen) > 3


def test_failure_in_progress_ends_the_run() -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch.run(toy.TOY, toy.rows(300), threads=2, progress=stop)


def test_trace_grows_until_it_fits() -> None:
    rows = toy.rows(4)
    out = launch.run(toy.TOY, rows)
    for row, length in (0, 3), (1, toy.EVENTS), (2, 3):
        events, outcomes = launch.trace(toy.TOY, rows, row=row)
        assert events.shape == (length, len(Trace))
        assert events[-1, Trace.TIME] == length - 1
        assert (outcomes == out[row]).all()


def view(words: list[int], dtype: Any, dimensions: int) -> np.ndarray[Any, Any]:
    """The array that a kernel makes of its next parameters."""
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
    """What a launch runs: the plain Python of the toy model, one thread after the other."""

    def kernel(grid: tuple[int], block: tuple[int], args: tuple[np.int64, ...]) -> None:
        assert all(type(arg) is np.int64 for arg in args)
        words = [int(arg) for arg in args]
        dimensions = toy.TOY.dimensions + compilers._CUDA
        arrays = [view(words, *kind) for kind in zip(compilers._TYPES, dimensions, strict=True)]
        assert not words
        flow = toy.make(compilers.plain)
        launches.append(len(arrays[7]))
        assert 0 <= grid[0] * block[0] - len(arrays[7]) < block[0]
        for i in range(len(arrays[7])):
            flow(*(a[i] for a in arrays[:4]), arrays[4], *(a[i] for a in arrays[5:8]), arrays[8])

    return lambda ptx: kernel


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Rows of every launch, of the toy model, on a pretended device."""
    found: list[int] = []
    pretend(monkeypatch, fake_cupy(as_python(found)), tmp_path)
    monkeypatch.setattr(compilers, "ptx", lambda model: ".visible .entry netcarlo(")
    return found


def test_cuda_launch_passes_every_array_and_splits_by_memory(
    monkeypatch: pytest.MonkeyPatch, launches: list[int]
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(as_python(launches), free=300_000))
    rows = toy.rows(100)
    seen: list[int] = []
    out = launch.run(toy.TOY, rows, target="cuda", progress=seen.append)
    assert (out == launch.run(toy.TOY, rows, target="cpu")).all()
    assert (out == launch.run(toy.TOY, rows, target="auto")).all()
    assert len(launches) > 3 and seen[-1] == 100
    assert device.devices() == [device.Device("Pretended", "9.0", 300_000)]


@pytest.mark.parametrize("row_s", [0.0, 0.001, 0.01, 1.0])
def test_cuda_launches_are_bounded_in_time(
    monkeypatch: pytest.MonkeyPatch, launches: list[int], row_s: float
) -> None:
    """No launch should last longer than a second, but one of rows that the device runs all at once."""
    monkeypatch.setattr(device, "time", SimpleNamespace(perf_counter=lambda: row_s * sum(launches)))
    monkeypatch.setattr(device, "THREADS_AT_ONCE", 40)
    rows = toy.rows(5000)
    rows.parameters[:, P.REPLICATION] = 1 + 3 * np.arange(5000)  # none needs a larger ring
    rows.parameters[:, P.WINDOW] = 1
    assert (launch.run(toy.TOY, rows, target="cuda") == launch.run(toy.TOY, rows, target="cpu")).all()
    assert sum(launches) == 5000 and launches[0] == 40
    assert max(launches) == {0.0: 2480, 0.001: 1000, 0.01: 100, 1.0: 40}[row_s]
    assert all(later <= 2 * before for before, later in pairwise(launches))


def test_cuda_without_a_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert device.devices() == []
    with pytest.raises(RuntimeError, match="no CUDA device"):
        launch.run(toy.TOY, toy.rows(1), target="cuda")
    assert len(launch.run(toy.TOY, toy.rows(1), target="auto")) == 1


def test_an_interrupt_leaves_behind_what_cannot_be_interrupted() -> None:
    """A kernel and LLVM run for long in one step of Python's; here it is a wait in another thread."""
    release, begun = threading.Event(), time.monotonic()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            aside(lambda: release.wait(60))
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < 10
    release.set()


def test_work_beside_the_main_thread_is_done_once_and_its_errors_are_raised() -> None:
    assert sorted(each(lambda i: 2 * i, range(100), threads=3)) == list(range(0, 200, 2))
    done: list[int] = []

    def work(i: int) -> None:
        if i == 3:
            raise ValueError("three")
        done.append(i)

    with pytest.raises(ValueError, match="three"):
        list(each(work, range(1000), threads=1))
    assert done == [0, 1, 2]


def test_no_more_threads_than_memory_has_room_for() -> None:
    rows = toy.rows(9)
    one = 8 * sum(toy.TOY.scratch(rows))
    assert (launch.run(toy.TOY, rows, threads=4, most_bytes=one) == launch.run(toy.TOY, rows)).all()
    with pytest.raises(MemoryError, match="one replication needs"):
        launch.run(toy.TOY, rows, most_bytes=one - 1)
