"""Backup routes, which flows use while a cable of their route is known to be down."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import FOREVER, NS
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.shared.detours import Backup
from netcarlo.kernels.shared.layout import Flow, SharedRows
from netcarlo.networks.interruption import Interruption
from netcarlo.networks.outages import from_start, merged
from netcarlo.numerics.arrays import Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import bounds

Ends = Sequence[tuple[int, int]]
"""Router at the start and at the end of each link."""


def check(name: str, route: list[int], backup: list[int], ends: Ends, reverse: Sequence[int]) -> None:
    """Raise InputError unless a backup route connects the ends of the route without using its cables.

    `reverse` is the reverse link of each link.
    """
    for link in backup:
        if not 0 <= link < len(ends):
            raise InputError(f"{name}.backup has {link}, which is not a link; expected 0 to {len(ends) - 1}")
    for one, other in pairwise(backup):
        if ends[one][1] != ends[other][0]:
            remedy = f"the next link must start at router {ends[one][1]}"
            raise InputError(f"{name}.backup is interrupted after link {one}; {remedy}")
    (first, last), (begin, end) = ((ends[of[0]][0], ends[of[-1]][1]) for of in (route, backup))
    if (first, last) != (begin, end):
        raise InputError(
            f"{name}.backup leads from router {begin} to {end}, but the route from {first} to {last}; choose "
            "a backup with the same ends"
        )
    cables = {min(link, reverse[link]) for link in route}
    for link in backup:
        if min(link, reverse[link]) in cables:
            raise InputError(f"{name}.backup uses link {link}, a cable of the route; choose another")


def detours(outages: Ints, detection: Ints) -> Ints:
    """Return the times [n, K, 2] at which packets take the backup route.

    A detour starts `detection` [n] [ns] after a cable of the route went down, and ends as long after its
    return. `outages` [n, K, 2] are those of the cables. Outages shorter than `detection` are not detected.
    """
    wait = detection[:, None]
    comes = outages[:, :, 0] < FOREVER
    noticed = comes & (outages[:, :, 1] - outages[:, :, 0] > wait)
    begin = np.where(noticed, outages[:, :, 0], FOREVER)
    end = np.where(noticed, outages[:, :, 1] + wait, FOREVER)
    table = merged(np.stack([begin, end], axis=2))
    table[:, :, 0] += np.where(table[:, :, 0] < FOREVER, wait, 0)
    return table


def before_s(flows: Iterable[tuple[str, Any]]) -> float:
    """Return the time before a run from which outages matter to its routes [s]: that of two detections.

    An outage that ended one detection before the run still diverts packets, and is not noticed if it is
    separated from an earlier one by less than another detection.
    """
    found = [0.0 if flow.detection is None else bounds(flow.detection)[1] for _, flow in flows]
    return 2 * max(found, default=0.0)


def placed(flows: Ints, members: Sequence[Any], draws: Draws, times: Ints, back: Ints, cables: Ints) -> Ints:
    """Return the flows [n, F, columns] followed by their backup routes; `Flow.BACKUP` is a member's number
    from 1.

    `times` [n, C, K, 2] are the outages of cables; `back` and `cables` [L] are the reverse link and the cable
    of each link.
    """
    which, found = flows[:, :, Flow.BACKUP].copy(), {}
    for k in np.unique(which[which > 0]).tolist():
        name, spec = members[k - 1].name, members[k - 1].spec
        detection = draws.whole(f"{name}.detection", 0.0 if spec.detection is None else spec.detection, NS)
        down = times[:, np.unique(cables[spec.route])]
        found[k] = from_start(detours(merged(down.reshape(len(down), -1, 2)), detection))
    if not found:
        return flows
    at, blocks = flows.shape[2], {}
    for k, table in found.items():
        route = members[k - 1].spec.backup
        head = np.zeros((len(flows), Backup.ROUTE), np.int64)
        head[:, [Backup.HOPS, Backup.REVERSE_HOPS]] = len(route)
        head[:, Backup.DETOURS] = (table[:, :, 0] < FOREVER).sum(axis=1)
        links = np.tile([*route, *back[route][::-1]], (len(flows), 1))
        blocks[k] = np.concatenate([head, links, table.reshape(len(table), -1)], axis=1)
    flows = np.pad(flows, [(0, 0), (0, 0), (0, max(block.shape[1] for block in blocks.values()))])
    flows[:, :, Flow.BACKUP] = np.where(which > 0, at, 0)
    for k, block in blocks.items():
        row, f = np.nonzero(which == k)
        flows[row, f, at : at + block.shape[1]] = block[row]
    return flows


def interruptions(rows: SharedRows) -> list[Interruption]:
    """Return the detours of flows of the first row that begin before the end of its observation, each
    once."""
    found = set()
    for flow in rows.flows[0]:
        at = flow[Flow.BACKUP]
        if at > 0:
            count = flow[at + Backup.DETOURS]
            at += Backup.ROUTE + flow[at + Backup.HOPS] + flow[at + Backup.REVERSE_HOPS]
            times = flow[at:][: 2 * count].reshape(-1, 2) / NS
            found |= {Interruption("detour", *span) for span in times.tolist()}
    end_s = rows.parameters[0, RowP.END] / NS
    return [each for each in found if each.start_s < end_s]
