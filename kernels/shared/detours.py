"""Detours: a flow takes its backup route while its own route is known to be down.

The two routes, in both directions, are stored behind the columns of `Flow`, followed by the times in which
packets that enter their first link take the backup route: pairs of begin and end [ns], in order. Packets of
the two routes may overtake each other, so those of such a flow are also ordered at its routers, see `engine`.
`b` is where the block of flow `i` begins in scratch `m`, `flows` are the flows of the row.
"""

from enum import IntEnum
from typing import Any

from netcarlo.kernels.base.inline import noinline
from netcarlo.kernels.shared import packet
from netcarlo.kernels.shared.layout import MAX_HOPS, Flow
from netcarlo.kernels.shared.state import FlowWord, LinkWord, Word


class Backup(IntEnum):
    """Words from column `Flow.BACKUP` of a flow on."""

    HOPS = 0  # links on the route of the data
    REVERSE_HOPS = 1  # links on the route of the acknowledgements
    ROUTE = 2  # numbers of the links on the route of the data, MAX_HOPS words
    REVERSE_ROUTE = ROUTE + MAX_HOPS
    """Numbers of the links on the route of the acknowledgements, MAX_HOPS words."""
    DETOURS = REVERSE_ROUTE + MAX_HOPS  # number of pairs of times, which follow
    TIMES = DETOURS + 1
    """First pair of times [ns]."""


MAX_ROUTE_LINKS = MAX_HOPS - 1
"""Maximum links of either route, because a packet counts those it has passed."""


@noinline
def choose_route(flows: Any, m: Any, b: Any, i: Any, word: Any, t: Any) -> Any:
    """Return the packet, marked if it takes the backup route, when it enters its first link at `t` [ns]."""
    at = m[b + Flow.BACKUP]
    cursor = b + (FlowWord.BACK_DETOUR if word & packet.BACKWARD != 0 else FlowWord.DETOUR)
    k, times = m[cursor], at + Backup.TIMES
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
    hop, back, at = packet.hop_of(word), word & packet.BACKWARD != 0, m[b + Flow.BACKUP]
    if word & packet.ON_BACKUP_ROUTE == 0:
        hops = m[b + (Flow.BACK_HOPS if back else Flow.HOPS)]
        link = m[b + (Flow.BACK if back else Flow.ROUTE) + min(hop, hops - 1)]
    else:
        hop -= packet.hop_of(packet.ON_BACKUP_ROUTE)
        hops = flows[i, at + (Backup.REVERSE_HOPS if back else Backup.HOPS)]
        number = flows[i, at + (Backup.REVERSE_ROUTE if back else Backup.ROUTE) + min(hop, hops - 1)]
        link = m[Word.LINKS] + LinkWord.SIZE * number
    return link, hop, hops
