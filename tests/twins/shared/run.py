"""Run one row and read the counters."""

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import STATUS_OK
from netcarlo.kernels.shared.layout import FlowOut, LinkOut, SharedOut, SharedRows
from tests.twins.shared.world import World


def simulate(rows: SharedRows, *, row: int = 0, alone: str = "") -> NDArray[np.int64]:
    """The outcomes of one row of `rows`, as of `launch.run`; but EVENTS stays 0.

    `alone`: what TCP flows of no other kind are, see `run.tcp_of`.
    """
    world = World(rows, row, alone=alone)
    world.run()
    most_flows, most_links = rows.flows.shape[1], rows.links.shape[1]
    first_link = SharedOut.COLUMNS + most_flows * FlowOut.COLUMNS
    vector = np.zeros(first_link + most_links * LinkOut.COLUMNS, np.int64)
    vector[SharedOut.STATUS] = STATUS_OK
    for first, tables in ((SharedOut.COLUMNS, world.flows), (first_link, world.links)):
        values = list(chain.from_iterable(one.values() for one in tables))
        vector[first : first + len(values)] = values
    return vector
