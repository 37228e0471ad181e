"""Comparison of network engines with their naive twins: uncompiled runs, and differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import STATUS_RING_FULL, Out, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import launch


def run_as_python(model: str | Any, rows: Any) -> NDArray[np.int64]:
    """Return the outcomes of `launch.run` from the uncompiled kernel.

    It is slow, but compiling some models takes a minute.
    """
    transport = models.model(model) if isinstance(model, str) else model
    rows = launch._with_rings(rows, launch._rings(transport, rows))
    simulate_row = transport.make(compilers.plain)
    out = np.zeros((len(rows.parameters), transport.outcomes(rows)), np.int64)
    *of_rows, losses = rows
    for k in range(len(out)):
        out[k, Out.STATUS] = STATUS_RING_FULL
        while out[k, Out.STATUS] == STATUS_RING_FULL:
            arrays = (*(field[k] for field in of_rows), losses)
            simulate_row(*arrays, *launch._scratch(transport, rows), out[k], np.zeros((0, len(Trace))))
            rows.parameters[k, RowP.RING] *= 2
    return out


def as_python(model: Any) -> Callable[..., Any]:
    """Return an uncompiled replacement of `compile.cpu_loop` for a model."""
    flow = model.make(compilers.plain)

    def loop(lo: int, hi: int, *arrays: Any) -> Any:
        *rows, losses, scratch, memory, out, trace = arrays
        events = 0
        with np.errstate(over="ignore"):  # NumPy warns of the overflows in Philox
            for k in range(lo, hi):
                of_row = [field[k] for field in rows]
                events = flow(*of_row, losses, scratch, memory, out[k], trace)
        return events

    return loop


def differing(
    out: NDArray[np.int64],
    twin: Callable[[int], NDArray[np.int64]],
    describe: Callable[[int], str],
    name: Callable[[int], str],
    *,
    at_most: int = 3,
) -> list[str]:
    """Return texts on the first rows in which a kernel's outcomes [n, ...] differ from those of `twin(row)`.

    `describe(row)` describes a network, `name(column)` an outcome.
    """
    found = []
    for row in range(len(out)):
        expected = twin(row)
        wrong = np.flatnonzero(out[row] != expected)
        if wrong.size:
            columns = ", ".join(f"{name(c)} {out[row, c]} not {expected[c]}" for c in wrong[:30])
            found.append(f"row {row}: the kernel has {columns}\n{describe(row)}")
        if len(found) == at_most:
            break
    return found
