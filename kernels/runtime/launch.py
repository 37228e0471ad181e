"""Simulation of the rows of an ensemble with a model: on CPU threads, or on CUDA devices through CuPy.

The result of a row depends only on the row: not on its neighbours, the number of threads, the target, or the
capacity of the rings that hold packets in flight.
"""

import functools
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import STATUS_RING_FULL, STATUS_TRACE_FULL, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import STATUS, AnyRows, Ints, take, widened
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import device
from netcarlo.kernels.runtime.batches import costs
from netcarlo.kernels.runtime.threads import cores, interruptible, map_unordered

LARGEST_RING = 1 << 24
"""Maximum capacity of rings; a row with more packets in flight is refused."""

Progress = Callable[[int], object]


def run(
    model: Any,
    rows: AnyRows,
    *,
    target: str = "cpu",
    threads: int | None = None,
    progress: Progress | None = None,
    most_bytes: float | None = None,
) -> Ints:
    """Simulate every row; return the outcomes, int64[n, model.outcomes(rows)].

    `target` is "cpu", "cuda", or "auto" (a CUDA device if there is one). `threads` (CPU) defaults to the
    cores that this process may use. `progress(rows_done)` is called repeatedly. The number of threads is
    limited by `most_bytes` of memory; raises MemoryError if even one does not fit.
    """

    def launch(rows: AnyRows, rings: Ints, progress: Progress | None) -> Ints:
        if target == "cuda" or (target == "auto" and device.devices()):
            return device.run(model, rows, rings, progress=progress)
        rows = _with_rings(rows, rings)
        workers = min(threads or cores(), max(len(rings), 1))
        if most_bytes is not None and len(rings):
            needed = 8 * sum(model.scratch(rows))
            if needed > most_bytes:
                raise MemoryError(
                    f"one replication needs {needed / 2**30:.3g} GiB of memory; allowed unasked is "
                    f"{most_bytes / 2**30:.3g} GiB"
                )
            workers = min(workers, int(most_bytes // max(needed, 1)))
        return _run_cpu(model, rows, workers=workers, progress=progress)

    rings = _rings(model, rows)
    out = launch(rows, rings, progress)
    while (full := np.flatnonzero(out[:, STATUS] == STATUS_RING_FULL)).size:
        rings[full] *= 2
        if rings[full].max() > LARGEST_RING:
            raise MemoryError(f"more than {LARGEST_RING // 2} packets in flight in replication row {full[0]}")
        again = take(rows, full)
        out[full] = widened(launch(again, rings[full], None), again, rows)
    return out


def trace(model: Any, rows: AnyRows, *, row: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Simulate one row on the CPU with its trace.

    Returns the events, float64[events, len(Trace)], and the outcomes, int64[model.outcomes(rows)].
    """
    one = take(rows, np.array([row]))
    one = _with_rings(one, _rings(model, one))
    out = np.zeros((1, model.outcomes(rows)), np.int64)
    loop = compilers.cpu_loop(model)
    length = 1 << 14
    while True:
        events = np.zeros((length, len(Trace)))
        scratch, memory = _scratch(model, one)
        count = interruptible(functools.partial(loop, 0, 1, *one, scratch, memory, out, events))
        if out[0, STATUS] == STATUS_TRACE_FULL:
            length *= 4
        elif out[0, STATUS] == STATUS_RING_FULL:
            one.parameters[:, RowP.RING] *= 2
        else:
            return events[:count], out[0]


def _rings(model: Any, rows: AnyRows) -> Ints:
    """Return ring capacities for two windows, int64[n]; packets in flight seldom exceed one."""
    window = model.window(rows.parameters)
    return 1 << np.ceil(np.log2(2 * window + 64)).astype(np.int64)  # type: ignore[no-any-return]


def _with_rings(rows: AnyRows, rings: Ints) -> Any:
    """Return contiguous rows with these ring capacities."""
    parameters = np.array(rows.parameters, np.int64, order="C")
    parameters[:, RowP.RING] = rings
    contiguous = [np.require(field, field.dtype, ["C", "W"]) for field in [*rows][1:]]
    return type(rows)(parameters, *contiguous)  # type: ignore[call-arg]


def _scratch(model: Any, rows: AnyRows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    words, floats = model.scratch(rows)
    return np.empty(words, np.int64), np.empty(floats, np.float64)


def _run_cpu(model: Any, rows: AnyRows, *, workers: int, progress: Progress | None) -> NDArray[np.int64]:
    n = len(rows.parameters)
    out = np.zeros((n, model.outcomes(rows)), np.int64)
    if not n:
        return out
    loop = compilers.cpu_loop(model)
    block = min(max(n // (workers * 16), 1), 1024)
    no_trace = np.zeros((0, len(Trace)))
    spare: SimpleQueue[Any] = SimpleQueue()
    for _ in range(workers):
        spare.put(_scratch(model, rows))

    def simulate(lo: int) -> int:
        hi = min(lo + block, n)
        mine = spare.get()
        try:
            loop(lo, hi, *rows, *mine, out, no_trace)
        finally:
            spare.put(mine)
        return hi - lo

    done, starts = 0, np.arange(0, n, block)
    if workers > 1:  # longest first, so that all threads end together
        starts = starts[np.argsort(-np.add.reduceat(costs(model, rows), starts), kind="stable")]
    for count in map_unordered(simulate, starts.tolist(), threads=workers):
        done += count
        if progress:
            progress(done)
    return out
