"""CUDA devices through CuPy, and the simulation of the rows of an ensemble on all of them.

CuPy is imported only when a device is requested.
"""

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import Trace
from netcarlo.kernels.base.rows import AnyRows
from netcarlo.kernels.runtime import modules
from netcarlo.kernels.runtime.batches import Batch, Batches, BatchSize, costs
from netcarlo.kernels.runtime.device_errors import is_out_of_memory, raising_device_errors
from netcarlo.kernels.runtime.gpu_launch import GpuLaunch, Run, start_launch
from netcarlo.kernels.runtime.threads import merged

IN_FLIGHT = 2
"""Launches of a device at a time: one runs while rows of the other are copied.

The last rows of a launch also overlap with the first ones of the next.
"""

MEMORY_SHARE = 0.8
"""Share of the free device memory that launches may fill."""

THREADS_AT_ONCE = 512
"""Threads that a multiprocessor has registers for; a launch of fewer rows takes as long."""


class Device(NamedTuple):
    """A CUDA device."""

    name: str
    capability: str  # compute capability, "9.0"
    memory_bytes: int


def devices() -> list[Device]:
    """Return the CUDA devices that CuPy can use; none if CuPy or a driver is missing."""
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
    except Exception:  # no CuPy, no driver, or a driver that does not fit: no device either way
        return []
    found = []
    for index in range(count):
        properties = cupy.cuda.runtime.getDeviceProperties(index)
        capability = f"{properties['major']}.{properties['minor']}"
        found.append(Device(properties["name"].decode(), capability, int(properties["totalGlobalMem"])))
    return found


_worker: ContextVar[str | None] = ContextVar("worker", default=None)


@contextmanager
def shared_by_workers(name: object) -> Iterator[None]:
    """Leave the other devices to other processes; `name` identifies this process among them.

    If CUDA_VISIBLE_DEVICES puts its own device first, as dask-cuda does, the process uses the first one, else
    the one with the number at the end of `name`.
    """
    before = _worker.set(str(name))
    try:
        yield
    finally:
        _worker.reset(before)


def mine() -> list[int]:
    """Return the numbers of the devices that a run uses."""
    numbers, worker = list(range(len(devices()))), _worker.get()
    if worker is None or not numbers:
        return numbers
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return numbers[:1]
    return [int((re.findall(r"\d+$", worker) or [0])[0]) % len(numbers)]


def run(
    model: Any, rows: AnyRows, rings: NDArray[np.int64], *, progress: Callable[[int], object] | None
) -> NDArray[np.int64]:
    """Simulate every row with these RowP.RING, one thread each; return int64[n, model.outcomes(rows)].

    Costly rows come first, on whichever device is free. An interrupt starts no further launch; launches in
    flight, of a second each or of one replication, are abandoned.
    """
    numbers = mine()
    if not numbers:
        raise RuntimeError(f"no CUDA device: {modules.obstacle() or 'there is none'}")
    out = np.empty((len(rows.parameters), model.outcomes(rows)), np.int64)
    if not len(out):
        return out
    numbers = numbers[: -(-len(out) // at_once(numbers[0]))]
    batches, done = Batches(costs(model, rows)), 0
    for count in merged([_drive(number, model, rows, rings, batches, out) for number in numbers]):
        done += count
        if progress:
            progress(done)
    return out


def at_once(number: int) -> int:
    """Return the approximate number of rows that a device runs at once."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(number)
    return int(properties["multiProcessorCount"]) * THREADS_AT_ONCE


def _drive(
    number: int, model: Any, rows: AnyRows, rings: NDArray[np.int64], batches: Batches, out: NDArray[np.int64]
) -> Iterator[int]:
    """Launch batches on a device until none is left; yield the number of rows of each completed launch."""
    import cupy

    in_flight: deque[tuple[Batch, GpuLaunch, float]] = deque()
    batch_size, finished = BatchSize(at_once(number)), 0.0
    with cupy.cuda.Device(number), raising_device_errors(number):
        streams = deque(cupy.cuda.Stream(non_blocking=True) for _ in range(IN_FLIGHT))
        run = _run(model, rows, rings, out.shape[1], streams[0])
        try:
            while True:
                batch = batches.take(batch_size) if len(in_flight) < IN_FLIGHT else None
                if batch and (launch := _try_launch(run, batch, streams[0], batch_size, alone=not in_flight)):
                    in_flight.append((batch, launch, time.perf_counter()))
                    streams.rotate()
                    continue
                if batch:
                    batches.put_back(batch)
                elif not in_flight:
                    return
                if in_flight:
                    done, launch, start = in_flight.popleft()
                    launch.stream.synchronize()
                    out[done.rows] = launch.outcomes()
                    del launch  # frees its memory, which the next one may need
                    now = time.perf_counter()
                    batch_size.learn(len(done.rows), done.cost, now - max(start, finished))
                    finished = now
                    yield len(done.rows)
        finally:
            for _, launch, _ in in_flight:  # the device writes to their memory
                with suppress(Exception):
                    launch.stream.synchronize()


def _try_launch(
    run: Run, batch: Batch, stream: Any, batch_size: BatchSize, *, alone: bool
) -> GpuLaunch | None:
    """Start a launch of these rows; return None if they do not fit now."""
    try:
        launch = start_launch(run, batch.rows, stream)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        if len(batch.rows) == 1 and alone:
            raise MemoryError(str(error)) from None
        batch_size.room = max(len(batch.rows) // 2, 1)
        return None
    batch_size.room = min(batch_size.room, run.room // launch.row_bytes)
    return launch


def _run(model: Any, rows: AnyRows, rings: NDArray[np.int64], columns: int, stream: Any) -> Run:
    import cupy

    with stream:
        losses, no_trace = cupy.asarray(rows.losses), cupy.zeros((0, len(Trace)))
    stream.synchronize()
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return Run(model, rows, rings, columns, losses, no_trace, int(free * MEMORY_SHARE) // IN_FLIGHT)
