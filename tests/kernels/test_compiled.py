"""Compiled kernels: comparison with the same kernels run as plain Python, to detect compiler faults.

`test_every_pair` compares the twins with kernels run as Python, so the two tests together compare the machine
code with the twins.
"""

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.runtime import launch
from tests import covering
from tests.kernels.beside_twin import run_as_python
from tests.twins.rows import rows_of

ENGINES = (
    "tcp_newreno", "tcp_linux_cubic", "tcp_newreno_mobile", "sctp", "udp", "shared_mixed", "wifi_sack",
    "manet_newreno", "fluid", "fluid_newreno", "fluid_sctp", "fluid_wifi",
)  # fmt: skip
"""Models, one of each engine; other tests of the first tier compile them, too."""

OTHERS = [name for name in covering.EVERYDAY if name not in ENGINES]


@pytest.mark.parametrize("name", [*ENGINES, *(pytest.param(name, marks=pytest.mark.full) for name in OTHERS)])
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_compiled_kernel_equals_the_kernel_that_python_runs(name: str) -> None:
    rows = rows_of(name, 6, seed=53)
    out = launch.run(models.model(name), rows)
    assert out.any()
    assert (out == run_as_python(name, rows)).all()
