"""Transfers of a number of bytes, with a shorter last packet: comparison with the twins of all engines."""

from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.adhoc.layout import ManetRows
from netcarlo.kernels.base.parameters import LinuxP, RowP
from netcarlo.kernels.shared.layout import Flow as SharedFlow
from netcarlo.kernels.shared.layout import SharedOut, SharedRows
from netcarlo.kernels.wireless.layout import Flow, Radio, WifiOut, WifiRows
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins import simulate
from tests.twins.adhoc import run as adhoc
from tests.twins.path.scenarios import as_datagrams
from tests.twins.rows import AnyRows, rows_of
from tests.twins.shared import run as shared
from tests.twins.wireless import run as wireless

pytestmark = pytest.mark.full

MODELS = {
    "tcp_newreno": 12, "tcp_sack": 6, "tcp_vegas": 6, "tcp_linux_cubic": 12, "tcp_linux_bbr": 4, "sctp": 6,
    "udp": 12, "tcp_newreno_mobile": 3, "udp_mobile": 3, "tcp_linux_reno_reordering": 3, "shared_mixed": 6,
    "shared_newreno": 4, "shared_linux_cubic": 3, "shared_sctp": 3, "shared_mixed_delays": 3,
    "shared_newreno_aqm": 3, "wifi_sack": 4, "wifi_udp": 4, "wifi_linux_cubic": 2, "wifi_sctp": 2,
    "manet_newreno": 2, "manet_udp": 2, "manet_sctp": 1, "tcp_linux_cubic_messages": 6,
    "tcp_linux_bbr_messages": 3,
}  # fmt: skip
"""Number of rows of each model."""


def shortened(rows: AnyRows, *, seed: int) -> AnyRows:
    """Return the networks with transfers of 1 to 60 packets, most of which end with a short one."""
    rng = np.random.default_rng(seed)

    def table(flows: Any, limit: int, data: int, short: int) -> None:
        size = np.maximum(flows[..., data], 1)
        flows[..., limit] = rng.integers(1, 61, size.shape)
        flows[..., short] = np.where(rng.random(size.shape) < 0.8, rng.integers(0, size), 0)

    if isinstance(rows, SharedRows):
        flows = rows.flows.copy()
        table(flows, RowP.LIMIT, RowP.DATA, RowP.SHORT)
        flows[flows[:, :, SharedFlow.HOPS] == 0] = 0  # flows that a row does not have
        return rows._replace(flows=flows)
    p = rows.parameters.copy()
    if (p[:, LinuxP.MESSAGES] > 0).any():  # messages already have arbitrary sizes
        return rows
    table(p, RowP.LIMIT, RowP.DATA, RowP.SHORT)
    if isinstance(rows, WifiRows):
        network = rows.network.copy()
        for row in range(len(p)):
            at, count = p[row, Radio.FLOWS_AT], p[row, Radio.FLOWS]
            flows = network[row, at : at + count * len(Flow)].reshape(count, len(Flow))
            flows[:, Flow.LIMIT] = p[row, RowP.LIMIT]
            flows[:, Flow.SHORT] = p[row, RowP.SHORT] * flows[:, Flow.SIZE] // max(p[row, RowP.DATA], 1)
            p[row, RowP.SHORT] = flows[0, Flow.SHORT]
            flows[:, Flow.SHORT] = flows[0, Flow.SHORT]
        return rows._replace(parameters=p, network=network)
    return rows._replace(parameters=p)


def twin(model: str, rows: AnyRows, row: int) -> Any:
    if isinstance(rows, SharedRows):
        return shared.simulate(rows, row=row, alone="sctp" if "sctp" in model else "")
    if isinstance(rows, WifiRows):
        return wireless.simulate(model, rows, row=row)
    if isinstance(rows, ManetRows):
        return adhoc.simulate(model, rows, row=row)
    return simulate(model, rows, row=row)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_kernel_equals_twin(model: str) -> None:
    rows = rows_of(model, MODELS[model], seed=5)
    if model.startswith("udp"):
        rows = as_datagrams(rows, seed=5)  # type: ignore[arg-type]
    rows = shortened(rows, seed=6)
    out = run_as_python(model, rows)
    expected = [twin(model, rows, row) for row in range(len(out))]
    for of in (SharedOut, WifiOut):
        if isinstance(rows, SharedRows | WifiRows):
            out[:, of.EVENTS] = [each[of.EVENTS] for each in expected]  # the twin counts other events
    found = differing(out, lambda row: expected[row], lambda row: f"row {row} of {model}", str)
    assert not found, "\n\n".join(found)
