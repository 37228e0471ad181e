"""Detours: a flow takes its backup route while its own route is known to be down.

The backup route, in both directions, is stored after the routes of a flow, followed by the times in which
packets that enter their first link take it: pairs of begin and end [ns], in order. Packets of the two routes
may overtake each other, so those of such a flow are also ordered at its routers, see `engine`.
`b` is where the block of flow `i` begins in scratch `m`, `flows` are the flows of the row.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.layout import Flow, Shared
from netcarlo.kernels.shared.state import FlowWord, LinkWord, Word, place_of_link


class Backup(IntEnum):
    """Words from column `Flow.BACKUP` of a flow on."""

    HOPS = 0  # links on the route of the data
    REVERSE_HOPS = 1  # links on the route of the acknowledgements
    DETOURS = 2  # number of pairs of times
    ROUTE = 3
    """Links on the route of the data, then those on the route of the acknowledgements, then the pairs of
    times [ns]."""


@noinline
def longest(p: Any, flows: Any) -> Any:
    """Return the links of the longest route of a row; one more if a packet may change its route, because it
    then counts its last link, too."""
    most = np.int64(1)
    for i in range(p[Shared.FLOWS]):
        most = max(most, flows[i, Flow.HOPS], flows[i, Flow.BACK_HOPS])
        at = flows[i, Flow.BACKUP]
        if at != 0:
            most = max(most, flows[i, Flow.HOPS] + 1, flows[i, Flow.BACK_HOPS] + 1)
            most = max(most, flows[i, at + Backup.HOPS] + 1, flows[i, at + Backup.REVERSE_HOPS] + 1)
    return most


@noinline
def choose_route(flows: Any, m: Any, b: Any, i: Any, word: Any, t: Any) -> Any:
    """Return the packet, marked if it takes the backup route, when it enters its first link at `t` [ns]."""
    at = m[b + Flow.BACKUP]
    times = at + Backup.ROUTE + flows[i, at + Backup.HOPS] + flows[i, at + Backup.REVERSE_HOPS]
    cursor = b + (FlowWord.BACK_DETOUR if word & packet.BACKWARD != 0 else FlowWord.DETOUR)
    k = m[cursor]
    while k < flows[i, at + Backup.DETOURS] and t >= flows[i, times + 2 * k + 1]:
        k += 1
    m[cursor] = k
    if k < flows[i, at + Backup.DETOURS] and t >= flows[i, times + 2 * k]:
        word |= packet.ON_BACKUP_ROUTE
    return word


@noinline
def next_link(flows: Any, m: Any, b: Any, i: Any, word: Any) -> Any:
    """Return the block of the link before a packet, the links passed and the links of its route.

    After the last link, the block is that of the last link.
    """
    hop, back, at = packet.hop_of(m, word), word & packet.BACKWARD != 0, m[b + Flow.BACKUP]
    if word & packet.ON_BACKUP_ROUTE == 0:
        hops = m[b + (Flow.BACK_HOPS if back else Flow.HOPS)]
        link = m[place_of_link(b, min(hop, hops - 1), back)]
    else:
        hops = flows[i, at + (Backup.REVERSE_HOPS if back else Backup.HOPS)]
        route = at + Backup.ROUTE + (flows[i, at + Backup.HOPS] if back else 0)
        number = flows[i, route + min(hop, hops - 1)]
        link = m[Word.LINKS] + LinkWord.SIZE * number
    return link, hop, hops
