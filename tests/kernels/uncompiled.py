"""What a kernel does before it is compiled: slow, but compiling some takes a minute."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels import compile as compilers
from netcarlo.kernels import launch, models
from netcarlo.kernels.layout import STATUS_RING_FULL, Out, P, Trace


def run_as_python(model: str, rows: Any) -> NDArray[np.int64]:
    """The outcomes of every row of a network, as `launch.run` returns them."""
    transport = models.model(model)
    rows = launch._with_rings(transport, rows)
    simulate_row = transport.make(compilers.plain)
    out = np.zeros((len(rows.parameters), transport.outcomes(rows)), np.int64)
    *of_rows, losses = rows
    for k in range(len(out)):
        out[k, Out.STATUS] = STATUS_RING_FULL
        while out[k, Out.STATUS] == STATUS_RING_FULL:
            arrays = (*(field[k] for field in of_rows), losses)
            simulate_row(*arrays, *launch._scratch(transport, rows), out[k], np.zeros((0, len(Trace))))
            rows.parameters[k, P.RING] *= 2
    return out
