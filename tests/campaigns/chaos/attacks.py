"""Attacks on a sweep; each checks that no cell is lost, stored twice or computed again."""

import os
import random
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import psutil

from netcarlo.simulation.executors import open_workers
from netcarlo.sweeps.execution import run as running
from netcarlo.sweeps.store import growth
from netcarlo.sweeps.store.store import Store
from tests.campaigns.chaos.sweeps import (
    Sweep,
    another_version,
    chunks,
    dask_workers,
    environment,
    finished,
    rows,
    scheduler,
    until,
    wait_for_chunks,
    workers,
)
from tests.sweeps import fakes

Attack = Callable[[Sweep, Path], None]


def kill_workers(sweep: Sweep, store: Path) -> None:
    """Kill workers: one, then all, then their replacements while they start."""
    process = sweep.start(store, "--workers", str(sweep.size.workers))
    for _ in range(sweep.size.kills):
        wait_for_chunks(store, len(chunks(store)) + 2, process)
        workers(process)[0].kill()
        wait_for_chunks(store, len(chunks(store)) + 2, process)
        killed = workers(process)
        for victim in killed:
            victim.kill()
        until(lambda: len(set(workers(process)) - set(killed)) == sweep.size.workers)  # noqa: B023
        for victim in set(workers(process)) - set(killed):
            victim.kill()
    assert finished(process)["cells"] == sweep.cells
    sweep.check_resumed(store, {}, 0)


def kill_all_but_one_and_the_scheduler(sweep: Sweep, store: Path) -> None:
    """Kill workers that are not restarted until one is left, then the scheduler."""
    with scheduler() as (address, head), dask_workers(3, address, "--no-nanny") as started:
        process = sweep.start(store, "--scheduler", address)
        wait_for_chunks(store, 3, process)
        for victim in started[1:]:
            victim.kill()
        wait_for_chunks(store, len(chunks(store)) + 3, process)
        head.kill()
        message = finished(process, code=1)["stderr"]
        assert "stopped: the scheduler is gone" in message
        assert "run the same command again to resume" in message
    before = chunks(store)
    done = sum(rows(name) for name in before)
    assert 0 < done < sweep.cells
    assert Store.open(store).runs()[-1]["cells"] == done
    assert finished(sweep.start(store))["cells"] == sweep.cells - done
    sweep.check_resumed(store, before, done)


def resume(sweep: Sweep, store: Path) -> int:
    """Repeat the command, which computes the missing cells only; return the number of those stored before."""
    before = chunks(store)
    done = sum(rows(name) for name in before)
    assert 0 < done < sweep.cells
    assert finished(sweep.start(store))["cells"] == sweep.cells - done
    sweep.check_resumed(store, before, done)
    return done


def kill_client(sweep: Sweep, store: Path) -> None:
    """Kill a client with local workers, which must end too, and start it again."""
    for _ in range(sweep.size.kills):
        process = sweep.start(store, "--workers", "2")
        wait_for_chunks(store, len(chunks(store)) + 3, process)
        orphans = workers(process)
        process.kill()
        process.wait()
        until(lambda: not any(map(psutil.Process.is_running, orphans)))  # noqa: B023
    resume(sweep, store)


def resume_twice_at_once(sweep: Sweep, store: Path) -> None:
    """Let two clients resume one store at the same time; both must finish."""
    process = sweep.start(store)
    wait_for_chunks(store, 3, process)
    process.kill()
    process.wait()
    before = chunks(store)
    both = [sweep.start(store, chunk=chunk) for chunk in (True, False)]  # also with another chunk size
    for process in both:
        finished(process)
    sweep.check(store)
    assert before.items() <= chunks(store).items()


def interrupt(sweep: Sweep, store: Path) -> None:
    """Send SIGINT to the client and its workers, as Ctrl-C does: the sweep stops between two chunks."""
    process = sweep.start(store, "--workers", "2")
    wait_for_chunks(store, 3, process)
    family = workers(process)
    os.killpg(process.pid, signal.SIGINT)
    message = finished(process, code=130)["stderr"]
    until(lambda: not any(map(psutil.Process.is_running, family)))
    done = resume(sweep, store)
    assert message == f"interrupted: {done} of {sweep.cells} cells are stored; the same command resumes\n"


def kill_growing(sweep: Sweep, store: Path) -> None:
    """Kill the extension of a store of half the draws: without workers, with workers, and after it has
    grown.
    """
    half = sweep.half(store.with_suffix(".half"))
    finished(half.start(store))
    before, digest = chunks(store), Store.open(store).digest()
    assert before and digest == half.digest
    for options in (), ("--workers", "2"):
        process = sweep.start(store, "--grow", *options)
        wait_for_chunks(store, len(chunks(store)) + 2, process)
        process.kill()
        process.wait()
    assert before.items() <= chunks(store).items()
    resume(sweep, store)
    assert growth.history(Store.open(store)) == [{"cells": half.cells, "digest": digest, "intact": True}]


def fill_disk(sweep: Sweep, store: Path) -> None:
    """Fill the disk before some chunk: an error of one line, exit code 1; with space the sweep can be
    resumed.
    """
    limit = max(path.stat().st_size for path in sweep.undisturbed.glob("chunks/cells-*"))
    full = sweep.start(  # chunks of this sweep begin smaller than these files, and grow
        store, chunk=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
    )  # fmt: skip
    message = finished(full, code=1)["stderr"]
    assert message.count("\n") == 1
    assert "stopped: " in message
    assert "free space and run the same command again" in message
    resume(sweep, store)


def cut_chunks(sweep: Sweep, store: Path) -> None:
    """Truncate, overwrite and empty chunk files; only their cells are computed again."""
    shutil.copytree(sweep.undisturbed, store)
    before = chunks(store)
    victims = random.Random(1).sample(sorted(before), 2 + sweep.size.kills)
    for i, name in enumerate(victims):
        path = store / "chunks" / name
        data = path.read_bytes()
        path.write_bytes((data[: len(data) // 2], b"", b"x" * len(data))[i % 3])
        del before[name]
    lost = sum(map(rows, victims))
    assert finished(sweep.start(store))["cells"] == lost
    sweep.check_resumed(store, before, sweep.cells - lost)


def mix_versions(sweep: Sweep, store: Path) -> None:
    """Add a worker with other models, and one with an old netcarlo: both are named, and nothing of theirs is
    kept.
    """
    other, old = store.with_suffix(".other"), store.with_suffix(".old")
    another_version(other)
    (old / "netcarlo").mkdir(parents=True)
    (old / "netcarlo" / "__init__.py").touch()
    with scheduler() as (address, _):
        for path, complaint in ((other, "has models "), (old, "has no netcarlo, or another: ")):
            elsewhere = {"env": environment(PYTHONPATH=str(path)), "cwd": path}
            with dask_workers(1, address, "--no-nanny", **elsewhere) as (worker,):
                message = finished(sweep.start(store, "--scheduler", address), code=2)["stderr"]
                assert f"process {worker.pid} {complaint}" in message
                assert "install the same netcarlo everywhere" in message
    assert not chunks(store)
    assert [record["cells"] for record in Store.open(store).runs()] == [0, 0]


def kill_by_a_cell(sweep: Sweep, store: Path) -> None:
    """Let a cell of an artificial sweep kill its workers: its chunk is halved until only this cell fails."""
    deadly = fakes.Sweep(40, 2, poison=[12])
    kept = fakes.Store(deadly)
    with mock.patch.object(running, "failed", fakes.failed), open_workers(workers=2) as opened:
        summary = running.run(
            deadly, kept, executor=opened.executor, slots=opened.slots, submit=fakes.deadly_chunk, chunk=2
        )  # fmt: skip
    assert kept.times() == dict.fromkeys(range(40), 1)
    assert {cell for cell, status in kept.written if status == "failed"} == {12, 13}
    assert all("KilledWorker" in error for _, error in summary.failures)


ATTACKS: tuple[Attack, ...] = (
    kill_workers,
    kill_all_but_one_and_the_scheduler,
    kill_client,
    resume_twice_at_once,
    interrupt,
    kill_growing,
    fill_disk,
    cut_chunks,
    mix_versions,
    kill_by_a_cell,
)
