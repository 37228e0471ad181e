"""CUDA devices through CuPy: memory, and launches of PTX that Numba compiled.

CuPy is imported when a device is asked for, never before.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import Trace
from netcarlo.kernels.base.rows import AnyRows, replications
from netcarlo.kernels.runtime import modules

LANES = 32
"""Threads of a warp."""

THREADS = 64
"""Threads of a block: few, so that a block whose rows are done makes room soon."""

MEMORY_SHARE = 0.8
"""Share of the free device memory that one launch may fill."""

LAUNCH_S = 1.0
"""A launch has as many rows as should take this time, by how long the last one took: it cannot be
interrupted, and a device with a display stops one that takes some seconds."""

THREADS_AT_ONCE = 512
"""Of a multiprocessor, as far as registers go: a launch of fewer rows than run at once would last as long."""


class Device(NamedTuple):
    """A CUDA device."""

    name: str
    capability: str  # compute capability, "9.0"
    memory_bytes: int


def devices() -> list[Device]:
    """The CUDA devices that CuPy can use; none where CuPy or a driver is missing."""
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


def run(model: Any, rows: AnyRows, *, progress: Callable[[int], object] | None) -> NDArray[np.int64]:
    """Simulate every row on the device, one thread each; returns int64[n, model.outcomes(rows)]."""
    kernel = modules.kernel(model)
    import cupy

    n = len(rows.parameters)
    words, floats = model.scratch(rows)
    columns = model.outcomes(rows)
    row_bytes = 8 * (words + floats + columns) + sum(field[:1].nbytes for field in replications(rows))
    most = int(cupy.cuda.runtime.memGetInfo()[0] * MEMORY_SHARE) // row_bytes
    if most < 1:
        raise MemoryError(f"one replication needs {row_bytes} bytes on the device, more than it has free")
    out = np.zeros((n, columns), np.int64)
    losses = cupy.asarray(rows.losses)
    no_trace = cupy.zeros((0, len(Trace)))
    runtime = cupy.cuda.runtime
    fewest = runtime.getDeviceProperties(runtime.getDevice())["multiProcessorCount"] * THREADS_AT_ONCE
    hi, count = 0, min(fewest, most)
    while hi < n:
        lo, hi = hi, min(hi + count, n)
        warps = -(-(hi - lo) // LANES)
        arrays = [
            *(interleaved(cupy, cupy.asarray(field[lo:hi])) for field in replications(rows)),
            losses,
            cupy.empty((warps, words, LANES), np.int64),
            cupy.empty((warps, floats, LANES), np.float64),
            cupy.zeros((warps, columns, LANES), np.int64),
            no_trace,
        ]
        start = time.perf_counter()
        kernel((-(-(hi - lo) // THREADS),), (THREADS,), arguments(arrays))
        out[lo:hi] = cupy.asnumpy(in_rows(cupy, arrays[7]))[: hi - lo]
        seconds = max(time.perf_counter() - start, 1e-9)
        count = int((hi - lo) * min(LAUNCH_S / seconds, 2))  # not more than twice: rows differ
        count = min(max(count, fewest), most)
        del arrays
        if progress:
            progress(hi)
    return out


def interleaved(cupy: Any, array: Any) -> Any:
    """An array [row, ...] as [warp, ..., lane]; the last row also stands in lanes without one."""
    missing = -len(array) % LANES
    if missing:
        array = cupy.concatenate([array, cupy.repeat(array[-1:], missing, axis=0)])
    array = array.reshape(len(array) // LANES, LANES, *array.shape[1:])
    return cupy.ascontiguousarray(cupy.moveaxis(array, 1, -1))


def in_rows(cupy: Any, array: Any) -> Any:
    """An array [warp, column, lane] as [row, column]."""
    warps, columns, lanes = array.shape
    return cupy.ascontiguousarray(cupy.moveaxis(array, -1, 1)).reshape(warps * lanes, columns)


def arguments(arrays: list[Any]) -> tuple[np.int64, ...]:
    """The parameters of a kernel that Numba compiled for these contiguous arrays.

    Each array becomes meminfo and parent (unused), number of items, item size, address, shape, strides.
    """
    flat: list[int] = []
    for array in arrays:
        flat += (0, 0, array.size, array.itemsize, array.data.ptr, *array.shape, *array.strides)
    return tuple(np.int64(value) for value in flat)
