"""Users' files on the command line: flow sizes and lists of flows."""

import json

import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app

SCENARIO = """\
name: c
duration: 5 s
warm_up: 1 s
replications: 4
transport: {protocol: linux}
shared:
  dumbbell: {rate: 100 Mbit/s, delay: 1 ms, queue: 200 packets}
  flows:
    - {count: 100, arrivals: {poisson: 1000 /s}, size: {empirical: sizes.txt}}
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("sizes", "mean"),
    [
        ("0 0\n400 20\n2000 70\n4000 100\n", 0.2 * 200 + 0.5 * 1200 + 0.3 * 3000),
        ("value,cumulative\n0 B,0\n400 B,0.2\n2000 B,0.7\n4000 B,1\n", 1540),
        ("value\n256 B\n", 256),
    ],
)
def test_the_offered_load_is_that_of_the_file(tmp_path, monkeypatch, sizes: str, mean: float) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sizes.txt").write_text(sizes)
    (tmp_path / "case.yaml").write_text(SCENARIO)
    found = CliRunner().invoke(app, ["estimate", "case.yaml", "--json", "-q"])
    assert found.exit_code == 0, found.output
    offered = json.loads(found.stdout)["outcomes"]["offered_bps"]
    assert offered["mean"] == pytest.approx(8000 * mean, rel=0.06)
    told = CliRunner().invoke(app, ["estimate", "case.yaml"]).stderr
    assert f"{8e-3 * mean:.4g} Mbit/s offered" in told


def test_faults_name_file_and_line(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.yaml").write_text(SCENARIO)
    (tmp_path / "sizes.txt").write_text("0 0\n400 20\n2000 47\n")
    found = CliRunner().invoke(app, ["estimate", "case.yaml", "-q"])
    assert found.exit_code == 2
    assert "case.yaml:9: shared.flows.0.size = sizes.txt has cumulative" in found.stderr
    assert "do not end at 1, but at 47" in found.stderr
