"""Tools that some tests need, and the option that makes their absence a failure."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.failures import Failures

TOOLS = {
    "ns": "apt-get install ns2",
    "chromium": "apt-get install chromium",
    "gcc": "apt-get install gcc libc6-dev",
    "ptxas": "pip install nvidia-cuda-nvcc",
    "numba_cuda": "pip install '.[test]'",
    "numba_cuda_mlir": "pip install '.[test]'",
    "cupy": "pip install '.[cuda13]'",
    "cuda device": "a machine with an NVIDIA GPU",
    "network namespaces": "root on a Linux with TUN devices",
}
"""What `@pytest.mark.needs(...)` may name, and how to get it."""


OF_THE_MACHINE = "cuda device", "network namespaces"
"""What no installation brings: to skip for want of these is no failure."""


def find(tool: str) -> str | None:
    """The path of a tool or module, or None."""
    if tool == "cuda device":
        from netcarlo.kernels.runtime import device

        found = device.devices()
        return found[0].name if found else None
    if tool == "network namespaces":
        tun = Path("/dev/net/tun")
        asked = tun.exists() and subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
        return str(tun) if asked and asked.returncode == 0 else None
    if tool in ("numba_cuda", "numba_cuda_mlir", "cupy"):
        spec = importlib.util.find_spec(tool)
        return spec.origin if spec else None
    if tool == "ptxas":
        nvidia = importlib.util.find_spec("nvidia")
        for folder in nvidia.submodule_search_locations or () if nvidia else ():
            for path in Path(folder).glob("*/bin/ptxas"):
                return str(path)
    return shutil.which(tool)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a test skipped for want of a tool fails")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "needs(tool, ...): skip where a tool is missing, see tests/conftest.py"
    )
    config.pluginmanager.register(Failures(config))


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
    found = [
        line
        for report in terminalreporter.getreports("passed")
        for kind, line in report.user_properties
        if kind == "machine code"
    ]
    if found:
        terminalreporter.section("machine code")
        for line in found:
            terminalreporter.write_line(str(line))


@pytest.fixture
def tool() -> object:
    """`tool(name)` is the path of a tool that the test's `needs` mark names."""
    return find


@pytest.fixture(autouse=True, scope="session")
def one_process_compiles() -> Iterator[None]:
    """No helpers where tests have workers: these have the cores already, and what models have in common is
    compiled once in a process."""
    with pytest.MonkeyPatch.context() as patch:
        if "PYTEST_XDIST_WORKER" in os.environ:
            from netcarlo.kernels.runtime import compile as compilers

            patch.setattr(compilers, "cores", lambda: 1)
        yield
