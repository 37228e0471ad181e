"""Plugin of pytest that prints failures when they happen, and again in the last lines.

A test run takes long, and its output is longer than a screen. So each failure is one line at once, with its
reason, and the names of all of them are printed last.
"""

import textwrap
from collections.abc import Iterator, Sequence

import pytest

MOST_LINES = 13
"""Maximum lines of names: 20 with the heading, the last line of pytest, and five of `time` and `.ci/run`."""
WIDTH = 110
"""Characters of a line."""


class Failures:
    """Hooks of the process that prints; with pytest-xdist its workers print nothing."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print one line for a phase of a test that fails."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter and report.failed:
            if reporter._tw.width_of_current_line:  # after the letters of other tests
                reporter.write("\n")
            phase = "" if report.when == "call" else f" in {report.when}"
            line = f"FAILED{phase} {report.nodeid} ({report.duration:.1f} s): {reason(report)}"
            reporter.write_line(line, red=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        """Print the names of all that failed after everything else."""
        yield
        reports = [*terminalreporter.getreports("error"), *terminalreporter.getreports("failed")]
        names = list(dict.fromkeys(report.nodeid for report in reports))
        if names:
            terminalreporter.section(f"{len(names)} failed", red=True)
            for line in listed(names):
                terminalreporter.write_line(line)


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test failed: the first line of its error."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash else report.longrepr).strip()
    return textwrap.shorten(text.partition("\n")[0], 300)


def listed(names: Sequence[str]) -> list[str]:
    """Return all names in `MOST_LINES` lines: one name a line, else those of a file together, else run
    on."""
    if len(names) <= MOST_LINES:
        return [*names]
    by_file: dict[str, list[str]] = {}
    for name in names:
        file, _, test = name.partition("::")
        by_file.setdefault(file, []).append(test)
    together = [f"{file}: {', '.join(filter(None, tests))}" for file, tests in by_file.items()]
    if len(together) <= MOST_LINES and all(len(line) <= WIDTH for line in together):
        return together
    width = max(WIDTH, sum(len(line) + 2 for line in together) // (MOST_LINES - 2))
    return textwrap.wrap("; ".join(together), width, break_long_words=False, break_on_hyphens=False)
