"""Page of one replication: its flows and its network over time."""

from collections.abc import Sequence

import pandas as pd

from netcarlo.networks.interruption import Interruption
from netcarlo.reports.page import page
from netcarlo.reports.parts import setting as trace_setting
from netcarlo.reports.parts.figures import COLOURS, Plot
from netcarlo.reports.trace import links as trace_links
from netcarlo.reports.trace import map as trace_map
from netcarlo.reports.trace import radio as trace_radio
from netcarlo.reports.trace.parts import (
    WINDOW,
    Mark,
    Spans,
    end_of,
    marked,
    rto,
    sequence,
    undrawn_threshold,
    window,
)
from netcarlo.scenario import Scenario

PATHS = ("", ", alternate path", ", third path", ", fourth path")

MARKS = {
    "outage": Mark(COLOURS[1] + "40", width=1),
    "handover": Mark(COLOURS[2] + "40", width=1),
    "handover between MAPs": Mark(COLOURS[3] + "40", width=1),
    "false alarm": Mark(COLOURS[6] + "40", width=1),
    "detour": Mark(COLOURS[2] + "8c", low=0.95),
}
"""Marked periods in every figure of paths and of shared links."""


def trace_page(
    frame: pd.DataFrame,
    title: str,
    *,
    scenario: Scenario | None = None,
    outcomes: pd.DataFrame | None = None,
    interruptions: Sequence[Interruption] = (),
    rates: pd.DataFrame | None = None,
) -> str:
    """Return the HTML of a trace; `frame` has a row per event, as `netcarlo.trace` returns it.

    `scenario` and `outcomes` (one row) are shown beside it, `interruptions` in the figures of paths, of
    shared links and of 802.11 networks, and `rates` in the last.
    """
    moving = None
    if "x_m" in frame:
        figures, moving = trace_map.figures(frame), trace_map.moving(frame)
    elif "node" in frame:
        figures = _interrupted(trace_radio.figures(frame, rates), interruptions, end_of(frame))
    else:
        drawn = trace_links.figures(frame) if "link" in frame else _of_paths(frame)
        figures = _interrupted(drawn, interruptions, end_of(frame))
    setting = trace_setting.setting(scenario, outcomes)
    how = "Drag to zoom, double-click to go back."
    return page(
        "trace.html",
        title=title,
        summary=f"{len(frame)} events in {end_of(frame):.3f} s. {how}",
        description=scenario.description if scenario is not None else "",
        tiles=trace_setting.tiles(outcomes),
        figures=figures,
        moving=moving,
        setting=setting,
        drawn=any(field["drawn"] for field in setting),
        outcomes=trace_setting.outcomes_of(outcomes),
    )


def _interrupted(figures: list[Plot], interruptions: Sequence[Interruption], end_s: float) -> list[Plot]:
    """Return the figures with interruptions marked."""
    spans: dict[str, Spans] = {
        kind: [(each.start_s, min(each.end_s, end_s)) for each in interruptions if each.kind == kind]
        for kind in MARKS
    }
    return [figure | {"plot": marked(figure["plot"], spans, MARKS)} for figure in figures]


def _of_paths(frame: pd.DataFrame) -> list[Plot]:
    senders = {PATHS[path]: frame[frame["path"] == path] for path in sorted(set(frame["path"].tolist()))}
    end_s = end_of(frame)
    lost = frame[frame["event"] == "lost"]
    return [
        {"name": name, "caption": caption, "plot": drawn}
        for name, caption, drawn in (
            ("window", f"{WINDOW}{undrawn_threshold(senders)}", window(end_s, senders, lost)),
            ("sequence", "Packet and acknowledgement numbers", sequence(frame)),
            ("rto", "Retransmission timeout", rto(end_s, senders)),
        )
    ]
