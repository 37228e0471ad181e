"""Compiled fluid models: bitwise comparison with the same code run as plain Python.

The models are a covering set: each pair of network, sender and option of fluid models is in one of them.
"""

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetRows
from netcarlo.kernels.runtime import launch
from tests import covering
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins.adhoc.scenarios import as_datagrams
from tests.twins.rows import rows_of

FLUIDS = {name: address for name, address in covering.addresses().items() if address.fluid}
FIRST = ("fluid", "fluid_newreno", "fluid_wifi", "fluid_manet_newreno", "fluid_sctp_mobile")
"""Models, one of each engine."""
NAMES = covering.covering(FLUIDS, start=FIRST)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_compiled_model_equals_plain_python(name: str) -> None:
    rows = rows_of(name, 8, seed=43)
    if isinstance(rows, ManetRows) and name == "fluid_manet_udp":
        rows = as_datagrams(rows, seed=43)
    plain = run_as_python(name, rows)
    found = differing(launch.run(models.model(name), rows), lambda row: plain[row], str, str)
    assert not found, "\n\n".join(found)


def test_no_pair_is_without_a_comparison() -> None:
    compared = [models.model(name).address for name in NAMES]
    assert covering.pairs(compared) == covering.pairs(FLUIDS.values())
