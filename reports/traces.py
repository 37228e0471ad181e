"""The page of one replication: what its flows and its network did over time."""

import pandas as pd

from netcarlo.reports import trace_map, trace_radio
from netcarlo.reports.figures import Plot
from netcarlo.reports.page import page
from netcarlo.reports.trace_parts import end_of, rto, sequence, window

PATHS = ("", ", alternate path")


def trace_page(frame: pd.DataFrame, title: str) -> str:
    """The HTML of a trace; `frame` has a row per event, as `netcarlo.trace` returns it."""
    if "x_m" in frame:
        figures, moving = trace_map.figures(frame), trace_map.moving(frame)
    else:
        figures, moving = trace_radio.figures(frame) if "flow" in frame else _of_paths(frame), None
    how = "Drag to zoom, double-click to go back."
    return page(
        "trace.html",
        title=title,
        summary=f"{len(frame)} events in {end_of(frame):.3f} s. {how}",
        figures=figures,
        moving=moving,
    )


def _of_paths(frame: pd.DataFrame) -> list[Plot]:
    senders = {PATHS[path]: frame[frame["path"] == path] for path in sorted(set(frame["path"].tolist()))}
    end_s = end_of(frame)
    return [
        {
            "name": "window",
            "caption": "Congestion window and slow-start threshold",
            "plot": window(end_s, senders),
        },
        {"name": "sequence", "caption": "Packet and acknowledgement numbers", "plot": sequence(frame)},
        {"name": "rto", "caption": "Retransmission timeout", "plot": rto(end_s, senders)},
    ]
