"""Animated map of the nodes of an ad hoc network in one replication, and figures of its flow over time."""

from itertools import pairwise

import numpy as np
import pandas as pd

from netcarlo.numerics.arrays import Floats
from netcarlo.reports.parts import exported
from netcarlo.reports.parts.figures import COLOURS, INK, Plot, line, plot, steps
from netcarlo.reports.trace import history
from netcarlo.reports.trace.parts import (
    WINDOW,
    Mark,
    Senders,
    end_of,
    marked,
    over_time,
    rto,
    sequence,
    undrawn_threshold,
    window,
)

MOST_MOMENTS = 300
"""Moments that the map shows."""
MOST_LINKS = 60_000
"""Links of all moments together: of a dense network fewer moments are shown."""
FEWEST_MOMENTS = 60
QUIET_S = 1.0
"""A sender that has put out nothing for so long is said to wait."""

ROUTE, BROKEN, LINK = COLOURS[0], COLOURS[1], "#b9c3cd"
SOURCE, SINK = COLOURS[4], COLOURS[2]
GAP = -1
"""Between two pieces of a line through nodes."""

MARKS = {
    "another route": Mark(COLOURS[6] + "8c", width=1),
    "no route": Mark(COLOURS[1] + "33"),
    "probing or frozen": Mark(COLOURS[3] + "8c", low=0.95),
}
"""Marked periods in every figure."""


def moving(frame: pd.DataFrame) -> Plot:
    """The map at its first moment, the window beside it, and what is different at each moment.

    A moment has the places of all nodes, the numbers of the nodes along each line (GAP between two lines)
    and of those at the ends, and texts.
    """
    times_s = _moments(frame)
    x, y = history.places(frame, times_s)
    there = history.links(frame, times_s)
    route = history.routes(frame)
    sender = _Sender(frame)
    ends = history.ends(frame) or ()
    moments = []
    for k, t in enumerate(times_s):
        i = int(np.searchsorted(route.since_s, t, side="right")) - 1
        nodes = route.nodes[i] if i >= 0 else []
        links = {frozenset(link) for link in there[k]}
        hops = list(pairwise(nodes))
        gone = [hop for hop in hops if frozenset(hop) not in links]
        moments.append(
            {
                "t": round(float(t), 3),
                "x": np.round(x[k], 1).tolist(),
                "y": np.round(y[k], 1).tolist(),
                "lines": [
                    _through(there[k]),
                    _through([hop for hop in hops if hop not in gone]),
                    _through(gone),
                    list(ends),
                ],
                "says": [f"{t:.1f} s", *sender.says(float(t), nodes, broken=bool(gone))],
            }
        )
    end_s = end_of(frame)
    beside = window(end_s, _senders(frame), _lost(frame))
    beside["layout"] |= {"shapes": [_cursor(0.0)]}
    return {
        "map": _map(frame, moments[0], x, y),
        "window": beside,
        "moments": moments,
        "says": ["time", "sender", "cwnd", "acknowledged", "route"],
        "caption": _caption(frame, x.shape[1]),
    }


def figures(frame: pd.DataFrame) -> list[Plot]:
    """The flow over time with the changes of its route."""
    end_s = end_of(frame)
    senders = _senders(frame)
    relayed = (frame["event"] == "send") & (frame["node"] != _source(frame))
    return [
        {"name": name, "caption": caption, "plot": _marked(frame, drawn)}
        for name, caption, drawn in (
            ("sequence", "Packet and acknowledgement numbers", sequence(frame[~relayed])),
            ("cwnd", f"{WINDOW}{undrawn_threshold(senders)}", window(end_s, senders, _lost(frame))),
            ("hops", "Hops of the route in use and of the shortest path", _hops(frame)),
            ("rto", "Retransmission timeout", rto(end_s, senders)),
        )
    ]


def _senders(frame: pd.DataFrame) -> Senders:
    return {"": frame[frame["cwnd_packets"].notna()]}


def _lost(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["event"] == "lost"]


def _caption(frame: pd.DataFrame, nodes: int) -> str:
    ends = history.ends(frame)
    flow = f"; node {ends[0]} (brown) sends to node {ends[1]} (green)" if ends else ""
    return f"The {nodes} nodes, the links between them, and the route in use{flow}"


class _Sender:
    """State of the sender at any time."""

    def __init__(self, frame: pd.DataFrame) -> None:
        rows = frame[frame["cwnd_packets"].notna()]
        self._at_s = rows["time_s"].to_numpy()
        self._cwnd = rows["cwnd_packets"].to_numpy()
        self._acked = rows["acked"].to_numpy(dtype=float)
        sent = frame[(frame["event"] == "send") & (frame["node"] == _source(frame))]
        self._sent_s = sent["time_s"].to_numpy()
        self._stopped = history.stopped(frame)

    def says(self, t: float, nodes: list[int], *, broken: bool) -> list[str]:
        """Return state, congestion window, packets acknowledged, and route at time t [s]."""
        k = int(np.searchsorted(self._at_s, t, side="right")) - 1
        route = " → ".join(map(str, nodes)) if nodes else "none"
        if k < 0:
            return ["not started", "–", "–", route]
        quiet_s = t - self._sent_s[: np.searchsorted(self._sent_s, t, side="right")].max(initial=0.0)
        if any(a <= t < b for a, b in self._stopped):
            state = "probing or frozen"
        elif quiet_s > QUIET_S:
            state = f"no packet sent for {quiet_s:.0f} s"
        else:
            state = "sending"
        if broken:
            route += " (a link is broken)"
        return [state, f"{self._cwnd[k]:.1f}", f"{max(self._acked[k], 0):.0f}", route]


def _source(frame: pd.DataFrame) -> int | None:
    ends = history.ends(frame)
    return ends[0] if ends else None


def _moments(frame: pd.DataFrame) -> Floats:
    end_s = end_of(frame)
    times_s = np.linspace(0.0, end_s, FEWEST_MOMENTS)
    mean = sum(map(len, history.links(frame, times_s))) / FEWEST_MOMENTS
    count = int(np.clip(MOST_LINKS / max(mean, 1.0), FEWEST_MOMENTS, MOST_MOMENTS))
    return np.linspace(0.0, end_s, count)


def _through(pairs: list[history.Link]) -> list[int]:
    """Return one line through all pairs of nodes; a leading gap keeps an empty line in the legend."""
    return [GAP, *(node for pair in pairs for node in (*pair, GAP))]


def _map(frame: pd.DataFrame, first: Plot, x: Floats, y: Floats) -> Plot:
    """Links, the route, its broken links, the nodes, and on top those at the ends of the flow."""
    n = x.shape[1]
    ends = history.ends(frame) or ()
    styles = (
        ("link", {"color": LINK, "width": 1}),
        ("route in use", {"color": ROUTE, "width": 4}),
        ("broken links of the route", {"color": BROKEN, "width": 4, "dash": "dot"}),
    )
    data: list[Plot] = [
        {**_drawn(first, nodes), "mode": "lines", "name": name, "line": style, "hoverinfo": "skip",
         "connectgaps": False, **_listed(first, nodes)}
        for nodes, (name, style) in zip(first["lines"], styles, strict=False)
    ]  # fmt: skip
    every = list(range(n))
    said = [f"node {k}" for k in every]
    data.append(_nodes(first, every, "node", said, ["#ffffff"] * n, INK, small=n > 20))
    said = [f"{end}, node {k}" for end, k in zip(("source", "sink"), ends, strict=False)]
    data.append(_nodes(first, list(ends), "source and sink", said, [SOURCE, SINK], "#ffffff", small=n > 20))
    return plot(
        data, x="x [m]", y="y [m]", showlegend=True,
        xaxis={"range": _span(x), "constrain": "domain", "zeroline": False},
        yaxis={"range": _span(y), "scaleanchor": "x", "constrain": "domain", "zeroline": False},
    )  # fmt: skip


def _drawn(moment: Plot, nodes: list[int]) -> Plot:
    """The line through these nodes; the same as `along` in map.js."""
    return {axis: [None if k == GAP else moment[axis][k] for k in nodes] for axis in ("x", "y")}


def _listed(moment: Plot, nodes: list[int]) -> Plot:
    """Export the nodes of each piece of a line, as `listed` in map.js does."""
    there = [k for k in nodes if k != GAP]
    pieces = np.cumsum([k == GAP for k in nodes], dtype=int)
    found = {
        "time [s]": [moment["t"]] * len(there), "node": there,
        "x [m]": [moment["x"][k] for k in there], "y [m]": [moment["y"][k] for k in there],
    }  # fmt: skip
    if GAP in nodes:
        found["piece"] = [p for p, k in zip(pieces.tolist(), nodes, strict=True) if k != GAP]
    return exported.columns(found)


def _nodes(
    moment: Plot, nodes: list[int], name: str, said: list[str], fill: list[str], ink: str, *, small: bool
) -> Plot:  # fmt: skip
    size, letters = (15, 9) if small else (19, 11)
    return {
        **_drawn(moment, nodes), "mode": "markers+text", "showlegend": False, "name": name,
        **_listed(moment, nodes),
        "marker": {"size": size, "color": fill, "line": {"color": INK, "width": 1.2}},
        "text": [str(k) for k in nodes], "textfont": {"size": letters, "color": ink},
        "customdata": said, "hovertemplate": "%{customdata}<br>%{x} m, %{y} m<extra></extra>",
    }  # fmt: skip


def _span(values: Floats) -> list[float]:
    low, high = float(values.min()), float(values.max())
    pad = 0.06 * max(high - low, 1.0)
    return [low - pad, high + pad]


def _cursor(t: float) -> Plot:
    return {"type": "line", "x0": t, "x1": t, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": INK, "width": 1.5}}  # fmt: skip


def _hops(frame: pd.DataFrame) -> Plot:
    end_s = end_of(frame)
    route = history.routes(frame)
    used = np.array([len(nodes) - 1 if nodes else np.nan for nodes in route.nodes])
    data = []
    for (since_s, hops), name, colour, dash in (
        (history.shortest(frame), "shortest path", COLOURS[2], "dot"),
        ((route.since_s, used), "route in use", ROUTE, "solid"),
    ):
        if len(since_s):
            places = _gapped(np.append(since_s, end_s), np.append(hops, hops[-1]))
            data.append({**line([], [], name, colour, dash), **places})
    return over_time(end_s, data, "hops", yaxis={"dtick": 1})


def _gapped(time_s: Floats, value: Floats) -> Plot:
    """Return the places of a staircase with gaps where there is no value."""
    x, y = steps(time_s, np.nan_to_num(value, nan=-1.0))
    found: list[tuple[float, float | None]] = []
    for k, v in enumerate(y):
        if v < 0 and k and y[k - 1] >= 0:
            found.append((x[k], y[k - 1]))  # the step before a gap has an end
        found.append((x[k], None if v < 0 else v))
    drawn = {"x": [t for t, _ in found], "y": [v for _, v in found]}
    return {**drawn, **exported.instead(x=x, y=["" if v < 0 else v for v in y])}


def _marked(frame: pd.DataFrame, drawn: Plot) -> Plot:
    """The figure with the changes of the route, the time without one, and the time of probing."""
    end_s = end_of(frame)
    route = history.routes(frame)
    until_s = np.append(route.since_s, end_s)[1:]
    changes = [t for t, nodes in list(zip(route.since_s, route.nodes, strict=True))[1:] if nodes]
    none = [(a, b) for a, b, nodes in zip(route.since_s, until_s, route.nodes, strict=True) if not nodes]
    spans = {
        "another route": [(t, t) for t in changes],
        "no route": none,
        "probing or frozen": history.stopped(frame),
    }
    return marked(drawn, spans, MARKS)
