"""The study of TCP and UDP over a wireless distribution system against what is left of its paper."""

import numpy as np
import pytest

from netcarlo.evaluation import Evaluation
from netcarlo.kernels.layout import P
from netcarlo.studies import wds_metrics as metrics
from netcarlo.studies.wds import falling
from netcarlo.study import load
from tests.reproductions import reproduction


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return reproduction("wds")[1]


def test_the_declared_tolerance_is_met(evaluation: Evaluation) -> None:
    missed = [f"{check.text}: {check.reached}" for check in evaluation.checks if not check.passed]
    assert missed == []


def test_cells_are_those_declared() -> None:
    cells = list(load("wds").cells())
    assert len(cells) == 3 * 4 * 2 + 4
    assert {cell["direction"] for cell in cells if cell["medium"] == "wired"} == {"up"}


def test_hops_reach_both_kinds_of_network(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.all:
        scenario = cell.scenario
        if scenario.wireless is None:
            assert scenario.paths[0].hops[0].count == cell["hops"]  # type: ignore[union-attr]
        else:
            assert scenario.wireless.chain is not None
            assert scenario.wireless.chain.hops == cell["hops"]
            assert scenario.wireless.flows == cell["direction"]


def test_a_transfer_is_timed_as_the_tool_does(evaluation: Evaluation) -> None:
    bits = 8 * 100 * 2**20
    for protocol, mbps in (("udp_10", 10), ("udp_20", 20)):
        for cell in evaluation.cells.where(medium="wireless", protocol=protocol):
            np.testing.assert_allclose(metrics.sending(cell), bits / (mbps * 1e6), rtol=1e-4)
    for cell in evaluation.cells.where(protocol="tcp"):
        rate = metrics.throughput(cell) * 1e6
        packets = -(-100 * 2**20 // cell.parameter(P.DATA))
        np.testing.assert_allclose(
            rate * metrics.completion(cell), packets * cell.parameter(P.DATA) * 8, rtol=1e-9
        )


def test_losses_add_up(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.where(medium="wireless", protocol=["udp_10", "udp_20"]):
        places = sum(metrics.lost_at(k)(cell) for k in range(4))
        # A frame given up after its last answer was lost has arrived all the same.
        np.testing.assert_allclose(places, metrics.loss(cell), atol=0.2)


def test_falling() -> None:
    assert falling([np.array([3.0]), np.array([2.0]), np.array([2.0])])
    assert not falling([np.array([3.0]), np.array([3.1])])
    assert falling([np.array([3.0]), np.array([3.1])], slack=0.05)
