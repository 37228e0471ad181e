"""The CUDA kernels without a device: machine code for every architecture, and their PTX run on the CPU."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import flight, launch
from tests.device.cupy import fake_cupy, host_array, install
from tests.device.kernel import Kernel
from tests.twins.rows import rows_of

ARCHITECTURES = "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"

ROWS = 300
"""Random scenarios of each model."""

SPILLED = {"wifi_linux_bbr": 270, "manet_linux_bbr": 600}
"""Bytes by model."""


@pytest.fixture(scope="module", params=models.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def ptx(name: str) -> str:
    pytest.importorskip("numba_cuda", reason="needs numba_cuda: pip install '.[test]'")
    return compilers.ptx(models.model(name))


@pytest.mark.needs("numba_cuda", "ptxas")
def test_machine_code_without_spills(
    name: str,
    ptx: str,
    tool: Callable[[str], str],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    request: pytest.FixtureRequest,
) -> None:
    if name in SPILLED:
        reason = f"its sender is too much for 255 registers: some {SPILLED[name]} bytes are spilled"
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    source = tmp_path / "kernel.ptx"
    source.write_text(ptx)
    # What fits one architecture's registers fits them all.
    for architecture in ARCHITECTURES if name == "tcp_newreno" else ARCHITECTURES[2:3]:
        done = subprocess.run(
            [tool("ptxas"), "-v", f"-arch={architecture}", str(source), "-o", str(tmp_path / "kernel.cubin")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        registers = int(re.findall(r"Used (\d+) registers", done.stderr)[0])
        frames = re.findall(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr
        )
        stack, stores, loads = (sum(int(number) for number in column) for column in zip(*frames, strict=True))
        record_property(
            "machine code",
            f"{name} {architecture}: {registers} registers, stack {stack}, spills {stores} + {loads} bytes",
        )
        assert stores == 0 and loads == 0
        assert (tmp_path / "kernel.cubin").stat().st_size > 1000


@pytest.mark.needs("numba_cuda", "ptxas")
def test_the_version_that_is_written_changes_nothing(tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Of PTX: the same machine code comes of it, and what an older version lacks would be an error."""
    from netcarlo.kernels.runtime.compile import PTX_VERSION as VERSION

    text = compilers.ptx(models.model("tcp_newreno"))
    made = []
    for version in "9.0", VERSION:
        source, code = tmp_path / f"{version}.ptx", tmp_path / f"{version}.cubin"
        source.write_text(text.replace(f".version {VERSION}", f".version {version}"))
        assert f".version {version}" in source.read_text()
        subprocess.run([tool("ptxas"), "-arch=sm_90", str(source), "-o", str(code)], check=True)
        made.append(code.read_bytes())
    assert made[0] == made[1]


@pytest.mark.needs("numba_cuda")
def test_no_product_is_fused_with_a_sum(ptx: str) -> None:
    """A fused multiply-add rounds once where the CPU rounds twice."""
    assert not re.findall(r"\b(fma|mad)\S*\.f(?:32|64)", ptx)
    assert not re.findall(r"\b(?:mul|add|sub)\.f64", ptx)  # without .rn, ptxas may fuse them


@pytest.mark.needs("numba_cuda")
def test_a_product_in_a_sum_would_be_noticed() -> None:
    from numba import cuda

    from netcarlo.kernels.runtime.compile import CAPABILITY
    from netcarlo.kernels.runtime.cuda import settings

    def kernel(x, y):  # type: ignore[no-untyped-def]
        y[0] = x[0] * x[1] + x[2]

    signature = "void(float64[::1],float64[::1])"
    as_it_comes, _ = cuda.compile_ptx(kernel, signature, cc=CAPABILITY)
    assert ".version 9.0" in as_it_comes, "not libnvvm 13.0, which the PTX of every model was run with"
    assert "fma.rn.f64" in as_it_comes
    with settings():
        text, _ = cuda.compile_ptx(kernel, signature, cc=CAPABILITY)
    assert "fma.rn.f64" not in text and "mul.rn.f64" in text and "add.rn.f64" in text


@pytest.mark.needs("numba_cuda")
def test_parameters_are_those_that_a_launch_passes(name: str, ptx: str) -> None:
    dimensions = compilers.cuda_dimensions(models.model(name))
    arrays = [np.zeros((2,) * n, kind) for kind, n in zip(compilers._TYPES, dimensions, strict=True)]
    passed = flight.arguments([host_array(array) for array in arrays])
    head = ptx[ptx.index(".entry netcarlo(") : ptx.index("{")]
    assert re.findall(r"\.param (\S+) netcarlo_param_(\d+)", head) == [
        (".u64", str(i)) for i in range(len(passed))
    ]


@pytest.mark.needs("numba_cuda", "gcc")
def test_ptx_gives_the_bits_of_the_cpu(
    name: str, ptx: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The code for the device itself, translated to C and launched through a pretended CuPy.

    It shows what the source cannot: libnvvm once made code for ad hoc networks that had not one row right.
    """
    kernel = Kernel(ptx, tmp_path)
    install(monkeypatch, fake_cupy(lambda text: kernel))
    monkeypatch.setattr(compilers, "ptx", lambda model: ptx)
    assert_equal_bits(name)


@pytest.mark.needs("cuda device", "cupy")
def test_device_gives_the_bits_of_the_cpu(name: str) -> None:
    assert_equal_bits(name)


def assert_equal_bits(name: str) -> None:
    model, rows = models.model(name), rows_of(name, ROWS, seed=7)
    expected, out = (launch.run(model, rows, target=target) for target in ("cpu", "cuda"))
    sent = ManetOut.SENT if model.address.family == "adhoc" else Out.SENT
    assert expected[:, sent].sum() > 100
    equal = (out == expected).all(axis=1)
    assert equal.all(), f"{equal.sum()} of {len(equal)} rows equal the CPU's; row {equal.argmin()} does not"
