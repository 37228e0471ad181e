"""Docstrings that do not stand alone: `python -m tests.docstrings [PATH ...]` lists them with their places.

A docstring is an imperative or a noun phrase that can be read without its neighbours, as in a tooltip.
Checked are docstrings of modules, classes and functions, and the strings below attributes and constants.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = "kernels", "estimator", "reports", "configs", "tests", "docs", ".ci", "setup.py"

_QUESTION = r"What|Whatever|Whether|How|Which|Who|Whose|Whom|Why|When|Where"
_REFERENCE = r"It|Its|They|Their|Them|This|That|These|Those|He|His|Such|The same|The other|Another one"
_CONTINUATION = r"And|Or|But|As|So|Of|Nor|Then|Than|Also|Likewise|Because|While|Though|Although|Until|Else"
_EMPTY = r"None|Nothing|Nobody|Everything|Everybody|Everyone|All that|Anything|Something|No,|Yes,"
_BEGINNING = re.compile(rf"(?:{_QUESTION}|{_REFERENCE}|{_CONTINUATION}|{_EMPTY})(?!\w)(?!')")
_TYPE = re.compile(r"[a-z]+[0-9]*\[")
"""Pattern of an array and its shape, which may come first."""
_END = re.compile(r"[.:?!)\]|`*}>]$")


class Violation(NamedTuple):
    """Docstring, and the rule that it breaks."""

    file: Path
    line: int
    rule: str
    docstring: str

    def __str__(self) -> str:
        """Return the place, the rule and the beginning of the docstring."""
        first = self.docstring.strip().splitlines()[0]
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.rule}: {first[:90]}"


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield all docstrings of a syntax tree, including those below attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str()) as docstring):
                        yield docstring


def broken_rule(docstring: str) -> str | None:
    """Return the rule that a docstring breaks, if any."""
    text = docstring.strip()
    if not text:
        return "empty"
    if found := _BEGINNING.match(text):
        return f'begins with "{found[0]}"'
    if text[0].islower() and not _TYPE.match(text):
        return "begins in lower case"
    if not _END.search(text):
        return "does not end a sentence"
    return None


def violations(file: Path) -> Iterator[Violation]:
    """Yield the violations in a file."""
    for docstring in docstrings(ast.parse(file.read_text())):
        text = str(docstring.value)
        if rule := broken_rule(text):
            yield Violation(file, docstring.lineno, rule, text)


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield all Python files below the paths."""
    for path in paths:
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def main(paths: list[str]) -> int:
    """Print all violations, and return 1 if there are any."""
    places = [Path(path).resolve() for path in paths] or [ROOT / folder for folder in FOLDERS]
    found = [violation for file in files(places) for violation in violations(file)]
    for violation in found:
        print(violation)
    print(f"{len(found)} docstrings do not stand alone.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
