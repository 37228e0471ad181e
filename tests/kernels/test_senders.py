"""Less common senders: comparison with their twins in every network that supports them.

A fault that affects one path in ten is detected by 30 paths with a probability of 96 %. Networks simulate
more packets, so fewer of them are needed. `test_every_pair` has other scenarios of most of these models.

Kernels run as Python. `NETCARLO_LONG=N pytest tests/kernels/test_senders.py` compares N times as many
networks.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.shared.layout import FlowOut, SharedOut, SharedRows
from netcarlo.kernels.wireless.layout import FlowOut as WifiFlowOut
from netcarlo.kernels.wireless.layout import WifiOut
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins import simulate
from tests.twins.adhoc.run import simulate as simulate_adhoc
from tests.twins.adhoc.scenarios import linux_manet_rows, manet_rows, sctp_manet_rows
from tests.twins.path.mobility.scenarios import mobile_rows, sctp_mobile_rows
from tests.twins.path.scenarios import as_linux, linux_rows, tcp_rows
from tests.twins.shared.run import simulate as simulate_shared
from tests.twins.shared.scenarios import all_alone, all_sctp, managed_rows
from tests.twins.wireless.run import simulate as simulate_wireless
from tests.twins.wireless.scenarios import all_linux as all_linux_over_wireless
from tests.twins.wireless.scenarios import all_sctp as all_sctp_over_wireless
from tests.twins.wireless.scenarios import wifi_rows

pytestmark = pytest.mark.full

LONG = int(os.environ.get("NETCARLO_LONG", "1"))

Twin = Callable[[str, Any, int], NDArray[np.int64]]


def of_shared(model: str, rows: SharedRows, row: int) -> NDArray[np.int64]:
    return simulate_shared(rows, row=row, alone=model.removeprefix("shared_").removesuffix("_aqm"))


class Case(NamedTuple):
    """Networks of a kind, their twin, and the outcome column that counts packets sent."""

    rows: Callable[..., Any]
    twin: Twin
    sent: int
    count: int


PATHS = Case(tcp_rows, lambda model, rows, row: simulate(model, rows, row=row), Out.SENT, 30)
MOBILE = Case(mobile_rows, PATHS.twin, Out.SENT, 20)
LINUX = PATHS._replace(rows=linux_rows)
LINUX_MOBILE = MOBILE._replace(rows=lambda count, seed: as_linux(mobile_rows(count, seed=seed), seed=seed))
SCTP_MOBILE = MOBILE._replace(rows=sctp_mobile_rows)
WIRELESS = Case(
    lambda count, seed: wifi_rows(count, seed=seed, tcp=True),
    lambda model, rows, row: simulate_wireless(model, rows, row=row),
    WifiOut.COLUMNS + WifiFlowOut.SENT, 6,
)  # fmt: skip
WIRELESS_LINUX = WIRELESS._replace(rows=all_linux_over_wireless)
WIRELESS_SCTP = WIRELESS._replace(rows=all_sctp_over_wireless, count=20)
ADHOC = Case(manet_rows, lambda model, rows, row: simulate_adhoc(model, rows, row=row), ManetOut.SENT, 4)
ADHOC_LINUX = ADHOC._replace(rows=linux_manet_rows, count=5)
ADHOC_SCTP = ADHOC._replace(rows=sctp_manet_rows, count=15)
SHARED = Case(all_alone, of_shared, SharedOut.COLUMNS + FlowOut.SENT, 3)
SHARED_SCTP = SHARED._replace(rows=all_sctp, count=16)
AQM = SHARED._replace(rows=lambda count, seed: managed_rows(all_alone(count, seed=seed), seed=seed))
AQM_SCTP = SHARED_SCTP._replace(rows=lambda count, seed: managed_rows(all_sctp(count, seed=seed), seed=seed))

CASES = {
    "tcp_probing": PATHS,
    "tcp_new_probing": PATHS,
    "tcp_probing_bic": PATHS,
    "tcp_probing_mobile": MOBILE,
    "tcp_new_probing_mobile": MOBILE,
    "wifi_probing": WIRELESS,
    "wifi_new_probing": WIRELESS,
    "tcp_linux_reno": LINUX,
    "tcp_linux_cubic": LINUX,
    "tcp_linux_reno_mobile": LINUX_MOBILE,
    "tcp_linux_cubic_mobile": LINUX_MOBILE,
    "tcp_linux_bbr": LINUX,
    "tcp_linux_bbr_mobile": LINUX_MOBILE,
    "tcp_linux_bbr3_mobile": LINUX_MOBILE,
    "wifi_linux26": WIRELESS,
    "wifi_linux26_cubic": WIRELESS,
    "manet_linux26": ADHOC,
    "manet_linux26_westwood": ADHOC,
    "shared_probing": SHARED,
    "shared_new_probing": SHARED,
    "shared_linux26": SHARED,
    "shared_linux26_bic": SHARED,
    "shared_newreno_cubic": SHARED,
    "sctp_mobile": SCTP_MOBILE,
    "shared_sctp": SHARED_SCTP,
    "wifi_sctp": WIRELESS_SCTP,
    "wifi_linux_reno": WIRELESS_LINUX,
    "wifi_linux_cubic": WIRELESS_LINUX,
    "wifi_linux_bbr": WIRELESS_LINUX,
    "wifi_linux_bbr3": WIRELESS_LINUX,
    "manet_sctp": ADHOC_SCTP,
    "manet_linux_reno": ADHOC_LINUX,
    "manet_linux_cubic": ADHOC_LINUX,
    "manet_linux_bbr": ADHOC_LINUX,
    "manet_linux_bbr3": ADHOC_LINUX,
    "shared_probing_aqm": AQM,
    "shared_linux26_cubic_aqm": AQM,
    "shared_sctp_aqm": AQM_SCTP,
}


@pytest.mark.parametrize("model", CASES)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(model: str) -> None:
    case = CASES[model]
    rows = case.rows(case.count * LONG, seed=[*CASES].index(model))
    out = run_as_python(model, rows)
    assert (out[:, case.sent] > 0).any()
    if model.startswith("shared"):
        out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    found = differing(out, lambda row: case.twin(model, rows, row), lambda row: f"row {row}", str)
    assert not found, "\n\n".join(found)
