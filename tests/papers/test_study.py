"""Studies as data: valid and refused ones, and the scenario fields that a condition sets."""

import shutil
from pathlib import Path

import pytest

from netcarlo.errors import InputError
from netcarlo.kernels.base.layout import Failover, Hop, Out
from netcarlo.kernels.base.parameters import MobileP
from netcarlo.studies import description, selection, study
from netcarlo.studies.cells import simulate_cells
from netcarlo.studies.published import Published
from netcarlo.studies.study import Study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the link-down study to modify."""
    return Path(shutil.copytree(study.load("sctp_linkdown").folder, tmp_path / "sctp_linkdown"))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_unknown_key_is_named_with_its_line(folder: Path) -> None:
    replace(folder / "study.yaml", "replications:", "replication:")
    with pytest.raises(
        InputError, match=r"study\.yaml:\d+: replication is an unknown field; did you mean 'replications'"
    ):
        Study(folder)


def test_missing_column_is_named(folder: Path) -> None:
    replace(folder / "published.csv", "paper_rtt_ms", "rtt")
    with pytest.raises(InputError, match=r"published\.csv:1: has no column 'paper_rtt_ms'"):
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
    assert cell.outcomes.shape == (2, len(Out) + Failover.COLUMNS)  # two paths
    assert cell.time(Out.LAST_RX).max() <= 70.0


def test_a_cell_keeps_the_defaults_of_its_protocol() -> None:
    mobility = study.load("mobility")
    headers = {}
    for conditions in mobility.cells():
        headers[conditions["tcp"]] = mobility.scenario(conditions, seed=7).transport.header
    assert headers == {"tahoe": 40.0, "reno": 40.0, "vegas": 0.0}


@pytest.mark.full
def test_variations_are_further_cells() -> None:
    mobility = study.load("mobility")
    variation = mobility.description.variations["outage_ms"]
    cells = [
        cell for cell in simulate_cells(mobility, replications=1, seed=1, target="cpu")
        if cell.variation == "outage_ms"
    ]  # fmt: skip
    assert len(cells) == 3 * len(variation.values)  # three TCPs
    for cell in cells:
        assert cell["protocol"] == "fmipv6" and cell["error_rate"] == 0.0
        assert cell.parameter(MobileP.OUTAGE) == cell["outage_ms"] * 1e6
        assert cell.outcomes[0, Out.SAMPLES] == 1  # the window at one moment


def test_a_variation_can_have_two_conditions() -> None:
    variation = description.Variation.model_validate(
        {
            "where": {}, "set": {"duration": "9 s"}, "replications": 1, "values": [1, 2],
            "vary": {"label": "A", "set": {"a": "{} s"}},
            "by": {
                "b": {
                    "label": "B", "values": ["x", 5],
                    "set": [
                        {"where": {"b": "x"}, "fields": {"b": "no"}},
                        {"where": {"b": 5}, "fields": {"b": "{} %"}},
                    ],
                }
            },
        }
    )  # fmt: skip
    cells = list(variation.cells("a", {"c": 0.0}))
    assert cells == [{"c": 0.0, "a": a, "b": b} for a in (1.0, 2.0) for b in ("x", 5.0)]
    assert variation.fields("a", cells[1]) == {"duration": "9 s", "a": "1.0 s", "b": "5.0 %"}
    assert variation.fields("a", cells[2]) == {"duration": "9 s", "a": "2.0 s", "b": "no"}


def test_texts_show_what_the_scenario_has() -> None:
    mobility = study.load("mobility")
    data = mobility._document("mobility.yaml").data
    filled = mobility.fill("{hops.0.rate} and {mobility.buffer}")
    assert filled == f"{data['hops'][0]['rate']} and {data['mobility']['buffer']}"
    for part in mobility.description.setting:
        assert "{" not in mobility.fill(part.value)


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
def test_where(where: selection.Where, match: bool) -> None:
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
