"""From a model to PTX with numba-cuda, which no CPU installation needs.

No device is needed either: PTX is compiled by the driver of the device that loads it.
"""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import cuda

from netcarlo.kernels.runtime import garbage
from netcarlo.kernels.runtime.compile import CAPABILITY
from netcarlo.kernels.runtime.kernel import make_kernel


def step(function: Callable[..., Any]) -> Any:
    """The step that compiles a function for CUDA, to be called by a kernel."""
    return cuda.jit(device=True)(function)


def compile_kernel(model: Any, signature: str, name: str) -> str:
    """The PTX of a model's kernel, called `name` there."""
    with settings():
        text, _ = cuda.compile_ptx(make_kernel(model, step, cuda), signature, cc=CAPABILITY)
    entries = re.findall(r"\.entry (\w+)\(", text)
    assert len(entries) == 1, f"PTX with the kernels {entries}"
    return str(text).replace(entries[0], name)


@contextmanager
def settings() -> Iterator[None]:
    """Make numba-cuda compile without a device, and without fusing `a * b + c` into one rounding.

    It asks the device for its compute capability, and has no option for the second.
    """
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import nvvm

    class Device:
        compute_capability = CAPABILITY

    originals = dispatcher.get_current_device, nvvm.compile_ir
    dispatcher.get_current_device = Device
    nvvm.compile_ir = functools.partial(nvvm.compile_ir, fma=False)
    try:
        with garbage.kept():
            yield
    finally:
        dispatcher.get_current_device, nvvm.compile_ir = originals
