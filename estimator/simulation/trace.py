"""The trace of one replication: every packet, acknowledgement, timeout and loss, with the sender's state."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netcarlo.errors import InputError
from netcarlo.kernels.adhoc.layout import ManetRows
from netcarlo.kernels.base.layout import (
    EVENT_ACK,
    EVENT_DROP,
    EVENT_HEARTBEAT,
    EVENT_HEARTBEAT_ACK,
    EVENT_HEARTBEAT_RECEIVE,
    EVENT_LINK,
    EVENT_LOST,
    EVENT_PLACE,
    EVENT_RECEIVE,
    EVENT_ROUTE,
    EVENT_SEND,
    EVENT_STATE,
    EVENT_TIMEOUT,
    P,
    Trace,
)
from netcarlo.kernels.wireless.layout import Flow, Radio, WifiRows
from netcarlo.scenario import Scenario
from netcarlo.simulation import workload
from netcarlo.simulation.ensemble import build, own
from netcarlo.simulation.outcomes import Outcomes, outcomes
from netcarlo.simulation.simulate import model_of, refusals

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
WHOLE = ("sequence", "path", "acked")
SENDER = ("cwnd_packets", "ssthresh_packets", "rto_s", "acked")


class Traced(NamedTuple):
    """A replication with its trace."""

    frame: pd.DataFrame
    """A row per event in the order of the simulation; the columns are in docs/guide.md."""
    outcomes: Outcomes
    """The same as `simulate` finds for that replication."""


def trace(scenario: Scenario, *, replication: int = 0, large: bool = False) -> Traced:
    """Run one replication alone, with its trace.

    One that is forecast to be `large` (`workload`) is refused unless it is confirmed.  Raises InputError.
    """
    from netcarlo.kernels.runtime import launch

    if scenario.shared is not None or scenario.fidelity != "packet":
        what = "shared networks" if scenario.shared is not None else f"fidelity {scenario.fidelity}"
        raise InputError(f"there is no trace of {what}; allowed are packets over paths, wireless and adhoc")
    if not large:
        workload.check([workload.forecast(scenario, 1, traced=True)])
    ensemble = build(scenario, first=replication, replications=1)
    with refusals():
        events, integers = launch.trace(model_of(scenario), ensemble.rows, row=0)
    if isinstance(ensemble.rows, WifiRows):
        frame = of_wireless(events)
    elif isinstance(ensemble.rows, ManetRows):
        frame = of_adhoc(events)
    else:
        frame = _named(events).astype(dict.fromkeys(WHOLE, "int64"))
    mine = own(integers[None], ensemble.rows, ensemble.rows)
    return Traced(frame, outcomes(mine, ensemble.rows, ensemble.drawn))


def of_wireless(events: NDArray[np.float64]) -> pd.DataFrame:
    """The events of an 802.11 network: frames by node and flow, packets lost, and the TCP senders.

    What is dropped beside the radio, before or behind it, has no node.
    """
    frame = _named(events).rename(columns={"path": "node"})
    number = events[:, Trace.FLOW].astype(np.int64)
    frame.insert(2, "flow", number >> 1)
    frame.insert(3, "carries", np.where(number & 1, "ack", "data"))
    tcp = frame["rto_s"] > 0
    frame = _only(_only(frame, tcp, SENDER), frame["node"] >= 0, ("node",))
    return _whole(frame, "sequence", "node", "acked")


def per_second(scenario: Scenario, frame: pd.DataFrame, *, replication: int = 0) -> pd.DataFrame | None:
    """The `rates` of the trace of a replication; None where there is no 802.11 network."""
    if scenario.wireless is None:
        return None
    rows = build(scenario, first=replication, replications=1).rows
    line, network = rows.parameters[0], rows.network[0]
    at = [line[Radio.FLOWS_AT] + flow * len(Flow) + Flow.SIZE for flow in range(line[Radio.FLOWS])]
    return rates(frame, [int(network[i]) for i in at], end_s=line[P.END] * 1e-9)


def rates(frame: pd.DataFrame, payload: Sequence[int], *, end_s: float) -> pd.DataFrame:
    """What reached the end of each flow's way for the first time [bit/s], a row for each whole second.

    `frame` is that of an 802.11 network, `payload` is of a packet of each flow [byte].
    """
    data = frame[frame["carries"] == "data"]
    columns = {}
    for flow, size in enumerate(payload):
        first = arrivals(data[data["flow"] == flow])
        count = np.bincount(first["time_s"].to_numpy().astype(np.int64), minlength=int(end_s))
        columns[flow] = count[: int(end_s)] * 8.0 * size
    return pd.DataFrame(columns).rename_axis(index="second", columns="flow")


def arrivals(data: pd.DataFrame) -> pd.DataFrame:
    """Of the events of a flow's data, those where a packet first reaches the end of its way."""
    passed = data.loc[data["event"] == "send", "node"].unique()
    last = data[(data["event"] == "receive") & ~data["node"].isin(passed)]
    return last[~last["sequence"].duplicated()]


def of_adhoc(events: NDArray[np.float64]) -> pd.DataFrame:
    """The events of an ad hoc network: its flow, and nodes, links and routes; NaN where a column has no
    meaning for an event.
    """
    frame = _named(events)
    place, link, route, state = (frame["event"] == kind for kind in ("place", "link", "route", "state"))
    frame.insert(2, "node", frame["path"].where(~(place | link), frame["sequence"]))
    frame.insert(3, "to", frame["path"].where(link))
    for column, source in (
        ("x_m", "cwnd_packets"), ("y_m", "ssthresh_packets"), ("vx_m_per_s", "rto_s"), ("vy_m_per_s", "acked")
    ):  # fmt: skip
        frame[column] = frame[source].where(place)
    frame["on"] = frame["cwnd_packets"].where(link, frame["sequence"].where(state))
    frame = _only(frame, ~(place | link | route | state), SENDER)
    frame = _only(frame, ~(place | link | state), ("sequence",))
    frame = _only(frame, ~state & (frame["node"] >= 0), ("node",))
    return _whole(frame.drop(columns="path"), "node", "to", "sequence", "acked", "on")


def _named(events: NDArray[np.float64]) -> pd.DataFrame:
    frame = pd.DataFrame({name: events[:, column] for column, name in COLUMNS.items()})
    frame["event"] = frame["event"].astype("int64").map(EVENTS)
    return frame


def _only(frame: pd.DataFrame, where: pd.Series, columns: tuple[str, ...]) -> pd.DataFrame:
    """The frame without the values of these columns in other rows."""
    return frame.assign(**{name: frame[name].where(where) for name in columns})


def _whole(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(columns, "Int64"))
