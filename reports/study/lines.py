"""Lines over a condition of a study, and what one line is above another, run by run."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from netcarlo.numerics.statistics import Mean, paired
from netcarlo.reports.parts import exported, wording
from netcarlo.reports.parts.figures import COLOURS, DASHES, INK, SYMBOLS, Plot, finite, plot
from netcarlo.reports.parts.intervals import bars, has_ends, sure
from netcarlo.studies.cells import Cell, Cells
from netcarlo.studies.description import Figure, Spread
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.published import Published
from netcarlo.studies.selection import Value

FEW = 6
"""Values on an axis that are all marked."""


def lines(evaluation: Evaluation, figure: Figure) -> Plot:
    """A figure in the paper's own layout: our lines with intervals, published values as open markers."""
    study = evaluation.study.description
    data: list[Plot] = []
    every = evaluation.cells.varied(figure.variation) if figure.variation else evaluation.cells
    series = _series(every, figure)

    def at(x: float) -> float:
        if figure.measured is None:
            return x
        found = every.where(**{**figure.measured.where, figure.x: x})
        return float(np.mean([every.estimate(figure.measured.metric, cell).mean for cell in found]))

    several = isinstance(figure.metric, list)
    metrics = figure.metric if isinstance(figure.metric, list) else [figure.metric]
    drawn = {(metric, *key) if several else key or ("",): (metric, key, cells)
             for metric in metrics for key, cells in series.items()}  # fmt: skip
    firsts = list(dict.fromkeys(style[0] for style in drawn))
    rests = list(dict.fromkeys(style[1:] for style in drawn))
    for style, (metric, key, cells) in drawn.items():
        place = firsts.index(style[0])
        # Lines that no other column tells apart differ in their dashes as well.
        dash = DASHES[(rests.index(style[1:]) if len(rests) > 1 else place) % len(DASHES)]
        colour, symbol = COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)]
        named = [study.label(metric)] if several else []
        named.append(wording.conditions(study, dict(zip(figure.series, key, strict=True))))
        name = ", ".join(filter(None, named))
        points = sorted((at(cell[figure.x]), every.estimate(metric, cell)) for cell in cells)
        means = [point for _, point in points]
        data += sure([x for x, _ in points], means, {
            "mode": "lines+markers", "name": name, "line": {"color": colour, "dash": dash, "width": 2},
            "marker": {"size": 5, "symbol": symbol, "color": colour},
        }, len(drawn))  # fmt: skip
        published = [
            row for row in evaluation.rows
            if row.published.metric in figure.published and figure.x in row.published.conditions
            and row.published.matches({**figure.where, **dict(zip(figure.series, key, strict=True))})
        ]  # fmt: skip
        if published:
            places = dict.fromkeys(  # a number that several tables print is one mark
                (row.published.conditions[figure.x], row.published.value * _scale(figure, row.published))
                for row in published
            )
            data.append(
                {
                    "x": [x for x, _ in places],
                    "y": [y for _, y in places],
                    "mode": "markers", "name": f"{name}, published".removeprefix(", "), "showlegend": False,
                    "marker": {"symbol": f"{symbol}-open", "size": 13, "color": colour,
                               "line": {"width": 1.6}},
                    "hovertemplate": f"{name}, published<br>%{{x}}: %{{y}}<extra></extra>",
                }
            )  # fmt: skip
    if figure.published:
        data.append(_published_key())
    varied = figure.variation and figure.x == figure.variation
    condition = study.variations[figure.x].vary if varied else study.conditions[figure.x]
    unit = unit_of(evaluation, figure)
    values = sorted({cell[figure.x] for cells in series.values() for cell in cells})
    xaxis: Plot = {}
    if figure.log_x or (len(values) <= FEW and figure.measured is None):
        xaxis = {"tickvals": values, "ticktext": [f"{v:g}" for v in values]}
    if figure.log_x:
        xaxis["type"] = "log"
    x = wording.with_unit(condition.label.split(" (")[0], condition.unit)
    if figure.measured is not None:
        x = figure.measured.label
    return plot(
        data,
        x=x,
        y=unit if several else wording.with_unit(study.label(metrics[0]), unit),
        xaxis=xaxis,
        yaxis={"rangemode": "tozero"},
    )


def _scale(figure: Figure, number: Published) -> float:
    """Return the factor that brings a published number to the unit of the figure."""
    return float(np.prod([float(number.conditions[c]) * f for c, f in figure.published_times.items()]))


def _series(cells: Cells, figure: Figure) -> dict[tuple[Value, ...], list[Cell]]:
    series: dict[tuple[Value, ...], list[Cell]] = {}
    for cell in cells.where(**figure.where):
        series.setdefault(tuple(cell[column] for column in figure.series), []).append(cell)
    return series


def gains(evaluation: Evaluation, figure: Figure | Spread) -> Plot | None:
    """Return the paired differences of each line to the first one in the same run, with intervals.

    None where the runs of one line have no partners in another, and where no intervals overlap: the figure
    itself then says which line is above.
    """
    study = evaluation.study.description
    column = figure.series if isinstance(figure, Spread) else figure.series[0] if figure.series else ""
    if not column or not isinstance(figure.metric, str):
        return None
    if isinstance(figure, Figure) and (len(figure.series) > 1 or figure.measured is not None):
        return None
    variation = figure.variation if isinstance(figure, Figure) else ""
    every = evaluation.cells.varied(variation) if variation else evaluation.cells
    cells: dict[Value, dict[Value, Cell]] = {}
    for cell in every.where(**figure.where):
        cells.setdefault(cell[column], {})[cell[figure.x]] = cell
    over, *others = cells
    if not others or not _overlap(every, figure.metric, list(cells.values())):
        return None
    conditions = {**study.conditions, **(study.variations[variation].added(variation) if variation else {})}
    places = {x: i for i, x in enumerate(sorted(cells[over], key=_first_numbers))}
    condition = conditions[figure.x]
    numeric = not condition.names and all(isinstance(x, float) for x in places)
    texts = [f"{value:g}" if numeric else condition.show(value) for value in places]
    exported_x = list(places) if numeric else texts
    data: list[Plot] = []
    for k, other in enumerate(others, start=1):
        both = sorted(places[x] for x in cells[other] if x in places)
        values = [x for x in places if places[x] in both]
        base = [_per_run(every, figure.metric, cells[over][x]) for x in values]
        more = [_per_run(every, figure.metric, cells[other][x]) for x in values]
        means = [paired(a, b) for a, b in zip(base, more, strict=True)]
        name = f"{conditions[column].show(other)} over {conditions[column].show(over)}"
        colour, shift = COLOURS[k % len(COLOURS)], 0.12 * (k - 1 - (len(others) - 1) / 2)
        data.append(
            {
                "x": [place + shift for place in both], "y": [finite(m.mean) for m in means],
                "error_y": bars(means), "mode": "lines+markers", "name": name,
                **exported.interval(
                    [m.ci_low for m in means], [m.ci_high for m in means],
                    x=[exported_x[place] for place in both], more={"runs": [m.n for m in means]},
                ),
                "line": {"color": colour, "width": 1, "dash": DASHES[k % len(DASHES)]},
                "marker": {"size": 7, "symbol": SYMBOLS[k % len(SYMBOLS)], "color": colour},
                "customdata": [_said(m, a) for m, a in zip(means, base, strict=True)],
                "hovertemplate": f"{name}<br>%{{customdata}}<extra></extra>",
            }
        )  # fmt: skip
    label = wording.with_unit(f"difference of {study.label(figure.metric)}", unit_of(evaluation, figure))
    x = wording.with_unit(condition.label.split(" (")[0], condition.unit if numeric else "")
    return plot(
        data, x=x, y=label, showlegend=True,
        xaxis={"tickvals": list(places.values()), "ticktext": texts,
               "showgrid": False, "zeroline": False},
        yaxis={"rangemode": "tozero", "zeroline": True, "zerolinecolor": INK, "zerolinewidth": 1.5},
    )  # fmt: skip


def unit_of(evaluation: Evaluation, figure: Figure | Spread) -> str:
    """The unit of what a figure shows: its own, or that of the published numbers."""
    metric = figure.metric if isinstance(figure.metric, str) else figure.metric[0]
    units = (row.published.unit for row in evaluation.rows if row.published.metric == metric)
    return (figure.unit if isinstance(figure, Figure) else "") or next(units, "")


def _overlap(every: Cells, metric: str, lines_: Sequence[Mapping[Value, Cell]]) -> bool:
    """Return whether intervals of two lines overlap somewhere, where at least one has a width."""
    found = [{x: every.estimate(metric, cell) for x, cell in line.items()} for line in lines_]
    return any(
        a[x].ci_low <= b[x].ci_high and b[x].ci_low <= a[x].ci_high and a[x].half_width + b[x].half_width > 0
        for a, b in combinations(found, 2)
        for x in set(a) & set(b)
    )


def _per_run(every: Cells, metric: str, cell: Cell) -> NDArray[np.float64]:
    """A metric of each run; 0 or 100 % where it is a share of runs."""
    samples = every.samples(metric, cell)
    return 100.0 * samples if samples.dtype == bool else samples


def _said(gain: Mean, base: NDArray[np.float64]) -> str:
    """A gain with its interval, in percent of what it is a gain over, and the number of runs."""
    if not has_ends(gain):
        return f"{gain.mean:+.4g}, {gain.n} runs"
    ends = f"{gain.mean:+.4g} [{gain.ci_low:+.4g}, {gain.ci_high:+.4g}]"
    level = float(np.nanmean(base))
    return f"{ends}, {gain.mean / level:+.1%}, {gain.n} runs" if level > 0 else f"{ends}, {gain.n} runs"


def _first_numbers(value: Value) -> tuple[bool, float, str]:
    """A key by which numbers are in order, and words stay as they are."""
    return (isinstance(value, str), value if isinstance(value, float) else 0.0, "")


def _published_key() -> Plot:
    marker = {"symbol": "circle-open", "size": 12, "color": INK, "line": {"width": 1.6}}
    return {"x": [None], "y": [None], "mode": "markers", "name": "published (open marker)", "marker": marker,
            **exported.DECORATION}  # fmt: skip
