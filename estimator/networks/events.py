"""Conversion of trace events to a table."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_BEGIN,
    EVENT_DROP,
    EVENT_ENTER,
    EVENT_HEARTBEAT,
    EVENT_HEARTBEAT_ACK,
    EVENT_HEARTBEAT_RECEIVE,
    EVENT_LEAVE,
    EVENT_LINK,
    EVENT_LOST,
    EVENT_PLACE,
    EVENT_RECEIVE,
    EVENT_RECOVERY,
    EVENT_ROUTE,
    EVENT_SEND,
    EVENT_STATE,
    EVENT_TIMEOUT,
    Trace,
)

EVENTS = {
    EVENT_SEND: "send",
    EVENT_ACK: "ack",
    EVENT_TIMEOUT: "timeout",
    EVENT_RECEIVE: "receive",
    EVENT_LOST: "lost",
    EVENT_DROP: "dropped",
    EVENT_HEARTBEAT: "heartbeat",
    EVENT_HEARTBEAT_RECEIVE: "heartbeat received",
    EVENT_HEARTBEAT_ACK: "heartbeat ack",
    EVENT_PLACE: "place",
    EVENT_LINK: "link",
    EVENT_ROUTE: "route",
    EVENT_STATE: "state",
    EVENT_ENTER: "enter",
    EVENT_LEAVE: "leave",
    EVENT_RECOVERY: "recovery",
    EVENT_BEGIN: "begin",
}

COLUMNS = {
    Trace.TIME: "time_s",
    Trace.EVENT: "event",
    Trace.SEQUENCE: "sequence",
    Trace.PATH: "path",
    Trace.CWND: "cwnd_packets",
    Trace.SSTHRESH: "ssthresh_packets",
    Trace.RTO: "rto_s",
    Trace.ACKED: "acked",
}
SENDER = ("cwnd_packets", "ssthresh_packets", "rto_s", "acked")
"""Columns with the state of a sender."""


def table(events: NDArray[np.float64]) -> pd.DataFrame:
    """Return events, float64[events, len(Trace)], as a table with named columns."""
    frame = pd.DataFrame({name: events[:, column] for column, name in COLUMNS.items()})
    frame["event"] = frame["event"].astype("int64").map(EVENTS)
    return frame


def only(frame: pd.DataFrame, where: pd.Series, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return the table with these columns empty except `where`."""
    return frame.assign(**{name: frame[name].where(where) for name in columns})


def whole(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the table with these columns as nullable integers."""
    return frame.astype(dict.fromkeys(columns, "Int64"))
