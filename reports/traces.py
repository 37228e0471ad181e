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
    for path, events in _by_path(frame):
        for column, name, dash in (
            ("cwnd_packets", "cwnd", "solid"),
            ("ssthresh_packets", "ssthresh", "dot"),
        ):
            x, y = steps(events["time_s"].to_numpy(), events[column].to_numpy())
            data.append(line(x, y, name + PATHS[path], COLOURS[path], dash))
    return _over_time(frame, data, "window [packets]")


def _sequence(frame: pd.DataFrame) -> Plot:
    acks = frame[frame["event"] == "ack"]
    data = [line(*steps(acks["time_s"].to_numpy(), acks["acked"].to_numpy()), "acknowledged", COLOURS[4])]
    kinds = {
        "send": ("sequence", "sent", "circle", COLOURS[0], 4),
        "receive": ("sequence", "received", "circle-open", COLOURS[2], 4),
        "lost": ("sequence", "lost", "x-thin-open", COLOURS[3], 7),
        "timeout": ("acked", "timeout", "x", COLOURS[1], 9),
    }
    for event, (column, name, symbol, colour, size) in kinds.items():
        events = frame[frame["event"] == event]
        events = events.iloc[:: max(1, math.ceil(len(events) / MOST_MARKERS))]
        if len(events):
            data.append(
                {
                    "x": events["time_s"].round(6).tolist(), "y": events[column].tolist(), "mode": "markers",
                    "name": name, "marker": {"symbol": symbol, "color": colour, "size": size},
                    "hovertemplate": f"{name} %{{y}}<br>%{{x}} s<extra></extra>",
                }
            )  # fmt: skip
    return _over_time(frame, data, "packet number")


def _rto(frame: pd.DataFrame) -> Plot:
    data = []
    for path, events in _by_path(frame):
        x, y = steps(events["time_s"].to_numpy(), events["rto_s"].to_numpy())
        data.append(line(x, y, "RTO" + PATHS[path], COLOURS[path]))
    return _over_time(frame, data, "RTO [s]")


def _by_path(frame: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    return [(path, frame[frame["path"] == path]) for path in sorted(set(frame["path"].tolist()))]


def _over_time(frame: pd.DataFrame, data: list[Plot], y: str) -> Plot:
    """A figure over the whole run, so that the three stand one above the other."""
    end_s = float(frame["time_s"].max()) if len(frame) else 1.0
    return plot(data, x="time [s]", y=y, xaxis={"range": [0, end_s]}, yaxis={"rangemode": "tozero"})
