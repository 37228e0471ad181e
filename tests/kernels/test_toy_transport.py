"""A new transport, stop-and-wait, runs on the hosts of every network that has them, and equals its twin."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from netcarlo.kernels.adhoc import model as adhoc_model
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.address import Address
from netcarlo.kernels.base.model import Model
from netcarlo.kernels.wireless import model as wireless_model
from netcarlo.kernels.wireless.layout import FlowOut, WifiOut
from tests.kernels.beside_twin import differing, run_as_python
from tests.toy_transport import endpoint, twin
from tests.twins.adhoc import run as adhoc_run
from tests.twins.adhoc import world as adhoc_world
from tests.twins.rows import rows_of
from tests.twins.wireless import run as wireless_run
from tests.twins.wireless import world as wireless_world

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # NumPy's scalars warn of what Philox intends


def model(family: str) -> Model:
    """Return the model of a kind of network with stop-and-wait."""
    of = {"adhoc": adhoc_model.model, "wireless": wireless_model.model}[family]
    return of(Address(family, "stop_and_wait"), endpoint.of(), {})


def test_over_ad_hoc_networks_it_equals_its_twin() -> None:
    rows: Any = rows_of("manet_newreno", 4, seed=7)
    out = run_as_python(model("adhoc"), rows)
    with patch.object(adhoc_world, "Tcp", twin.AdhocFlow):
        found = differing(out, lambda row: adhoc_run.simulate("manet_toy", rows, row=row), str, str)
    assert not found, "\n\n".join(found)
    visited = ManetOut.DELIVERED, ManetOut.RETRANSMITTED, ManetOut.TIMEOUTS, ManetOut.FINISHED
    assert (out[:, visited] > 0).any(axis=0).all()
    assert (out[:, ManetOut.SENT] - out[:, ManetOut.RETRANSMITTED] - out[:, ManetOut.ACKED] <= 1).all()


def test_over_80211_it_equals_its_twin() -> None:
    rows: Any = rows_of("wifi_newreno", 6, seed=7)
    out = run_as_python(model("wireless"), rows)
    with patch.object(wireless_world, "Tcp", twin.WirelessFlow):
        found = differing(out, lambda row: wireless_run.simulate("wifi_toy", rows, row=row), str, str)
    assert not found, "\n\n".join(found)
    counts = out[:, WifiOut.COLUMNS :]
    for column in FlowOut.RETRANSMITTED, FlowOut.TIMEOUTS, FlowOut.DELIVERED, FlowOut.SOURCE_DONE:
        assert (counts[:, np.arange(column, counts.shape[1], FlowOut.COLUMNS)] > 0).any(), column
