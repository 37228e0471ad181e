"""Figures over a feature of drawn networks: on which share of them each label is best, and its gain."""

import numpy as np

from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import Plot, plot
from netcarlo.reports.parts.scales import Scale
from netcarlo.reports.sweep.parts import fitting, known, line_and_bounds, logarithmic, numbers
from netcarlo.reports.sweep.results import Results, average
from netcarlo.reports.sweep.wins import gain_scale, judged, wins
from netcarlo.sweeps.analysis import population

FEATURES = ("bottleneck_bps", "base_rtt_s", "path_loss", "n_hops", "bdp_packets")
BINS = 8
BYTES = 300_000


def features(results: Results) -> list[str]:
    """The features in which the drawn networks differ; if in none, the inputs, such as a window."""
    varied = [name for name in FEATURES if len(np.unique(known(results.cube(name)))) > 1]
    return varied or results.sweep["inputs"][: len(FEATURES)]


def unit_of(results: Results, feature: str) -> str:
    """The SI unit of a feature or an input."""
    return scales.field_unit(results.base, feature) if "." in feature else scales.unit_of(feature)


def by_feature(results: Results) -> Plot:
    """A line with its 95 % intervals for every label over bins of a feature."""
    names, outcomes = features(results), judged(results)

    def draw(feature: int, kind: int, outcome: int) -> Plot:
        values = results.feature(names[feature])
        x, name = fitting(values, unit_of(results, names[feature])), scales.name_of(names[feature])
        centres, place = bins(values)
        found, y, title = (_shares, _gains)[kind](results, outcomes[outcome], place, len(centres))
        data: list[Plot] = []
        for k, label in enumerate(results.labels):
            data += line_and_bounds(
                numbers(centres / x.factor), *found[:, :, k] / y.factor,
                name=label, k=k, of=len(results.labels),
                hover=f"{name} about %{{x}} {x.unit}<br>%{{y:.3g}} {y.unit}",
            )  # fmt: skip
        return plot(
            data, x=x.label(name), y=y.label(title), xaxis=logarithmic(centres / x.factor),
            yaxis={"rangemode": "tozero" if kind == 0 else "normal"},
        )  # fmt: skip

    choices = [
        Choice("against", [scales.name_of(name) for name in names]),
        Choice("shown", ["share of networks", f"gain over {results.labels[0]}"]),
        Choice("outcome", [scales.name_of(outcome) for outcome in outcomes]),
    ]
    return with_choices(draw, choices, most_bytes=BYTES)


def _shares(results: Results, outcome: str, place: Ints, count: int) -> tuple[Floats, Scale, str]:
    """Shares and their intervals, float64[3, bins, labels], how they are shown, and what they are."""
    found = np.array([wins(results, outcome, place == b) for b in range(count)])
    return np.moveaxis(found, 1, 0), Scale(0.01, "%"), f"networks with the best {scales.name_of(outcome)}"


def _gains(results: Results, outcome: str, place: Ints, count: int) -> tuple[Floats, Scale, str]:
    """Return gains over the baseline in each bin, relative to its mean in the bin if that makes sense."""
    values = results.cube(outcome)
    absolute = gain_scale(values, scales.unit_of(outcome))
    found = np.full((3, count, len(results.labels)), np.nan)
    for b in range(count):
        rows = (place == b).any(axis=1)
        blocks = results.blocks[rows]
        means = average(np.where((place == b)[rows, :, None], values[rows], np.nan))
        level = 1.0 if absolute else population.mean(means[:, 0], blocks).mean or np.nan
        for k in range(1, len(results.labels)):
            gain = population.paired(means[:, 0], means[:, k], blocks)
            found[:, b, k] = np.array([gain.mean, gain.ci_low, gain.ci_high]) / level
    title = f"{scales.name_of(outcome)}: gain over {results.labels[0]}"
    return found, absolute or Scale(0.01, "%"), title


def bins(values: Floats) -> tuple[Floats, Ints]:
    """Return the medians of about equally full bins, and the bin of each value, or -1 of NaN.

    Few different values are bins of their own. Otherwise edges are values that occur, so no bin is empty.
    """
    found = known(values)
    distinct = np.unique(found)
    if len(distinct) <= BINS:
        return distinct, np.where(np.isnan(values), -1, np.searchsorted(distinct, values))
    edges = np.unique(np.quantile(found, np.linspace(0, 1, BINS + 1), method="inverted_cdf"))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    place = np.where(np.isnan(values), -1, place)
    return np.array([np.median(values[place == b]) for b in range(len(edges) - 1)]), place
