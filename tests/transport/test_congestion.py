"""Users' Python files: valid and refused ones, which are refused before they run."""

import importlib.util
import logging
import os
import py_compile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from netcarlo import InputError, Scenario, load_scenario, trust
from netcarlo.cli.main import app
from netcarlo.planning import load_plan
from netcarlo.simulation.launches import model_of
from netcarlo.sweeps.execution.forecast import rehearsal
from netcarlo.sweeps.space.file import load_sweep
from netcarlo.transport import congestion as control
from tests.marking import CONTROL

SCENARIO = """
duration: 1 s
transport: {{protocol: newreno, congestion_control: {control}}}
hops: [{{rate: 1 Mbit/s, delay: 10 ms}}]
"""


@pytest.fixture
def mark(tmp_path):
    """Return the file that a congestion control writes when it is run."""
    return tmp_path / "it-ran"


@pytest.fixture
def mine(tmp_path, mark):
    """Return a folder with a scenario whose congestion control is in `below/own.py`."""
    folder = tmp_path / "mine"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "own.py").write_text(CONTROL.format(mark=str(mark)))
    (folder / "scenario.yaml").write_text(SCENARIO.format(control="below/own.py"))
    return folder


@pytest.fixture
def elsewhere(tmp_path, mark):
    path = tmp_path / "elsewhere.py"
    path.write_text(CONTROL.format(mark=str(mark)) + f"# {tmp_path}\n")
    return path


def names(control: object, mine: Path) -> Path:
    file = mine / "other.yaml"
    file.write_text(SCENARIO.format(control=control))
    return file


def test_python_that_lies_with_its_scenario_runs_and_is_said_once(mine, mark, caplog):
    loaded = load_scenario(mine / "scenario.yaml")
    assert not mark.exists()
    with caplog.at_level(logging.WARNING):
        model_of(loaded)
        model_of(load_scenario(mine / "scenario.yaml"))
    assert mark.exists()
    (line,) = caplog.messages
    assert str(mine / "below" / "own.py") in line
    assert control.sha256((mine / "below" / "own.py").read_bytes()) in line


def test_python_from_elsewhere_is_refused_unless_it_is_trusted(mine, elsewhere, mark):
    (mine / "link.py").symlink_to(elsewhere)
    for name in (elsewhere, "../elsewhere.py", "below/../../elsewhere.py", "link.py"):
        file = names(name, mine)
        with pytest.raises(
            InputError, match=r"is outside the folder .*--trust \S*(elsewhere|link)\.py"
        ) as no:
            load_scenario(file)
        assert "\n" not in str(no.value)
        plan = mine / "plan.yaml"
        plan.write_text(f"scenario: {file.name}\nquantity: {{field: transport.window, values: [1, 2]}}\n"
                        "requirements: {fast: {goal: goodput_bps > 1, probability: 0.5}}\n")  # fmt: skip
        with pytest.raises(InputError, match="is outside the folder"):
            load_plan(plan)
        sweep = mine / "sweep.yaml"
        for text in (
            f"scenario: {file.name}\naxes: {{transport.window: [1, 2]}}\n",
            f"scenario: scenario.yaml\naxes: {{transport.congestion_control: [cubic, {name}]}}\n",
        ):
            sweep.write_text(text)
            with pytest.raises(InputError, match="is outside the folder"):
                load_sweep(sweep)
    trust(control.sha256(elsewhere.read_bytes()).upper())
    load_scenario(names(elsewhere, mine))
    elsewhere.write_text(elsewhere.read_text() + "\n")  # trust depends on the content, not on the name
    with pytest.raises(InputError, match="is outside the folder"):
        load_scenario(names(elsewhere, mine))
    assert not mark.exists()
    trust(elsewhere)
    model_of(load_scenario(names(elsewhere, mine)))
    assert mark.exists()


def test_a_file_that_changed_after_it_was_checked_does_not_run(mine, mark):
    loaded = load_scenario(mine / "scenario.yaml")
    own = mine / "below" / "own.py"
    own.write_text(own.read_text() + "# edited\n")
    with pytest.raises(InputError, match="was not loaded with a scenario in its folder"):
        model_of(loaded)
    assert not mark.exists()


def test_data_name_no_python_unless_it_is_trusted(elsewhere, mark):
    data = {"duration": "1 s", "hops": [{"rate": "1 Mbit/s", "delay": "1 ms"}]}
    transport = {"protocol": "newreno", "congestion_control": str(elsewhere)}
    scenario = Scenario.check({**data, "transport": transport})
    with pytest.raises(InputError, match=r"netcarlo\.trust"):
        model_of(scenario)
    assert not mark.exists()
    trust(elsewhere)
    model_of(scenario)


def test_the_option_trusts_a_file_or_a_hash(mine, elsewhere, mark):
    file = names(elsewhere, mine)
    command = ["trace", str(file), "--out", str(mine)]
    refused = CliRunner().invoke(app, command)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert f"--trust {elsewhere}" in refused.stderr
    nothing = CliRunner().invoke(app, [*command, "--trust", "nothing.py"])
    assert nothing.exit_code == 2 and "nothing.py: is not a file" in nothing.stderr
    assert not mark.exists()
    broken = [*command, "--trust", str(elsewhere), "--set", "fidelity=nonsense"]  # stops before it simulates
    assert "nonsense" in CliRunner().invoke(app, broken).stderr
    load_scenario(file)


def test_bytecode_beside_the_file_does_not_run(mine, mark):
    own = mine / "below" / "own.py"
    text = own.read_text()
    own.write_text("raise SystemExit('bytecode ran')")
    cached = importlib.util.cache_from_source(str(own))
    py_compile.compile(str(own), cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    own.write_text(text)
    model_of(load_scenario(mine / "scenario.yaml"))
    assert mark.exists()


def test_a_dry_run_puts_the_standard_control_in_place_of_a_users(mine, mark):
    (mine / "sweep.yaml").write_text(
        "scenario: scenario.yaml\naxes: {transport.constants.up: [1, 2], transport.congestion_control: "
        "[below/own.py]}\n"
    )
    asked = load_sweep(mine / "sweep.yaml")
    rehearsed = rehearsal(asked)
    assert rehearsed.n_cells == asked.n_cells == 2
    rehearsed.models()
    assert not mark.exists()
    asked.models()
    assert mark.exists()
    (mine / "plain.yaml").write_text(
        "scenario: {duration: 1 s, transport: {protocol: reno}, hops: [{rate: 1 Mbit/s, delay: 1 ms}]}\n"
    )
    plain = load_sweep(mine / "plain.yaml")
    assert rehearsal(plain) is plain


@pytest.mark.parametrize("name", ["x" * 5000, "/dev/zero", "/dev/null", "below", "none.py"])
def test_what_is_no_file_is_refused_on_one_line(mine, name):
    message = "is not a file"
    with pytest.raises(InputError, match=message) as first:
        load_scenario(names(name, mine))
    (mine / "sweep.yaml").write_text("scenario: other.yaml\naxes: {transport.window: [1, 2]}\n")
    with pytest.raises(InputError, match=message) as second:
        load_sweep(mine / "sweep.yaml")
    assert max(len(str(first.value)), len(str(second.value))) < 500


def test_files_too_large_or_too_deep_are_refused(mine):
    own = mine / "below" / "own.py"
    own.write_text("#" * (control.MAX_BYTES + 1))
    with pytest.raises(InputError, match="is larger than 1000000 bytes"):
        load_scenario(mine / "scenario.yaml")
    for text in (
        "CONSTANTS = " + "-" * 100_000 + "1",
        "CONSTANTS = {'a': 1e999 - " + "9" * 400 + "}",
        "x = '\0'",
    ):
        own.write_text(text)
        with pytest.raises(InputError, match=r"own\.py"):
            load_scenario(mine / "scenario.yaml")


def test_pipes_are_no_files(mine):
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    os.mkfifo(mine / "pipe.py")
    with pytest.raises(InputError, match="is not a file"):
        load_scenario(names("pipe.py", mine))
