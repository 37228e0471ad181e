"""Figures of one replication of an 802.11 network: frames by node, packets that arrive, TCP senders."""

import numpy as np
import pandas as pd

from netcarlo.networks.wireless.events import arrivals
from netcarlo.reports.parts.figures import COLOURS, DASHES, Plot, line, staircase, steps
from netcarlo.reports.trace.parts import (
    MOST_MARKERS,
    WINDOW,
    Senders,
    end_of,
    markers,
    over_time,
    rto,
    undrawn_threshold,
    window,
)

GONE = ("lost", "dropped")
"""Events of packets that are lost."""

MOST_SENDERS = 7
"""Maximum number of TCP senders whose windows are drawn; there are as many colours."""


def figures(frame: pd.DataFrame, rates: pd.DataFrame | None = None) -> list[Plot]:
    """Return the figures of the page; `rates` is the result of `trace.per_second`."""
    end_s = end_of(frame)
    most = int(frame.groupby(["event", "carries"]).size().max()) if len(frame) else 0
    some = f" (a sample: up to {most} of a kind)" if most > MOST_MARKERS else ""
    found = [
        {
            "name": "frames",
            "caption": f"Frames with packets on the air by node{some}",
            "plot": _frames(frame),
        },
        {
            "name": "arrivals",
            "caption": "Packets delivered to the last node, by flow (cumulative)",
            "plot": _arrivals(frame),
        },
    ]
    if rates is not None and len(rates):
        found.append(
            {
                "name": "rates",
                "caption": "Goodput at the last node, by flow, in each second",
                "plot": _rates(rates),
            }
        )
    tcp = frame[frame["rto_s"].notna()]
    flows = sorted(set(tcp["flow"].tolist()))[:MOST_SENDERS]
    if flows:
        several = len(flows) > 1
        senders: Senders = {f", flow {flow}" if several else "": tcp[tcp["flow"] == flow] for flow in flows}
        of = f" of the first {MOST_SENDERS} senders" if tcp["flow"].nunique() > MOST_SENDERS else ""
        found += [
            {
                "name": "window",
                "caption": f"{WINDOW}{of}{undrawn_threshold(senders)}",
                "plot": window(end_s, senders, frame[frame["flow"].isin(flows) & frame["event"].isin(GONE)]),
            },
            {"name": "rto", "caption": f"Retransmission timeout{of}", "plot": rto(end_s, senders)},
        ]
    return found


def _frames(frame: pd.DataFrame) -> Plot:
    """A row for each node: frames with data above, with acknowledgements below; losses outside of both.

    The last row is for what lies beside the radio.
    """
    nodes = int(frame["node"].max()) + 1 if frame["node"].notna().any() else 0
    rows = [str(node) for node in range(nodes)] + ["beside"] * bool(frame["node"].isna().any())
    height = frame["node"].astype("float64").fillna(nodes)
    data: list[Plot] = []
    for event, carries, name, symbol, colour, size, up in (
        ("send", "data", "data", "line-ns-open", COLOURS[0], 8, 0.17),
        ("send", "ack", "TCP acknowledgement", "line-ns-open", COLOURS[2], 8, -0.17),
        ("lost", "data", "data lost after the last attempt", "x-thin-open", COLOURS[1], 7, 0.36),
        ("lost", "ack", "acknowledgement lost after the last attempt", "x-thin-open", COLOURS[3], 7, -0.36),
        ("dropped", "data", "data dropped by a full queue", "triangle-down", COLOURS[1], 7, 0.36),
        ("dropped", "ack", "acknowledgement dropped by a full queue", "triangle-down", COLOURS[3], 7, -0.36),
    ):
        events = frame[(frame["event"] == event) & (frame["carries"] == carries)]
        at = events.assign(height=height[events.index] - up, row=[rows[int(h)] for h in height[events.index]])
        for part in markers(at, "height", name, symbol, colour, size, export="row"):
            part["hovertemplate"] = f"{name}<br>%{{x}} s<extra></extra>"
            data.append(part)
    return over_time(
        end_of(frame), data, "node",
        yaxis={"range": [len(rows) - 0.5, -0.5], "tickvals": list(range(len(rows))), "ticktext": rows,
               "showgrid": False},
    )  # fmt: skip


def _arrivals(frame: pd.DataFrame) -> Plot:
    data = []
    packets = frame[frame["carries"] == "data"]
    for k, (flow, mine) in enumerate(packets.groupby("flow")):
        first = arrivals(mine)
        x, y = steps(first["time_s"].to_numpy(), np.arange(1.0, len(first) + 1))
        data.append(line(x, y, f"flow {flow}", COLOURS[k % len(COLOURS)], DASHES[k // len(COLOURS) % 4]))
    return over_time(end_of(frame), data, "packets that arrived", showlegend=len(data) > 1)


def _rates(rates: pd.DataFrame) -> Plot:
    data = [
        staircase(rates[flow].to_numpy() * 1e-6, f"flow {flow}", COLOURS[k % len(COLOURS)],
                  DASHES[k // len(COLOURS) % 4])
        for k, flow in enumerate(rates)
    ]  # fmt: skip
    return over_time(float(len(rates)), data, "rate [Mbit/s]", showlegend=len(data) > 1)
