"""The second compiler for CUDA: its PTX takes what a launch passes, and gives the CPU's bits."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import device, launch
from tests.device.cupy import Array, fake_cupy
from tests.device.kernel import Kernel
from tests.twins.rows import rows_of

ROWS = 300

CODE = """\
target datalayout = "e-p:64:64:64"
@llvm.used = appending global [1 x i8*] [i8* bitcast (void (i8*)* @k.1 to i8*)]
define ptx_kernel void @k.1(i8*, i8*, i64, i64, i64, i64, i64, i8*, i8*, i64, i64, i64) {
  ret void
}
define i64 @called(i64) {
  ret i64 %0
}
!nvvm.annotations = !{!0}
!0 = !{void (i8*)* @k.1, !"kernel", i32 1}
"""


@pytest.mark.needs("numba_cuda_mlir")
def test_entry_has_the_parameters_that_a_launch_passes() -> None:
    from netcarlo.kernels.runtime.mlir import with_entry

    code = with_entry(CODE, "void(uint32[:,::1],float64[::1])", "netcarlo")
    arrays = [Array(np.zeros((2, 3), np.uint32)), Array(np.zeros(4))]
    [parameters] = re.findall(r"^define void @netcarlo\((.*)\) {$", code, re.M)
    assert len(parameters.split(",")) == len(device.arguments(arrays))
    assert "%items7 = sdiv exact i64 %7, 4\n" in code
    assert (
        "call void @k.1(i8* %4, i8* %4, i64 0, i64 %5, i64 %6, i64 %items7, i64 1, "
        "i8* %13, i8* %13, i64 0, i64 %14, i64 1)\n"
    ) in code
    assert "define internal void @k.1(" in code and "define internal i64 @called(i64) alwaysinline {" in code
    assert "llvm.used" not in code and f'!0 = !{{void ({parameters})* @netcarlo, !"kernel", i32 1}}' in code


@pytest.mark.needs("numba_cuda_mlir", "gcc")
@pytest.mark.parametrize("name", ["tcp_newreno", "fluid_newreno", "wifi_udp"])
def test_ptx_gives_the_bits_of_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from netcarlo.kernels.runtime import mlir

    model, rows = models.model(name), rows_of(name, ROWS, seed=7)
    signature = f"void({compilers._arrays(model.dimensions + compilers._CUDA)})"
    ptx = mlir.compile_kernel(model, signature, compilers.ENTRY)
    assert "malloc" not in ptx
    assert not re.findall(r"\b(fma|mad)\S*\.f(?:32|64)|\b(?:mul|add|sub)\.f64", ptx)
    kernel = Kernel(ptx, tmp_path)
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(lambda text: kernel))
    monkeypatch.setattr(compilers, "ptx", lambda model: ptx)
    expected, out = (launch.run(model, rows, target=target) for target in ("cpu", "cuda"))
    assert (out == expected).all(axis=1).sum() == ROWS
