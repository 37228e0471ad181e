"""Every command and program that README, guide, tutorials and some other pages of docs show is run."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from netcarlo.cli import console
from netcarlo.cli.main import app
from tests.campaigns.catalogue import campaigns

ROOT = Path(__file__).parent.parent
TUTORIALS = [ROOT / "docs" / "tutorials" / f"{name}.md" for name in ("researcher", "planner", "sweeper")]
HOW_TO = [ROOT / "docs" / f"{name}.md" for name in ("guide", "sweeps", "compare")]
PAGES = [ROOT / "README.md", *HOW_TO, *TUTORIALS]
OTHERS = "architecture", "planning", "models/formulas", "models/bianchi"
PROGRAMS = [*PAGES, *(ROOT / "docs" / f"{name}.md" for name in OTHERS)]
EVERY = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def blocks(language: str, pages: list[Path] = PAGES) -> list[str]:
    """The fenced blocks of a language, over some pages."""
    text = "\n".join(page.read_text() for page in pages)
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The commands that a page shows, in its order."""
    return [
        line for block in blocks("sh", [page]) for line in block.splitlines() if line.startswith("netcarlo ")
    ]


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_are_ones_that_there_are(page: Path) -> None:
    group = typer.main.get_command(app)
    for command in commands(page):
        name, *arguments = shlex.split(command)[1:]
        group.commands[name].make_context(name, arguments)  # type: ignore[attr-defined]
        for argument in arguments:
            assert not argument.startswith("configs/") or (ROOT / argument).exists(), command


OF_TESTS = re.compile(r"python -m (tests[\w.]*)(?: (\w+)\b(?!\.))?")
"""A program of the tests, and its first argument."""


@pytest.mark.full
@pytest.mark.parametrize(
    "page", sorted({*ROOT.glob("*.md"), *EVERY}), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_programs_of_the_tests_exist(page: Path) -> None:
    known = campaigns()
    for program, argument in OF_TESTS.findall(page.read_text()):
        place = ROOT.joinpath(*program.split("."))
        assert (place / "__main__.py").exists() or place.with_suffix(".py").exists(), program
        assert program != "tests.campaigns" or argument in {*known, "NAME", ""}, argument


@pytest.mark.parametrize("page", EVERY, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_programs_are_python(page: Path) -> None:
    for block in blocks("python", [page]):
        compile(block, page.name, "exec")


NAMES = (
    "my_link", "my_walk", "my_mesh", "my_walkers", "my_office", "my_call", "buffers", "main_and_backup_line"
)  # fmt: skip
"""Of the scenarios and sweeps that the pages show."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the examples where the documentation finds them."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    return tmp_path


def test_commands_are_found() -> None:
    found = {shlex.split(command)[1] for page in PAGES for command in commands(page)}
    assert found >= {"estimate", "trace", "reproduce", "devices", "sweep", "report", "query", "export"}


@pytest.mark.full
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands of a page in this process, which compiles what models have in common only once.

    The models of a command that has a limit of time are compiled before it.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setattr(console, "leave", sys.exit)
    for command in commands(page):
        if "--time" in command:
            assert CliRunner().invoke(app, ["warm", shlex.split(command)[2], "--quiet"]).exit_code == 0
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}: {done.stderr} {done.exception!r}"
        assert "rror" not in done.stderr, command


@pytest.mark.full
@pytest.mark.parametrize("program", [block for block in blocks("python", PROGRAMS) if "netcarlo" in block])
def test_program_runs(program: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
def test_notebook_runs_and_shows_its_results() -> None:
    cells = blocks("{code-cell}", [ROOT / "docs" / "notebook.md"])
    known: dict[str, Any] = {}
    shown = []
    for cell in cells:
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "notebook", "exec"), known)
        assert isinstance(last, ast.Expr)
        shown.append(eval(compile(ast.Expression(last.value), "notebook", "eval"), known))
    estimate, table, variable, figure, differing, sweep = shown
    assert "<svg" in estimate._repr_html_() and variable.attrs["units"] == "bit/s"
    assert table.index.tolist() == ["goodput_bps", "timeouts"]
    assert figure.data[0].type == "histogram" and len(figure.data[0].x) == 40
    assert differing.loc["timeouts", "high"] < 0 and sweep.shape == (2, 3)


@pytest.mark.parametrize("text", [block for block in blocks("yaml") if "transport:" in block])
def test_yaml_is_a_scenario_or_a_sweep(text: str, folder: Path) -> None:
    from netcarlo import load_scenario
    from netcarlo.sweeps.space.file import load_sweep

    (folder / "file.yaml").write_text(text)
    load = load_sweep if "axes:" in text else load_scenario
    assert load(folder / "file.yaml").name in NAMES
