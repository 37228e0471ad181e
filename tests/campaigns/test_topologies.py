"""A small run of the campaign on topologies, and its sums by hand."""

from pathlib import Path

import pytest

from netcarlo.scenario import Scenario
from tests.campaigns.verification import topologies

FILES = Path(__file__).parents[1] / "cases" / "topologies"


def test_two_networks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    for name in ("map.graphml", "net.xml"):
        (tmp_path / name).write_bytes((FILES / name).read_bytes())
    (tmp_path / "empty.xml").write_text("")
    monkeypatch.setattr(
        "sys.argv", ["topologies", str(tmp_path), "--rate", "10 Mbit/s", "--packets", "20000"]
    )
    assert topologies.main() == 0
    said = capsys.readouterr().out
    assert "| map | 3 | 6 | 20 | 1 | yes | yes |  |  | 1 |" in said
    assert "| net | 3 | 4 | 2 | 0 | yes | yes | 0.000 % |" in said
    assert "3 files: 2 are imported; 2 run as fluids, 2 run by packets" in said
    assert "empty, fluid: import: " in said
    assert "utilisations: 1 of 1 networks within 0.5 % of the sums by hand as fluids" in said


def test_the_sums_by_hand() -> None:
    data, missing = topologies.data_of(FILES / "net.xml", 1e6)
    found = topologies.by_hand(Scenario.check(data), FILES / "net.xml")
    assert missing == 0
    assert found == {("A", "B"): 0.5, ("B", "A"): 0.0, ("B", "C"): 0.4, ("C", "B"): 0.0}
