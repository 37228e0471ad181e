"""Results in the folder of --out: those of another file are kept, and a line reports a replaced one."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.estimation import journal
from netcarlo.planning.runner import JOURNAL
from tests.tiers import parameters

SCENARIO: dict[str, Any] = {
    "duration": "1 s",
    "replications": 2,
    "fidelity": "formula",  # nothing is compiled
    "transport": {"protocol": "newreno"},
    "hops": [{"rate": "2 Mbit/s", "delay": "1 ms", "loss": "1 %"}],
}
PLAN: dict[str, Any] = {
    "scenario": SCENARIO,
    "quantity": {"name": "delay", "field": "hops.0.delay", "linear": ["1 ms", "4 ms"], "step": "1 ms"},
    "requirements": {"goodput": "goodput_bps >= 0.1 Mbit/s"},
}
COMMANDS = {
    "estimate": (SCENARIO, "estimate.html", ""),
    "plan": (PLAN, "report.html", ""),
    "trace": ({**SCENARIO, "fidelity": "packet"}, "trace.html", ", seed 1, replication 0"),
}
"""File of a command, its page, and the title of the page after the name of the file."""


def run(*args: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, [*args])


@pytest.mark.parametrize("command", parameters(COMMANDS, full={"trace"}))
def test_the_result_of_another_file_is_not_replaced_unless_asked(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data, page, more_title = COMMANDS[command]
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text(json.dumps({**data, "name": name}))
    first = run(command, "one.yaml", "--out", "out")
    assert (first.exit_code, "replaced" in first.stderr) == (0, False), first.output
    before = Path("out", page).read_bytes()
    refused = run(command, "two.yaml", "--out", "out")
    assert refused.exit_code == 2
    found = f"output folder out: {page} is the result of 'one{more_title}', not 'two'"
    assert f"{found}; name another folder, or add --replace" in refused.stderr
    assert Path("out", page).read_bytes() == before
    for name, more, earlier in (("one", [], "one"), ("two", ["--replace"], "one"), ("two", [], "two")):
        again = run(command, f"{name}.yaml", "--out", "out", *more)
        assert again.exit_code == 0
        line = f"{Path('out', page)}: the earlier result of '{earlier}{more_title}' is replaced"
        assert line in again.stderr.splitlines()


def test_replications_of_another_version_are_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(json.dumps({**PLAN, "name": "own"}))
    with monkeypatch.context() as patch:
        patch.setattr(journal, "model_version", lambda: "earlier")
        run("plan", "own.yaml", "--out", "out")
    batches = Path("out", JOURNAL).read_text().count("key")
    with pytest.warns(journal.Note, match=rf"runs.jsonl: {batches} batches .* another version .* not used"):
        again = run("plan", "own.yaml", "--out", "out", "--json")
    assert json.loads(again.stdout)["cost"]["simulated"] > 0
    third = run("plan", "own.yaml", "--out", "out", "--json")
    assert json.loads(third.stdout)["cost"]["simulated"] == 0
