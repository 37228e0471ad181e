"""Delays by class beside packet traces of ns-2: some of the scenarios of `delays`; and the cells for ns-3."""

import pytest

from tests.campaigns.verification import cells, chains
from tests.campaigns.verification.delays import Case, cases, errors
from tests.campaigns.verification.packets import Packets


@pytest.mark.needs("ns")
@pytest.mark.parametrize("case", cases(3)[1:], ids=str)
def test_quantiles_are_those_of_ns2(case: Case) -> None:
    found = errors("links", case)
    assert {word for word, _ in found} == {"video", "download"}
    for (word, name), error in found.items():
        assert abs(error) < (0.05 if name == "jitter_s" else 0.02), (word, name, error)


@pytest.mark.needs("ns")
def test_a_transfer_over_an_ad_hoc_hop_waits_as_in_ns2() -> None:
    found = errors("chains", chains.cases(2)[1])
    for (word, name), error in found.items():
        assert abs(error) < (0.05 if name == "jitter_s" else 0.02), (word, name, error)


def test_cells_have_all_kinds_of_flows() -> None:
    found = cells.cases(20)
    assert len({cell.rate for cell in found}) > 3 and any(not cell.downloads + cell.uploads for cell in found)
    for cell in found[:3]:
        asked = cells.scenario(cell)
        assert len(asked.network.flows) == len(cell.flows)  # type: ignore[attr-defined]


def test_packets_are_counted_once_and_lost_by_copy() -> None:
    """Of two packets the second is put out twice, and arrives 30 ms after its first copy."""
    packets = Packets(since=0.0)
    for number, at in (("1", 1.0), ("2", 1.01), ("2", 1.03)):
        packets.put_out("a", "0", number, at)
    for number, at in (("1", 1.01), ("2", 1.04), ("2", 1.05)):
        packets.arrived("a", "0", number, at)
    found = packets.measures()["a"]
    assert found["mean_delay_s"] == pytest.approx(0.02) and found["loss_ratio"] == 0
    assert found["jitter_s"] == pytest.approx(0.02 / 16 / 2)
