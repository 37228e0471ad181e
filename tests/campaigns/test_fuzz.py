"""Some cases of fuzzing; `python -m tests.campaigns fuzz` runs 100,000."""

import sys

import pytest

from tests.campaigns.fuzz import __main__ as program
from tests.campaigns.fuzz.drive import DRIVES
from tests.campaigns.fuzz.run import MOST_S, Found, refused_seeds, run
from tests.campaigns.fuzz.seeds import seeds

SMALL = [seed for seed in seeds() if seed.kind != "sweep" or "starters" in seed.place.parts]
"""All shipped files except the sweeps, which other tests read."""

pytestmark = pytest.mark.full


def test_no_shipped_file_is_refused() -> None:
    assert {seed.kind for seed in SMALL} == set(DRIVES)
    assert refused_seeds(SMALL) == []


def test_two_hundred_cases_are_accepted_or_refused_on_one_line() -> None:
    found = run(range(200), seed=1)
    assert not found.wrong
    assert found.longest_s < MOST_S
    assert sum(n for what, n in found.counts.items() if "refused" in what) > 100
    assert not found.badly_named, found.unnamed


@pytest.mark.parametrize(
    ("found", "status"),
    [
        (Found(counts={"sweep: refused": 100}, unnamed=["case 3 (sweep): x"] * 3), 0),  # type: ignore[arg-type]
        (Found(counts={"sweep: refused": 100}, unnamed=["case 3 (sweep): x"] * 4), 1),  # type: ignore[arg-type]
        (Found(wrong=["case 3 (sweep): KeyError"]), 1),
    ],
)
def test_the_campaign_fails_if_a_case_does(
    found: Found, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "refused_seeds", lambda known: [])
    monkeypatch.setattr(program, "run_all", lambda cases, seed, processes: [found])
    monkeypatch.setattr(sys, "argv", ["fuzz", "--cases", "100"])
    assert program.main() == status
    shown = capsys.readouterr().out
    assert all(line in shown for line in found.wrong)
