"""How sure a line is: a band around it, or bars at some points where more bands would hide each other."""

import math
from collections.abc import Sequence
from typing import Any

from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.figures import Plot, finite, rounded

MOST_BANDS = 2
"""Lines of a figure that have a band each."""
MOST_BARS = 6
"""Bars of a line, about."""


def sure(x: Sequence[float], means: Sequence[Mean], style: Plot, k: int, of: int) -> list[Plot]:
    """Line `k` of so many through means, with its intervals: a band each for a line or two.

    More lines have bars at some of their points, each at other ones; pointing shows every interval.
    """
    ends = [f"[{scales.number(m.ci_low)}, {scales.number(m.ci_high)}]" if has_ends(m) else "" for m in means]
    drawn: Plot = {
        "x": list(x), "y": [finite(m.mean) for m in means], "customdata": ends,
        "hovertemplate": f"{style['name']}<br>%{{x}}: %{{y}} %{{customdata}}<extra></extra>", **style,
    }  # fmt: skip
    if of > MOST_BANDS:
        return [{**drawn, "error_y": bars(means, at=sparse(len(x), k, of))}]
    pairs = [(at, m) for at, m in zip(x, means, strict=True) if has_ends(m)]
    low, high = ([(m.ci_low, m.ci_high)[end] for _, m in pairs] for end in (0, 1))
    return [band([at for at, _ in pairs], low, high, style["line"]["color"], name=style["name"]), drawn]


def has_ends(found: Mean) -> bool:
    """Whether a mean has an interval."""
    return math.isfinite(found.ci_low) and math.isfinite(found.ci_high)


def sparse(points: int, k: int, of: int) -> list[bool]:
    """At which of so many points line `k` of so many has a bar: where no other has one, if that can be."""
    step = of * max(1, math.ceil(points / (of * MOST_BARS)))
    first = k % of * step // of % max(points, 1)
    return [i % step == first for i in range(points)]


def band(
    x: Sequence[Any], low: Sequence[float], high: Sequence[float], colour: str, **style: Any
) -> Plot:  # fmt: skip
    """What is between two lines, in a colour that others can be seen through."""
    return {
        "x": [*x, *reversed(x)], "y": [rounded(v) for v in (*high, *reversed(low))], "fill": "toself",
        "mode": "none", "fillcolor": colour + "2e", "hoverinfo": "skip", "showlegend": False, **style,
    }  # fmt: skip


def bars(means: Sequence[Mean], at: Sequence[bool] | None = None) -> Plot:
    """The intervals of means, or of those at some places, as far to each side as they go."""
    drawn = [True] * len(means) if at is None else at
    return {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 3,
        "array": [finite(m.ci_high - m.mean) if on else None for m, on in zip(means, drawn, strict=True)],
        "arrayminus": [finite(m.mean - m.ci_low) if on else None for m, on in zip(means, drawn, strict=True)],
    }  # fmt: skip
