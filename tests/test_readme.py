"""README and docs: both commands exist, links have targets, examples load."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_readme_has_the_two_commands_that_ci_runs() -> None:
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines()]
    commands = [line for line in lines if re.match(r"pip install .* && ", line)]
    first = "pip install . && netcarlo reproduce sctp_linkdown"
    assert commands == [first, "pip install '.[test]' && pytest"]


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 80


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    broken = [link for link in links if not (page.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:estimator|kernels|configs|reports|tests|docs)/[\w./-]+\.\w+)`", page.read_text()
    )
    assert [name for name in named if not (ROOT / name).exists()] == []
