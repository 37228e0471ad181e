"""Kernels of mobile hosts: bitwise comparison of all outcomes with the naive simulator.

`NETCARLO_LONG=N pytest tests/kernels/path/test_mobile_twin.py` runs N times as many scenarios.
"""

import os

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.base.layout import FHMIPV6, FMIPV6, HIMIPV6, HMIPV6, MIPV6, S_BINDING, S_MIP, Out
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.kernels.runtime import launch
from tests.twins import simulate
from tests.twins.path.mobility.scenarios import mobile_rows
from tests.twins.path.scenarios import describe
from tests.twins.rows import rows_of

SENDERS = ["tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_sack", "tcp_vegas", "sctp"]
HANDOVERS = [MIPV6, HMIPV6, FMIPV6, S_BINDING, S_MIP, FHMIPV6, HIMIPV6]
SCENARIOS = 210 * int(os.environ.get("NETCARLO_LONG", "1"))

ALL_MEET = [
    Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.DROPS_QUEUE, Out.DROPS_RANDOM,
    Out.DROPS_OUTAGE, Out.ACK_DROPS, Out.RESUME_RX, Out.COMPLETED, Out.DROPS_HANDOVER, Out.SILENCE,
    Out.HANDOVERS, Out.FALSE_ALARMS, Out.IN_FLIGHT,
]  # fmt: skip
BUFFERS = [Out.BUFFERED, Out.DROPS_BUFFER]
COPIES = [Out.COPIES, Out.DISCARDED]
MEETS = {
    MIPV6: [],
    HMIPV6: [],
    FMIPV6: [*BUFFERS, Out.TUNNELLED, Out.REORDERED, Out.PREPARED],
    S_BINDING: [*BUFFERS, *COPIES, Out.TUNNELLED, Out.REORDERED, Out.PREPARED],
    S_MIP: [*BUFFERS, *COPIES, Out.TUNNELLED, Out.REORDERED, Out.PREPARED],
    FHMIPV6: [*BUFFERS, Out.TUNNELLED, Out.PREPARED],
    HIMIPV6: [*BUFFERS, *COPIES, Out.TUNNELLED, Out.REORDERED, Out.PREPARED],
}
"""Further events by handover protocol; a protocol never causes the events of the other lists."""


@pytest.mark.full
@pytest.mark.parametrize("sender", SENDERS)
def test_kernel_equals_twin(sender: str) -> None:
    name = f"{sender}_mobile"
    rows = rows_of(name, SCENARIOS, seed=SENDERS.index(sender))
    outcomes = launch.run(models.model(name), rows)
    found: list[str] = []
    for row in range(SCENARIOS):
        expected = simulate(name, rows, row=row)
        wrong = np.flatnonzero(outcomes[row] != expected)
        if wrong.size and len(found) < 3:
            columns = ", ".join(f"{Out(c).name} {outcomes[row, c]} not {expected[c]}" for c in wrong)
            found.append(f"{name} row {row}: the kernel has {columns}\n{describe(rows, row)}")
    assert not found, "\n\n".join(found)


def outcomes_of(protocol: int) -> NDArray[np.int64]:
    rows = mobile_rows(500, seed=9, protocol=protocol)
    assert (rows.parameters[:, MobileP.HANDOVER] == protocol).all()
    return launch.run(models.model("tcp_newreno_mobile"), rows)


@pytest.mark.full
@pytest.mark.parametrize("protocol", HANDOVERS)
def test_scenarios_visit_the_corners(protocol: int) -> None:
    """Check that each event occurs in at least one of a hundred scenarios of the comparison above."""
    met = (outcomes_of(protocol) > 0).mean(axis=0)
    assert {c.name: met[c] for c in [*ALL_MEET, *MEETS[protocol]] if met[c] < 0.01} == {}
    others = {column for columns in MEETS.values() for column in columns} - set(MEETS[protocol])
    never = others - {Out.REORDERED}  # a longer path to the old router than to the new one reorders too
    assert {c.name: met[c] for c in never if met[c] > 0} == {}


@pytest.mark.full
@pytest.mark.parametrize("protocol", HANDOVERS[2:])
def test_handovers_are_prepared_and_unprepared(protocol: int) -> None:
    out = outcomes_of(protocol)
    unprepared = out[:, Out.HANDOVERS] - out[:, Out.PREPARED]
    assert ((unprepared > 0) & (out[:, Out.PREPARED] > 0)).mean() > 0.1
