"""Plugin of pytest that prints which models were compiled for the CPU, and which test needed each first.

Compiling takes a large part of the time of a test run with nothing compiled. Models that other processes
compile, such as those of a command, are not in the list.
"""

import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

PROPERTY = "compiled"
"""Name of the property of a report with the models that were compiled since the report before."""
MOST_LINES = 20

Compiled = tuple[float, str, str]
"""Processor time [s], name of the model, and the test."""


class Compilations:
    """Hooks of all processes of a test run."""

    def __init__(self) -> None:
        self.found: list[tuple[str, float]] = []
        """Models compiled since the last report, with the processor time of each [s]."""

    def timed(self, compile_loop: Callable[..., Any]) -> Callable[..., Any]:
        """Return `runtime.compile._compiled` with a record of each compilation."""

        def compiled(function: Any, file: Path, signature: str) -> Any:
            there, start = file.exists(), time.process_time()
            loop = compile_loop(function, file, signature)
            if not there:
                self.found.append((file.stem.rpartition("-")[0] or file.stem, time.process_time() - start))
            return loop

        return compiled

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add what was compiled to the report of a phase of a test, which pytest-xdist sends on."""
        report = yield
        report.user_properties = [*report.user_properties, *((PROPERTY, each) for each in self.found)]
        self.found = []
        return report

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the models that took longest, and the sum."""
        found: list[Compiled] = [
            (seconds, model, report.nodeid)
            for reports in terminalreporter.stats.values()
            for report in reports
            for kind, (model, seconds) in _properties(report)
            if kind == PROPERTY
        ]
        if found:
            total = sum(seconds for seconds, *_ in found)
            terminalreporter.write_line(f"Compiled {len(found)} models in {total:.0f} s of processor time.")
            for seconds, model, test in sorted(found, reverse=True)[:MOST_LINES]:
                terminalreporter.write_line(f"{seconds:6.1f} s {model} in {test}")


def _properties(report: object) -> list[tuple[str, Any]]:
    """Return the properties of a report of a test, which other objects in the statistics do not have."""
    return [each for each in getattr(report, "user_properties", []) if each[0] == PROPERTY]
