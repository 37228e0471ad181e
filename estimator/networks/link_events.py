"""The trace of the engine of shared links as tables: packets at links and hosts, senders, rates of flows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import NS, Carries, P, Trace
from netcarlo.kernels.senders import NAMES
from netcarlo.kernels.shared.layout import Flow, Shared, SharedRows
from netcarlo.networks.events import SENDER, only, table, whole

OF_SENDER = ("send", "ack", "timeout", "recovery")
DROPPED = ("dropped", "lost")
CAUSES = ("queue", "random", "down")


def protocols(rows: SharedRows, alone: Any) -> list[str]:
    """What each flow of the first row is; the transport `alone` where it is of no kind that can be mixed."""
    name = "" if alone is None else str(alone.protocol)
    if alone is not None and alone.control:
        name += f" with {alone.own_control.name if alone.own_control else alone.control}"
    flows = rows.flows[0, : rows.parameters[0, Shared.FLOWS], Flow.KIND]
    return [NAMES.get(kind, name) for kind in flows.tolist()]


def cable(link: int) -> str:
    """The name of a link whose ends were drawn."""
    return f"cable {link // 2}" + ", back" * (link % 2)


def packets(
    events: NDArray[np.float64], protocol: Sequence[str], links: Sequence[str]
) -> pd.DataFrame:  # fmt: skip
    """The events of shared links in the order of time, with the protocols of flows and the names of links.

    What happens at a host has no link, and only events of a TCP's sender say how it stands.
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
    """Of data that is sent, 1 if it was sent before by the same flow; of those that come and go, since the
    latest one began."""
    begun = (frame["event"] == "begin").groupby(frame["flow"]).cumsum()
    sent = (frame["event"] == "send") & (frame["carries"] == "data")
    which = frame.loc[sent, ["flow", "sequence"]].assign(begun=begun)
    again = which.duplicated() & which["sequence"].notna()
    return again.astype(float).reindex(frame.index)


def _named(names: Sequence[str], number: NDArray[np.int64]) -> "pd.Series[Any]":
    """The names by number; -1 has none."""
    categories = list(dict.fromkeys(names))
    code = np.array([*(categories.index(name) for name in names), -1])
    return pd.Series(pd.Categorical.from_codes(code[number], pd.Index(categories)))


def per_second(rows: SharedRows, frame: pd.DataFrame) -> pd.DataFrame:
    """Payload of each flow that was new at its sink [bit/s], a row for each whole second of the first row."""
    p = rows.parameters[0]
    edges = np.arange(p[P.END] // NS + 1, dtype=float)
    found = carried(frame, int(p[Shared.FLOWS]), edges)
    return pd.DataFrame(found).rename_axis(index="second", columns="flow")


def carried(frame: pd.DataFrame, flows: int, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Payload of each flow that was new at its sink between the edges [s], in bit/s: [bins, flows]."""
    arrived = frame[frame["event"] == "receive"]
    time_s, flow = arrived["time_s"].to_numpy(), arrived["flow"].to_numpy()
    bits = 8.0 * arrived["bytes"].to_numpy(dtype=float)
    bins = np.searchsorted(edges, time_s, side="right") - 1
    inside = (bins >= 0) & (bins < len(edges) - 1)
    count = (len(edges) - 1) * flows
    sums = np.bincount((bins * flows + flow)[inside], bits[inside], minlength=count)
    return np.asarray(sums.reshape(-1, flows) / np.diff(edges)[:, None])
