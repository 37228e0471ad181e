"""Figures of a page about a scenario: an outcome against a control, and the convergence of its interval."""

import math
from collections.abc import Sequence
from typing import Any

from netcarlo.live.controls import Control
from netcarlo.numerics.statistics import Mean
from netcarlo.reports.parts import exported, intervals, scales
from netcarlo.reports.parts.figures import COLOURS, DASHES, SYMBOLS, Plot, finite, plot
from netcarlo.reports.parts.scales import Scale

MOST_TICKS = 6
"""Maximum number of labelled positions on the horizontal axis."""
NAMES = ("this", "what if")
"""Names of the two variants in legends."""


def outcome_curve(
    control: Control,
    curves: Sequence[dict[int, tuple[str, float]]],
    points: Sequence[dict[int, Mean]],
    now: Sequence[tuple[int, Mean] | None],
    shown: Scale,
    label: str,
) -> Plot:
    """Return the figure of an outcome against the positions of a control.

    For each variant, `curves` has the fidelity and the value of cheap models by position, `points` the means
    of packet simulations by position, and `now` the current position with its mean. `shown` is the scale of
    the vertical axis and `label` its title.
    """
    data: list[Plot] = []
    for k, (curve, seen, here) in enumerate(zip(curves, points, now, strict=True)):
        name = NAMES[k] if len(curves) > 1 else ""
        if curve:
            places = sorted(curve)
            by = " and ".join(sorted({curve[p][0] for p in places}))
            data.append({
                "x": places, "y": [finite(curve[p][1] / shown.factor) for p in places],
                "mode": "markers" if control.menu else "lines", "name": f"{name} by {by}".strip(),
                "line": {"color": COLOURS[k], "dash": DASHES[1], "width": 1.5},
                "marker": {"color": COLOURS[k], "symbol": "line-ew-open", "size": 16},
                "text": [control.texts[p] for p in places],
                "hovertemplate": "%{text}: %{y}<extra></extra>",
                **exported.instead(x=[control.texts[p] for p in places]),
            })  # fmt: skip
        others = {place: mean for place, mean in seen.items() if here is None or place != here[0]}
        if others:
            data.append(
                {
                    **_marks(control, others, shown, k, size=6),
                    "name": f"{name} packets, earlier positions".strip(),
                }
            )
        if here is not None:
            data.append(
                {**_marks(control, {here[0]: here[1]}, shown, k, size=12), "name": f"{name} now".strip()}
            )
    ticks = _ticks(control)
    axis: dict[str, Any] = {
        "tickvals": ticks, "ticktext": [control.texts[t] for t in ticks],
        "range": [-0.5, len(control.places) - 0.5],
    }  # fmt: skip
    return plot(data, x=control.label, y=shown.label(label), xaxis=axis, yaxis={"rangemode": "tozero"})


def _ticks(control: Control) -> list[int]:
    n = len(control.places)
    if control.menu:
        return list(range(n))
    return sorted({round(i * (n - 1) / (MOST_TICKS - 1)) for i in range(MOST_TICKS)})


def _marks(control: Control, means: dict[int, Mean], shown: Scale, k: int, *, size: int) -> Plot:
    places = sorted(means)
    scaled = [_scaled(means[p], shown) for p in places]
    return {
        "x": places, "y": [finite(m.mean) for m in scaled], "mode": "markers",
        "marker": {"color": COLOURS[k], "symbol": SYMBOLS[k], "size": size},
        "error_y": intervals.bars(scaled), "text": [control.texts[p] for p in places],
        **exported.interval(
            [m.ci_low for m in scaled], [m.ci_high for m in scaled], x=[control.texts[p] for p in places]
        ),
        "hovertemplate": "%{text}: %{y}<extra></extra>",
    }  # fmt: skip


def _scaled(mean: Mean, shown: Scale) -> Mean:
    parts = (mean.mean, mean.sd, mean.ci_low, mean.ci_high)
    return Mean(mean.n, *(part / shown.factor for part in parts))


def convergence(
    histories: Sequence[Sequence[Mean]], guesses: Sequence[float | None], shown: Scale, label: str
) -> Plot:
    """Return the figure of mean and confidence interval against the number of replications.

    `histories` has the means of each variant in order, `guesses` the values of cheap models (dotted lines).
    """
    data: list[Plot] = []
    for k, (history, guess) in enumerate(zip(histories, guesses, strict=True)):
        means = [_scaled(m, shown) for m in history if math.isfinite(m.ci_low)]
        x = [m.n for m in means]
        style = {"mode": "lines+markers", "name": NAMES[k] if len(histories) > 1 else "packets",
                 "line": {"color": COLOURS[k], "width": 2}, "marker": {"size": 5}}  # fmt: skip
        data += intervals.sure(x, means, style, len(histories)) if means else []
        if guess is not None:
            ends = sorted({min(x), max(x)}) if x else [1, 10]
            data.append({
                "x": ends, "y": [finite(guess / shown.factor)] * len(ends), "mode": "lines",
                "hoverinfo": "skip",
                "line": {"color": COLOURS[k], "dash": "dot", "width": 1}, "showlegend": False,
                "name": f"{NAMES[k] if len(histories) > 1 else ''} cheap model".strip(),
            })  # fmt: skip
    ticks = sorted({m.n for history in histories for m in history})
    axis = {"type": "log", "tickvals": ticks, "ticktext": [scales.count(n) for n in ticks]}
    return plot(data, x="replications", y=shown.label(label), xaxis=axis, showlegend=len(histories) > 1)
