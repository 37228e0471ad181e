"""One of the attacks on a small sweep; `python -m tests.campaigns chaos` runs all of them at full size."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaigns.chaos import __main__ as program
from tests.campaigns.chaos.attacks import ATTACKS, cut_chunks
from tests.campaigns.chaos.sweeps import SMALL, Sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals: run on Linux or macOS")


@pytest.mark.full
def test_only_the_cells_of_damaged_chunks_are_computed_again(tmp_path: Path) -> None:
    size = replace(SMALL, draw=32, protocols=("newreno",))
    cut_chunks(Sweep(tmp_path, size), tmp_path / "store")


def test_all_attacks_are_made_unless_some_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []

    def pretended(name: str):  # type: ignore[no-untyped-def]
        def attack(sweep: Sweep, store: Path) -> None:
            made.append(f"{store.name} of {sweep.cells}")

        attack.__name__ = name
        return attack

    names = [attack.__name__ for attack in ATTACKS]
    monkeypatch.setattr(program, "ATTACKS", [pretended(name) for name in names])
    monkeypatch.setattr(Sweep, "digest", "abc")
    monkeypatch.setattr("sys.argv", ["chaos", "--small"])
    program.main()
    assert made == [f"{name} of {3 * SMALL.draw}" for name in names]
    made.clear()
    monkeypatch.setattr("sys.argv", ["chaos", "fill_disk"])
    program.main()
    assert made == ["fill_disk of 3072"] and "fill_disk: same digest" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["chaos", "fill_disc"])
    with pytest.raises(SystemExit):
        program.main()
    assert "attack 'fill_disc' is unknown; choose from kill_workers" in capsys.readouterr().err
