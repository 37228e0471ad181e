"""As much of CuPy as netcarlo uses, on the host: memory, and launches by whatever runs a kernel here."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from netcarlo.kernels.runtime.compile import ENTRY

Launch = Callable[[tuple[int], tuple[int], tuple[np.int64, ...]], None]


class Array:
    """As much of `cupy.ndarray` as a launch uses."""

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self.host = np.array(host, order="C")  # the device has its own memory
        self.size, self.itemsize = self.host.size, self.host.itemsize
        self.shape, self.strides = self.host.shape, self.host.strides
        self.data = SimpleNamespace(ptr=self.host.ctypes.data)


def fake_cupy(
    kernel: Callable[[str], Launch], *, free: int = 1 << 40, multiprocessors: int = 1
) -> ModuleType:
    """A CuPy with a device of so many multiprocessors and so much free memory [byte].

    `kernel(ptx)` is what is launched, with a grid, a block and arguments.
    """

    class Module:
        def load(self, ptx: bytes) -> None:
            self.kernel = kernel(ptx.decode())

        def get_function(self, name: str) -> Launch:
            assert name == ENTRY
            return self.kernel

    properties = {
        "name": b"Pretended", "major": 9, "minor": 0, "totalGlobalMem": free,
        "multiProcessorCount": multiprocessors,
    }  # fmt: skip
    cupy: Any = ModuleType("cupy")
    cupy.asarray = Array
    cupy.asnumpy = lambda array: array.host
    cupy.empty = lambda shape, dtype: Array(np.full(shape, 77, dtype))
    cupy.zeros = lambda shape, dtype=float: Array(np.zeros(shape, dtype))
    cupy.cuda = SimpleNamespace(
        function=SimpleNamespace(Module=Module),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: 1,
            getDevice=lambda: 0,
            getDeviceProperties=lambda index: properties,
            memGetInfo=lambda: (free, free),
        ),
    )
    assert isinstance(cupy, ModuleType)
    return cupy
