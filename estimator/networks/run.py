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
from netcarlo.transport.tcp import AnyTransport, Tcp


class Run(Record):
    """The fields of a scenario before those of its network."""

    name: str = "scenario"
    description: str = ""
    duration: Duration
    warm_up: Time | None = None
    seed: int = Field(default=1, ge=0, lt=2**63)
    topology: int = Field(default=0, ge=0, lt=2**32)
    replications: int = Field(default=1000, ge=1, le=10_000_000)
    precision: Precision | None = None
    sample_interval: Interval = 0.1
    transport: SerializeAsAny[AnyTransport]

    fills: ClassVar = {
        "duration": (P.END, NS),
        "sample_interval": (P.SAMPLE, NS),
    }


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
    values = run.transport.all_constants() if isinstance(run.transport, Tcp) else {}
    if not values:
        return np.zeros((len(draws.replications), 0))
    columns = [draws.floats(f"transport.constants.{name}", value) for name, value in values.items()]
    return np.stack(columns, axis=1)


def warm_up(run: Run, draws: Draws) -> Ints:
    """When the window of measurement begins [n] [ns]."""
    return draws.whole("warm_up", run.warm_up or 0.0, NS)
