"""Delays of data over ad hoc networks: the kernels beside their twin, bit for bit."""

import os
from functools import partial

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows
from netcarlo.kernels.base.delays import DelayOut
from netcarlo.kernels.base.layout import P
from netcarlo.kernels.base.rows import split
from netcarlo.kernels.runtime import launch
from tests.kernels.adhoc.test_adhoc import Ints
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins.adhoc.run import simulate
from tests.twins.adhoc.scenarios import as_datagrams, describe
from tests.twins.rows import rows_of

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
COMPILED = "manet_newreno_delays"


def scenarios(name: str, count: int, *, seed: int) -> ManetRows:
    rows = rows_of(name, count, seed=seed)
    assert isinstance(rows, ManetRows)
    return as_datagrams(rows, seed=seed) if "udp" in name else rows


def check(name: str, rows: ManetRows, out: Ints) -> None:
    found = differing(out, lambda row: simulate(name, rows, row=row), partial(describe, rows), str)
    assert not found, "\n\n".join(found)
    counts = split(out, rows)["delays"][:, 0]
    assert (counts[:, DelayOut.PACKETS] == out[:, ManetOut.DELIVERED]).all()
    assert (counts[:, DelayOut.DELAYS :].sum(axis=1) == counts[:, DelayOut.PACKETS]).all()
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM, DelayOut.JITTER:  # so it is worth something
        assert (counts[:, column] > 0).any(), column


def test_kernel_equals_twin() -> None:
    rows = scenarios(COMPILED, 30 * LONG, seed=51)
    out = launch.run(models.model(COMPILED), rows)
    assert (out[:, [ManetOut.BREAKS, ManetOut.SALVAGED, ManetOut.RETRANSMITTED]] > 0).any(axis=0).all()
    check(COMPILED, rows, out)


@pytest.mark.parametrize("name", [
    "manet_tahoe_delays", "manet_reno_delays", "manet_sack_cubic_delays", "manet_vegas_delays",
    "manet_linux26_delays", "manet_probing_delays", "manet_new_probing_delays", "manet_elfn_delays",
    "manet_eln_delays", "manet_linux_reno_delays", "manet_linux_bbr_delays", "manet_sctp_delays",
    "manet_udp_delays",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy's scalars warn of what Philox intends
def test_uncompiled_kernels_equal_their_twin(name: str) -> None:
    rows = scenarios(name, 3 * LONG, seed=52)
    check(name, rows, run_as_python(name, rows))


@pytest.mark.parametrize("name", ["manet_linux_cubic", "manet_sctp", "manet_udp", "manet_new_probing"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_measuring_changes_nothing_else(name: str) -> None:
    asked = scenarios(f"{name}_delays", 3 * LONG, seed=53)
    rows = asked._replace(parameters=asked.parameters.copy())
    rows.parameters[:, P.LATE] = 0
    out, with_delays = run_as_python(name, rows), run_as_python(f"{name}_delays", asked)
    assert (with_delays[:, : out.shape[1]] == out).all()
    assert with_delays.shape[1] == out.shape[1] + DelayOut.COLUMNS
