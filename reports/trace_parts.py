"""Figures over the time of one replication, which stand one above the other."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from netcarlo.reports.figures import COLOURS, Plot, line, plot, steps

MOST_MARKERS = 6000
"""Events drawn of each kind; of a longer trace every k-th."""

Senders = Mapping[str, pd.DataFrame]
"""The events that show how a sender stands, by what is put behind its name in a legend."""


def end_of(frame: pd.DataFrame) -> float:
    """The time of the last event [s]."""
    return float(frame["time_s"].max()) if len(frame) else 1.0


def over_time(end_s: float, data: list[Plot], y: str, **layout: Any) -> Plot:
    """A figure over the whole run."""
    yaxis = {"rangemode": "tozero", **layout.pop("yaxis", {})}
    return plot(data, x="time [s]", y=y, xaxis={"range": [0, end_s]}, yaxis=yaxis, **layout)


def window(end_s: float, senders: Senders) -> Plot:
    """Congestion window and slow-start threshold, and when the timer went off."""
    data: list[Plot] = []
    for k, (name, events) in enumerate(senders.items()):
        for column, what, dash in (
            ("cwnd_packets", "cwnd", "solid"),
            ("ssthresh_packets", "ssthresh", "dot"),
        ):
            part = _staircase(events, column, what + name, k, dash)
            hidden = what == "ssthresh" and len(senders) > 2  # until a click in the legend
            data.append({**part, "visible": "legendonly"} if hidden else part)
    every = pd.concat(senders.values())
    data += markers(every[every["event"] == "timeout"], "cwnd_packets", "timeout", "x", COLOURS[1], 6)
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
    ):
        data += markers(frame[frame["event"] == event], column, name, symbol, colour, size)
    return over_time(end_of(frame), data, "packet number")


def markers(events: pd.DataFrame, column: str, name: str, symbol: str, colour: str, size: int) -> list[Plot]:
    """A marker for every event at the height of a column; nothing without events."""
    if not len(events):
        return []
    events = events.iloc[:: max(1, math.ceil(len(events) / MOST_MARKERS))]
    return [
        {
            "x": events["time_s"].round(6).tolist(), "y": events[column].tolist(), "mode": "markers",
            "name": name, "marker": {"symbol": symbol, "color": colour, "size": size},
            "hovertemplate": f"{name} %{{y}}<br>%{{x}} s<extra></extra>",
        }
    ]  # fmt: skip


def _staircase(events: pd.DataFrame, column: str, name: str, k: int, dash: str = "solid") -> Plot:
    x, y = steps(events["time_s"].to_numpy(), events[column].to_numpy(dtype=float))
    return line(x, y, name, COLOURS[k % len(COLOURS)], dash)
