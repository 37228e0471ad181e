"""`netcarlo new`: its files run unchanged, in seconds; shells complete commands and words."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.cli.new import FAMILIES
from tests.tiers import parameters

NEXT = {
    "sweep": ["sweep", "sweep.yaml", "--out", "store", "-q"],
    "plan": ["plan", "plan.yaml", "-q"],
    "mapping": ["validate", "mapping.csv", "-q"],
}


def run(*arguments: str) -> str:
    """Return the output of a command."""
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.output


FILES = [family for family in FAMILIES if family != "study"]  # a folder: tests/studies/test_own_study.py


@pytest.mark.parametrize("family", parameters(FILES, full=("shared", "sweep", "plan")))
def test_a_new_file_runs(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = f"netcarlo {NEXT.get(family, ['estimate'])[0]} {family}"
    following = f"{command}.csv --mapping {family}.yaml" if family == "mapping" else f"{command}.yaml"
    assert following in run("new", family)
    lines = Path(f"{family}.yaml").read_text().splitlines()
    schema = urlparse(lines[0].removeprefix("# yaml-language-server: $schema="))
    assert schema.scheme == "file"
    assert Path(unquote(schema.path)).name == f"{family if family in NEXT else 'scenario'}.json"
    assert Path(unquote(schema.path)).is_file()
    assert sum("#" in line for line in lines) >= 5
    run(*NEXT.get(family, ["estimate", f"{family}.yaml", "-q"]))


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("mine")
    done = CliRunner().invoke(app, ["new", "path", "--out", str(path)])
    assert (done.exit_code, path.read_text()) == (2, "mine")
    assert "exists already" in done.output


@pytest.mark.parametrize(
    ("typed", "offered"), [("netcarlo esti", "estimate"), ("netcarlo new wi", "wireless")]
)
def test_shells_complete(typed: str, offered: str) -> None:
    program = "import sys; sys.argv[0] = 'netcarlo'; from netcarlo.cli.main import main; main()"
    asked = {"_NETCARLO_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True
    )
    assert done.stdout.split() == [offered], done.stderr
