"""Plugin of pytest for tiers: `pytest` runs the first tier of tests, `pytest --full` all of them.

A test is marked `full` if it takes longer than about a second with nothing compiled, because it compiles a
model that no test of the first tier needs, runs many scenarios, starts a cluster or other processes, or
executes documentation. Where only some parameters of a test take long, only these are marked (`parameters`).
Tests with a browser are in the second tier, except for one of each kind of page
(`tests/reports/first_look.py`). A test that is named (`pytest FILE::NAME`) runs in any tier.
"""

import gc
import os
from collections.abc import Container, Generator, Iterable
from typing import Any

import pytest

MEMORY = 3 << 30
"""Memory of a worker, with the processes that its tests start [bytes]."""

MOST_WORKERS = 16


class Tiers:
    """Hooks of all processes of a test run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.left_out = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Collect tests without looking for garbage: nearly all that is imported stays until the end."""
        gc.disable()
        try:
            return (yield)
        finally:
            gc.enable()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out tests marked `full` unless they are requested."""
        if self.config.getoption("--full") or named(self.config):
            return
        left_out = [item for item in items if item.get_closest_marker("full")]
        self.left_out = len(left_out)
        if left_out:
            self.config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker("full")]

    def pytest_sessionfinish(self) -> None:
        """Send the number of tests that a worker has left out to the main process."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["left_out"] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Keep the number that a worker has sent: all workers collect the same tests."""
        self.left_out = getattr(node, "workeroutput", {}).get("left_out", self.left_out)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of tests that were not run, and how to run them."""
        if self.left_out:
            terminalreporter.write_line(f"First tier: pytest --full runs {self.left_out} more tests.")


def add_options(parser: pytest.Parser) -> None:
    """Add the options of this plugin."""
    parser.addoption("--full", action="store_true", help="run all tests, also those that take long")


def configure(config: pytest.Config) -> None:
    """Register the marker and the hooks."""
    config.addinivalue_line("markers", "full: takes long, only `pytest --full` runs it, see tests/tiers.py")
    config.pluginmanager.register(Tiers(config))


def parameters(values: Iterable[Any], *, full: Container[Any]) -> list[Any]:
    """Return the values of a parameter of a test; with those in `full` it runs in the second tier only."""
    return [pytest.param(value, marks=pytest.mark.full) if value in full else value for value in values]


def named(config: pytest.Config) -> bool:
    """Return True if all arguments name tests, as `FILE::NAME`."""
    return bool(config.args) and all("::" in argument for argument in config.args)


def processes(config: pytest.Config) -> int:
    """Return the number of worker processes of a test run: 0 for a test that is named."""
    if named(config) or config.option.collectonly:
        return 0
    return workers(more=1 if config.getoption("--full") else 0)


def workers(more: int = 0) -> int:
    """Return the number of processes that run tests at once: one per core, as far as memory permits.

    `more` are added to those of the cores. Tests of the second tier wait for browsers, commands and clusters,
    so with one process per core they leave a fifth of the cores idle.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return min(cores + more, MOST_WORKERS)
    return max(1, min(cores + more, memory // MEMORY, MOST_WORKERS))
