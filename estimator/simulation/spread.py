"""Launches on processes of this machine or on the workers of a Dask scheduler, instead of on threads.

Within a block of `on_workers` each launch is cut into slices of rows. The outcomes of a row depend only on
the row, so slices may run on any worker, in any order, and again if a worker dies: the bits are those of
threads.
"""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from netcarlo.kernels.base.rows import AnyRows, take, widened
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.arguments import checked
from netcarlo.simulation.executors import (
    LOST,
    StoppedError,
    Workers,
    WrongVersion,
    check_version,
    configured_scheduler,
    open_workers,
)
from netcarlo.simulation.provenance import model_version
from netcarlo.simulation.targets import TARGETS, resolve_target

SLICES = {"cpu": 4, "auto": 4, "cuda": 1}
"""Slices of a launch for each worker, by target: several, so that all workers end together; a device is
fastest with many rows at once."""

POLL_S = 0.5
"""Interval at which lost workers are noticed [s]."""

_CURRENT: ContextVar[Workers | None] = ContextVar("workers", default=None)


@checked
def on_workers(
    workers: int | None = None, scheduler: Any = None, *, target: str = "auto"
) -> AbstractContextManager[None]:
    """Return a block that simulates on `workers` processes, or on a Dask `scheduler` (address or cluster).

    Without both, the workers are those of the scheduler in the configuration of Dask; if there is none,
    threads of this process. `target` is auto, cpu or cuda. Raises InputError, also at the beginning of the
    block; functions that simulate raise StoppedError if the workers are lost, and WrongVersion if one has
    another version of netcarlo.
    """
    if target not in TARGETS:
        resolve_target(target)  # raises
    return _opened(workers, scheduler, target)


@contextmanager
def _opened(workers: int | None, scheduler: Any, target: str) -> Iterator[None]:
    if workers is None and scheduler is None and configured_scheduler() is None:
        yield
        return
    with open_workers(workers=workers, scheduler=scheduler, target=target) as found, within(found):
        yield


@contextmanager
def within(workers: Workers) -> Iterator[None]:
    """Simulate on these workers within the block."""
    token = _CURRENT.set(workers)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Workers | None:
    """Return the workers of the present block of `on_workers`, or None."""
    return _CURRENT.get()


def run(
    workers: Workers,
    model: Any,
    rows: AnyRows,
    *,
    content: bytes = b"",
    progress: Callable[[int], object] | None = None,
    most_bytes: float | None = None,
) -> Ints:
    """Simulate every row on workers; return the outcomes as `launch.run` does.

    `content` is that of the file of a user's congestion control, if the model has one.
    """
    n = len(rows.parameters)
    out = np.zeros((n, model.outcomes(rows)), np.int64)
    slices = min(n, max(workers.slots(), 1) * SLICES[workers.target])
    running: dict[Future[Ints], slice] = {}
    ready: SimpleQueue[Future[Ints]] = SimpleQueue()
    for k in range(slices):
        every = slice(k, n, slices)  # neighbours often take equally long
        task = pickle.dumps((model.address, model.file, content, take(rows, every)))
        future = _submit(workers, task, most_bytes)
        running[future] = every
        future.add_done_callback(ready.put)
    done = 0
    while running:
        workers.slots()
        try:
            future = ready.get(timeout=POLL_S)
        except Empty:
            continue
        every = running.pop(future)
        part = take(rows, every)
        out[every] = widened(_result(future), part, rows)
        done += len(part.parameters)
        if progress:
            progress(done)
    return out


def _submit(workers: Workers, task: bytes, most_bytes: float | None) -> "Future[Ints]":
    try:
        return workers.executor.submit(
            simulate_slice, task, target=workers.target, version=model_version(), most_bytes=most_bytes
        )
    except (RuntimeError, OSError) as error:  # closed
        raise StoppedError(LOST) from error


def _result(future: "Future[Ints]") -> Ints:
    """Return the outcomes of a slice. Raises StoppedError, WrongVersion, or the error of the worker."""
    try:
        return future.result()
    except CancelledError:  # only a lost scheduler cancels
        raise StoppedError(LOST) from None
    except WrongVersion:
        raise
    except ImportError as error:
        raise WrongVersion(str(error)) from None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            raise StoppedError("several workers died while they simulated the same replications") from None
        raise


def simulate_slice(task: bytes, *, target: str, version: str, most_bytes: float | None) -> Ints:
    """Simulate the rows of a slice in a worker. Raises WrongVersion."""
    from netcarlo.kernels import models
    from netcarlo.kernels.runtime import launch

    check_version(version)
    address, file, content, rows = pickle.loads(task)
    model = models.at(address) if file is None else models.user_model(file, content, address)
    return launch.run(model, rows, target=resolve_target(target), threads=1, most_bytes=most_bytes)
