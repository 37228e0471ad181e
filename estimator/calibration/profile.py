"""Profiles: least misfit as a function of one parameter, and the values that it excludes."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from netcarlo.calibration.candidates import Point
from netcarlo.calibration.search import Numbers, Search

DOUBT = 2.0
"""Number of standard errors by which the rise of the misfit must exceed the allowed rise to exclude a
value."""


class ProfilePoint(NamedTuple):
    """Point of a profile: a value of the parameter, with the best values found for the other parameters."""

    at: int
    """Index of the grid point of the parameter."""
    point: Point
    """Candidate."""
    total: float
    """Misfit of the candidate."""
    doubt: float
    """Standard error of the misfit."""


Profile = dict[int, ProfilePoint]
"""Profile of one parameter, by index of its grid point."""


def profiles(search: Search, found: Sequence[Point], numbers: Numbers, free: Sequence[int]) -> list[Profile]:
    """Return a profile for each parameter in `free`, around the candidates `found`.

    The other parameters have the best values among those of `found` and of the best candidate of all
    profiles. The parameter has values of a coarse grid, then values near the points where the misfit exceeds
    the limit.
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
        _keep_lower(shape, reference._replace(at=reference.point[k]))
    return shapes


def best(shapes: Sequence[Profile]) -> ProfilePoint:
    """Return the best point of all profiles."""
    return min((rise for shape in shapes for rise in shape.values()), key=lambda rise: rise.total)


def leaders(shapes: Sequence[Profile], n: int) -> list[Point]:
    """Return the `n` best candidates of all profiles."""
    rises = sorted((rise for shape in shapes for rise in shape.values()), key=lambda rise: rise.total)
    return list(dict.fromkeys(rise.point for rise in rises))[:n]


def excluded_neighbours(
    profile: Profile, *, allowed: float, reference: ProfilePoint
) -> tuple[int | None, int | None]:
    """Return the nearest excluded values below and above the range that is not excluded; None if there is
    none."""
    values = sorted(profile)
    holds = [at for at in values if not excluded(profile[at], allowed=allowed, reference=reference)]
    below = [at for at in values if at < min(holds)]
    above = [at for at in values if at > max(holds)]
    return (max(below) if below else None, min(above) if above else None)


def excluded(rise: ProfilePoint, *, allowed: float, reference: ProfilePoint) -> bool:
    """Return True if the misfit exceeds the best one by more than `allowed` and `DOUBT` standard errors."""
    doubt = float(np.hypot(rise.doubt, reference.doubt)) if rise.point != reference.point else 0.0
    return rise.total - reference.total > allowed + DOUBT * doubt


def _spread(search: Search, k: int, best_at: int) -> list[int]:
    last = search.grid.last[k]
    even = np.linspace(0, last, min(search.effort.points, last + 1))
    return sorted({best_at, *np.rint(even).astype(int).tolist()})


def _crossings(profile: Profile, *, allowed: float) -> list[int]:
    """Return two values between each pair of neighbours of which exactly one is excluded."""
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
    """Add the values of each parameter to its profile."""
    wanted = [(i, k, at) for i, k in enumerate(free) for at in values[i]]
    if not wanted:
        return
    moved = [[(*p[:k], at, *p[k + 1 :]) for p in found] for _, k, at in wanted]
    again = search.again([p for points in moved for p in points], numbers).total.reshape(len(moved), -1)
    chosen = [points[int(row.argmin())] for points, row in zip(moved, again, strict=True)]
    final = search.final(chosen, numbers)
    for (i, _, at), point, total, doubt in zip(wanted, chosen, final.total, final.doubt, strict=True):
        _keep_lower(shapes[i], ProfilePoint(at, point, float(total), float(doubt)))


def _keep_lower(profile: Profile, rise: ProfilePoint) -> None:
    if rise.at not in profile or rise.total < profile[rise.at].total:
        profile[rise.at] = rise
