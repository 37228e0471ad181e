"""Every command and program that README and guide show is run as it stands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "guide.md"]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, over all pages."""
    text = "\n".join(page.read_text() for page in PAGES)
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


COMMANDS = sorted(
    {line for block in blocks("sh") for line in block.splitlines() if line.startswith("netcarlo ")}
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the examples where the documentation finds them."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    return tmp_path


def test_commands_are_found() -> None:
    assert {shlex.split(command)[1] for command in COMMANDS} >= {"estimate", "trace", "reproduce", "devices"}


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command: str, folder: Path) -> None:
    program = "from netcarlo.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *shlex.split(command)[1:]], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stderr


@pytest.mark.parametrize("program", [block for block in blocks("python") if "import netcarlo" in block])
def test_program_runs(program: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scenario", [block for block in blocks("yaml") if "transport:" in block])
def test_scenario_is_one(scenario: str, folder: Path) -> None:
    from netcarlo import load_scenario

    (folder / "scenario.yaml").write_text(scenario)
    assert load_scenario(folder / "scenario.yaml").name == "my_link"
