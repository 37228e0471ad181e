"""`netcarlo devices --check` on a fake device: table, verdict and exit codes."""

import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from netcarlo.cli.main import app
from netcarlo.kernels.runtime import device, launch, modules
from netcarlo.simulation import agreement
from tests.device.cupy import fake_cupy

Outcomes = np.ndarray[Any, np.dtype[np.int64]]
FILE, VALUES = agreement.EXAMPLES["path"]


def check(*options: str) -> Result:
    return CliRunner().invoke(app, ["devices", "--check", *options])


def never(ptx: str) -> Any:
    raise AssertionError("the device is not asked")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function `simulated(change)`: the device has the CPU's outcomes, changed by `change` for
    each launch."""

    def on_device(change: Callable[[Outcomes], object]) -> None:
        def run(model: Any, rows: Any, rings: Any, *, progress: object) -> Outcomes:
            out = launch._run_cpu(model, launch._with_rings(rows, rings), workers=1, progress=None)
            change(out)
            return out

        monkeypatch.setattr(device, "run", run)

    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(never))
    monkeypatch.setattr(modules, "kernel", lambda model: None)
    two = {"first": (FILE, VALUES), "second": (FILE, VALUES | {"duration": "2 s"})}
    monkeypatch.setattr(agreement, "EXAMPLES", two)
    return on_device


def test_equal_rows_are_exit_0_and_a_report_to_paste(simulated: Callable[..., None]) -> None:
    simulated(lambda out: None)
    found = check()
    assert found.exit_code == 0, found.output
    assert "driver 13.0" in found.stdout and "cupy pretended" in found.stdout
    assert "compute capability 9.0" in found.stdout
    assert found.stdout.count("300 of 300") == 2
    assert found.stdout.endswith("outcomes of GPU and CPU are bit-identical in all 600 rows\n")
    data = json.loads(check("--json").stdout)
    assert data["equal"] and [one["model"] for one in data["engines"]] == ["tcp_sack"] * 2
    assert check("--quiet").stdout == ""


def test_a_row_that_differs_is_exit_1_and_named(simulated: Callable[..., None]) -> None:
    def change(out: Outcomes) -> None:
        if len(out) == agreement.ROWS:
            out[17, 3] += 1

    simulated(change)
    found = check()
    assert found.exit_code == 1
    assert found.stdout.count("299 of 300\n    first in row 17, outcome 3: ") == 2
    assert found.stdout.endswith("NOT EQUAL: 2 of 600 rows differ or failed, 0 engines were not run\n")


def test_an_error_of_the_device_ends_the_check(simulated: Callable[..., None]) -> None:
    def change(out: Outcomes) -> None:
        raise RuntimeError("cudaErrorIllegalAddress:\nan illegal memory access was encountered")

    simulated(change)
    found = check()
    assert found.exit_code == 1
    assert "failed: cudaErrorIllegalAddress: an illegal memory access was encountered\n" in found.stdout
    assert found.stdout.endswith("NOT EQUAL: 300 of 300 rows differ or failed, 1 engines were not run\n")


@pytest.mark.parametrize(
    ("cupy", "reason"),
    [
        (None, "pip install 'netcarlo[cuda13]'"),
        (fake_cupy(never, driver=0), "there is no NVIDIA driver"),
        (fake_cupy(never, driver=12080), "driver is for CUDA 12.8"),
    ],
)
def test_no_device_is_exit_2_and_one_line(
    monkeypatch: pytest.MonkeyPatch, cupy: ModuleType | None, reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    found = check()
    assert found.exit_code == 2 and found.stdout == ""
    assert found.stderr.count("\n") == 1 and reason in found.stderr


def test_no_compiler_is_exit_2(monkeypatch: pytest.MonkeyPatch, simulated: Callable[..., None]) -> None:
    def refuse(model: object) -> None:
        raise ModuleNotFoundError("compiling a model for CUDA needs numba-cuda")

    monkeypatch.setattr(modules, "kernel", refuse)
    found = check()
    assert found.exit_code == 2 and "needs numba-cuda" in found.stderr


def test_every_engine_has_an_example() -> None:
    from netcarlo.simulation.launches import model_of

    addresses = [model_of(agreement._scenario(*example)).address for example in agreement.EXAMPLES.values()]
    assert {(address.family, address.fluid) for address in addresses} == {
        *((family, False) for family in ("path", "shared", "wireless", "adhoc")),
        *((family, True) for family in ("path", "shared", "wireless", "adhoc")),
    }
    assert {address.sender for address in addresses} >= {"sctp", "udp"}
    assert any(address.mobile for address in addresses)
