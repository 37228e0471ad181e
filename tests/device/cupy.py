"""As much of CuPy as netcarlo uses, on the host: memory, and launches by whatever runs a kernel here."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from netcarlo.kernels.runtime.compile import ENTRY

Launch = Callable[[tuple[int], tuple[int], tuple[np.int64, ...]], None]


class Array(np.ndarray[Any, Any]):
    """As much of `cupy.ndarray` as a launch uses."""

    @property
    def data(self) -> Any:
        """Where it is on the device."""
        return SimpleNamespace(ptr=self.ctypes.data)


def array(host: Any) -> Array:
    """A copy, for the device has its own memory."""
    return np.array(host, order="C").view(Array)


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
    cupy.asarray = array
    cupy.asnumpy = np.array
    cupy.empty = lambda shape, dtype: array(np.full(shape, 77, dtype))
    cupy.zeros = lambda shape, dtype=float: array(np.zeros(shape, dtype))
    cupy.concatenate, cupy.repeat, cupy.moveaxis = np.concatenate, np.repeat, np.moveaxis
    cupy.ascontiguousarray = array
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
