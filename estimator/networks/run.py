"""Fields of every scenario, whatever its network: duration, replications, seed, transport."""

from typing import ClassVar

import numpy as np
from pydantic import Field, SerializeAsAny

from netcarlo.kernels.base.layout import NS
from netcarlo.kernels.base.parameters import P, RowP, UdpP
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Duration, Interval, Precision, Time
from netcarlo.schema.record import Record
from netcarlo.transport.columns import fill
from netcarlo.transport.registry import AnyTransport


class Run(Record):
    """Fields of a scenario other than its network."""

    name: str = "scenario"
    """Name of the scenario in tables and reports. Default: the name of its file."""
    description: str = ""
    """Description for readers of reports."""
    duration: Duration
    """Duration of the run; it starts at time 0."""
    warm_up: Time | None = None
    """Time from which outcomes of wireless and shared networks are counted. Default: 0. The times of
    finite transfers, and of the first and last delivery, always cover the whole run; those of flows with
    `arrivals` cover flows that start after it."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Seed of all random numbers; scenarios with equal seed and `topology` use the same ones."""
    topology: int = Field(default=0, ge=0, lt=2**32)
    """Number of the random network; other numbers use independent random numbers."""
    replications: int = Field(default=1000, ge=1, le=10_000_000)
    """Number of independent replications."""
    precision: Precision | None = None
    """Target half-width of the 95 % confidence interval of the goodput, as a share of its mean;
    replications are added until it is reached. Default: the number of `replications` is fixed."""
    sample_interval: Interval = 0.1
    """Interval at which the congestion window is sampled for `mean_cwnd_packets` and similar outcomes."""
    transport: SerializeAsAny[AnyTransport]
    """Transport: a TCP, SCTP, QUIC or UDP."""

    fills: ClassVar = {
        "duration": (RowP.END, NS),
        "sample_interval": (RowP.SAMPLE, NS),
    }


PACKET = (RowP.DATA, RowP.CHUNK_HEADER, RowP.HEADER)
"""Columns whose sum is the size of a data packet [byte]."""

ROW = (RowP.SEED, RowP.SCENARIO, RowP.REPLICATION, RowP.END, RowP.SAMPLE)
"""Columns that are equal for all flows of a row."""


def row_parameters(run: Run, draws: Draws) -> Ints:
    """Return the parameters [n, len(P)] of rows, except those of the transport."""
    table = np.zeros((len(draws.replications), len(P)), np.int64)
    table[:, RowP.SEED] = run.seed
    table[:, RowP.SCENARIO] = draws.topology
    table[:, RowP.REPLICATION] = draws.replications
    draws.fill(table, run, "")
    return table


def parameters(run: Run, draws: Draws) -> Ints:
    """Return the parameters [n, len(P)] of rows with one transport each."""
    table = row_parameters(run, draws)
    fill(table, run.transport, draws)
    return table


def at_random_moments(table: Ints, draws: Draws) -> None:
    """Move the first UDP datagram of rows with these parameters to a random time in its interval."""
    phase = draws.uniform("transport.phase")
    table[:, RowP.START] += (table[:, UdpP.INTERVAL] * phase).astype(np.int64)


def constants(run: Run, draws: Draws) -> Floats:
    """Return the constants [n, C] of a user's congestion control."""
    values = run.transport.all_constants()
    if not values:
        return np.zeros((len(draws.replications), 0))
    columns = [draws.floats(f"transport.constants.{name}", value) for name, value in values.items()]
    return np.stack(columns, axis=1)


def warm_up(run: Run, draws: Draws) -> Ints:
    """Return the end of the warm-up [n] [ns]."""
    return draws.whole("warm_up", run.warm_up or 0.0, NS)
