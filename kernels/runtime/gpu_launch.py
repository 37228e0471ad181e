"""A launch on its way: rows to the device, the kernel, outcomes back, all on one stream, with nobody waiting.

The host lays rows out for warps, in pinned memory, which the device reads and writes while the host does
something else; so CuPy has nothing to compile.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.rows import AnyRows, replications
from netcarlo.kernels.runtime import modules

LANES = 32
"""Threads of a warp.  On the device arrays with a row for each thread are [warp, ..., lane]: what a warp
reads or writes at once lies side by side."""

THREADS = 64
"""Threads of a block: few, so that a block whose rows are done makes room soon."""


class GpuLaunch(NamedTuple):
    """A launch that has begun."""

    stream: Any
    rows: int
    interleaved: NDArray[np.int64]
    """Outcomes, in pinned memory."""
    row_bytes: int
    """Of the device's memory."""
    held: list[Any]
    """Memory that it uses."""

    def outcomes(self) -> NDArray[np.int64]:
        """Of its rows, int64[rows, columns], when the stream is through."""
        warps, columns, lanes = self.interleaved.shape
        return np.moveaxis(self.interleaved, -1, 1).reshape(warps * lanes, columns)[: self.rows]


class Run(NamedTuple):
    """What all launches of a run on a device have in common."""

    model: Any
    rows: AnyRows
    rings: NDArray[np.int64]
    """Their P.RING, int64[n]."""
    columns: int
    """Of the outcomes."""
    losses: Any
    """The table, on the device."""
    no_trace: Any
    room: int
    """Bytes of the device that a launch may fill."""


def start_launch(run: Run, index: NDArray[np.int64], stream: Any) -> GpuLaunch:
    """Launch the rows `index` on the current device.  Raises MemoryError where they have no room."""
    import cupy

    n = len(index)
    index = np.concatenate([index, np.repeat(index[-1:], -n % LANES)])  # no lane is without a row
    fields = [field[index] for field in replications(run.rows)]
    fields[0][:, P.RING] = run.rings[index]
    words, floats = run.model.scratch(type(run.rows)(*fields, run.rows.losses))  # type: ignore[call-arg]
    row_bytes = 8 * (words + floats + run.columns) + sum(field[:1].nbytes for field in fields)
    if len(index) * row_bytes > run.room:
        needed = f"one replication needs {row_bytes} bytes on the device, where {LANES} run side by side"
        raise MemoryError(f"{needed}; free are {run.room}")
    with stream, _waited_for(stream):
        warps = len(index) // LANES
        host = [_interleaved(field) for field in fields]
        arrays = [
            *(_sent(field) for field in host),
            run.losses,
            cupy.empty((warps, words, LANES), np.int64),
            cupy.empty((warps, floats, LANES), np.float64),
            cupy.zeros((warps, run.columns, LANES), np.int64),
            run.no_trace,
        ]
        modules.kernel(run.model)((-(-len(index) // THREADS),), (THREADS,), arguments(arrays))
        outcomes = _pinned((warps, run.columns, LANES), np.int64)
        arrays[7].get(out=outcomes, blocking=False)
    return GpuLaunch(stream, n, outcomes, row_bytes, [arrays, host])


@contextmanager
def _waited_for(stream: Any) -> Iterator[None]:
    """After an error wait for what is under way: it reads memory that is now given back."""
    try:
        yield
    except BaseException:
        stream.synchronize()
        raise


def arguments(arrays: list[Any]) -> tuple[np.int64, ...]:
    """The parameters of a kernel that Numba compiled for these contiguous arrays.

    Each array becomes meminfo and parent (unused), number of items, item size, address, shape, strides.
    """
    flat: list[int] = []
    for array in arrays:
        flat += (0, 0, array.size, array.itemsize, array.data.ptr, *array.shape, *array.strides)
    return tuple(np.int64(value) for value in flat)


def _interleaved(field: NDArray[Any]) -> NDArray[Any]:
    """An array [row, ...] as [warp, ..., lane] in pinned memory."""
    n, *shape = field.shape
    found = _pinned((n // LANES, *shape, LANES), field.dtype)
    np.moveaxis(found, -1, 1)[...] = field.reshape(n // LANES, LANES, *shape)
    return found


def _sent(field: NDArray[Any]) -> Any:
    import cupy

    array = cupy.empty(field.shape, field.dtype)
    if field.size:
        array.set(field)
    return array


def _pinned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Pinned memory comes in powers of two: so CuPy, which keeps it, has what the next launch asks for."""
    import cupyx

    room = cupyx.empty_pinned((1 << (shape[0] - 1).bit_length(), *shape[1:]), dtype)
    return room[: shape[0]]  # type: ignore[no-any-return]
