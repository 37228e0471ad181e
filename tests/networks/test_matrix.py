from typing import Any

import pytest

from netcarlo import estimate
from netcarlo.errors import InputError
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.networks.registry import NETWORKS
from netcarlo.transport.capabilities import PROTOCOLS
from tests.networks import matrix

CELLS = [(network, protocol) for network in matrix.NETWORKS for protocol in PROTOCOLS]


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels as Python, because compiling all models of the table takes minutes."""

    def loop_of(model: Any) -> Any:
        simulate = model.make(compilers.plain)

        def loop(lo: int, hi: int, *arrays: Any) -> int:
            *rows, losses, scratch, memory, out, trace = arrays
            for i in range(lo, hi):
                simulate(*(field[i] for field in rows), losses, scratch, memory, out[i], trace)
            return 0

        return loop

    monkeypatch.setattr(compilers, "cpu_loop", loop_of)
    monkeypatch.setattr(compilers, "prepare", lambda models: None)


def test_the_page_is_what_the_networks_answer() -> None:
    assert matrix.PAGE.read_text() == matrix.page(), "python -m tests.networks.matrix"


def test_every_kind_of_network_is_in_it() -> None:
    assert {network.partition(",")[0] for network in matrix.NETWORKS} == {kind.key for kind in NETWORKS}


@pytest.mark.full
@pytest.mark.parametrize(("network", "protocol"), CELLS)
def test_a_cell_is_estimated_or_refused(network: str, protocol: str, uncompiled: None) -> None:
    known = matrix.fidelities(network, protocol)
    for fidelity in known:
        found = estimate(matrix.scenario(network, protocol, fidelity), target="cpu")
        assert found.table.loc["goodput_bps", "mean"] > 0, fidelity
    if not known:
        with pytest.raises(InputError, match="is not supported"):
            matrix.scenario(network, protocol)
