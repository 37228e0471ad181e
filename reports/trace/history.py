"""State of a traced ad hoc network at any time: positions, links, the route and the sender."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from netcarlo.numerics.arrays import Floats

Link = tuple[int, int]


class Routes(NamedTuple):
    """Routes in use at the source, in the order of time."""

    since_s: Floats
    nodes: list[list[int]]
    """Nodes of each route; an empty list if there is no route."""


def places(frame: pd.DataFrame, times_s: Floats) -> tuple[Floats, Floats]:
    """Return the positions of all nodes at each of the times: x and y [m], float64[times, nodes]."""
    legs = frame[frame["event"] == "place"]
    x, y = [], []
    for _, mine in legs.groupby(legs["node"].astype(int)):
        t0, x0, y0, vx, vy = (
            mine[name].to_numpy() for name in ("time_s", "x_m", "y_m", "vx_m_per_s", "vy_m_per_s")
        )
        leg = np.maximum(np.searchsorted(t0, times_s, side="right") - 1, 0)
        since = times_s - t0[leg]
        x.append(x0[leg] + vx[leg] * since)
        y.append(y0[leg] + vy[leg] * since)
    return np.array(x).T, np.array(y).T


def links(frame: pd.DataFrame, times_s: Floats) -> list[list[Link]]:
    """Return the links that exist at each of the times (ascending) [s]."""
    events = frame[frame["event"] == "link"]
    there: set[Link] = set()
    found = []
    changes = list(zip(*(events[name].tolist() for name in ("time_s", "node", "to", "on")), strict=True))
    k = 0
    for t in times_s.tolist():
        while k < len(changes) and changes[k][0] <= t:
            _, i, j, on = changes[k]
            (there.add if on else there.discard)((i, j))
            k += 1
        found.append(sorted(there))
    return found


def routes(frame: pd.DataFrame) -> Routes:
    """Return the routes in use."""
    rows = frame[frame["event"] == "route"]
    since: list[float] = []
    nodes: list[list[int]] = []
    for t, hop, node in zip(rows["time_s"], rows["sequence"], rows["node"], strict=True):
        if hop == 0:
            since.append(t)
            nodes.append([])
        if not pd.isna(node):
            nodes[-1].append(int(node))
    return Routes(np.array(since, dtype=float), nodes)


def ends(frame: pd.DataFrame) -> Link | None:
    """Return source and sink; None if there never was a route."""
    first = next((nodes for nodes in routes(frame).nodes if nodes), None)
    return None if first is None else (first[0], first[-1])


def stopped(frame: pd.DataFrame) -> list[tuple[float, float]]:
    """Return begin and end of the periods in which the sender probed or was frozen [s]."""
    rows, end_s = frame[frame["event"] == "state"], float(frame["time_s"].max())
    spans: list[tuple[float, float]] = []
    began: float | None = None
    for t, on in zip(rows["time_s"], rows["on"], strict=True):
        if on and began is None:
            began = t
        elif not on and began is not None:
            spans.append((began, t))
            began = None
    return spans if began is None else [*spans, (began, end_s)]


def shortest(frame: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the times of link changes [s], and the hops of the shortest route from then on; NaN: none."""
    found = ends(frame)
    times_s = np.unique(frame.loc[frame["event"] == "link", "time_s"].to_numpy())
    if found is None:
        return times_s, np.full(len(times_s), np.nan)
    return times_s, np.array([_hops(now, *found) for now in links(frame, times_s)])


def _hops(there: Sequence[Link], source: int, sink: int) -> float:
    neighbours: dict[int, set[int]] = defaultdict(set)
    for i, j in there:
        neighbours[i].add(j)
        neighbours[j].add(i)
    level, seen, hops = {source}, {source}, 0.0
    while level:
        if sink in level:
            return hops
        level = set().union(*(neighbours[node] for node in level)) - seen
        seen |= level
        hops += 1
    return np.nan
