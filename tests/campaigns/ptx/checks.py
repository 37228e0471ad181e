"""Checks of the PTX of one model: machine code, rounding, parameters and outcomes."""

import fcntl
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from netcarlo.kernels import models
from netcarlo.kernels.adhoc.layout import ManetOut
from netcarlo.kernels.base.layout import Out
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import gpu_launch, launch
from tests.campaigns.ptx.cases import Case
from tests.device.cupy import fake_cupy, host_array, install
from tests.device.kernel import Kernel
from tests.tools import find

ARCHITECTURES = "sm_75", "sm_80", "sm_90", "sm_100", "sm_120"

LARGE = 3_000_000
"""PTX that is longer [characters] is assembled by one process at a time: ptxas takes 1 to 9 GB for it."""

COMPILERS = {"numba_cuda": "cuda", "numba_cuda_mlir": "mlir"}


class Machine(NamedTuple):
    """Resources of a thread on an architecture, as ptxas reports them."""

    registers: int
    stack: int
    """Stack frame [bytes]."""
    spills: int
    """Spill stores and loads [bytes]."""


class Found(NamedTuple):
    """Measurements of PTX that passes all checks."""

    machine: Machine
    rows: int
    """Rows for which all outcomes equal the CPU's."""


def ptx_of(case: Case) -> str:
    """Return the PTX of a case, from the cache folder or compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilers, "CUDA_COMPILERS", {case.compiler: COMPILERS[case.compiler]})
        text: str = compilers.ptx.__wrapped__(models.model(case.model))
    return text


def check(case: Case, text: str, folder: Path, *, architectures: tuple[str, ...] = ("sm_90",)) -> Found:
    """Run all checks of PTX; raise AssertionError, with the reason, if one fails.

    Files are written into `folder`. Registers are those of the first architecture: code that fits the
    registers of one of `ARCHITECTURES` fits all of them.
    """
    no_fused_products(text)
    takes_what_a_launch_passes(models.model(case.model), text)
    machine = [assembled(text, folder, architecture) for architecture in architectures]
    return Found(machine[0], equal_outcomes(case, text, folder))


def no_fused_products(text: str) -> None:
    """Check that no multiplication is fused with an addition, which rounds once where the CPU rounds
    twice.
    """
    fused = re.findall(r"\b(?:fma|mad)\S*\.f(?:32|64)", text)
    assert not fused, f"fused multiply-add: {fused[0]}"
    free = re.findall(r"\b(?:mul|add|sub)\.f64", text)
    assert not free, f"{free[0]} without .rn, which ptxas may fuse"
    assert "malloc" not in text, "it allocates memory"


def takes_what_a_launch_passes(model: Any, text: str) -> None:
    """Check number and types of the kernel's parameters."""
    dimensions = compilers.cuda_dimensions(model)
    arrays = [np.zeros((2,) * n, kind) for kind, n in zip(compilers._TYPES, dimensions, strict=True)]
    passed = gpu_launch.arguments([host_array(array) for array in arrays])
    head = text[text.index(".entry netcarlo(") : text.index("{")]
    declared = re.findall(r"\.param (\S+) netcarlo_param_(\d+)", head)
    assert declared == [(".u64", str(i)) for i in range(len(passed))], "parameters are others than passed"


def assembled(text: str, folder: Path, architecture: str) -> Machine:
    """Make machine code with ptxas, and return the resources of a thread."""
    ptxas = find("ptxas")
    assert ptxas, "ptxas is missing: pip install nvidia-cuda-nvcc"
    source, code = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(text)
    command = [ptxas, "-v", f"-arch={architecture}", str(source), "-o", str(code)]
    with one_at_a_time() if len(text) > LARGE else nullcontext():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or f"ptxas ended with status {done.returncode}: out of memory?"
    registers = int(re.findall(r"Used (\d+) registers", done.stderr)[0])
    frames = re.findall(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr
    )
    stack, stores, loads = (sum(int(number) for number in column) for column in zip(*frames, strict=True))
    assert code.stat().st_size > 1000, "no machine code"
    return Machine(registers, stack, stores + loads)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold a lock that admits one process of this user at a time."""
    with open(Path(tempfile.gettempdir()) / f"netcarlo-ptxas-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def equal_outcomes(case: Case, text: str, folder: Path) -> int:
    """Run PTX, translated to C, through an emulated CuPy; return the number of rows.

    All outcomes must equal those of the CPU.  This detects faults of compilers: libnvvm once produced wrong
    code for ad hoc networks.
    """
    model, rows = models.model(case.model), case.rows()
    kernel = Kernel(text, folder)
    with pytest.MonkeyPatch.context() as patch:
        install(patch, fake_cupy(lambda ptx: kernel))
        patch.setattr(compilers, "ptx", lambda model: text)
        expected, out = (launch.run(model, rows, target=target) for target in ("cpu", "cuda"))
    sent = ManetOut.SENT if model.address.family == "adhoc" else Out.SENT
    assert expected[:, sent].sum() > 100, "the rows send next to nothing"
    equal = (out == expected).all(axis=1)
    assert equal.all(), f"{equal.sum()} of {len(equal)} rows equal the CPU's; row {equal.argmin()} does not"
    return len(equal)
