"""Studies as data: what is read, what is refused, and which scenario fields a condition sets."""

import shutil
from pathlib import Path

import pytest

from netcarlo import study
from netcarlo.cells import simulate_cells
from netcarlo.errors import InputError
from netcarlo.kernels.layout import Hop, Out
from netcarlo.study import Published, Study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the link-down study to spoil."""
    return Path(shutil.copytree(study.load("sctp_linkdown").folder, tmp_path / "sctp_linkdown"))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_unknown_key_is_named_with_its_line(folder: Path) -> None:
    replace(folder / "study.yaml", "replications:", "replication:")
    with pytest.raises(
        InputError, match=r"study\.yaml:\d+: replication is an unknown name; did you mean 'replications'"
    ):
        Study(folder)


def test_missing_column_is_named(folder: Path) -> None:
    replace(folder / "published.csv", "paper_rtt_ms", "rtt")
    with pytest.raises(InputError, match=r"published\.csv: has no column 'paper_rtt_ms'"):
        _ = Study(folder).published


def test_every_cell_is_simulated_once_and_only_complete_ones() -> None:
    cells = list(study.load("sctp_linkdown").cells())
    assert len(cells) == len({tuple(cell.values()) for cell in cells}) == 78
    assert all(len(cell) == 5 for cell in cells)


def test_conditions_reach_the_kernel(folder: Path) -> None:
    lines = (folder / "published.csv").read_text(encoding="utf-8").splitlines()
    wanted = ",".join(["6,table6", "sctp_multi", "10", "1", "50", "70"])
    (folder / "published.csv").write_text(
        f"{lines[0]}\n{wanted},utilisation,x,0.1,0.1,printed\n", encoding="utf-8"
    )
    (cell,) = simulate_cells(Study(folder), replications=2, seed=5, target="cpu")
    hops = cell._first.hops[0, :, 0]
    assert hops[:, Hop.DELAY].tolist() == hops[:, Hop.R_DELAY].tolist() == [50_000_000] * 2
    assert hops[:, Hop.BYTE_TIME].tolist() == [8000 << 20] * 2  # 1 Mbit/s: 8 us per byte
    assert cell._first.outages[0, :, 0, 0].tolist()[0] == [50_000_000_000, 60_000_000_000]
    assert cell.scenario.seed == 5
    assert cell.outcomes.shape == (2, len(Out))
    assert cell.time(Out.LAST_RX).max() <= 70.0


@pytest.mark.parametrize(
    ("where", "match"),
    [
        ({}, True),
        ({"metric": "goodput"}, True),
        ({"metric": ["delay", "goodput"], "rtt": [10.0, 20.0]}, True),
        ({"table": "6"}, True),
        ({"rtt": 20.0}, False),
        ({"absent": 1.0}, False),
    ],
)
def test_where(where: study.Where, match: bool) -> None:
    number = Published(
        place={"table": "6"},
        conditions={"rtt": 10.0},
        metric="goodput",
        unit="",
        text="1",
        step=1,
        kind="printed",
    )
    assert number.matches(where) is match
