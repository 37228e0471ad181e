"""Page of an estimate of availability: the answer, the time of bad service by state, the table of states."""

import csv
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.estimation.availability import availability
from netcarlo.reports.availability.page import by_state
from tests.reports.browser import Page
from tests.reports.first_look import first_look

BRANCH = Path(__file__).parents[2] / "configs" / "examples" / "branch_year.yaml"


@pytest.mark.needs("chromium")
def test_first_look_at_availability(glance: Page, tmp_path: Path) -> None:
    given = ["availability", str(BRANCH), "--goal", "video_in_time >= 95 %", "--replications", "10"]
    given += ["--target", "cpu", "--out", str(tmp_path)]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 0, found.output
    answer = re.sub(r"\s+", " ", found.stdout).partition(" of the year")[0]
    file = tmp_path / "availability.html"
    first_look(glance, file, says=f"{answer} of the year", figure="states")
    rows = list(csv.DictReader((tmp_path / "states.csv").open()))
    assert [row["state"] for row in rows][:2] == ["all up", "cable 0 fails"]
    drawn = by_state(availability(BRANCH, goals=["video_in_time >= 95 %"], replications=10, target="cpu"))
    intervals, means = drawn["data"]
    assert means["y"] == [row["state"] for row in reversed(rows)]
    assert len(intervals["x"]) == 3 * len(rows) and min(filter(None, intervals["x"])) >= 1
