"""Error bars of a figure: all of them, unless they would hide each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Plot = dict[str, Any]

FEW = 40
"""Number of bars up to which a figure shows them all."""

APART = 1 / 40
"""Least distance of bars that do not touch, in parts of the x axis: 8 pixels on a phone."""


def uncrowded(data: list[Plot], *, log: bool) -> list[Plot]:
    """Return the traces without the vertical error bars that would overlap one drawn before.

    At each point another line comes first. Up to `FEW` bars are all drawn. Exported intervals do not depend
    on this choice.
    """
    barred = [trace for trace in data if _has_bars(trace)]
    count = sum(sum(v is not None for v in trace["error_y"]["array"]) for trace in barred)
    if count <= FEW:
        return data
    places = _places([trace["x"] for trace in barred], log=log)
    points = ((k, i, at) for k, line in enumerate(places) for i, at in enumerate(line))
    order = sorted((at, (k - i) % len(places), k, i) for k, i, at in points)
    drawn: list[tuple[float, float, float]] = []
    hidden: list[set[int]] = [set() for _ in barred]
    for at, _, k, i in order:
        ends = _ends(barred[k], i)
        if ends is None:
            continue
        low, high = ends
        near = (one for one in reversed(drawn) if at - one[0] < APART)
        if any(low <= top and bottom <= high for _, bottom, top in near):
            hidden[k].add(i)
        else:
            drawn.append((at, low, high))
    thinned = {id(trace): _without(trace, gone) for trace, gone in zip(barred, hidden, strict=True) if gone}
    return [thinned.get(id(trace), trace) for trace in data]


def _has_bars(trace: Plot) -> bool:
    return bool(trace.get("error_y", {}).get("array")) and trace["error_y"].get("visible", True)


def _ends(trace: Plot, i: int) -> tuple[float, float] | None:
    """Return the ends of the bar at a point; None without one."""
    bars, middle = trace["error_y"], trace["y"][i]
    above = bars["array"][i]
    below = bars.get("arrayminus", bars["array"])[i]
    if middle is None or above is None or below is None:
        return None
    return middle - below, middle + above


def _places(lines: Sequence[Sequence[Any]], *, log: bool) -> list[list[float]]:
    """Return the place of each point on the x axis, from 0 to 1."""
    every = [x for line in lines for x in line]
    if any(isinstance(x, str) for x in every):
        order = {x: i for i, x in enumerate(dict.fromkeys(every))}
        numbers = [np.array([float(order[x]) for x in line]) for line in lines]
    else:
        numbers = [np.asarray(line, dtype=np.float64) for line in lines]
        if log:
            numbers = [np.log(line) for line in numbers]
    joined = np.concatenate(numbers)
    first, width = float(joined.min()), float(np.ptp(joined)) or 1.0
    return [((line - first) / width).tolist() for line in numbers]


def _without(trace: Plot, gone: set[int]) -> Plot:
    bars = trace["error_y"]
    ends = {
        name: [None if i in gone else v for i, v in enumerate(bars[name])]
        for name in ("array", "arrayminus")
        if name in bars
    }
    return {**trace, "error_y": {**bars, **ends}}
