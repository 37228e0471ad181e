"""The trace of one replication: every packet, acknowledgement, timeout and loss, with the sender's state."""

from typing import NamedTuple

import pandas as pd

from netcarlo.ensemble import build
from netcarlo.errors import InputError
from netcarlo.kernels.layout import EVENT_ACK, EVENT_LOST, EVENT_RECEIVE, EVENT_SEND, EVENT_TIMEOUT, Trace
from netcarlo.outcomes import Outcomes, outcomes
from netcarlo.scenario import Scenario
from netcarlo.simulate import model_of

EVENTS = {
    EVENT_SEND: "send",
    EVENT_ACK: "ack",
    EVENT_TIMEOUT: "timeout",
    EVENT_RECEIVE: "receive",
    EVENT_LOST: "lost",
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


class Traced(NamedTuple):
    """A replication with its trace."""

    frame: pd.DataFrame
    """A row per event in the order of the simulation, with the columns `COLUMNS`."""
    outcomes: Outcomes
    """The same as `simulate` finds for that replication."""


def trace(scenario: Scenario, *, replication: int = 0) -> Traced:
    """Run one replication alone, with its trace.  Raises InputError."""
    from netcarlo.kernels import launch

    if scenario.wireless is not None:
        raise InputError("wireless networks have no trace; trace a scenario with hops")
    ensemble = build(scenario, first=replication, replications=1)
    events, integers = launch.trace(model_of(scenario), ensemble.rows, row=0)
    frame = pd.DataFrame({name: events[:, column] for column, name in COLUMNS.items()})
    for name in ("sequence", "path", "acked"):
        frame[name] = frame[name].astype("int64")
    frame["event"] = frame["event"].astype("int64").map(EVENTS)
    return Traced(frame, outcomes(integers[None], ensemble.rows, ensemble.drawn))
