"""Figures of single runs: the window or the packets of one over time, and how the runs of a cell spread."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_LOST,
    EVENT_RECEIVE,
    EVENT_SEND,
    EVENT_TIMEOUT,
    Trace,
)
from netcarlo.kernels.base.parameters import RowP
from netcarlo.reports.parts.exported import DECORATION, columns, exact, instead
from netcarlo.reports.parts.figures import AXIS, COLOURS, INK, Plot, line, plot, rounded, staircase, steps
from netcarlo.simulation.trace import per_second
from netcarlo.studies.description import Span, Spread, TraceFigure
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.selection import Value

MOST_RUNS = 300
"""Runs of a cell drawn as points."""

OF_TWO = "primary path", "alternate path"
"""Names of the paths of a run over two; those of more have numbers."""

Events = NDArray[np.float64]

PACKETS = (
    (EVENT_SEND, Trace.SEQUENCE, "sent", "circle", COLOURS[0], 4),
    (EVENT_RECEIVE, Trace.SEQUENCE, "arrived", "circle-open", COLOURS[2], 5),
    (EVENT_LOST, Trace.SEQUENCE, "lost", "x-thin-open", COLOURS[3], 7),
    (EVENT_ACK, Trace.ACKED, "acknowledged", "line-ew-open", COLOURS[4], 6),
    (EVENT_TIMEOUT, Trace.ACKED, "timeout", "x", COLOURS[1], 9),
)
"""Event, what it is drawn over time, name, symbol, colour and size of its markers."""


def over_time(evaluation: Evaluation, figure: TraceFigure) -> Plot:
    """Return the first replication over time; below it, if there are any, the spans to zoom in to."""
    if figure.show == "rate":
        return rates(evaluation, figure)
    events = evaluation.cells.one(**figure.cell).trace()
    if figure.show == "packets":
        data, y = packets(between(events, *figure.zoom_s[0])), "packet number"
        return plot(data, x="time [s]", y=y, shapes=[shade(*span) for span in figure.shade_s])
    data = list(window(events))
    shapes = [shade(*span) for span in figure.shade_s]
    layout: Plot = {"yaxis": {"rangemode": "tozero"}}
    for k, span in enumerate(figure.zoom_s):
        axis = str(k + 2)
        panel = [{**part, "xaxis": f"x{axis}", "yaxis": f"y{axis}", "showlegend": False, **DECORATION}
                 for part in window(between(events, *span))]  # fmt: skip
        data += panel
        shapes += [shade(*s, axis=axis) for s in figure.shade_s if span[0] <= s[0] < span[1]]
        layout |= _panel(k, len(figure.zoom_s), span)
    if figure.zoom_s:
        layout["yaxis"] |= {"domain": [0.5, 1]}
        layout["xaxis"] = {"anchor": "y", "title": {"text": ""}}
        layout["meta"] = {"x": "time [s]"}  # of what is exported: the title stands below the panels
    return plot(data, x="time [s]", y="window [packets]", shapes=shapes, **layout)


def rates(evaluation: Evaluation, figure: TraceFigure) -> Plot:
    """Return the throughput in each second of the first run of each cell, and its published average."""
    conditions = evaluation.study.description.conditions
    cells = evaluation.cells.where(**figure.cell)
    open_ = [name for name in conditions if name not in figure.cell]
    data: list[Plot] = []
    for k, cell in enumerate(cells):
        colour, end_s = COLOURS[k % len(COLOURS)], cell.parameter(RowP.END) * 1e-9
        name = ", ".join(conditions[one].show(cell[one]) for one in open_)
        arrived = per_second(cell.scenario, cell.events())
        assert arrived is not None
        data.append(staircase(arrived[0].to_numpy() * 1e-6, name, colour))
        for row in evaluation.rows:
            if row.published.metric == figure.average and row.published.matches(dict(cell.conditions)):
                average = f"published average, {name}"
                part = line([0.0, end_s], [row.published.value] * 2, average, colour, "dot")
                data.append({**part, "showlegend": False})
    data.append({**line([0.0], [None], "published average", INK, "dot")})
    return plot(data, x="time [s]", y="rate [Mbit/s]", yaxis={"rangemode": "tozero"})


def _panel(k: int, n: int, span: Span) -> Plot:
    """Return the axes of the k-th of n panels in the lower half."""
    gap = 0.06
    width = (1 - (n - 1) * gap) / n
    left, axis = k * (width + gap), {**AXIS, "zeroline": False}
    x: Plot = {
        **axis,
        "anchor": f"y{k + 2}",
        "domain": [left, left + width],
        "range": list(span),
        "nticks": 5,
    }
    if k == n // 2:
        x["title"] = {"text": "time [s]", "standoff": 4}
    y: Plot = {**axis, "anchor": f"x{k + 2}", "domain": [0, 0.38], "rangemode": "tozero", "matches": "y"}
    return {f"xaxis{k + 2}": x, f"yaxis{k + 2}": {**y, "showticklabels": k == 0}}


def between(events: Events, start_s: float, end_s: float) -> Events:
    """Return the events of a span."""
    return events[(events[:, Trace.TIME] >= start_s) & (events[:, Trace.TIME] <= end_s)]


def window(events: Events) -> Iterator[Plot]:
    """Yield the congestion window and slow-start threshold of each path, and the timeouts."""
    # What happens to a packet may be written down when it is sent: the sender's own events are in order.
    events = events[np.isin(events[:, Trace.EVENT], (EVENT_SEND, EVENT_ACK, EVENT_TIMEOUT))]
    paths = sorted(set(events[:, Trace.PATH]))
    for path in paths:
        mine = events[events[:, Trace.PATH] == path]
        name = OF_TWO[int(path)] if paths[-1] < len(OF_TWO) else f"path {int(path) + 1}"
        label = f", {name}" if len(paths) > 1 else ""
        for column, quantity, dash in ((Trace.CWND, "cwnd", "solid"), (Trace.SSTHRESH, "ssthresh", "dot")):
            at, value = steps(mine[:, Trace.TIME], mine[:, column])
            yield line(at, value, quantity + label, COLOURS[int(path)], dash)
    late = events[events[:, Trace.EVENT] == EVENT_TIMEOUT]
    if len(late):
        yield {
            "x": exact(late[:, Trace.TIME]), "y": [0.0] * len(late), "mode": "markers",
            **instead(y=[""] * len(late)),
            "name": "timeout", "marker": {"symbol": "x", "color": COLOURS[1], "size": 7},
            "cliponaxis": False, "hovertemplate": "timeout<br>%{x} s<extra></extra>",
        }  # fmt: skip


def packets(events: Events) -> list[Plot]:
    """Every packet of a short span by its number."""
    data = []
    for event, column, name, symbol, colour, size in PACKETS:
        found = events[events[:, Trace.EVENT] == event]
        if len(found):
            data.append(
                {
                    "x": exact(found[:, Trace.TIME]), "y": found[:, column].tolist(),
                    "mode": "markers", "name": name,
                    "marker": {"symbol": symbol, "color": colour, "size": size},
                    "hovertemplate": f"%{{y}} {name}<br>%{{x}} s<extra></extra>",
                }
            )  # fmt: skip
    return data


def shade(start_s: float, end_s: float, *, axis: str = "") -> Plot:
    """A span of time behind a panel."""
    return {"type": "rect", "xref": f"x{axis}", "yref": f"y{axis} domain", "x0": start_s, "x1": end_s,
            "y0": 0, "y1": 1, "layer": "below", "fillcolor": COLOURS[1] + "2e",
            "line": {"width": 0}}  # fmt: skip


def spread(evaluation: Evaluation, figure: Spread) -> Plot:
    """A violin of the runs of each cell, side by side, with the published value of the cell."""
    description = evaluation.study.description
    cells = evaluation.cells.where(**figure.where)
    groups: list[Value] = list(dict.fromkeys(cell[figure.x] for cell in cells))
    series: list[Value] = list(dict.fromkeys(cell[figure.series] for cell in cells))
    places = {key: i * (len(series) + 1) + j for i, g in enumerate(groups) for j, s in enumerate(series)
              for key in [(g, s)]}  # fmt: skip
    rows = [
        row for row in evaluation.rows
        if row.published.metric == figure.metric and row.published.matches(figure.where)
    ]  # fmt: skip
    condition, of = description.conditions[figure.x], description.conditions[figure.series]
    y = f"{description.label(figure.metric)} [{rows[0].published.unit}]"
    data: list[Plot] = []
    for cell in cells:
        at, k = places[cell[figure.x], cell[figure.series]], series.index(cell[figure.series])
        name = description.conditions[figure.series].show(cell[figure.series])
        samples = evaluation.cells.samples(figure.metric, cell)
        listed: dict[str, Sequence[Any]] = {condition.label: [condition.show(cell[figure.x])] * len(samples),
                  "run": list(range(len(samples))), y: exact(samples)}  # fmt: skip
        where = description.say(cell.conditions)
        data.append(
            {
                "type": "violin", "x0": at, "y": [rounded(v) for v in samples[:MOST_RUNS]], "name": name,
                **columns(listed),
                "legendgroup": name, "showlegend": cell[figure.x] == groups[0], "width": 0.9,
                "points": "all", "pointpos": 0, "jitter": 0.6, "spanmode": "hard", "scalemode": "width",
                "hoveron": "points", "hovertemplate": f"{where}<br>%{{y}}<extra></extra>",
                "line": {"color": COLOURS[k], "width": 1}, "fillcolor": COLOURS[k] + "22",
                "marker": {"color": COLOURS[k], "size": 2.5, "opacity": 0.5},
            }
        )  # fmt: skip
    data.append(
        {
            **columns({
                condition.label: [condition.show(row.published.conditions[figure.x]) for row in rows],
                of.label: [of.show(row.published.conditions[figure.series]) for row in rows],
                y: [row.published.value for row in rows],
            }),
            "x": [places[row.published.conditions[figure.x], row.published.conditions[figure.series]]
                  for row in rows],
            "y": [row.published.value for row in rows], "mode": "markers", "name": "published",
            "marker": {"symbol": "line-ew", "size": 26, "line": {"width": 2, "color": INK}},
            "hovertemplate": "published %{y}<extra></extra>",
        }
    )  # fmt: skip
    middle = (len(series) - 1) / 2
    ticks = [i * (len(series) + 1) + middle for i in range(len(groups))]
    return plot(
        data, x=condition.label, y=y,
        xaxis={"tickvals": ticks, "ticktext": [condition.show(g) for g in groups], "showgrid": False,
               "zeroline": False},
        yaxis={"rangemode": "tozero"},
    )  # fmt: skip
