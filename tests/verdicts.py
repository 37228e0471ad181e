"""Plugin of pytest for stored verdicts: tests of kernels that passed with the same sources are not repeated.

A large part of the time of `pytest --full` compiles models for tests of the second tier in `tests/kernels`.
Their results depend on the kernels, on the packages between a scenario and its outcomes, on the tests
themselves, and on Numba. `verdicts.json` holds the hash of all these from a run in which the tests passed,
with its date and the number of tests. While the hash is that of the present sources, a run of all tests
leaves them out and says so. Otherwise they run, as they do with `--again` or when files are named.
`python -m tests.campaigns kernels` runs them and stores new verdicts. Docstrings and comments do not count.
"""

import ast
import functools
import hashlib
import json
import platform
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import pytest

from netcarlo.simulation import sources

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "kernels"
FILE = Path(__file__).with_suffix(".json")
COMMAND = "python -m tests.campaigns kernels"

SCOPES = {"kernels": ("kernels",), "trunk": sources.TRUNK, "configs": (*sources.TRUNK, "configs")}
"""Packages of netcarlo that tests of a scope use, the smallest scope first."""

TOOLS = "numba", "llvmlite", "numpy"
"""Packages that make machine code, or compute beside it."""

APART = FOLDER / "runtime" / "test_cuda.py"
"""Tests of PTX, which has verdicts of its own (`tests.campaigns.ptx`)."""

BESIDE = "kernels", "twins", "toy_transport", "conftest.py"
"""Folders and modules of tests that decide the tests of kernels, beside the modules that they import."""

PROPERTY = "verdict"
"""Name of the property of a report with the scope of a test that a verdict covers."""


class Verdicts:
    """Hooks of all processes of a test run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.left_out: dict[str, int] = {}
        self.passed: dict[str, set[str]] = defaultdict(set)
        self.failed: dict[str, set[str]] = defaultdict(set)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests that verdicts cover, and leave out those whose verdict is that of the sources."""
        by_scope: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if FOLDER not in item.path.parents or item.get_closest_marker("full") is None:
                continue
            if found := scope(item.path):
                item.user_properties.append((PROPERTY, found))
                by_scope[found].append(item)
        if not self._may_leave_out():
            return
        for name, verdict in stored().items():
            tests = by_scope[name]
            if verdict["tests"] == len(tests) and verdict["sources"] == sources_hash(name):
                self.left_out[name] = len(tests)
                self.config.hook.pytest_deselected(items=tests)
                items[:] = [item for item in items if item not in {*tests}]

    def _may_leave_out(self) -> bool:
        everything = self.config.args_source is pytest.Config.ArgsSource.TESTPATHS
        return everything and self.config.getoption("--full") and not self.config.getoption("--again")

    def pytest_sessionfinish(self) -> None:
        """Send what a worker has left out to the main process, and store verdicts in the main process."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["verdicts"] = self.left_out
        elif self.config.getoption("--store-verdicts"):
            store({scope: len(self.passed[scope]) for scope in SCOPES if not self.failed[scope]})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Keep what a worker has sent: all workers collect the same tests."""
        self.left_out = getattr(node, "workeroutput", {}).get("verdicts", self.left_out)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the names of the tests of a scope that passed or were skipped, and of those that failed."""
        for kind, found in report.user_properties:
            if kind == PROPERTY:
                (self.failed if report.failed else self.passed)[str(found)].add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print which tests were left out, and which have no verdict any more."""
        write, option = terminalreporter.write_line, self.config.getoption
        for name, count in self.left_out.items():
            date = stored()[name]["date"]
            write(f"{count} tests of kernels passed with these sources on {date}; --full --again runs them.")
        ran = sum(len(self.passed[name]) for name in SCOPES)
        if ran and option("--full") and not option("--store-verdicts"):
            write(f"{ran} tests of kernels passed; {COMMAND} stores their verdict.")


def add_options(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    parser.addoption("--again", action="store_true", help="run tests that have a verdict, too")
    parser.addoption("--store-verdicts", action="store_true", help=f"for {COMMAND}")


def stored() -> Verdicts:
    """Return the stored verdicts."""
    found: Verdicts = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


@functools.cache
def scope(file: Path) -> str | None:
    """Return the smallest scope with all that a test module imports, or None."""
    if file == APART:
        return None
    imported = (name for each in _modules(file) for name in _direct_imports(each))
    used = {name.partition(".")[2].split(".")[0] for name in imported if name.split(".")[0] == "netcarlo"}
    return next((scope for scope, packages in SCOPES.items() if used <= {*packages}), None)


@functools.cache
def _modules(file: Path) -> frozenset[Path]:
    """Return the test modules that a test module consists of: itself, and those that it imports in turn."""
    found, remaining = {file}, [file]
    while remaining:
        names = [name for name in _direct_imports(remaining.pop()) if name.startswith("tests.")]
        paths = [ROOT / name.replace(".", "/") for name in names]
        for other in (each for path in paths for each in (path.with_suffix(".py"), path / "__init__.py")):
            if other.exists() and other not in found:
                found.add(other)
                remaining.append(other)
    return frozenset(found)


@functools.cache
def _direct_imports(file: Path) -> frozenset[str]:
    return frozenset(_named(ast.parse(file.read_text())))


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = (f"{node.module}.{each.name}" for each in node.names)
            yield from parts if node.module in ("netcarlo", "tests") else (node.module, *parts)


@functools.cache
def sources_hash(scope: str) -> str:
    """Return the hash of what decides the tests of a scope: syntax trees, data files of tests, and tools."""
    tools = [f"{name} {metadata.version(name)}" for name in TOOLS]
    found = hashlib.sha256(f"{tools} Python {platform.python_version_tuple()[:2]}".encode())
    found.update(sources.fingerprint(SCOPES[scope]).encode())
    found.update(sources.hash_of({file.relative_to(ROOT).as_posix(): file for file in _of_tests()}).encode())
    return found.hexdigest()[:16]


def _of_tests() -> set[Path]:
    """Return the files of tests that decide the tests of kernels."""
    paths = [ROOT / "tests" / name for name in BESIDE]
    within = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    found = {file for file in within if file.suffix in (".py", ".txt", ".csv") and file.exists()}
    return found.union(*(_modules(file) for file in FOLDER.rglob("test_*.py")))


def store(tests: dict[str, int]) -> None:
    """Store the verdicts of scopes in which this many tests passed."""
    date = datetime.now(UTC).date().isoformat()
    new = {
        scope: {"sources": sources_hash(scope), "tests": count, "date": date, "command": COMMAND}
        for scope, count in tests.items()
        if count
    }
    FILE.write_text(json.dumps(stored() | new, indent=1) + "\n")
