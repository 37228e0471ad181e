"""Run one row and read the counters."""

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows, NodeOut
from tests.twins.adhoc.world import World

PREFIX = "manet_"


def simulate(model: str, rows: ManetRows, *, row: int = 0) -> NDArray[np.int64]:
    """Return the outcomes of one row of `rows` under `model` (a name in `kernels.models`), as `launch.run`
    does.
    """
    protocol = model.removeprefix(PREFIX).removesuffix("_large").removesuffix("_delays")
    world = World(rows, row, protocol=protocol)
    world.run()
    vector = np.zeros(ManetOut.COLUMNS + rows.places.shape[1] * NodeOut.COLUMNS, np.int64)
    values = world.counters.vector()
    vector[: len(values)] = values
    if world.p.LATE:
        net = world.net
        vector = np.append(vector, world.counters.delays(net.SIFS + net.MAC_ACK))
    return vector
