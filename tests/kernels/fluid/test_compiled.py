"""Compiled fluids give the bits of the plain Python that they are written in.

The models are a covering set: each pair of a network, a sender and an option that fluids have is in one.
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
"""A model of each engine."""
NAMES = covering.covering(FLUIDS, start=FIRST)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy's scalars warn of what Philox intends
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
