"""The kernels against the naive simulator: every outcome of every scenario, bit for bit.

`NETCARLO_LONG=N pytest tests/kernels/test_twin.py` runs N times as many scenarios.
"""

import os

import numpy as np
import pytest
from netcarlo.kernels import launch, models
from netcarlo.kernels.layout import Out, Rows

from tests.naive import simulate
from tests.naive.scenarios import describe, sctp_rows, tcp_rows

PROTOCOLS = ["tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_sack", "tcp_vegas", "sctp"]
SCENARIOS = 300 * int(os.environ.get("NETCARLO_LONG", "1"))
EVERY_PROTOCOL_MEETS = [
    Out.RETRANSMITTED, Out.TIMEOUTS, Out.FAST_RETRANSMITS, Out.DROPS_QUEUE, Out.DROPS_RANDOM, Out.DROPS_OUTAGE,
    Out.DESTROYED, Out.ACK_DROPS, Out.RESUME_RX, Out.COMPLETED,
]  # fmt: skip


def scenarios(protocol: str, count: int) -> Rows:
    """The same random scenarios every time, others for each protocol."""
    seed = PROTOCOLS.index(protocol)
    return sctp_rows(count, seed=seed) if protocol == "sctp" else tcp_rows(count, seed=seed)


def differences(protocol: str, rows: Rows, *, at_most: int = 3) -> list[str]:
    """Descriptions of the first scenarios in which kernel and twin differ."""
    outcomes = launch.run(models.model(protocol), rows)
    found = []
    for row in range(len(rows.parameters)):
        expected = simulate(protocol, rows, row=row)
        wrong = np.flatnonzero(outcomes[row] != expected)
        if wrong.size:
            columns = ", ".join(f"{Out(c).name} {outcomes[row, c]} not {expected[c]}" for c in wrong)
            found.append(f"{protocol} row {row}: the kernel has {columns}\n{describe(rows, row)}")
        if len(found) == at_most:
            break
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_kernel_equals_twin(protocol: str) -> None:
    found = differences(protocol, scenarios(protocol, SCENARIOS))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_scenarios_visit_the_corners(protocol: str) -> None:
    """The comparison above is worth something: at least one scenario in twenty meets each event."""
    outcomes = launch.run(models.model(protocol), scenarios(protocol, 300))
    met = (outcomes > 0).mean(axis=0)
    assert {column.name: met[column] for column in EVERY_PROTOCOL_MEETS if met[column] < 0.05} == {}
