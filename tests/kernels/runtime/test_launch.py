"""Launches: same bits for any threads, blocks and rings; traces; work outside the main thread."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import STATUS_OK, Out, Rows, Trace
from netcarlo.kernels.base.parameters import RowP, SctpP
from netcarlo.kernels.runtime import launch
from netcarlo.kernels.runtime.threads import interruptible, map_unordered, merged, prefetched
from tests import toy


@pytest.mark.full
def test_equals_plain_python() -> None:
    rows = toy.rows(20)
    out = launch.run(toy.TOY, rows, threads=1)
    assert (out == toy.plain(rows)).all()
    assert len(set(out[:, Out.SENT])) == 20


@pytest.mark.full
@pytest.mark.parametrize("threads", [2, 3, 7, 500])
def test_threads_change_nothing(threads: int) -> None:
    rows = toy.rows(301)
    assert (launch.run(toy.TOY, rows, threads=threads) == launch.run(toy.TOY, rows, threads=1)).all()


@pytest.mark.full
def test_the_costliest_blocks_begin_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = toy.rows(64)
    rows.parameters[:, RowP.WINDOW] = 1 + np.arange(64) * 13 % 61  # the cost of a toy row
    started: list[int] = []

    def spied(work: Any, items: Any, *, threads: int) -> Any:
        started.extend(items)
        return map_unordered(work, items, threads=threads)

    monkeypatch.setattr(launch, "map_unordered", spied)
    launch.run(toy.TOY, rows, threads=2)
    first = started[:32]  # before rows with full rings run again
    assert sorted(first) == list(range(0, 64, 2))
    costs = [int(rows.parameters[lo : lo + 2, RowP.WINDOW].sum()) for lo in first]
    assert costs == sorted(costs, reverse=True) and len(set(costs)) > 8


@pytest.mark.full
def test_chunks_change_nothing() -> None:
    rows = toy.rows(101)
    parts = [slice(0, 1), slice(1, 50), slice(50, 101)]
    pieces = [Rows(*(field[part] for field in rows[:4]), rows.losses) for part in parts]
    assert (
        np.concatenate([launch.run(toy.TOY, piece) for piece in pieces]) == launch.run(toy.TOY, rows)
    ).all()


@pytest.mark.full
def test_full_rings_are_enlarged_and_leave_the_input_alone() -> None:
    rows = toy.rows(10)
    before = rows.parameters.copy()
    out = launch.run(toy.TOY, rows)
    assert (out[:, Out.STATUS] == STATUS_OK).all()
    assert (rows.parameters == before).all()


@pytest.mark.full
def test_ring_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LARGEST_RING", 2048)
    with pytest.raises(MemoryError, match="in flight"):
        launch.run(toy.TOY, toy.rows(10))


def test_rings_hold_two_windows_and_are_powers_of_two() -> None:
    rows = toy.rows(4)
    rows.parameters[:, RowP.WINDOW] = [1, 31, 32, 4096]
    rows.parameters[:, RowP.DATA], rows.parameters[:, RowP.CHUNK_HEADER], rows.parameters[:, SctpP.RWND] = (
        100,
        28,
        1280,
    )
    assert launch._rings(toy.TOY, rows).tolist() == [128, 128, 128, 16384]
    assert launch._rings(models.model("sctp"), rows).tolist() == [128] * 4


def test_no_rows() -> None:
    assert launch.run(toy.TOY, toy.rows(0)).shape == (0, len(Out))


@pytest.mark.full
def test_any_memory_layout_is_accepted() -> None:
    rows = toy.rows(9)
    frozen = Rows(*(np.asfortranarray(field) for field in rows))
    for field in frozen:
        field.setflags(write=False)
    assert (launch.run(toy.TOY, frozen) == launch.run(toy.TOY, rows)).all()


@pytest.mark.full
def test_progress_ends_at_all_rows() -> None:
    seen: list[int] = []
    launch.run(toy.TOY, toy.rows(300), threads=2, progress=seen.append)
    assert seen[-1] == 300 and seen == sorted(seen) and len(seen) > 3


@pytest.mark.full
def test_failure_in_progress_ends_the_run() -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        launch.run(toy.TOY, toy.rows(300), threads=2, progress=stop)


@pytest.mark.full
def test_trace_grows_until_it_fits() -> None:
    rows = toy.rows(4)
    out = launch.run(toy.TOY, rows)
    for row, length in (0, 3), (1, toy.EVENTS), (2, 3):
        events, outcomes = launch.trace(toy.TOY, rows, row=row)
        assert events.shape == (length, len(Trace))
        assert events[-1, Trace.TIME] == length - 1
        assert (outcomes == out[row]).all()


def test_an_interrupt_leaves_behind_what_cannot_be_interrupted() -> None:
    """Test an interrupt during a kernel or a compilation, which Python cannot interrupt.

    A wait in another thread represents them here.
    """
    release, started = threading.Event(), time.monotonic()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background processes
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            interruptible(lambda: release.wait(60))
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 10
    release.set()


def test_work_beside_the_main_thread_is_done_once_and_its_errors_are_raised() -> None:
    assert sorted(map_unordered(lambda i: 2 * i, range(100), threads=3)) == list(range(0, 200, 2))
    done: list[int] = []

    def work(i: int) -> None:
        if i == 3:
            raise ValueError("three")
        done.append(i)

    with pytest.raises(ValueError, match="three"):
        list(map_unordered(work, range(1000), threads=1))
    assert done == [0, 1, 2]


def test_generators_run_together_and_are_closed_when_nobody_listens() -> None:
    assert sorted(merged([iter(range(3)), iter(range(10, 13))])) == [0, 1, 2, 10, 11, 12]
    closed, made = threading.Event(), []

    def endless() -> Iterator[int]:
        try:
            while True:
                made.append(0)
                time.sleep(0.01)
                yield 0
        finally:
            closed.set()

    for _ in merged([endless()]):
        break
    assert closed.wait(10)
    count = len(made)
    time.sleep(0.1)
    assert len(made) == count


def test_the_next_item_is_made_ahead_and_no_other() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for i in range(5):
            made.append(i)
            yield i

    for i in prefetched(items()):
        end = time.monotonic() + 10
        while len(made) < min(i + 2, 5) and time.monotonic() < end:
            time.sleep(0.001)
        assert made == list(range(min(i + 2, 5)))

    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("two")

    with pytest.raises(ValueError, match="two"):
        list(prefetched(failing()))


@pytest.mark.full
def test_no_more_threads_than_memory_has_room_for() -> None:
    rows = toy.rows(9)
    one = 8 * sum(toy.TOY.scratch(rows))
    assert (launch.run(toy.TOY, rows, threads=4, most_bytes=one) == launch.run(toy.TOY, rows)).all()
    with pytest.raises(MemoryError, match="one replication needs"):
        launch.run(toy.TOY, rows, most_bytes=one - 1)
