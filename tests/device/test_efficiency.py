"""Warps stay together: a change of an event loop that sets their lanes apart is seen without a device."""

from pathlib import Path

import pytest

from tests.device.lockstep import LANES
from tests.device.warps import run, scenario

LEAST = {"tcp_newreno": 0.65, "fluid": 0.7, "sctp": 0.3}
"""By model, over a path with 0.1 % of loss (`fluid`: of the first random network).

A lane that leaves the others for good leaves 0.05.  SCTP's sender looks through all chunks that are out
whenever a SACK reports a gap, alone.
"""


@pytest.mark.needs("numba_cuda", "gcc")
@pytest.mark.parametrize("name", LEAST)
def test_lanes_stay_together(name: str, tmp_path: Path) -> None:
    rows = scenario(name, 2 * LANES, seconds=2.0, window=64, loss=0.001)
    ran = run(name, rows, tmp_path, resident=2)
    assert ran.equal.all() and ran.packets > 1000
    assert ran.efficiency > LEAST[name]


@pytest.mark.needs("numba_cuda", "gcc")
def test_equal_rows_never_part(tmp_path: Path) -> None:
    rows = scenario("tcp_newreno", LANES, seconds=1.0, window=64, loss=0.0)
    assert run("tcp_newreno", rows, tmp_path, resident=1).efficiency > 0.999
