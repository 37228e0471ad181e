"""Run one row and read the counters."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.classes import ClassOut
from netcarlo.kernels.base.layout import STATUS_OK
from netcarlo.kernels.shared.layout import FlowOut, LinkOut, SharedOut, SharedRows, outcomes
from tests.twins.shared.delays import gauges_of
from tests.twins.shared.world import World


def simulate(rows: SharedRows, *, row: int = 0, alone: str = "") -> NDArray[np.int64]:
    """Return the outcomes of one row of `rows`, as `launch.run` does; EVENTS stays 0.

    `alone` is the sender of TCP flows without another kind, see `run.tcp_of`.
    """
    world = World(rows, row, alone=alone)
    world.run()
    most_flows, most_links = rows.flows.shape[1], rows.links.shape[1]
    first_link = SharedOut.COLUMNS + most_flows * FlowOut.COLUMNS
    first_class = first_link + most_links * LinkOut.COLUMNS
    vector = np.zeros(outcomes(rows), np.int64)
    vector[SharedOut.STATUS] = STATUS_OK
    tables: list[tuple[int, Iterable[Any]]] = [
        (SharedOut.COLUMNS, world.flows), (first_link, world.links), (first_class, world.classes),
        (first_class + world.tables.p.CLASSES * ClassOut.COLUMNS, gauges_of(world)),
    ]  # fmt: skip
    for first, parts in tables:
        values = list(chain.from_iterable(one.values() for one in parts))
        vector[first : first + len(values)] = values
    return vector
