"""A small run of the campaign `fit`: one given measured run, with few candidates."""

import json
from pathlib import Path

import pytest

from tests.campaigns.verification.fit import __main__ as campaign
from tests.campaigns.verification.fit.runs import drawn


def run_of_iperf3(folder: Path, k: int) -> None:
    """Write a run whose RTT and goodput are constant."""
    rows = [
        {"start": t / 10, "end": (t + 1) / 10, "rtt": 50000, "retransmits": 0, "bits_per_second": 9e6,
         "socket": 5, "omitted": False}
        for t in range(100)
    ]  # fmt: skip
    sender = {"socket": 5, "seconds": 10.0, "bits_per_second": 9.1e6, "retransmits": 0, "sender": True}
    total = {"seconds": 10.0, "bits_per_second": 9e6}
    data = {
        "start": {
            "version": "iperf 3.12",
            "test_start": {"protocol": "TCP", "num_streams": 1, "duration": 10},
        },
        "intervals": [{"streams": [row], "sum": row} for row in rows],
        "end": {
            "streams": [{"sender": sender, "receiver": total}],
            "sum_sent": sender,
            "sum_received": total,
        },
    }
    (folder / f"run_{k:02d}.json").write_text(json.dumps(data))
    (folder / f"run_{k:02d}.truth.json").write_text("{}")


def test_paths_are_drawn_from_the_stated_ranges() -> None:
    """Half of the paths have random loss, and the last ones a token bucket."""
    truths = drawn(40, seed=1)
    assert all(2e6 <= one.rate_bps <= 20e6 and 5e-3 <= one.delay_s <= 50e-3 for one in truths)
    assert 12 <= sum(one.loss > 0 for one in truths) <= 28
    assert [one.shaped for one in truths] == [False] * 28 + [True] * 12
    assert truths == drawn(40, seed=1) != drawn(40, seed=2)


def test_the_campaign_keeps_fits_and_prints_errors_and_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second call reads the fits of the first."""
    run_of_iperf3(tmp_path, 0)
    monkeypatch.setattr("sys.argv", ["fit", "--runs", str(tmp_path), "--measured", "--effort", "0.1", "2"])
    assert campaign.main() == 0
    first = capsys.readouterr().out
    assert "| rate | " in first
    assert "of 4 intervals contain the truth" in first
    kept = tmp_path / "run_00.fit.json"
    data = json.loads(kept.read_text())
    data["fields"]["rate"]["covered"] = not data["fields"]["rate"]["covered"]
    kept.write_text(json.dumps(data))
    assert campaign.main() == 0
    assert capsys.readouterr().out != first
