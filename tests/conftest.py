"""Shared browser, tools that some tests need, and the option that makes their absence a failure."""

import os
from collections.abc import Iterator

import hypothesis
import pytest

from tests import tiers, verdicts
from tests.compilations import Compilations
from tests.failures import Failures
from tests.reports.browser import Browser, Page, started
from tests.shared import Shared
from tests.tools import OF_THE_MACHINE, TOOLS, find

# Properties do not depend on time, and examples are slow on a busy machine; pytest-timeout limits each test.
hypothesis.settings.register_profile(
    "netcarlo", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("netcarlo")


def pytest_addoption(parser: pytest.Parser) -> None:
    tiers.add_options(parser)
    verdicts.add_options(parser)
    parser.addoption("--no-skips", action="store_true", help="a test skipped for want of a tool fails")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of worker processes; xdist asks before plugins can be registered."""
    return tiers.processes(config)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(tool, ...): skip where a tool is missing, see tests/tools.py")
    config.pluginmanager.register(Failures(config))
    config.pluginmanager.register(Compilations(), "compilations")
    tiers.configure(config)
    config.pluginmanager.register(verdicts.Verdicts(config))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for tool in mark.args:
            if find(tool) is None:
                pytest.skip(f"needs {tool}: {TOOLS[tool]}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    forbidden = item.config.getoption("--no-skips") and not hasattr(report, "wasxfail")
    allowed = any(f"needs {tool}" in str(report.longrepr) for tool in OF_THE_MACHINE)
    if report.skipped and forbidden and not allowed:
        report.outcome = "failed"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    stale = sorted(
        str(name)
        for report in terminalreporter.getreports("passed")
        for kind, name in report.user_properties
        if kind == "verdicts to renew"
    )
    if stale:
        terminalreporter.write_line(
            f"The PTX of {len(stale)} cases changed and passed: python -m tests.campaigns ptx --stale"
        )


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels as plain Python: same bits, and for few packets cheaper than to compile a model."""
    from tests.kernels.beside_twin import as_python

    monkeypatch.setattr("netcarlo.kernels.runtime.compile.cpu_loop", as_python)


@pytest.fixture(autouse=True, scope="session")
def compilations_are_recorded(pytestconfig: pytest.Config) -> Iterator[None]:
    """Record which models are compiled, for the summary."""
    from netcarlo.kernels.runtime import compile as compilers

    plugin = pytestconfig.pluginmanager.get_plugin("compilations")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilers, "_compiled", plugin.timed(compilers._compiled))
        yield


@pytest.fixture
def tool() -> object:
    """Return a function `tool(name)`: the path of a tool that the test's `needs` mark names."""
    return find


@pytest.fixture(autouse=True, scope="session")
def one_process_compiles() -> Iterator[None]:
    """Compile without helper processes in workers of tests, which use all cores; common code is compiled
    once."""
    with pytest.MonkeyPatch.context() as patch:
        if "PYTEST_XDIST_WORKER" in os.environ:
            from netcarlo.kernels.runtime import compile as compilers

            patch.setattr(compilers, "cores", lambda: 1)
        yield


@pytest.fixture(scope="session")
def shared_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared[Browser]]:
    """Return the browser of this process; tests use `browser` or `page`."""
    shared = Shared(lambda: started(tmp_path_factory.mktemp("profile")), Browser.answers)
    yield shared
    shared.close()


@pytest.fixture
def browser(shared_browser: Shared[Browser]) -> Browser:
    """Return a headless browser, shared by all tests: `with browser.page() as other` opens another page."""
    return shared_browser.get()


@pytest.fixture(scope="session")
def shared_page(shared_browser: Shared[Browser]) -> Iterator[Shared[Page]]:
    """Return a page for all first looks; tests use `glance`."""
    shared = Shared(lambda: shared_browser.get().page(), Page.answers)
    yield shared
    shared.close()


@pytest.fixture
def glance(shared_page: Shared[Page]) -> Page:
    """Return a shared page for tests that only look at it, because a new context takes longer than the
    look."""
    return shared_page.get()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a page in a context of its own, without remains of earlier tests."""
    with browser.page() as opened:
        yield opened
