"""Pages of results state conclusion, command and date; explanations are short, and lines fit a screen."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
INDEX = DOCS / "results" / "index.md"
RESULTS = sorted({*(DOCS / "results").glob("*.md")} - {INDEX})
MODELS = sorted((DOCS / "models").glob("*.md"))
EVIDENCE = [
    DOCS / f"{name}.md"
    for name in (
        "calibration", "comparison", "evidence", "fidelity", "performance", "reference/security",
        "validation",
    )
]  # fmt: skip
WORDS = 1500
"""Maximum words of a page of explanation; measurements belong to the results."""
WIDTH = 120
"""Maximum characters of a line outside tables."""


def name(page: Path) -> str:
    """Return the name of a page."""
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", RESULTS, ids=name)
def test_a_result_has_a_conclusion_a_command_and_a_date(page: Path) -> None:
    title, conclusion, header, *_ = page.read_text().split("\n\n")
    assert title.startswith("# ")
    assert conclusion.endswith((".", ")")) and not conclusion.startswith(("|", "#", "`"))
    assert re.match(r"\| \| \|\n\|---\|---\|\n\| commands? \| .*`", header), "command first"
    assert re.search(r"^\| recorded \| .*\d{4}-\d\d-\d\d", header, re.MULTILINE), "date"


@pytest.mark.parametrize("page", RESULTS, ids=name)
def test_a_result_is_in_the_index(page: Path) -> None:
    assert f"]({page.name})" in INDEX.read_text()


@pytest.mark.parametrize("page", [*MODELS, *EVIDENCE], ids=name)
def test_an_explanation_is_short(page: Path) -> None:
    assert len(page.read_text().split()) <= WORDS


@pytest.mark.parametrize("page", [*RESULTS, *MODELS, *EVIDENCE, INDEX], ids=name)
def test_lines_fit_a_screen(page: Path) -> None:
    lines = enumerate(page.read_text().splitlines(), 1)
    assert [number for number, line in lines if len(line) > WIDTH and not line.startswith("|")] == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=name)
def test_no_line_is_a_comment(page: Path) -> None:
    """No line begins with a percent sign, which the Markdown of the site takes for a comment."""
    assert re.findall(r"^ *%.*", page.read_text(), re.MULTILINE) == []
