"""Intervals of a line: a band around it, or error bars where several bands would hide each other."""

import math
from collections.abc import Sequence
from typing import Any

from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.exported import DECORATION
from netcarlo.reports.parts.figures import Plot, finite, rounded

UNSCALED = scales.Scale(1.0, "")

MOST_BANDS = 2
"""Most lines of a figure that are drawn with a band each."""


def sure(x: Sequence[float], means: Sequence[Mean], style: Plot, of: int) -> list[Plot]:
    """Return the traces of one line of `of` through means, with its intervals: a band for one or two lines,
    otherwise error bars. The tooltip of each point shows its interval."""
    ends = [scales.interval(m.ci_low, m.ci_high, UNSCALED) for m in means]
    drawn: Plot = {
        "x": list(x), "y": [finite(m.mean) for m in means], "customdata": ends,
        "hovertemplate": f"{style['name']}<br>%{{x}}: %{{y}} %{{customdata}}<extra></extra>", **style,
        **exported.interval([m.ci_low for m in means], [m.ci_high for m in means]),
    }  # fmt: skip
    if of > MOST_BANDS:
        return [{**drawn, "error_y": bars(means)}]
    pairs = [(at, m) for at, m in zip(x, means, strict=True) if has_ends(m)]
    low, high = ([(m.ci_low, m.ci_high)[end] for _, m in pairs] for end in (0, 1))
    return [band([at for at, _ in pairs], low, high, style["line"]["color"], name=style["name"]), drawn]


def has_ends(found: Mean) -> bool:
    """Return whether a mean has an interval."""
    return math.isfinite(found.ci_low) and math.isfinite(found.ci_high)


def band(
    x: Sequence[Any], low: Sequence[float], high: Sequence[float], colour: str, **style: Any
) -> Plot:  # fmt: skip
    """Return the area between two lines, in a transparent colour."""
    return {
        "x": [*x, *reversed(x)], "y": [rounded(v) for v in (*high, *reversed(low))], "fill": "toself",
        "mode": "none", "fillcolor": colour + "2e", "hoverinfo": "skip", "showlegend": False, **DECORATION,
        **style,
    }  # fmt: skip


def bars(means: Sequence[Mean]) -> Plot:
    """Return the error bars of the intervals of means."""
    return {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 3,
        "array": [finite(m.ci_high - m.mean) for m in means],
        "arrayminus": [finite(m.mean - m.ci_low) for m in means],
    }  # fmt: skip
