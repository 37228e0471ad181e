"""The kernels against the naive simulator: every outcome of every scenario, bit for bit.

`NETCARLO_LONG=N pytest tests/kernels/test_twin.py` runs N times as many scenarios.
"""

import os

import numpy as np
import pytest
from netcarlo.kernels import launch, models
from netcarlo.kernels.layout import Out, Rows

from tests.naive import simulate
from tests.naive.scenarios import describe, tcp_rows

TCPS = ["tcp_tahoe", "tcp_reno", "tcp_newreno", "tcp_sack", "tcp_vegas"]
SCENARIOS = 300 * int(os.environ.get("NETCARLO_LONG", "1"))


def differences(protocol: str, rows: Rows, *, at_most: int = 3) -> list[str]:
    """Descriptions of the first scenarios in which kernel and twin differ."""
    outcomes = launch.run(models.model(protocol), rows, target="cpu")
    found = []
    for row in range(len(rows.parameters)):
        expected = simulate(protocol, rows, row=row)
        wrong = np.flatnonzero(outcomes[row] != expected)
        if wrong.size:
            columns = ", ".join(f"{Out(c).name} {outcomes[row, c]} not {expected[c]}" for c in wrong)
            found.append(f"{protocol} row {row}: kernel has {columns}\n{describe(rows, row)}")
        if len(found) == at_most:
            break
    return found


@pytest.mark.parametrize("protocol", TCPS)
def test_tcp_equals_its_twin(protocol: str) -> None:
    rows = tcp_rows(SCENARIOS, seed=TCPS.index(protocol))
    assert differences(protocol, rows) == []
