"""As much of CuPy as netcarlo uses, on the host: memory, and launches by whatever runs a kernel here."""

import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from netcarlo.kernels.runtime import modules
from netcarlo.kernels.runtime.compile import ENTRY

if TYPE_CHECKING:
    import pytest

MACHINE_CODE = b"\x7fELF pretended "
"""Before PTX: what the pretended driver makes of it."""

Launch = Callable[[tuple[int], tuple[int], tuple[np.int64, ...]], None]


class Array:
    """As much of `cupy.ndarray` as a launch uses."""

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self.host = np.array(host, order="C")  # the device has its own memory
        self.size, self.itemsize = self.host.size, self.host.itemsize
        self.shape, self.strides = self.host.shape, self.host.strides
        self.data = SimpleNamespace(ptr=self.host.ctypes.data)


class CUDADriverError(RuntimeError):
    """What the driver refuses."""


class LinkState:
    """The driver's assembler."""

    def add_ptr_data(self, ptx: bytes, name: str) -> None:
        assert type(ptx) is bytes and type(name) is str
        self.ptx = ptx

    def complete(self) -> bytes:
        return MACHINE_CODE + self.ptx


class Event:
    """A moment on a stream that does one thing after the other."""

    def record(self, stream: object = None) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing is under way."""


def fake_cupy(
    kernel: Callable[[str], Launch],
    *,
    free: int = 1 << 40,
    capability: tuple[int, int] = (9, 0),
    driver: int = 13000,
    runtime: int = 13020,
) -> ModuleType:
    """A CuPy with a device of one multiprocessor and so much free memory [byte].

    `kernel(ptx)` is what is launched, with a grid, a block and arguments.  `driver` and `runtime` are the
    versions of CUDA of the driver (0: there is none) and of CuPy.
    """

    class Module:
        def load(self, code: bytes) -> None:
            if not code.startswith(MACHINE_CODE):
                raise CUDADriverError("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid")
            self.kernel = kernel(code.removeprefix(MACHINE_CODE).decode())

        def get_function(self, name: str) -> Launch:
            assert name == ENTRY
            return self.kernel

    def count() -> int:
        if driver < runtime // 1000 * 1000:
            raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")
        return 1

    major, minor = capability
    properties = {
        "name": b"Pretended", "major": major, "minor": minor, "totalGlobalMem": free,
        "multiProcessorCount": 1,
    }  # fmt: skip
    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "pretended"
    cupy.asarray = Array
    cupy.asnumpy = lambda array: array.host
    cupy.empty = lambda shape, dtype: Array(np.full(shape, 77, dtype))
    cupy.zeros = lambda shape, dtype=float: Array(np.zeros(shape, dtype))
    cupy.cuda = SimpleNamespace(
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        function=SimpleNamespace(Module=Module, LinkState=LinkState),
        Event=Event,
        get_elapsed_time=lambda start, end: 1e3 * (end.at - start.at),
        runtime=SimpleNamespace(
            driverGetVersion=lambda: driver,
            runtimeGetVersion=lambda: runtime,
            getDeviceCount=count,
            getDevice=lambda: 0,
            getDeviceProperties=lambda index: properties,
            memGetInfo=lambda: (free, free),
        ),
    )
    assert isinstance(cupy, ModuleType)
    return cupy


def pretend(patch: "pytest.MonkeyPatch", cupy: ModuleType, cache: Path) -> None:
    """Let netcarlo find this CuPy, nothing that was loaded before, and what is in this cache folder."""
    patch.setitem(sys.modules, "cupy", cupy)
    patch.setenv("NETCARLO_CACHE", str(cache))
    patch.setattr(modules, "_loaded", functools.cache(modules._loaded.__wrapped__))
