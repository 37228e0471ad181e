"""Random loss where the packet engine has it: so many packets pass a hop until it loses the next.

The gaps are those of `base.countdown`, from the same streams: fluid and packets of a network lose the same
ones, counted by hop.
"""

from typing import Any

import numpy as np

from netcarlo.kernels.base.layout import FOREVER, STREAM_LOSS, Hop, P
from netcarlo.kernels.base.loss import gap
from netcarlo.kernels.fluid.route import HopWord, RouteWord
from netcarlo.kernels.fluid.state import ONE, ONE_BITS

_LONGEST = FOREVER >> ONE_BITS


def prepare(p: Any, hops: Any, losses: Any, w: Any, path: Any, before: Any) -> None:
    """The first gaps of a path with the words `w`; so many packets have passed."""
    for hop in range(hops.shape[1]):
        if hops[path, hop, Hop.PRESENT] != 0:
            _draw(p, hops, losses, w, path, hop)
    lose(p, hops, losses, w, path, before << ONE_BITS)


def _draw(p: Any, hops: Any, losses: Any, w: Any, path: Any, hop: Any) -> None:
    times = w[RouteWord.HOPS + HopWord.SIZE * hop :]
    stream, row = STREAM_LOSS + (path * 64 + hop) * 2, hops[path, hop, Hop.LOSS]
    left = gap(losses, row, p[P.SEED], p[P.SCENARIO], p[P.REPLICATION], stream, times[HopWord.GAPS])
    times[HopWord.GAP] = min(left, np.int64(_LONGEST)) << ONE_BITS
    times[HopWord.GAPS] += 1


def until_loss(hops: Any, w: Any, path: Any) -> Any:
    """Packets that get through until the next is lost [packet, ONE_BITS]."""
    found = np.int64(FOREVER)
    for hop in range(hops.shape[1]):
        if hops[path, hop, Hop.PRESENT] != 0:
            found = min(found, w[RouteWord.HOPS + HopWord.SIZE * hop + HopWord.GAP])
    return found


def lose(p: Any, hops: Any, losses: Any, w: Any, path: Any, flow: Any) -> Any:
    """`flow` [packet, ONE_BITS] is put out; returns how many of its packets are lost."""
    lost, going = np.int64(0), True
    while going:
        passed = min(until_loss(hops, w, path), flow)
        going = passed < flow
        gone = False  # the packet that is lost, at a hop before
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
