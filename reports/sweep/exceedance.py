"""With which probability an outcome is at least x: over drawn networks, or over a cell's replications.

Of a time after which something is done, with which probability it is by then: what never is counts, too.
"""

import numpy as np
import pandas as pd

from netcarlo.numerics.arrays import Bools, Floats, Ints
from netcarlo.numerics.statistics import wilson
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.choices import Choice, with_choices
from netcarlo.reports.parts.figures import Plot, plot
from netcarlo.reports.sweep.parts import WIDE, known, line_and_bounds, logarithmic, numbers, pointer, ratio
from netcarlo.reports.sweep.results import DONE, Results, average
from netcarlo.reports.sweep.slices import Slices
from netcarlo.sweeps.analysis import population

THRESHOLDS = 40
STORED = (0.05, 0.25, 0.5, 0.75, 0.95)
BYTES = 400_000
Curve = tuple[Floats, Floats, Floats, Floats]
"""Thresholds, probabilities, and their 95 % intervals."""


def exceedance(results: Results, replications: pd.DataFrame | None, command: str) -> Plot:
    """A curve per label; the axes are chosen.  Replications of several cells are no sample of anything."""
    slices = Slices(results, results.axes, averages=results.drawn)

    def draw(outcome: int, *options: int) -> Plot:
        inside = slices.inside(*options)
        return _plot(results, results.outcomes[outcome], inside, replications, command)

    choices = [Choice("outcome", [scales.name_of(o) for o in results.outcomes]), *slices.choices]
    return with_choices(draw, choices, most_bytes=BYTES)


def _plot(
    results: Results, column: str, inside: Bools, replications: pd.DataFrame | None, command: str
) -> Plot:  # fmt: skip
    labels = range(len(results.labels))
    done = column in DONE
    if results.drawn and done:
        every = results.cube(column)[:, inside]
        thresholds = _spread(every)
        curves = [_done_in_networks(results, column, inside, k, thresholds) for k in labels]
    elif results.drawn:
        networks = [average(results.cube(column)[:, inside, k]) for k in labels]
        thresholds = _spread(np.concatenate(networks))
        curves = [_over_networks(x, results.blocks, thresholds) for x in networks]
    elif replications is not None:
        first = int(np.flatnonzero(inside)[0]) * len(results.labels)
        samples = [
            replications.loc[replications["cell"] == first + k, column].to_numpy(dtype=float) for k in labels
        ]
        thresholds = _spread(np.concatenate(samples))
        curves = [(_done if done else _over_replications)(x, thresholds) for x in samples]
    else:
        curves = [_stored(results, column, inside, k) for k in labels]
    shown = scales.scale(np.concatenate([c[0] for c in curves]).tolist(), scales.unit_of(column))
    name = scales.name_of(column)
    data: list[Plot] = []
    for k, (x, p, low, high) in enumerate(curves):
        key = "" if results.drawn else str(results.keys[0, inside, k][0])
        tell = pointer(command, "customdata[0]") if key else ""
        data += line_and_bounds(
            numbers(x / shown.factor), 100 * p, 100 * low, 100 * high,
            name=results.labels[k], k=k, of=len(labels), extra=[[key]] * len(x),
            mode="lines" if results.drawn or replications is not None else "lines+markers",
            hover=f"{name} at {'most' if done else 'least'} %{{x}} {shown.unit}<br>%{{y}} %{tell}",
        )  # fmt: skip
    every = np.concatenate([c[0] for c in curves])
    what = "networks" if results.drawn else "replications"
    return plot(
        data, x=shown.label(name), y=f"{what} with at {'most' if done else 'least'} x [%]",
        xaxis=logarithmic(every / shown.factor), yaxis={"range": [0, 102]},
        showlegend=len(results.labels) > 1,
    )  # fmt: skip


def _over_networks(values: Floats, blocks: Ints, thresholds: Floats) -> Curve:
    found = population.exceedance(values, blocks, thresholds)
    p, low, high = found[["probability", "ci_low", "ci_high"]].to_numpy(dtype=float).T
    return thresholds, p, low, high


def _over_replications(values: Floats, thresholds: Floats) -> Curve:
    happened = values[~np.isnan(values)]
    p = np.array([np.mean(happened >= x) if len(happened) else np.nan for x in thresholds])
    return thresholds, p, *wilson(p, len(happened))


def _done_in_networks(results: Results, column: str, inside: Bools, k: int, thresholds: Floats) -> Curve:
    """A network counts with the share of its replications that are ever done, from their mean time on."""
    time_s, n = results.cube(column)[:, inside, k], results.cube("replications")[:, inside, k]
    ever = results.cube(f"{column}_n")[:, inside, k] / n  # NaN where a cell is missing
    found = [
        population.share(average(np.where(time_s <= x, ever, 0.0 * ever)), results.blocks) for x in thresholds
    ]
    p, low, high = np.array([one[1:] for one in found]).reshape(-1, 3).T
    return thresholds, p, low, high


def _done(values: Floats, thresholds: Floats) -> Curve:
    p = np.array([np.mean(values <= x) if len(values) else np.nan for x in thresholds])
    return thresholds, p, *wilson(p, len(values))


def _stored(results: Results, column: str, inside: Bools, k: int) -> Curve:
    """The five stored quantiles of a cell, with Wilson's interval of the probability of exceeding each."""
    x = np.array([results.cube(f"{column}_q{round(100 * q):02}")[0, inside, k][0] for q in STORED])
    happened = results.cube(f"{column}_n")[0, inside, k][0]
    if column in DONE:
        n = results.cube("replications")[0, inside, k][0]
        p = np.array(STORED) * happened / n
        last = np.append(x[1:] != x[:-1], True)  # of equal quantiles the highest says most
        return x[last], p[last], *wilson(p[last], n)
    p = 1 - np.array(STORED)
    first = np.append(True, x[1:] != x[:-1])
    return x[first], p[first], *wilson(p[first], happened)


def _spread(values: Floats) -> Floats:
    """Thresholds over the range of the values, closer together where the axis is logarithmic."""
    found = known(values)
    if not len(found) or found.min() == found.max():
        return np.unique(found)
    between = np.geomspace if ratio(found) > WIDE else np.linspace
    return between(found.min(), found.max(), THRESHOLDS)
