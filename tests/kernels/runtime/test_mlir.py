"""Second compiler for CUDA: its PTX accepts the arguments of a launch and computes the CPU's bits."""

import re

import numpy as np
import pytest

from netcarlo.kernels.runtime import gpu_launch
from tests.device.cupy import host_array

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

    code = with_entry(CODE, "void(uint32[:,::1],float64[:,:,::1])", "netcarlo")
    arrays = [host_array(np.zeros((2, 3), np.uint32)), host_array(np.zeros((2, 3, 32)))]
    [parameters] = re.findall(r"^define void @netcarlo\((.*)\) {$", code, re.M)
    assert len(parameters.split(",")) == len(gpu_launch.arguments(arrays))
    assert "%a0.7i = sdiv exact i64 %a0.7, 4\n" in code  # items per row of the table
    assert (
        "call void @k.1(i8* %a0.4, i8* %a0.4, i64 0, i64 %a0.5, i64 %a0.6, i64 %a0.7i, i64 1, "
        "i8* %a1.4p, i8* %a1.4p, i64 0, i64 %a1.6, i64 32)\n"
    ) in code
    assert "%inside = icmp slt i64 %warp, %a1.5\n" in code
    kinds = ", ".join(parameter.split()[0] for parameter in parameters.split(", "))
    assert "define internal void @k.1(" in code and "define internal i64 @called(i64) alwaysinline {" in code
    assert "llvm.used" not in code and f'!0 = !{{void ({kinds})* @netcarlo, !"kernel", i32 1}}' in code
