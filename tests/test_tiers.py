"""Tiers of tests: `pytest` leaves out tests marked `full` and says so; `--full` or a name runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import tiers

CONFTEST = """
from tests import tiers

def pytest_addoption(parser):
    tiers.add_options(parser)

def pytest_configure(config):
    tiers.configure(config)
"""
TESTS = """
import pytest

def test_quick(): pass

@pytest.mark.full
@pytest.mark.parametrize("n", [1, 2])
def test_long(n): pass
"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("arguments", "passed", "says"),
    [
        ([], 1, "First tier: pytest --full runs 2 more tests."),
        (["-n", "2"], 1, "First tier: pytest --full runs 2 more tests."),
        (["--full"], 3, ""),
        (["test_some.py::test_long"], 2, ""),
        (["-n", "auto", "test_some.py::test_long[1]"], 1, ""),
    ],
)
def test_tiers(arguments: list[str], passed: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    root = str(Path(__file__).parents[1])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": root}
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-p", "no:dash", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{passed} passed" in done.stdout
    assert says in done.stdout and bool(says) == ("--full runs" in done.stdout)


@pytest.mark.parametrize(("cores", "memory_gib", "expected"), [(2, 64, 2), (64, 512, 16), (8, 8, 2)])
def test_workers_fit_cores_and_memory(
    cores: int, memory_gib: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(cores), raising=False)
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": memory_gib << 18}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert tiers.workers() == expected
    assert tiers.workers(more=1) == min(expected + 1, max(expected, memory_gib * 2**30 // tiers.MEMORY), 16)
