"""Figures of drawn networks: single ones, and who wins on which."""

import numpy as np

from netcarlo.reports import scales
from netcarlo.reports.choices import Choice, with_choices
from netcarlo.reports.figures import COLOURS, SYMBOLS, Plot, plot
from netcarlo.reports.sweep_parts import (
    MOST_LINES,
    band_and_line,
    fitting,
    known,
    logarithmic,
    numbers,
    pointer,
)
from netcarlo.reports.sweep_results import Floats, Ints, Results, average
from netcarlo.reports.sweep_slices import Slices, thinned
from netcarlo.reports.sweep_wins import judged, wins
from netcarlo.sweeps import population

FEATURES = ("bottleneck_bps", "base_rtt_s", "path_loss", "n_hops", "bdp_packets")
MOST_DOTS = 600
BINS = 8
NETWORKS_BYTES, FEATURE_BYTES = 350_000, 80_000


def features(results: Results) -> list[str]:
    """The features in which the drawn networks differ."""
    return [name for name in FEATURES if len(np.unique(known(results.cube(name)))) > 1]


def networks(results: Results, command: str) -> Plot:
    """Some of the networks one by one, an outcome against a feature."""
    names = features(results)
    slices = Slices(results, results.axes, averages=False)
    labels = min(len(results.labels), MOST_LINES)
    chosen = thinned(results.draws, max(1, MOST_DOTS // labels))

    def draw(feature: int, outcome: int, *options: int) -> Plot:
        point = int(np.flatnonzero(slices.inside(*options))[0])
        column = results.outcomes[outcome]
        values = results.cube(column)[chosen, point]
        x = results.feature(names[feature])[chosen, point]
        across = fitting(x, scales.unit_of(names[feature]))
        up = fitting(values, scales.unit_of(column))
        data = [
            {
                "x": numbers(x / across.factor, 4), "y": numbers(values[:, k] / up.factor, 4),
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
            data, x=across.label(scales.name_of(names[feature])), y=up.label(scales.name_of(column)),
            xaxis=logarithmic(x / across.factor), yaxis=logarithmic(values / up.factor),
        )  # fmt: skip

    choices = [
        Choice("against", [scales.name_of(name) for name in names]),
        Choice("outcome", [scales.name_of(name) for name in results.outcomes]),
        *slices.choices,
    ]
    return with_choices(draw, choices, most_bytes=NETWORKS_BYTES)


def wins_by_feature(results: Results) -> Plot:
    """The share of networks on which each label is best, and its gain, over bins of a feature."""
    names, outcomes = features(results), judged(results)
    base = results.labels[0]

    def shares(column: str, place: Ints, bins: int) -> Floats:
        found = [wins(results, column, place == b) for b in range(bins)]
        return 100 * np.array([[f.share for f in found], [f.low for f in found], [f.high for f in found]])

    def gains(column: str, place: Ints, bins: int) -> Floats:
        values = results.cube(column)
        found = np.full((3, bins, len(results.labels)), np.nan)
        for b in range(bins):
            inside = place == b
            rows = inside.any(axis=1)
            means = average(np.where(inside[rows, :, None], values[rows], np.nan))
            level = abs(population.mean(means[:, 0], results.blocks[rows]).mean)
            for k in range(1, len(results.labels)):
                gain = population.paired(means[:, 0], means[:, k], results.blocks[rows])
                found[:, b, k] = 100 * np.array([gain.mean, gain.ci_low, gain.ci_high]) / (level or np.nan)
        return found

    def draw(feature: int, shown: int, outcome: int) -> Plot:
        values = results.feature(names[feature])
        across = fitting(values, scales.unit_of(names[feature]))
        centres, place = _bins(values)
        column = outcomes[outcome]
        found = (shares, gains)[shown](outcomes[outcome], place, len(centres))
        data: list[Plot] = []
        for k, label in enumerate(results.labels):
            data += band_and_line(
                numbers(centres / across.factor, 4), *found[:, :, k], name=label, k=k,
                hover=f"{scales.name_of(names[feature])} about %{{x}} {across.unit}<br>%{{y:.3g}} %",
            )  # fmt: skip
        column = outcomes[outcome]
        y = f"best in … % of networks ({scales.name_of(column)})" if shown == 0 else (
            f"{scales.name_of(column)}: gain over {base} [%]"
        )  # fmt: skip
        return plot(
            data, x=across.label(scales.name_of(names[feature])), y=y,
            xaxis=logarithmic(centres / across.factor),
            yaxis={"rangemode": "tozero"} if shown == 0 else {},
        )  # fmt: skip

    choices = [
        Choice("against", [scales.name_of(name) for name in names]),
        Choice("shown", ["share of networks", f"gain over {base}"]),
        Choice("outcome", [scales.name_of(outcome) for outcome in outcomes]),
    ]
    return with_choices(draw, choices, most_bytes=FEATURE_BYTES)


def _bins(values: Floats) -> tuple[Floats, Ints]:
    """Means of equally full bins, and the bin of each value; few whole values are bins of their own."""
    found = known(values)
    distinct = np.unique(found)
    if len(distinct) <= BINS:
        return distinct, np.where(np.isnan(values), -1, np.searchsorted(distinct, values))
    edges = np.unique(np.quantile(found, np.linspace(0, 1, BINS + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    place = np.where(np.isnan(values), -1, place)
    centres = np.array([np.median(values[place == b]) for b in range(len(edges) - 1)])
    return centres, place
