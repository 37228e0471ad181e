"""The page of one replication: window, threshold, sequence numbers and RTO over time."""

import math

import pandas as pd

from netcarlo.reports.figures import COLOURS, Plot, line, plot, steps
from netcarlo.reports.page import page

MOST_MARKERS = 6000
"""Packets drawn of each kind; of a longer trace every k-th."""

PATHS = ("", ", alternate path")


def trace_page(frame: pd.DataFrame, title: str) -> str:
    """The HTML of a trace; `frame` has a row per event, as `netcarlo.trace` returns it."""
    end_s = frame["time_s"].max() if len(frame) else 0.0
    return page(
        "trace.html",
        title=title,
        summary=f"{len(frame)} events in {end_s:.3f} s. Drag to zoom, double-click to go back.",
        figures=[
            {
                "name": "window",
                "caption": "Congestion window and slow-start threshold",
                "plot": _window(frame),
            },
            {"name": "sequence", "caption": "Packet and acknowledgement numbers", "plot": _sequence(frame)},
            {"name": "rto", "caption": "Retransmission timeout", "plot": _rto(frame)},
        ],
    )


def _window(frame: pd.DataFrame) -> Plot:
    data = []
    for path, events in frame.groupby("path"):
        for column, name, dash in (
            ("cwnd_packets", "cwnd", "solid"),
            ("ssthresh_packets", "ssthresh", "dot"),
        ):
            x, y = steps(events["time_s"].to_numpy(), events[column].to_numpy())
            data.append(line(x, y, name + PATHS[int(path)], COLOURS[int(path)], dash))
    return plot(data, x="time [s]", y="window [packets]", yaxis={"rangemode": "tozero"})


def _sequence(frame: pd.DataFrame) -> Plot:
    kinds = {
        "send": ("sequence", "sent", "circle", COLOURS[0]),
        "receive": ("sequence", "received", "line-ns-open", COLOURS[2]),
        "ack": ("acked", "acknowledged", "line-ew-open", COLOURS[4]),
        "timeout": ("acked", "timeout", "x", COLOURS[1]),
        "lost": ("sequence", "lost", "x-thin-open", COLOURS[3]),
    }
    data = []
    for event, (column, name, symbol, colour) in kinds.items():
        events = frame[frame["event"] == event]
        events = events.iloc[:: max(1, math.ceil(len(events) / MOST_MARKERS))]
        if len(events):
            data.append(
                {
                    "x": events["time_s"].round(6).tolist(), "y": events[column].tolist(), "mode": "markers",
                    "name": name,
                    "marker": {"symbol": symbol, "color": colour, "size": 5 if event == "send" else 7},
                    "hovertemplate": f"{name} %{{y}}<br>%{{x}} s<extra></extra>",
                }
            )  # fmt: skip
    return plot(data, x="time [s]", y="packet number")


def _rto(frame: pd.DataFrame) -> Plot:
    data = []
    for path, events in frame.groupby("path"):
        x, y = steps(events["time_s"].to_numpy(), events["rto_s"].to_numpy())
        data.append(line(x, y, "RTO" + PATHS[int(path)], COLOURS[int(path)]))
    return plot(data, x="time [s]", y="RTO [s]", yaxis={"rangemode": "tozero"})
