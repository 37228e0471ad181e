"""Rows of paths with a hop that alternates between up and down as a Markov chain."""

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, NS, Rows
from netcarlo.networks.outages import alternating


def switched(rows: Rows, *, up_s: float, down_s: float, hop: int = 0) -> Rows:
    """Return rows in which a hop of the first path alternates between up and down, in place of its outages.

    The result equals that of the field `outages: {up: ..., down: ...}` of the hop.
    """
    n, shape = len(rows.parameters), list(rows.outages.shape)
    up, down = (np.full(n, round(mean * NS)) for mean in (up_s, down_s))
    drawn = alternating(rows.parameters, hop, up=up, down=down)
    shape[3] = max(shape[3], drawn.shape[1])
    outages = np.full(shape, FOREVER)
    outages[:, :, :, : rows.outages.shape[3]] = rows.outages
    outages[:, 0, hop] = FOREVER
    outages[:, 0, hop, : drawn.shape[1]] = drawn
    return rows._replace(outages=outages)
