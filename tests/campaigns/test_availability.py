"""Availability with known answers: a repetition of the campaign `availability`, and its verdict."""

import pytest

from tests.campaigns.verification import availability
from tests.campaigns.verification.availability import STREAM_SHARE, covers, pages, stream


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_stream_has_the_share_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "RUNS", 20)
    data = stream(1)
    data["transport"] |= {"rate": "8 kbit/s"}
    covered, half = covers(data, "drops_outage <= 0", STREAM_SHARE)
    assert covered and half < 0.1


def test_the_campaign_fails_if_an_interval_misses_too_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(availability, "CASES", (pages,))
    monkeypatch.setattr(availability, "brute_force", lambda case, windows: (0.9, 0.001))
    monkeypatch.setattr("sys.argv", ["availability", "20"])
    for missed, status in ((1, 0), (2, 1)):
        monkeypatch.setattr(
            availability, "covers", lambda data, goal, truth, m=missed: (data["seed"] > m, 0.1)
        )
        assert availability.main() == status
        assert ("expected: 95 % or more" in capsys.readouterr().out) == bool(status)
