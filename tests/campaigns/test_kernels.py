"""Stored verdicts: tests of kernels that passed with the same sources are left out, and this is reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import verdicts
from tests.campaigns.kernels import ARGUMENTS

CONFTEST = """
from pathlib import Path
from tests import tiers, verdicts

verdicts.ROOT = Path(__file__).parent
verdicts.FOLDER = verdicts.ROOT / "tests" / "kernels"
verdicts.FILE = verdicts.ROOT / "verdicts.json"
verdicts.SCOPES = {"kernels": ("errors",), "trunk": ("errors", "numerics")}

def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true")
    tiers.add_options(parser)
    verdicts.add_options(parser)

def pytest_configure(config):
    tiers.configure(config)
    config.pluginmanager.register(verdicts.Verdicts(config))
"""
TESTS = '''
"""Tests."""
import pytest
from netcarlo import errors

def test_quick(): assert errors.InputError

@pytest.mark.full
@pytest.mark.parametrize("n", [1, 2])
def test_long(n): assert n
'''
OUTSIDE = TESTS.replace("import errors", "import errors, estimate")
LEFT_OUT = "2 tests of kernels passed with these sources on"


@pytest.mark.full
def test_tests_are_left_out_while_their_sources_are_those_of_their_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "kernels"
    folder.mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_outside.py").write_text(OUTSIDE)
    root = str(Path(__file__).parents[2])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": root}
    environment["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "no:dash", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    assert "6 passed" in run("--full") and "6 passed" in run(*ARGUMENTS, "tests/kernels")
    assert {name: verdict["tests"] for name, verdict in verdicts_of(tmp_path).items()} == {"kernels": 2}
    for workers in [], ["-n", "2"]:
        left_out = run("--full", *workers)
        assert "4 passed" in left_out and LEFT_OUT in left_out
    assert "6 passed" in run("--full", "--again")
    assert "3 passed" in run("--full", "tests/kernels/test_some.py")

    (folder / "test_some.py").write_text(TESTS.replace('"""Tests."""', '"""More tests."""'))
    assert LEFT_OUT in run("--full")
    (folder / "test_some.py").write_text(TESTS.replace("[1, 2]", "[0, 1]"))
    changed = run("--full")
    assert "1 failed, 5 passed" in changed and LEFT_OUT not in changed
    before = verdicts_of(tmp_path)
    run(*ARGUMENTS, "tests/kernels")
    assert verdicts_of(tmp_path) == before, "a scope with a failed test has no new verdict"


def verdicts_of(folder: Path) -> verdicts.Verdicts:
    """Return the verdicts in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdicts, "FILE", folder / "verdicts.json")
        return verdicts.stored()


def test_scopes_are_by_imports() -> None:
    """Tests of twins need the kernels only; those that start from a scenario need the trunk."""
    modules = {"every_pair": "kernels", "delays": "trunk", "cost": None}
    for name, scope in modules.items():
        assert verdicts.scope(verdicts.FOLDER / f"test_{name}.py") == scope
