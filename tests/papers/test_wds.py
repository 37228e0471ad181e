"""Study of TCP and UDP over a wireless distribution system, compared with the available parts of its
paper.
"""

import numpy as np
import pytest

from netcarlo.kernels.base.parameters import RowP
from netcarlo.studies.evaluation import Evaluation
from netcarlo.studies.study import load
from netcarlo.studies.wds import metrics
from netcarlo.studies.wds.claims import HOPS
from tests.studies.reproductions import reproduction

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return reproduction("wds")[1]


def test_cells_are_those_declared() -> None:
    cells = list(load("wds").cells())
    assert len(cells) == 3 * 4 * 2 + 2 * 4 + 4  # TCP and UDP both ways, cables, BBR
    assert {cell["direction"] for cell in cells if cell["medium"] == "wired"} == {"up"}


def test_hops_reach_both_kinds_of_network(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.all:
        scenario = cell.scenario
        if scenario.shared is not None:
            assert scenario.shared.most_cables == cell["hops"]
        elif scenario.wireless is None:
            assert scenario.paths[0].hops[0].count == cell["hops"]  # type: ignore[union-attr]
        else:
            assert scenario.wireless.chain is not None
            assert scenario.wireless.chain.hops == cell["hops"]
            assert scenario.wireless.flows == cell["direction"]


def test_a_transfer_is_timed_as_the_tool_does(evaluation: Evaluation) -> None:
    bits = 8 * 100 * 2**20
    for protocol, mbps in (("udp_10", 10), ("udp_20", 20)):
        for cell in evaluation.cells.where(protocol=protocol):
            np.testing.assert_allclose(metrics.sending(cell), bits / (mbps * 1e6), rtol=1e-4)
    for cell in evaluation.cells.where(protocol="tcp"):
        rate = metrics.throughput(cell) * 1e6
        packets = -(-100 * 2**20 // cell.parameter(RowP.DATA))
        np.testing.assert_allclose(
            rate * metrics.completion(cell), packets * cell.parameter(RowP.DATA) * 8, rtol=1e-9
        )


def test_cables_carry_every_datagram_at_the_pace_of_its_source(evaluation: Evaluation) -> None:
    cells = evaluation.cells.where(medium="wired", protocol="udp_10")
    assert sorted(cell["hops"] for cell in cells) == [1, 2, 3, 4]
    for cell in cells:
        assert (cell.outcome("sent") == -(-100 * 2**20 // metrics.payload(cell))).all()
        assert (metrics.loss(cell) == 0).all() and (cell.outcome("longest_wait_s") == 0).all()
        np.testing.assert_allclose(metrics.throughput(cell), 10, rtol=1e-4)
    (row,) = (row for row in evaluation.rows if row.published.conditions.get("medium") == "wired"
              and row.published.metric == "loss_percent")  # fmt: skip
    assert row.estimate is not None and row.estimate.mean == 0


def test_the_station_leads_only_where_its_interval_says_so(evaluation: Evaluation) -> None:
    claims = {claim.id: claim for claim in evaluation.claims}
    assert claims["W3"].verdict != "held"
    lead = [
        evaluation.cells.value("throughput", medium="wireless", protocol="tcp", hops=h, direction="up")
        / evaluation.cells.value("throughput", medium="wireless", protocol="tcp", hops=h, direction="down")
        for h in HOPS
    ]
    assert claims["W3"].samples == pytest.approx(100 * (np.mean(lead, axis=0) - 1))
    assert claims["W11"].verdict == "not held"


def test_losses_add_up(evaluation: Evaluation) -> None:
    for cell in evaluation.cells.where(medium="wireless", protocol=["udp_10", "udp_20"]):
        places = sum(metrics.lost_at(k)(cell) for k in range(4))
        # A frame that is given up after its last ACK was lost has nevertheless arrived.
        np.testing.assert_allclose(places, metrics.loss(cell), atol=0.2)
