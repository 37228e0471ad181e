"""Comparison of kernels with their twins for every pair of options of packet models.

The models are the packet models of the covering set (`tests.covering`). They run as Python, because compiling
all of them takes a quarter of an hour.
Paths take only about 15 ms each with their twin, so more of them are compared: the scenarios of common models
contain every event several times.
`NETCARLO_LONG=N pytest tests/kernels/test_every_pair.py` compares N times as many networks.
"""

import os
import zlib

import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.shared.layout import SharedOut
from tests import covering
from tests.kernels.beside_twin import differing, run_as_python
from tests.twins.any_model import scenarios, simulate

PACKETS = {name: address for name, address in covering.addresses().items() if not address.fluid}
EVERYDAY = {*covering.EVERYDAY, "tcp_vegas_reordering"}
NAMES = [name for name in covering.chosen() if name in PACKETS]
LONG = int(os.environ.get("NETCARLO_LONG", "1"))
NETWORKS, PATHS, EVERYDAY_PATHS = 2, 6, 60
"""Number of scenarios of a model: networks, paths of a rare model, paths of a common model."""


def count(name: str) -> int:
    """Return how many scenarios of a model are compared."""
    if PACKETS[name].family != "path":
        return NETWORKS * LONG
    return (EVERYDAY_PATHS if name in EVERYDAY else PATHS) * LONG


def seed(name: str) -> int:
    """Return the seed of the scenarios of a model: shared and 802.11 networks differ from model to model."""
    return zlib.crc32(name.encode()) if PACKETS[name].family in ("shared", "wireless") else 41


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:overflow")  # NumPy warns of the overflows in Philox
def test_uncompiled_kernel_equals_twin(name: str) -> None:
    rows = scenarios(name, count(name), seed=seed(name))
    out = run_as_python(name, rows)
    sent = ManetOut.SENT if models.model(name).address.family == "adhoc" else Out.SENT
    assert out[:, sent].any(), "the scenarios send nothing"
    if models.model(name).address.family == "shared":
        out[:, SharedOut.EVENTS] = 0  # the twin counts other events
    found = differing(out, lambda row: simulate(name, rows, row=row), lambda row: f"{name}, row {row}", str)
    assert not found, "\n\n".join(found)


def test_no_pair_is_without_a_comparison() -> None:
    compared = [models.model(name).address for name in NAMES]
    assert covering.pairs(compared) == covering.pairs(PACKETS.values())
