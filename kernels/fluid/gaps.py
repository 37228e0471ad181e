"""Random losses as in the packet engine: number of packets that pass a hop until the hop loses the next one.

The gaps come from the same random streams as those of `base.countdown`, so fluid and packet models of a
network lose the same packets, counted by hop.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, STREAM_LOSS, Hop
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.fluid.route import HopWord, RouteWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS

_LONGEST = FOREVER >> ONE_BITS


def prepare(p: Any, hops: Any, losses: Any, w: Any, path: Any, before: Any) -> None:
    """Draw the first gaps of a path with the words `w`; `before` packets have already passed."""
    for hop in range(hops.shape[1]):
        if hops[path, hop, Hop.PRESENT] != 0:
            _draw(p, hops, losses, w, path, hop)
    lose(p, hops, losses, w, path, before << ONE_BITS)


def _draw(p: Any, hops: Any, losses: Any, w: Any, path: Any, hop: Any) -> None:
    """Draw the next gap of a hop (`base.loss.gap`)."""
    times = w[RouteWord.HOPS + HopWord.SIZE * hop :]
    stream, row = STREAM_LOSS + (path * 64 + hop) * 2, hops[path, hop, Hop.LOSS]
    left = gap(losses, row, p[RowP.SEED], p[RowP.SCENARIO], p[RowP.REPLICATION], stream, times[HopWord.GAPS])
    times[HopWord.GAP] = min(left, np.int64(_LONGEST)) << ONE_BITS
    times[HopWord.GAPS] += 1


def until_loss(hops: Any, w: Any, path: Any) -> Any:
    """Return the number of packets that are delivered until the next one is lost [packet, ONE_BITS]."""
    found = np.int64(FOREVER)
    for hop in range(hops.shape[1]):
        if hops[path, hop, Hop.PRESENT] != 0:
            found = min(found, w[RouteWord.HOPS + HopWord.SIZE * hop + HopWord.GAP])
    return found


def lose(p: Any, hops: Any, losses: Any, w: Any, path: Any, flow: Any) -> Any:
    """Send `flow` [packet, ONE_BITS]; return how many of its packets are lost."""
    lost, going = np.int64(0), True
    while going:
        passed = min(until_loss(hops, w, path), flow)
        going = passed < flow
        gone = False  # the lost packet has not reached this hop
        for hop in range(hops.shape[1]):
            if hops[path, hop, Hop.PRESENT] != 0:
                at = RouteWord.HOPS + HopWord.SIZE * hop + HopWord.GAP
                w[at] -= passed
                if going and not gone:
                    gone = w[at] == 0
                    if gone:
                        _draw(p, hops, losses, w, path, hop)
                    else:
                        w[at] -= ONE
        if going:
            lost += 1
            flow = max(flow - passed - ONE, np.int64(0))
            going = flow > 0
    return lost
