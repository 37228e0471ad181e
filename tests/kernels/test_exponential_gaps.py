"""Poisson arrivals of datagrams in every kind of network: bitwise comparison with the twins."""

from typing import Any

import numpy as np
import pytest

from netcarlo.kernels.base.parameters import UdpP
from netcarlo.kernels.shared.layout import SharedOut, SharedRows
from netcarlo.kernels.udp.source import EXPONENTIAL
from netcarlo.kernels.wireless.layout import Flow, Radio, WifiRows
from tests.kernels.beside_twin import differing, run_as_python
from tests.tiers import parameters
from tests.twins.any_model import simulate
from tests.twins.rows import rows_of


def with_exponential_gaps(rows: Any) -> Any:
    """Return the same networks, in which all datagrams with jitter have exponential gaps."""
    if isinstance(rows, WifiRows):
        network = rows.network.copy()
        for p, words in zip(rows.parameters, network, strict=True):
            begin = p[Radio.FLOWS_AT]
            flows = words[begin : begin + p[Radio.FLOWS] * len(Flow)].reshape(-1, len(Flow))
            flows[flows[:, Flow.SPREAD] > 0, Flow.SPREAD] = EXPONENTIAL
        return rows._replace(network=network)
    name = "flows" if isinstance(rows, SharedRows) else "parameters"
    table = getattr(rows, name).copy()
    spread = table[..., UdpP.SPREAD]
    assert (spread > 0).any()
    table[..., UdpP.SPREAD] = np.where(spread > 0, EXPONENTIAL, spread)
    return rows._replace(**{name: table})


MODELS = {
    "udp": 3, "udp_delays_reordering": 3, "udp_mobile_delays": 3, "manet_udp_delays": 2, "shared_mixed": 8,
    "wifi_udp": 3, "wifi_udp_delays_edca": 3,
}  # fmt: skip
"""Models with a number of networks, some of which have jitter."""


@pytest.mark.parametrize("name", parameters([*MODELS], full=["manet_udp_delays"]))
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(name: str) -> None:
    plain = rows_of(name, MODELS[name], seed=5)
    rows = with_exponential_gaps(plain)
    out = run_as_python(name, rows)
    if isinstance(rows, SharedRows):
        out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    found = differing(out, lambda row: simulate(name, rows, row=row), lambda row: f"{name}, row {row}", str)
    assert not found, "\n\n".join(found)
    assert (out != run_as_python(name, plain)).any()
