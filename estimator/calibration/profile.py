"""Profiles: how the misfit rises as one parameter leaves its best value, and which values that excludes."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.candidates import Point
from netcarlo.calibration.search import Numbers, Search

DOUBT = 2.0
"""A value is excluded where the misfit rises by more than is allowed and this many standard errors."""


class Rise(NamedTuple):
    """A value of a parameter, by its grid point, with the best values found for the others."""

    at: int
    point: Point
    total: float
    doubt: float


Profile = dict[int, Rise]
"""Of one parameter, by grid point."""


def profiles(search: Search, found: Sequence[Point], numbers: Numbers, free: Sequence[int]) -> list[Profile]:
    """A profile per parameter of `free`, around the candidates `found`.

    The other parameters take the values that are best among those of `found` and those of the best
    candidate of the profiles themselves.  Values come from a coarse grid first, then from where the
    profile crosses what is allowed.
    """
    shapes: list[Profile] = [{} for _ in free]
    coarse = [_spread(search, k, found[0][k]) for k in free]
    _extend(search, shapes, coarse, found, numbers, free)
    if (better := best(shapes).point) not in found:
        _extend(search, shapes, coarse, [better], numbers, free)
    fine = [_crossings(shape, allowed=search.rise) for shape in shapes]
    _extend(search, shapes, fine, [*found, best(shapes).point], numbers, free)
    reference = best(shapes)
    for shape, k in zip(shapes, free, strict=True):
        _put(shape, reference._replace(at=reference.point[k]))
    return shapes


def best(shapes: Sequence[Profile]) -> Rise:
    """The best candidate of all profiles."""
    return min((rise for shape in shapes for rise in shape.values()), key=lambda rise: rise.total)


def leaders(shapes: Sequence[Profile], n: int) -> list[Point]:
    """The `n` best candidates of all profiles."""
    rises = sorted((rise for shape in shapes for rise in shape.values()), key=lambda rise: rise.total)
    return list(dict.fromkeys(rise.point for rise in rises))[:n]


def kept(profile: Profile, *, allowed: float, reference: Rise) -> tuple[int | None, int | None]:
    """The excluded values that are nearest to the kept ones, below and above; None where all are kept."""
    values = sorted(profile)
    holds = [at for at in values if not excluded(profile[at], allowed=allowed, reference=reference)]
    below = [at for at in values if at < min(holds)]
    above = [at for at in values if at > max(holds)]
    return (max(below) if below else None, min(above) if above else None)


def excluded(rise: Rise, *, allowed: float, reference: Rise) -> bool:
    """True if the value is worse than the best by more than is allowed, beyond the doubt in both."""
    doubt = float(np.hypot(rise.doubt, reference.doubt)) if rise.point != reference.point else 0.0
    return rise.total - reference.total > allowed + DOUBT * doubt


def _spread(search: Search, k: int, best_at: int) -> list[int]:
    last = search.grid.last[k]
    even = np.linspace(0, last, min(search.effort.points, last + 1))
    return sorted({best_at, *np.rint(even).astype(int).tolist()})


def _crossings(profile: Profile, *, allowed: float) -> list[int]:
    """Two values between each neighbours of which one is excluded."""
    reference = best([profile])
    found: list[int] = []
    values = sorted(profile)
    for a, b in pairwise(values):
        out = [excluded(profile[at], allowed=allowed, reference=reference) for at in (a, b)]
        if out[0] != out[1]:
            found += [a + round((b - a) / 3), a + round(2 * (b - a) / 3)]
    return sorted(set(found) - set(values))


def _extend(
    search: Search,
    shapes: Sequence[Profile],
    values: Sequence[Iterable[int]],
    found: Sequence[Point],
    numbers: Numbers,
    free: Sequence[int],
) -> None:
    """Put the values of each parameter into its profile."""
    wanted = [(i, k, at) for i, k in enumerate(free) for at in values[i]]
    if not wanted:
        return
    moved = [[(*p[:k], at, *p[k + 1 :]) for p in found] for _, k, at in wanted]
    again = search.again([p for points in moved for p in points], numbers).total.reshape(len(moved), -1)
    chosen = [points[int(row.argmin())] for points, row in zip(moved, again, strict=True)]
    final = search.final(chosen, numbers)
    for (i, _, at), point, total, doubt in zip(wanted, chosen, final.total, final.doubt, strict=True):
        _put(shapes[i], Rise(at, point, float(total), float(doubt)))


def _put(profile: Profile, rise: Rise) -> None:
    if rise.at not in profile or rise.total < profile[rise.at].total:
        profile[rise.at] = rise
