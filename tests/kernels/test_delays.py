"""Delays of data of each sender in each network: bitwise comparison of uncompiled kernels with twins.

`NETCARLO_LONG=N pytest tests/kernels/test_delays.py` compares N times as many networks.
"""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut, ManetRows
from netcarlo.kernels.base import delays as meter
from netcarlo.kernels.base.delays import DelayOut, DelayState
from netcarlo.kernels.base.layout import Failover, Out, Rows
from netcarlo.kernels.base.parameters import RowP
from netcarlo.kernels.base.rows import split, trim
from netcarlo.kernels.shared.layout import SharedOut, SharedRows
from netcarlo.networks.shared.delays import table as of_shared
from netcarlo.networks.wireless.delays import table as of_wireless
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins.adhoc.scenarios import as_datagrams as manet_datagrams
from tests.twins.any_model import simulate
from tests.twins.path.scenarios import as_datagrams
from tests.twins.rows import AnyRows, rows_of

LONG = int(os.environ.get("NETCARLO_LONG", "1"))
NAMES = {
    (8, 42): (
        "tcp_sack_varying_delays", "tcp_reno_delays_reordering", "tcp_linux26_mobile_delays",
        "tcp_vegas_delays", "tcp_linux_cubic_messages_tuned_delays", "tcp_linux_bbr_mobile_delays",
        "tcp_linux_reno_delays", "sctp_delays", "sctp_mobile_delays", "sctp_delays_reordering", "udp_delays",
        "udp_mobile_delays", "udp_delays_reordering",
    ),
    (3, 32): (
        "shared_sctp_delays", "shared_mixed_linux_delays", "shared_mixed_linux_arrivals_delays",
        "shared_linux_bbr_delays", "shared_newreno_aqm_delays", "shared_newreno_varying_delays",
        "shared_mixed_arrivals_delays", "shared_vegas_delays",
    ),
    (6, 32): (
        "wifi_udp_delays", "wifi_sctp_varying_delays", "wifi_linux_bbr_delays",
        "wifi_mixed_linux_varying_delays",
    ),
    (2, 52): (
        "manet_tahoe_delays", "manet_reno_delays", "manet_sack_cubic_delays", "manet_vegas_delays",
        "manet_linux26_delays", "manet_probing_delays", "manet_new_probing_delays", "manet_elfn_delays",
        "manet_eln_delays", "manet_linux_reno_delays", "manet_linux_bbr_delays", "manet_sctp_delays",
        "manet_udp_delays",
    ),
}  # fmt: skip
"""Models with the number of compared networks and their seed."""
ROWS = {name: count_and_seed for count_and_seed, names in NAMES.items() for name in names}
pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
Ints = NDArray[np.int64]


def scenarios(name: str, count: int, *, seed: int) -> Any:
    """Return random rows of a model with measured delays."""
    rows: AnyRows = rows_of(name, count, seed=seed)
    if "udp" in name and isinstance(rows, ManetRows):
        return manet_datagrams(rows, seed=seed)
    return as_datagrams(rows, seed=seed) if "udp" in name and isinstance(rows, Rows) else rows


def delays(rows: Any, out: Ints) -> Ints:
    """Return the outcomes by class [n, classes, DelayOut.COLUMNS]."""
    if isinstance(rows, Rows | ManetRows):
        return split(out, rows)["delays"]
    return of_shared(out, rows) if isinstance(rows, SharedRows) else of_wireless(trim(out, rows, rows), rows)


def check_one_flow(rows: Rows | ManetRows, out: Ints, counts: Ints) -> None:
    """Check that every delivered packet is counted once, and that the counts are not all zero."""
    delivered = Out.DELIVERED if isinstance(rows, Rows) else ManetOut.DELIVERED
    assert (counts[:, DelayOut.PACKETS] == out[:, delivered]).all()
    assert (counts[:, DelayOut.DELAYS :].sum(axis=1) == counts[:, DelayOut.PACKETS]).all()
    for column in DelayOut.PACKETS, DelayOut.LATE, DelayOut.SUM, DelayOut.JITTER:
        assert (counts[:, column] > 0).any(), column


@pytest.mark.full
@pytest.mark.parametrize("name", ROWS)
def test_uncompiled_kernel_equals_twin(name: str) -> None:
    count, seed = ROWS[name]
    rows = scenarios(name, count * LONG, seed=seed)
    out = run_as_python(name, rows)
    if isinstance(rows, SharedRows):
        out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    found = differing(out, lambda row: simulate(name, rows, row=row), str, str)
    assert not found, "\n\n".join(found)
    counts = delays(rows, out)
    if isinstance(rows, Rows | ManetRows):
        check_one_flow(rows, out, counts[:, 0])
    assert counts[:, :, DelayOut.PACKETS].sum() > 50


@pytest.mark.full
@pytest.mark.parametrize(("name", "count"), [
    ("tcp_newreno", 12), ("tcp_linux_cubic", 12), ("sctp", 12), ("udp_mobile", 12),
    ("manet_linux_cubic", 3), ("manet_sctp", 3), ("manet_udp", 3), ("manet_new_probing", 3),
])  # fmt: skip
def test_measuring_changes_nothing_else(name: str, count: int) -> None:
    asked = scenarios(f"{name}_delays", count * LONG, seed=43)
    rows = asked._replace(parameters=asked.parameters.copy())
    rows.parameters[:, RowP.LATE] = 0
    out, with_delays = run_as_python(name, rows), run_as_python(f"{name}_delays", asked)
    behind = out.shape[1] - (Failover.COLUMNS if name == "sctp" else 0)  # SCTP's failover comes last
    assert (with_delays[:, :behind] == out[:, :behind]).all()
    assert (with_delays[:, behind + DelayOut.COLUMNS :] == out[:, behind:]).all()
    assert with_delays.shape[1] == out.shape[1] + DelayOut.COLUMNS


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40), st.integers(0, 10**9), st.integers(0, 39))
def test_delays_of_a_flow_are_those_of_rfc_3550(of: list[int], bound: int, before: int) -> None:
    """Check counts, sums and jitter (RFC 3550, appendix A.8) packet by packet, without the warm-up."""
    state, at = 0, int(DelayState.SIZE)
    m = np.zeros(at + DelayOut.COLUMNS, np.int64)
    meter.prepare(m, state)
    jitter, jitters = 0, 0
    for k, delay in enumerate(of):
        meter.arrived(m, at, state, np.int64(delay), bound, k >= before)
        if k > 0:
            jitter += abs(delay - of[k - 1]) - ((jitter + 8) >> 4)
        jitters += jitter >> 4 if k >= before else 0
    meter.finish(m, at)
    counted = of[before:]
    assert m[at + DelayOut.PACKETS] == len(counted) == m[at + DelayOut.DELAYS :].sum()
    assert m[at + DelayOut.LATE] == sum(delay > bound for delay in counted)
    assert (m[at + DelayOut.SUM], m[at + DelayOut.JITTER]) == (sum(counted), jitters)


def test_all_of_them_measure_delays() -> None:
    assert all(models.model(name).address.delays for name in ROWS)
