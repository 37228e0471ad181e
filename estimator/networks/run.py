"""What every scenario says, whatever its network: how long, how often, with which transport."""

from typing import ClassVar

import numpy as np
from pydantic import Field, SerializeAsAny

from netcarlo.kernels.base.layout import NS, P
from netcarlo.numerics.arrays import Floats, Ints
from netcarlo.schema.draws import Draws
from netcarlo.schema.quantity import Duration, Interval, Precision, Time
from netcarlo.schema.record import Record
from netcarlo.transport.columns import fill
from netcarlo.transport.tcp import AnyTransport


class Run(Record):
    """The fields of a scenario before those of its network."""

    name: str = "scenario"
    """What it is called in tables and reports; the name of its file unless given."""
    description: str = ""
    """A sentence for readers of reports."""
    duration: Duration
    """When the observation ends; time 0 is its beginning."""
    warm_up: Time | None = None
    """Time from which outcomes of wireless and shared networks count; 0 unless given. Only the times of
    finite transfers, and of the first and last delivery, cover the whole run, as their descriptions say."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Of all random numbers: scenarios of one seed and `topology` meet the same ones."""
    topology: int = Field(default=0, ge=0, lt=2**32)
    """Number of the drawn network; others meet independent random numbers."""
    replications: int = Field(default=1000, ge=1, le=10_000_000)
    """How many independent runs."""
    precision: Precision | None = None
    """Replications are added until the half-width of the goodput's 95 % interval is this share of its
    mean."""
    sample_interval: Interval = 0.1
    """How often the congestion window is sampled for `mean_cwnd_packets` and its like."""
    transport: SerializeAsAny[AnyTransport]
    """What is sent, and how: a TCP, SCTP or UDP."""

    fills: ClassVar = {
        "duration": (P.END, NS),
        "sample_interval": (P.SAMPLE, NS),
    }


ROW = (P.SEED, P.SCENARIO, P.REPLICATION, P.END, P.SAMPLE)
"""Columns that all flows of a row have in common."""


def row_parameters(run: Run, draws: Draws) -> Ints:
    """Parameters [n, len(P)] of rows but those of the transport."""
    table = np.zeros((len(draws.replications), len(P)), np.int64)
    table[:, P.SEED] = run.seed
    table[:, P.SCENARIO] = draws.topology
    table[:, P.REPLICATION] = draws.replications
    draws.fill(table, run, "")
    return table


def parameters(run: Run, draws: Draws) -> Ints:
    """Parameters [n, len(P)] of rows with one transport each."""
    table = row_parameters(run, draws)
    fill(table, run.transport, draws)
    return table


def at_random_moments(table: Ints, draws: Draws) -> None:
    """The first datagram of UDP with these parameters comes at a random moment of its interval."""
    phase = draws.uniform("transport.phase")
    table[:, P.START] += (table[:, P.INTERVAL] * phase).astype(np.int64)


def constants(run: Run, draws: Draws) -> Floats:
    """The constants [n, C] of a user's congestion control."""
    values = run.transport.all_constants()
    if not values:
        return np.zeros((len(draws.replications), 0))
    columns = [draws.floats(f"transport.constants.{name}", value) for name, value in values.items()]
    return np.stack(columns, axis=1)


def warm_up(run: Run, draws: Draws) -> Ints:
    """When the window of measurement begins [n] [ns]."""
    return draws.whole("warm_up", run.warm_up or 0.0, NS)
