"""Drawn networks one by one: an outcome against a feature, with the command that runs each again."""

import numpy as np

from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import COLOURS, SYMBOLS, Plot, plot
from netcarlo.reports.sweep.features import features, unit_of
from netcarlo.reports.sweep.parts import MOST_LINES, fitting, logarithmic, numbers, pointer
from netcarlo.reports.sweep.results import Results
from netcarlo.reports.sweep.slices import Slices, sampled

MOST = 600
"""Cells that are drawn."""

BYTES = 600_000


def networks(results: Results, command: str) -> Plot:
    """Some of the networks one by one, an outcome against a feature."""
    names = features(results)
    slices = Slices(results, results.axes, averages=False)
    labels = min(len(results.labels), MOST_LINES)
    chosen = sampled(results.draws, max(1, MOST // labels))

    def draw(feature: int, outcome: int, *options: int) -> Plot:
        point = int(np.flatnonzero(slices.inside(*options))[0])
        column = results.outcomes[outcome]
        values = results.cube(column)[chosen, point]
        x = results.feature(names[feature])[chosen, point]
        across = fitting(x, unit_of(results, names[feature]))
        up = fitting(values, scales.unit_of(column))
        titles = across.label(scales.name_of(names[feature])), up.label(scales.name_of(column))
        data = [
            {
                **exported.columns({
                    "cell": results.keys[chosen, point, k].tolist(),
                    titles[0]: numbers(x / across.factor), titles[1]: numbers(values[:, k] / up.factor),
                }),
                "x": numbers(x / across.factor), "y": numbers(values[:, k] / up.factor),
                "mode": "markers", "name": label, "showlegend": len(results.labels) > 1,
                "customdata": results.keys[chosen, point, k].tolist(),
                "marker": {"size": 6, "opacity": 0.6, "color": COLOURS[k % len(COLOURS)],
                           "symbol": SYMBOLS[k % len(SYMBOLS)]},
                "hovertemplate": f"{label}<br>{scales.name_of(names[feature])} %{{x}} {across.unit}<br>"
                f"{scales.name_of(column)} %{{y}} {up.unit}"
                f"{pointer(command, 'customdata')}<extra></extra>",
            }
            for k, label in enumerate(results.labels[:labels])
        ]  # fmt: skip
        return plot(
            data, x=titles[0], y=titles[1],
            xaxis=logarithmic(x / across.factor), yaxis=logarithmic(values / up.factor),
        )  # fmt: skip

    choices = [
        Choice("against", [scales.name_of(name) for name in names]),
        Choice("outcome", [scales.name_of(name) for name in results.outcomes]),
        *slices.choices,
    ]
    return with_choices(draw, choices, most_bytes=BYTES)
