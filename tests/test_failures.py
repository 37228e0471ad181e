"""Output of failures: one line when it happens, and its name in the last 20 lines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.failures import MOST_LINES, listed

CONFTEST = """
from tests.failures import Failures

def pytest_configure(config):
    config.pluginmanager.register(Failures(config))
"""
TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no disk")

def test_sum():
    assert 1 + 1 == 3, "the sum\\nis wrong"

def test_disk(broken):
    pass

@pytest.mark.xfail
def test_expected():
    assert False

@pytest.mark.skip("not today")
@pytest.mark.parametrize("n", range(30))
def test_skipped(n):
    pass
"""


@pytest.mark.full
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_failures_are_printed_at_once_and_at_the_end(workers: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    root = str(Path(__file__).parents[1])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-p", "no:dash", "-p", "no:cacheprovider", *workers, "."],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    at_once, _, rest = done.stdout.partition("= ERRORS =")
    lines = [re.sub(r"\d+\.\d s", "0.0 s", line) for line in at_once.splitlines()]
    assert "FAILED test_some.py::test_sum (0.0 s): AssertionError: the sum" in lines
    assert "FAILED in setup test_some.py::test_disk (0.0 s): OSError: no disk" in lines
    assert "test_expected" not in at_once
    last = rest.splitlines()[-20:]
    heading = last.index(next(line for line in last if " 2 failed ==" in line))
    assert sorted(last[heading + 1 : -1]) == ["test_some.py::test_disk", "test_some.py::test_sum"]


@pytest.mark.parametrize("count", [1, 14, 15, 60, 900])
@pytest.mark.parametrize("files", [1, 7, 40])
def test_all_names_fit(count: int, files: int) -> None:
    names = [f"tests/some/test_{i % files}.py::test_name_{i}[reno-cubic 2]" for i in range(count)]
    found = listed(names)
    assert len(found) <= MOST_LINES
    for name in names:
        assert name.partition("::")[2] in " ".join(found)
