"""Trace of an ad hoc network as a table."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.networks.events import SENDER, only, table, whole


def moves(events: NDArray[np.float64]) -> pd.DataFrame:
    """Return the events of an ad hoc network: its flow, nodes, links and routes; NaN in columns that do
    not apply."""
    frame = table(events)
    place, link, route, state = (frame["event"] == kind for kind in ("place", "link", "route", "state"))
    frame.insert(2, "node", frame["path"].where(~(place | link), frame["sequence"]))
    frame.insert(3, "to", frame["path"].where(link))
    for column, source in (
        ("x_m", "cwnd_packets"), ("y_m", "ssthresh_packets"), ("vx_m_per_s", "rto_s"), ("vy_m_per_s", "acked")
    ):  # fmt: skip
        frame[column] = frame[source].where(place)
    frame["on"] = frame["cwnd_packets"].where(link, frame["sequence"].where(state))
    frame = only(frame, ~(place | link | route | state), SENDER)
    frame = only(frame, ~(place | link | state), ("sequence",))
    frame = only(frame, ~state & (frame["node"] >= 0), ("node",))
    return whole(frame.drop(columns="path"), "node", "to", "sequence", "acked", "on")
