"""Figures of one replication of shared links: goodput of flows, windows, queues and losses over time."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from netcarlo.networks.link_events import DROPPED, carried
from netcarlo.numerics.arrays import Floats
from netcarlo.reports.parts import scales
from netcarlo.reports.parts.exported import instead
from netcarlo.reports.parts.figures import COLOURS, DASHES, Plot, finite, line, plot, rounded, steps
from netcarlo.reports.trace.parts import (
    WINDOW,
    Senders,
    end_of,
    markers,
    over_time,
    rto,
    undrawn_threshold,
    window,
)

MOST_LINES = len(COLOURS)
"""Most flows or links that are drawn one by one."""
MOST_ROWS = 128
"""Most flows of a map."""
MOST_BINS = 120
"""Most bins of the time of a run, in which payload and losses are counted."""
BINS_TOGETHER = 5
"""Bins over which fairness is averaged."""
OTHERS = "#c3cad2"
SHADES = [[0.0, "#ffffff"], [0.5, "#4c9fdc"], [1.0, "#0b2c4d"]]


class Flows(NamedTuple):
    """The flows of a trace."""

    names: dict[int, str]
    """Names of flows by their numbers."""
    shown: list[int]
    """Flows that are drawn one by one: TCP before UDP, then by the payload delivered."""
    edges_s: Floats
    """Edges of the bins [s], float64[bins + 1]."""
    bps: Floats
    """Goodput [bit/s], float64[bins, flows]."""

    @property
    def width(self) -> str:
        """Width of a bin as text."""
        return scales.say(float(self.edges_s[1]), "s")

    @property
    def some(self) -> str:
        """End of a caption if not all flows are drawn."""
        return f"; of {len(self.names)} flows the {len(self.shown)} with the highest goodput" * (
            len(self.shown) < len(self.names)
        )


def figures(frame: pd.DataFrame) -> list[Plot]:
    """The figures of the page."""
    end_s, flows = end_of(frame), _flows(frame)
    tcp = frame[frame["cwnd_packets"].notna()]
    there = set(tcp["flow"].tolist())
    drawn = [flow for flow in flows.shown if flow in there]
    senders: Senders = {f", {flows.names[flow]}": tcp[tcp["flow"] == flow] for flow in drawn}
    caption = f"Goodput of the flows, in each {flows.width}"
    found = [("goodput", caption, _goodput(flows))]
    if len(flows.names) > MOST_LINES:
        found.append(("map", f"The same by flow{_rows(flows)}", _map(flows)))
    fairness, width = _fairness(frame, flows)
    if fairness["data"]:
        caption = f"Jain's fairness of the TCP flows that sent all of the time, in each {width}"
        found.append(("fairness", caption, fairness))
    if senders:
        gone = frame[frame["event"].isin(DROPPED) & (frame["carries"] == "data") & frame["flow"].isin(drawn)]
        found += [
            ("window", f"{WINDOW}{flows.some}{undrawn_threshold(senders)}", window(end_s, senders, gone)),
            ("rtt", f"Round-trip time that the senders measured last{flows.some}", _rtt(end_s, senders)),
            ("rto", f"Retransmission timeout{flows.some}", rto(end_s, senders)),
        ]
    found += _of_links(frame, flows)
    return [{"name": name, "caption": caption, "plot": drawn} for name, caption, drawn in found]


def _flows(frame: pd.DataFrame) -> Flows:
    end_s = end_of(frame)
    of_each = frame[["flow", "protocol"]].drop_duplicates().sort_values("flow")
    protocols = dict(zip(of_each["flow"].tolist(), of_each["protocol"].tolist(), strict=True))
    several = len(set(protocols.values())) > 1
    names = {
        flow: f"flow {flow}" + (f", {protocol.replace('_', ' ')}" if several else "")
        for flow, protocol in protocols.items()
    }
    width_s = _nice(end_s / MOST_BINS)
    edges_s: Floats = width_s * np.arange(math.ceil(end_s / width_s - 1e-9) + 1.0)
    bps = carried(frame, max(names, default=0) + 1, edges_s)
    total = bps.sum(axis=0)
    shown = sorted(names, key=lambda flow: -total[flow])
    if len(names) > MOST_LINES:
        shown = shown[: MOST_LINES - 1]
    shown.sort(key=lambda flow: protocols[flow] == "udp")
    return Flows(names, shown, edges_s, bps)


def _nice(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... and their decimal parts that is not less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def _goodput(flows: Flows) -> Plot:
    """Areas one above the other: together, what all took."""
    unit = scales.scale(flows.bps.sum(axis=1), "bit/s")
    others = [flow for flow in flows.names if flow not in flows.shown]
    areas = [(flows.names[flow], flows.bps[:, flow], COLOURS[k]) for k, flow in enumerate(flows.shown)]
    if others:
        areas.append((f"the other {len(others)} together", flows.bps[:, others].sum(axis=1), OTHERS))
    data: list[Plot] = [
        {
            **_stairs(flows.edges_s, bps / unit.factor, name, colour), "stackgroup": "all",
            "fillcolor": f"{colour}b0",
        }
        for name, bps, colour in areas
    ]  # fmt: skip
    for part in data:
        part["line"] |= {"width": 0.8}
    drawn = over_time(float(flows.edges_s[-1]), data, unit.label("goodput"), showlegend=len(data) > 1)
    drawn["layout"]["legend"] = drawn["layout"]["legend"] | {"traceorder": "normal"}
    return drawn


def _stairs(edges_s: Floats, values: Floats, name: str, colour: str, dash: str = "solid") -> Plot:
    """A value for each bin; none where it is NaN."""
    points = []
    for a, b, value in zip(edges_s, edges_s[1:], values, strict=False):
        found = finite(float(value))
        points += [(rounded(a), found), (rounded(b), found)]
    drawn = line([x for x, _ in points], [y for _, y in points], name, colour, dash)
    return {**drawn, **instead(x=drawn["x"][::2], y=drawn["y"][::2])}


def _rows(flows: Flows) -> str:
    most = f"; of {len(flows.names)} flows the {MOST_ROWS} with most data"
    return most if len(flows.names) > MOST_ROWS else ""


def _map(flows: Flows) -> Plot:
    """A row for each flow, in the order of their numbers from above."""
    total = flows.bps.sum(axis=0)
    rows = sorted(sorted(flows.names, key=lambda flow: -total[flow])[:MOST_ROWS])
    z = flows.bps[:, rows].T
    unit = scales.scale(z.max(axis=1), "bit/s")
    trace = {
        "type": "heatmap", "x": [rounded(edge) for edge in flows.edges_s],
        "y": [flows.names[flow] for flow in rows],
        "z": [[rounded(value) for value in row] for row in z / unit.factor],
        "colorscale": SHADES, "zmin": 0,
        "colorbar": {"title": {"text": unit.unit, "side": "top"}, "thickness": 12, "outlinewidth": 0},
        "hovertemplate": f"%{{y}}<br>%{{x}} s: %{{z}} {unit.unit}<extra></extra>",
        **instead(series="goodput"),
    }  # fmt: skip
    axis: Plot = {"type": "category", "autorange": "reversed", "showgrid": False, "zeroline": False}
    return plot(
        [trace],
        x="time [s]",
        y="",
        xaxis={"range": [0, float(flows.edges_s[-1])]},
        yaxis=axis,
        meta={"y": "flow", "value": unit.label("goodput")},
    )


def _fairness(frame: pd.DataFrame, flows: Flows) -> tuple[Plot, str]:
    """Jain's index of those that have something to send all of the time of some bins, and that time."""
    edges_s = flows.edges_s[::BINS_TOGETHER]
    width = scales.say(float(flows.edges_s[1]) * BINS_TOGETHER, "s")
    if len(edges_s) < 2:
        return {"data": []}, width
    lasting = _lasting(frame)
    bps = carried(frame, flows.bps.shape[1], edges_s)
    found = np.full(len(edges_s) - 1, np.nan)
    for k in range(len(found)):
        mine = [flow for flow, (a, b) in lasting.items() if a <= edges_s[k] and b >= edges_s[k + 1]]
        x = bps[k, mine]
        if len(mine) > 1 and x.any():
            found[k] = x.sum() ** 2 / (len(x) * (x * x).sum())
    if np.isnan(found).all():
        return {"data": []}, width
    data = [_stairs(edges_s, found, "fairness", COLOURS[0])]
    end_s = float(flows.edges_s[-1])
    return over_time(end_s, data, "fairness", yaxis={"range": [0, 1.03]}, showlegend=False), width


def _lasting(frame: pd.DataFrame) -> dict[int, tuple[float, float]]:
    """From when to when each TCP flow has something to send [s]: without end, unless all that it has sent is
    acknowledged.  Flows that come and go are none of them."""
    come = set(frame.loc[frame["event"] == "begin", "flow"].tolist())
    tcp = frame[frame["cwnd_packets"].notna()]
    sent = tcp[(tcp["event"] == "send") & (tcp["carries"] == "data")].groupby("flow")["sequence"].max()
    of_each = tcp.groupby("flow").agg(
        first=("time_s", "first"), last=("time_s", "last"), acked=("acked", "last")
    )
    done = (of_each["acked"] >= sent.reindex(of_each.index)).fillna(False)
    until = of_each["last"].where(done, math.inf)
    spans = zip(of_each.index.tolist(), of_each["first"].tolist(), until.tolist(), strict=True)
    return {flow: (a, b) for flow, a, b in spans if flow not in come}


def _rtt(end_s: float, senders: Senders) -> Plot:
    data = []
    for k, (name, events) in enumerate(senders.items()):
        heard = events[events["rtt_s"].notna()]
        points = steps(heard["time_s"].to_numpy(), heard["rtt_s"].to_numpy() * 1e3)
        data.append(line(*points, f"RTT{name}", COLOURS[k]))
    return over_time(end_s, data, "RTT [ms]")


def _of_links(frame: pd.DataFrame, flows: Flows) -> list[tuple[str, str, Plot]]:
    """Queues, and what was lost: of the links with most in them where there are many."""
    end_s = end_of(frame)
    passed = frame[frame["link"].notna()]
    change = passed["event"].map({"enter": 1, "leave": -1, "dropped": -1, "lost": 0})
    passed = passed.assign(held=change.groupby(passed["link"]).cumsum())
    settled = passed.drop_duplicates(["link", "time_s"], keep="last")  # not with one that finds no room
    lossy = set(passed.loc[passed["event"].isin(DROPPED), "link"].tolist())
    most = settled.groupby("link")["held"].max()
    busy = most[(most > 1) | most.index.isin(lossy)]
    links = sorted(busy.sort_values(ascending=False, kind="stable").index[:MOST_LINES].tolist())
    some = f"; of {len(busy)} links the {len(links)} with the longest queues" * (len(links) < len(busy))
    some += "; links without queueing and losses are not shown" * (len(busy) < len(most))
    queues, losses = [], []
    gone = passed[passed["event"].isin(DROPPED) & passed["link"].isin(links)]
    for k, link in enumerate(links):
        mine = settled[settled["link"] == link]
        name, style = f"link {link} ({mine['link_name'].iloc[0]})", (COLOURS[k], DASHES[k % len(DASHES)])
        queues.append(line(*steps(mine["time_s"].to_numpy(), mine["held"].to_numpy(float)), name, *style))
        lost = gone.loc[gone["link"] == link, "time_s"].to_numpy()
        if len(lost):
            count, _ = np.histogram(lost, flows.edges_s)
            losses.append(_stairs(flows.edges_s, count.astype(float), name, *style))
    for cause, what, symbol, colour in (
        ("queue", "dropped by a queue", "x-thin-open", COLOURS[1]),
        ("random", "lost at random", "line-ns-open", COLOURS[3]),
        ("down", "lost: link down", "triangle-down", COLOURS[4]),
    ):
        queues += markers(gone[gone["cause"] == cause], "held", what, symbol, colour, 6)
    caption = f"Packets in the queues of links, including those in transmission{some}"
    found = [("queues", caption, over_time(end_s, queues, "queue [packets]", showlegend=True))]
    if losses:
        caption = f"Packets dropped or lost by links in each {flows.width}{some}"
        found.append(("losses", caption, over_time(end_s, losses, "packets", showlegend=True)))
    return found
