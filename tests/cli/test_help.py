"""Help of the command line: groups, examples that the parser accepts, flags without types; progress."""

import io
import re
import shlex
import time
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.progress import Progress
from typer.core import TyperOption
from typer.main import get_command
from typer.testing import CliRunner

from netcarlo.cli import console, help
from netcarlo.cli.main import GROUPS, app
from netcarlo.kernels.runtime import compile as compilers

TOP = get_command(app).commands
COMMANDS = {
    f"{name} {inner}".strip(): command
    for name, each in TOP.items()
    for inner, command in getattr(each, "commands", {"": each}).items()
}
"""Commands by name, those of groups as `import trace`."""
PANELS = [help.SCENARIO, help.SWEEP, help.PLAN, help.EVIDENCE, help.TOOLS]


def printed(*arguments: str) -> str:
    found = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "80"})
    assert found.exit_code == 0
    return found.stdout


def test_commands_are_in_groups():
    text = printed()
    places = [text.index(panel) for panel in PANELS]
    assert places == sorted(places)
    groups = [name for name, each in TOP.items() if hasattr(each, "commands")]
    assert sum(len(entries) for entries in GROUPS.values()) + len(groups) == len(TOP)
    assert all(text.index(PANELS[-1]) < text.index(f"│ {name} ") for name in groups)
    for panel, entries in GROUPS.items():
        for entry in entries:
            assert text.index(panel) < text.index(f"│ {entry.run.__name__} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_the_parser_accepts(name):
    text = printed(*name.split())
    assert "<bool>" not in text and max(map(len, text.splitlines())) <= 80
    command, example = COMMANDS[name], COMMANDS[name].epilog.removeprefix("Example: ")
    assert " ".join(example.split()) in " ".join(text.split())
    program, *arguments = shlex.split(example)
    called = len(name.split())
    assert (program, " ".join(arguments[:called])) == ("netcarlo", name)
    arguments = arguments[called:]
    with command.make_context(name, arguments, resilient_parsing=True) as context:
        assert context.params


def test_flags_have_no_type_and_values_have_one():
    for command in COMMANDS.values():
        context = command.make_context("x", [], resilient_parsing=True)
        for one in command.get_params(context):
            if isinstance(one, TyperOption):
                assert (one.display_type_rich(context) == "") == one.is_flag, one.name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", ""),
        ("--foo", "there is no option --foo; see netcarlo --help"),
        ("estimat", "there is no command 'estimat'; did you mean estimate, status? See netcarlo --help"),
        ("estimate", "SCENARIO.yaml is missing; add it; see netcarlo estimate --help"),
        ("estimate a b", "too many arguments: b; remove them; see netcarlo estimate --help"),
        ("estimate a --sed 3", "there is no option --sed; did you mean --scheduler, --seed, --set? See "),
        ("estimate a --seed x", "--seed is not a whole number; write one such as 3; see netcarlo estim"),
        ("estimate a --seed", "--seed has no value; add one; see netcarlo"),
        ("export s", "--to is missing; choose one of csv, parquet, netcdf; see netcarlo export --help"),
        ("schema x", "KIND: 'x' is not allowed; expected one of scenario, sweep, plan, study, mapping; see"),
        ("live a --port 99999", "--port is out of range; expected 65535 or less; see netcarlo live --help"),
        ("trace a --replication -1", "--replication is out of range; expected 0 or more; see netcarlo trace"),
    ],
)
def test_wrong_command_lines_are_one_line(arguments: str, said: str):
    found = CliRunner().invoke(app, shlex.split(arguments))
    assert found.exit_code == 2
    if said:
        assert found.stderr.startswith(f"error: {said}") and found.stderr.count("\n") == 1, found.stderr
    else:
        assert "Usage: " in found.output


def test_arguments_have_names_and_no_types():
    for name in COMMANDS:
        text = printed(*name.split())
        assert not re.search(r"<(path|str|int|list)|\[x|Usage: .*[{}]", text), name


def test_progress_tells_elapsed_from_remaining_time():
    assert console.clock(4.2, 3.4) == "4 s elapsed, about 3 s left"
    assert console.clock(4.2, None) == console.clock(4.2, float("nan")) == "4 s elapsed"
    assert console.clock(0.0, 0.2) == "0 s elapsed, about 1 s left"
    assert console.clock(600, 7200) == "10 min elapsed, about 2.0 h left"


def test_a_forecast_of_a_compilation_is_for_idle_cores_and_is_dropped_when_exceeded(capsys):
    assert console.compilation_clock(4.2, 13.0) == "4 s elapsed of about 13 s"
    assert console.compilation_clock(31.0, 13.0) == "31 s elapsed, longer than on idle cores (13 s)"
    with console.compiling(quiet=False):
        compilers._announce([SimpleNamespace(name="toy", compile_s=0.0)])
    said = capsys.readouterr().err
    assert said.startswith("compiling toy, once on this machine: about 0.0 s on idle cores (kept in ")
    column = console.Done("cells")
    bar = Progress(column, console=Console(file=io.StringIO()))
    bar.add_task("", total=40, compilation=(time.monotonic() - 2, 13.0))
    assert str(column.render(bar.tasks[0])) == "2 s elapsed of about 13 s"


def test_a_bar_counts_and_tells_the_time():
    ticks = iter(range(1000))
    column = console.Done("cells")
    bar = Progress(column, console=Console(file=io.StringIO()), get_time=lambda: float(next(ticks)))
    task = bar.add_task("", total=None)
    assert re.fullmatch(r"\d+ s elapsed", str(column.render(bar.tasks[0])))
    bar.update(task, total=40, completed=10)
    bar.update(task, completed=25)
    text = str(column.render(bar.tasks[0]))
    assert re.fullmatch(r"25 of 40 cells, \d+ s elapsed, about \d+ s left", text)
