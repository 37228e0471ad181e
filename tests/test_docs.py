"""Examples of the documentation: every command, file and program of README, tutorials and how-to pages is
run."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from netcarlo.cli.main import app
from tests import pages
from tests.campaigns.catalogue import campaigns

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
HOW_TO = sorted({*(DOCS / "howto").glob("*.md")} - {DOCS / "howto" / "index.md"})
TUTORIALS = [DOCS / "tutorials" / f"{name}.md" for name in ("researcher", "planner", "sweeper")]
PAGES = [ROOT / "README.md", DOCS / "index.md", *TUTORIALS, *HOW_TO, DOCS / "sweeps.md", DOCS / "compare.md"]
"""Pages that are executed from top to bottom (`tests.pages`)."""
PROGRAMS = [DOCS / f"{name}.md" for name in ("architecture", "planning", "models/formulas", "models/bianchi")]
"""Other pages whose Python programs are run."""
EVERY = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])


def of(page: Path) -> str:
    """Return the identifier of a page."""
    return page.relative_to(ROOT).as_posix()


def blocks(language: str, of_pages: list[Path] = PAGES) -> list[str]:
    """Return the fenced blocks of a language, over some pages."""
    text = "\n".join(page.read_text() for page in of_pages)
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the commands that a page shows, in order."""
    return [command for block in pages.blocks(page) for command in pages.commands(block)]


@pytest.mark.parametrize("page", EVERY, ids=of)
def test_commands_are_ones_that_there_are(page: Path) -> None:
    group = typer.main.get_command(app)
    for command in commands(page):
        name, *arguments = shlex.split(command)[1:]
        group.commands[name].make_context(name, arguments)  # type: ignore[attr-defined]
        for argument in arguments:
            assert not argument.startswith("configs/") or (ROOT / argument).exists(), command


OF_TESTS = re.compile(r"python -m (tests[\w.]*)(?: (\w+)\b(?!\.))?")
"""Pattern of a program of the tests, and its first argument."""


@pytest.mark.full
@pytest.mark.parametrize("page", sorted({*ROOT.glob("*.md"), *EVERY}), ids=of)
def test_programs_of_the_tests_exist(page: Path) -> None:
    known = campaigns()
    for program, argument in OF_TESTS.findall(page.read_text()):
        place = ROOT.joinpath(*program.split("."))
        assert (place / "__main__.py").exists() or place.with_suffix(".py").exists(), program
        assert program != "tests.campaigns" or argument in {*known, "NAME", ""}, argument


@pytest.mark.parametrize("page", EVERY, ids=of)
def test_programs_are_python(page: Path) -> None:
    for block in blocks("python", [page]):
        compile(block, page.name, "exec")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder with the examples where the documentation finds them."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    return tmp_path


def test_commands_are_found() -> None:
    found = {shlex.split(command)[1] for page in PAGES for command in commands(page)}
    assert found >= {"estimate", "trace", "reproduce", "devices", "sweep", "report", "query", "export"}


def test_there_is_a_page_for_each_question() -> None:
    assert len(HOW_TO) >= 25
    index = (DOCS / "howto" / "index.md").read_text()
    for page in HOW_TO:
        text = page.read_text()
        assert f"({page.name})" in index, "the page is not in the index"
        assert commands(page) or any(map(pages.is_program, pages.blocks(page))), "the page runs nothing"
        assert "\nSee also: " in text, "the page does not lead on"
        assert 150 <= len(text.split()) <= 400, "the page does not answer one question"


def test_the_documentation_is_short() -> None:
    """Reference and results are looked up, not read, and are left out."""
    looked_up = (DOCS / "reference", DOCS / "results")
    read = [page for page in EVERY if not any(folder in page.parents for folder in looked_up)]
    assert sum(len(page.read_text().split()) for page in [*read, ROOT / "CONTRIBUTING.md"]) <= 45_000


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_lines_are_short(page: Path) -> None:
    lines = [line for line in page.read_text().splitlines() if not line.startswith("|")]  # rows of tables
    assert [line for line in lines if len(line) > 120] == []


def load(file: Path) -> None:
    """Read a scenario, sweep or plan as its command does."""
    from netcarlo import load_scenario
    from netcarlo.planning import load_plan
    from netcarlo.sweeps.space.file import load_sweep

    text = file.read_text()
    read = load_plan if "quantity:" in text else load_sweep if "axes:" in text else load_scenario
    read(file)


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_files_of_a_page_are_read(page: Path, folder: Path) -> None:
    for file in pages.save_files(page, folder):
        if file.suffix == ".yaml" and "metrics:" not in file.read_text():
            load(file)


WHOLE = re.compile(r"^(duration|scenario):", re.MULTILINE)
OTHERS = [page for page in EVERY if page not in PAGES]


@pytest.mark.parametrize(
    "text", [text for text in blocks("yaml", OTHERS) if WHOLE.search(text) and "transport:" in text]
)
def test_whole_scenarios_sweeps_and_plans_are_read(text: str, folder: Path) -> None:
    (folder / "file.yaml").write_text(text)
    load(folder / "file.yaml")


@pytest.mark.full
@pytest.mark.parametrize("page", PAGES, ids=of)
def test_page_runs_and_prints_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for ran in pages.run(page, tmp_path):
        assert pages.missing(ran) == [], f"`python -m tests.pages --write {of(page)}` renews it\n{ran.output}"


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [("one   1\n...\n", []), ("one 2\ntwo\n", ["one 2"]), ("two\none 1\n", ["one 1"]), ("...\nno", ["no"])],
)
def test_an_output_that_is_not_the_real_one_is_found(shown: str, wrong: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        f"```python\nimport netcarlo\nprint('one', 1)\nprint('two')\n```\n\n```text\n{shown}\n```\n"
    )
    [ran] = pages.run(page, tmp_path)
    assert ran.output == "one 1\ntwo\n" and pages.missing(ran) == wrong


def test_an_output_is_renewed() -> None:
    block = pages.Block("text", "one 1\n...\n", "", 0)
    assert pages.renewed(pages.Ran(["program"], "zero\none 2\ntwo\n", block)) == "one 2\n...\n"


@pytest.mark.full
@pytest.mark.parametrize("program", [block for block in blocks("python", PROGRAMS) if "netcarlo" in block])
def test_program_runs(program: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
def test_notebook_runs_and_shows_its_results() -> None:
    cells = blocks("{code-cell}", [DOCS / "notebook.md"])
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
