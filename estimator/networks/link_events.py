"""Trace of the engine of shared links as tables: packets at links and hosts, sender state, rates of flows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import NS, Carries, Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.senders import NAMES
from netcarlo.kernels.shared.layout import Flow, Shared, SharedRows
from netcarlo.networks.events import SENDER, only, table, whole

OF_SENDER = ("send", "ack", "timeout", "recovery")
DROPPED = ("dropped", "lost")
CAUSES = ("queue", "random", "down")


def protocols(rows: SharedRows, alone: Any) -> list[str]:
    """Return the protocol of each flow of the first row; that of the transport `alone` for types that
    cannot be mixed."""
    name = "" if alone is None else str(alone.protocol)
    if alone is not None and alone.control:
        name += f" with {alone.own_control.name if alone.own_control else alone.control}"
    flows = rows.flows[0, : rows.parameters[0, Shared.FLOWS], Flow.KIND]
    return [NAMES.get(kind, name) for kind in flows.tolist()]


def cable(link: int) -> str:
    """Return the name of a link between random routers."""
    return f"cable {link // 2}" + ", back" * (link % 2)


def packets(
    events: NDArray[np.float64], protocol: Sequence[str], links: Sequence[str]
) -> pd.DataFrame:  # fmt: skip
    """Return the events of shared links in order of time, with protocols of flows and names of links.

    Events at a host have no link, and only events of a TCP sender have sender state.
    """
    events = events[np.argsort(events[:, Trace.TIME], kind="stable")]
    frame = table(events).drop(columns="path")
    flow, carries = np.divmod(events[:, Trace.FLOW].astype(np.int64), 4)
    link = events[:, Trace.PATH].astype(np.int64)
    at_link = pd.Series(link >= 0)
    found = frame["event"]
    sender = found.isin(OF_SENDER) & pd.Series(np.array(protocol)[flow] != "udp")
    gone, size = found.isin(DROPPED), pd.Series(events[:, Trace.BYTES])
    frame.insert(2, "flow", flow)
    frame.insert(3, "protocol", _named(protocol, flow))
    frame.insert(4, "carries", _named([each.name.lower() for each in Carries], carries))
    frame.insert(5, "link", pd.Series(link).where(at_link))
    frame.insert(6, "link_name", _named(links, link))
    frame.insert(8, "bytes", size.where(at_link | found.isin(("send", "receive", "begin"))))
    frame["rtt_s"] = pd.Series(events[:, Trace.RTT]).where(sender & (events[:, Trace.RTT] > 0))
    frame["again"] = _again(frame)
    cause = np.where(events[:, Trace.DOWN] > 0, 2, found == "lost")
    frame["cause"] = _named(CAUSES, np.where(gone, cause, -1))
    frame = only(frame, sender, SENDER)
    frame = only(frame, found != "begin", ("sequence",))
    return whole(frame, "sequence", "link", "bytes", "acked", "again")


def _again(frame: pd.DataFrame) -> pd.Series:
    """Return 1 for data packets that the flow has sent before, else 0; for arriving flows, since the
    latest one began."""
    begun = (frame["event"] == "begin").groupby(frame["flow"]).cumsum()
    sent = (frame["event"] == "send") & (frame["carries"] == "data")
    which = frame.loc[sent, ["flow", "sequence"]].assign(begun=begun)
    again = which.duplicated() & which["sequence"].notna()
    return again.astype(float).reindex(frame.index)


def _named(names: Sequence[str], number: NDArray[np.int64]) -> "pd.Series[Any]":
    """Return names by number as a categorical series; -1 has no name."""
    categories = list(dict.fromkeys(names))
    code = np.array([*(categories.index(name) for name in names), -1])
    return pd.Series(pd.Categorical.from_codes(code[number], pd.Index(categories)))


def per_second(rows: SharedRows, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the new payload of each flow at its receiver [bit/s], one row per whole second of the first
    row."""
    p = rows.parameters[0]
    edges = np.arange(p[RowP.END] // NS + 1, dtype=float)
    found = carried(frame, int(p[Shared.FLOWS]), edges)
    return pd.DataFrame(found).rename_axis(index="second", columns="flow")


def carried(frame: pd.DataFrame, flows: int, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the new payload of each flow at its receiver between the edges [s], in bit/s: [bins, flows]."""
    arrived = frame[frame["event"] == "receive"]
    time_s, flow = arrived["time_s"].to_numpy(), arrived["flow"].to_numpy()
    bits = 8.0 * arrived["bytes"].to_numpy(dtype=float)
    bins = np.searchsorted(edges, time_s, side="right") - 1
    inside = (bins >= 0) & (bins < len(edges) - 1)
    count = (len(edges) - 1) * flows
    sums = np.bincount((bins * flows + flow)[inside], bits[inside], minlength=count)
    return np.asarray(sums.reshape(-1, flows) / np.diff(edges)[:, None])
