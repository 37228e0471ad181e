"""Docstrings stand alone."""

import ast
from pathlib import Path

import pytest

from tests import docstrings
from tests.docstrings import FOLDERS, ROOT, broken_rule, files, violations


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_stand_alone(folder: str) -> None:
    found = [str(violation) for file in files([ROOT / folder]) for violation in violations(file)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Return the congestion window [packets].", None),
        ("Smoothed round-trip time [us].", None),
        ("float64[n]: goodput of each flow [bit/s].", None),
        ("Whether the pipe is full.", 'begins with "Whether"'),
        ("The same for SACK.", 'begins with "The same"'),
        ("because the window has not grown.", "begins in lower case"),
        ("Rounds counted,", "does not end a sentence"),
        ("Ofcom's tables.", None),
        ("  ", "empty"),
    ],
)
def test_a_rule_is_recognised(text: str, rule: str | None) -> None:
    assert broken_rule(text) == rule


def test_strings_below_attributes_and_constants_are_docstrings() -> None:
    source = '"""Module."""\nA = 1\n"""Constant."""\nclass C:\n    x: int\n    """Attribute."""\n'
    source += 'def f():\n    """Function."""\n    print("no docstring")\n'
    found = {docstring.value for docstring in docstrings.docstrings(ast.parse(source))}
    assert found == {"Module.", "Constant.", "Attribute.", "Function."}


def test_the_place_of_a_violation_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docstrings, "ROOT", tmp_path)
    file = tmp_path / "a.py"
    file.write_text('"""Good."""\n\nA = 1\n"""What A is."""\n')
    assert [str(v) for v in violations(file)] == ['a.py:4: begins with "What": What A is.']
