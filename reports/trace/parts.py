"""Figures over the time of one replication, which stand one above the other."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from netcarlo.reports.parts import exported, scales
from netcarlo.reports.parts.figures import AXIS, COLOURS, Plot, line, plot, rounded, steps

WINDOW = "Congestion window and slow-start threshold"
LOST = "lost<br>%{x} s<extra></extra>"
MOST_MARKERS = 6000
"""Events drawn of each kind; of a longer trace every k-th."""

HIGH = 1.5
"""A threshold above this multiple of the largest window is not drawn: the figure is for the window."""

Spans = Sequence[tuple[float, float]]


class Mark(NamedTuple):
    """Style of marked periods in a figure: from `low` to its top, where 0 is the bottom and 1 the top."""

    colour: str
    low: float = 0.0
    width: float = 0.0


Senders = Mapping[str, pd.DataFrame]
"""The events that show how a sender stands, by what is put behind its name in a legend."""


def end_of(frame: pd.DataFrame) -> float:
    """The time of the last event [s]."""
    return float(frame["time_s"].max()) if len(frame) else 1.0


def over_time(end_s: float, data: list[Plot], y: str, **layout: Any) -> Plot:
    """A figure over the whole run."""
    yaxis = {"rangemode": "tozero", **layout.pop("yaxis", {})}
    return plot(data, x="time [s]", y=y, xaxis={"range": [0, end_s]}, yaxis=yaxis, **layout)


def marked(drawn: Plot, spans: Mapping[str, Spans], marks: Mapping[str, Mark]) -> Plot:
    """The figure with spans of time marked over it, by name."""
    data = []
    for name, found in spans.items():
        if found:
            mark = marks[name]
            x = [round(float(t), 4) for a, b in found for t in (a, a, b, b)]
            y = [mark.low, 1.0, 1.0, mark.low] * len(found)
            data.append(
                {
                    "x": _pieces(x), "y": _pieces(y), "yaxis": "y2", "mode": "lines", "name": name,
                    "fill": "toself", "fillcolor": mark.colour, "hoverinfo": "skip",
                    "line": {"color": mark.colour, "width": mark.width},
                    **exported.columns({"time [s]": [rounded(a) for a, _ in found],
                                        "until [s]": [rounded(b) for _, b in found]}),
                }
            )  # fmt: skip
    over: Plot = {**AXIS, "overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
    return {"data": [*drawn["data"], *data], "layout": {**drawn["layout"], "yaxis2": over}}


def _pieces(values: list[float]) -> list[float | None]:
    """Polygons of four corners each, apart from each other."""
    return [v for k in range(0, len(values), 4) for v in (*values[k : k + 4], None)]


def highest(senders: Senders) -> float:
    """The highest threshold that is drawn."""
    return HIGH * max((float(events["cwnd_packets"].max()) for events in senders.values()), default=0.0)


def undrawn_threshold(senders: Senders) -> str:
    """Return the end of the caption if slow-start thresholds are too high to be drawn, else an empty
    string."""
    most = max((float(events["ssthresh_packets"].max()) for events in senders.values()), default=0.0)
    if most <= highest(senders):
        return ""
    limit = f"up to {scales.trimmed(most)} packets"
    return f"; the threshold is not drawn where it is far above the window ({limit})"


def window(end_s: float, senders: Senders, lost: pd.DataFrame | None = None) -> Plot:
    """Congestion window and slow-start threshold, when the timer went off, and below them what was lost."""
    data: list[Plot] = []
    top = highest(senders)
    for k, (name, events) in enumerate(senders.items()):
        for column, what, dash in (
            ("cwnd_packets", "cwnd", "solid"),
            ("ssthresh_packets", "ssthresh", "dot"),
        ):
            part = _staircase(events, column, what + name, k, dash)
            if max(part["y"], default=0.0) > top:
                part |= exported.instead(y=part["y"])
                part["y"] = [y if y <= top else None for y in part["y"]]
            hidden = what == "ssthresh" and len(senders) > 2  # until a click in the legend
            data.append({**part, "visible": "legendonly"} if hidden else part)
    every = pd.concat(senders.values())
    data += markers(every[every["event"] == "timeout"], "cwnd_packets", "timeout", "x", COLOURS[1], 6)
    if lost is not None:
        at_bottom = markers(
            lost.assign(bottom=0.0, none=""), "bottom", "lost", "line-ns-open", COLOURS[3], 9, export="none"
        )
        data += [{**part, "cliponaxis": False, "hovertemplate": LOST} for part in at_bottom]
    return over_time(end_s, data, "window [packets]")


def rto(end_s: float, senders: Senders) -> Plot:
    """The retransmission timeout."""
    data = [_staircase(events, "rto_s", f"RTO{name}", k) for k, (name, events) in enumerate(senders.items())]
    return over_time(end_s, data, "RTO [s]")


def sequence(frame: pd.DataFrame) -> Plot:
    """Packets put out, received and lost, and how far they are acknowledged."""
    acks = frame[frame["event"] == "ack"]
    stairs = steps(acks["time_s"].to_numpy(), acks["acked"].to_numpy(dtype=float))
    data = [line(*stairs, "acknowledged", COLOURS[4])]
    for event, column, name, symbol, colour, size in (
        ("send", "sequence", "sent", "circle", COLOURS[0], 4),
        ("receive", "sequence", "received", "circle-open", COLOURS[2], 4),
        ("lost", "sequence", "lost", "x-thin-open", COLOURS[3], 7),
        ("timeout", "acked", "timeout", "x", COLOURS[1], 7),
        ("heartbeat", "acked", "heartbeat", "diamond-open", COLOURS[5], 7),
        ("heartbeat ack", "acked", "heartbeat answered", "diamond", COLOURS[5], 7),
    ):
        data += markers(frame[frame["event"] == event], column, name, symbol, colour, size)
    return over_time(end_of(frame), data, "packet number")


def markers(
    events: pd.DataFrame, column: str, name: str, symbol: str, colour: str, size: int, *, export: str = ""
) -> list[Plot]:
    """Return a marker for every event at the height of a column; nothing without events.

    `export` is the column that the CSV has in place of a height that is no data.
    """
    if not len(events):
        return []
    events = events.iloc[:: max(1, math.ceil(len(events) / MOST_MARKERS))]
    return [
        {
            "x": [rounded(t) for t in events["time_s"].tolist()], "y": events[column].tolist(),
            "mode": "markers", **(exported.instead(y=events[export].tolist()) if export else {}),
            "name": name, "marker": {"symbol": symbol, "color": colour, "size": size},
            "hovertemplate": f"{name} %{{y}}<br>%{{x}} s<extra></extra>",
        }
    ]  # fmt: skip


def _staircase(events: pd.DataFrame, column: str, name: str, k: int, dash: str = "solid") -> Plot:
    x, y = steps(events["time_s"].to_numpy(), events[column].to_numpy(dtype=float))
    return line(x, y, name, COLOURS[k % len(COLOURS)], dash)
