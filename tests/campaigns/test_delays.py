"""Delays by class compared with packet traces of ns-2 in some scenarios of `delays`; cells for ns-3."""

import pytest

from tests.campaigns.verification import cells, chains
from tests.campaigns.verification.delays import cases, errors, far
from tests.campaigns.verification.packets import Packets


@pytest.mark.full
@pytest.mark.needs("ns")
def test_quantiles_are_those_of_ns2() -> None:
    """Compare the scenario with the fewest packets of those over links whose quantiles agree."""
    found = errors("links", cases(3)[2])
    assert {word for word, _ in found} == {"video", "download"}
    assert far(found) == {}


@pytest.mark.full
@pytest.mark.needs("ns")
def test_a_transfer_over_an_ad_hoc_hop_waits_as_in_ns2() -> None:
    assert far(errors("chains", chains.cases(2)[1])) == {}


def test_errors_beyond_the_limits_are_found() -> None:
    found = {("video", "jitter_s"): 0.049, ("video", "loss_ratio"): -0.021, ("call", "jitter_s"): 0.051}
    assert list(far(found)) == [("video", "loss_ratio"), ("call", "jitter_s")]


def test_cells_have_all_kinds_of_flows() -> None:
    found = cells.cases(20)
    assert len({cell.rate for cell in found}) > 3 and any(not cell.downloads + cell.uploads for cell in found)
    for cell in found[:3]:
        asked = cells.scenario(cell)
        assert len(asked.network.flows) == len(cell.flows)  # type: ignore[attr-defined]


def test_packets_are_counted_once_and_lost_by_copy() -> None:
    """The second of two packets is sent twice; its retransmission arrives after its first copy."""
    packets = Packets(since=0.0)
    for number, at in (("1", 1.0), ("2", 1.01), ("2", 1.03)):
        packets.put_out("a", "0", number, at)
    for number, at in (("1", 1.01), ("2", 1.04), ("2", 1.05)):
        packets.arrived("a", "0", number, at)
    found = packets.measures()["a"]
    assert found["mean_delay_s"] == pytest.approx(0.02) and found["loss_ratio"] == 0
    assert found["jitter_s"] == pytest.approx(0.02 / 16 / 2)
