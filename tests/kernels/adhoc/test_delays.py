"""Delays of data over ad hoc networks: bitwise comparison of a compiled kernel with its twin."""

import os
from functools import partial

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.runtime import launch
from tests.kernels.beside_twin import differing
from tests.kernels.test_delays import check_one_flow, delays, scenarios
from tests.twins.adhoc.run import simulate
from tests.twins.adhoc.scenarios import describe

pytestmark = pytest.mark.full

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
COMPILED = "manet_newreno_delays"


def test_kernel_equals_twin() -> None:
    rows = scenarios(COMPILED, 30 * LONG, seed=51)
    out = launch.run(models.model(COMPILED), rows)
    assert (out[:, [ManetOut.BREAKS, ManetOut.SALVAGED, ManetOut.RETRANSMITTED]] > 0).any(axis=0).all()
    found = differing(out, lambda row: simulate(COMPILED, rows, row=row), partial(describe, rows), str)
    assert not found, "\n\n".join(found)
    check_one_flow(rows, out, delays(rows, out)[:, 0])
