"""Trace of an 802.11 network as tables: frames, and goodput of flows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import Trace
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.wireless.layout import Flow, Radio, WifiRows
from netcarlo.networks.events import SENDER, only, table, whole


def frames(events: NDArray[np.float64]) -> pd.DataFrame:
    """Return the events of an 802.11 network: frames by node and flow, lost packets, and TCP senders.

    Packets dropped before or after the radio have no node.
    """
    frame = table(events).rename(columns={"path": "node"})
    number = events[:, Trace.FLOW].astype(np.int64)
    frame.insert(2, "flow", number >> 1)
    frame.insert(3, "carries", np.where(number & 1, "ack", "data"))
    tcp = frame["rto_s"] > 0
    frame = only(only(frame, tcp, SENDER), frame["node"] >= 0, ("node",))
    return whole(frame, "sequence", "node", "acked")


def per_second(rows: WifiRows, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the `rates` for the table of the first row."""
    line, network = rows.parameters[0], rows.network[0]
    at = [line[Radio.FLOWS_AT] + flow * len(Flow) + Flow.SIZE for flow in range(line[Radio.FLOWS])]
    return rates(frame, [int(network[i]) for i in at], end_s=line[RowP.END] * 1e-9)


def rates(frame: pd.DataFrame, payload: Sequence[int], *, end_s: float) -> pd.DataFrame:
    """Return the payload that reaches the end of each flow's route for the first time [bit/s], one row per
    whole second.

    `frame` is the table of an 802.11 network, `payload` the payload per packet of each flow [byte].
    """
    data = frame[frame["carries"] == "data"]
    columns = {}
    for flow, size in enumerate(payload):
        first = arrivals(data[data["flow"] == flow])
        count = np.bincount(first["time_s"].to_numpy().astype(np.int64), minlength=int(end_s))
        columns[flow] = count[: int(end_s)] * 8.0 * size
    return pd.DataFrame(columns).rename_axis(index="second", columns="flow")


def arrivals(data: pd.DataFrame) -> pd.DataFrame:
    """Return the events at which a data packet of a flow first reaches the end of its route."""
    passed = data.loc[data["event"] == "send", "node"].unique()
    last = data[(data["event"] == "receive") & ~data["node"].isin(passed)]
    return last[~last["sequence"].duplicated()]
