"""Asynchronous GPU launch: copy rows, run the kernel, copy outcomes back, all on one stream.

The host arranges rows for warps in pinned memory, which the device reads and writes asynchronously, so that
CuPy has no kernels to compile.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import AnyRows, replications
from netcarlo.kernels.runtime import modules

LANES = 32
"""Threads of a warp. Arrays with a row per thread are [warp, ..., lane] on the device, so that accesses
coalesce."""

THREADS = 64
"""Threads of a block: few, so that a block whose rows are done soon frees its place."""


class GpuLaunch(NamedTuple):
    """Launch in progress."""

    stream: Any
    rows: int
    interleaved: NDArray[np.int64]
    """Outcomes, in pinned memory."""
    row_bytes: int
    """Device memory per row [bytes]."""
    held: list[Any]
    """References to memory in use."""

    def outcomes(self) -> NDArray[np.int64]:
        """Return the outcomes, int64[rows, columns], after the stream is synchronised."""
        warps, columns, lanes = self.interleaved.shape
        return np.moveaxis(self.interleaved, -1, 1).reshape(warps * lanes, columns)[: self.rows]


class Run(NamedTuple):
    """Common data of all launches of a run on a device."""

    model: Any
    rows: AnyRows
    rings: NDArray[np.int64]
    """RowP.RING of the rows, int64[n]."""
    columns: int
    """Number of columns of the outcomes."""
    losses: Any
    """Table of losses, on the device."""
    no_trace: Any
    room: int
    """Device memory that a launch may fill [bytes]."""


def start_launch(run: Run, index: NDArray[np.int64], stream: Any) -> GpuLaunch:
    """Launch the rows `index` on the current device. Raises MemoryError if they do not fit."""
    import cupy

    n = len(index)
    index = np.concatenate([index, np.repeat(index[-1:], -n % LANES)])  # every lane needs a row
    fields = [field[index] for field in replications(run.rows)]
    fields[0][:, RowP.RING] = run.rings[index]
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
    """Synchronise the stream after an error, as it may use memory that is released now."""
    try:
        yield
    except BaseException:
        stream.synchronize()
        raise


def arguments(arrays: list[Any]) -> tuple[np.int64, ...]:
    """Return the parameters of a kernel compiled by Numba for these contiguous arrays.

    Each array becomes meminfo and parent (unused), number of items, item size, address, shape, strides.
    """
    flat: list[int] = []
    for array in arrays:
        flat += (0, 0, array.size, array.itemsize, array.data.ptr, *array.shape, *array.strides)
    return tuple(np.int64(value) for value in flat)


def _interleaved(field: NDArray[Any]) -> NDArray[Any]:
    """Copy an array [row, ...] to [warp, ..., lane] in pinned memory."""
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
    """Return pinned memory with a power of two of warps, so that CuPy's pool can reuse it."""
    import cupyx

    room = cupyx.empty_pinned((1 << (shape[0] - 1).bit_length(), *shape[1:]), dtype)
    return room[: shape[0]]  # type: ignore[no-any-return]
