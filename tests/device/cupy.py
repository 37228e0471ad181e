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


class Array(np.ndarray[Any, Any]):
    """As much of `cupy.ndarray` as a launch uses."""

    @property
    def data(self) -> Any:
        """Where it is on the device."""
        return SimpleNamespace(ptr=self.ctypes.data)


def array(host: Any) -> Array:
    """A copy, for the device has its own memory."""
    return np.array(host, order="C").view(Array)


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
    multiprocessors: int = 1,
    capability: tuple[int, int] = (9, 0),
    driver: int = 13000,
    runtime: int = 13020,
) -> ModuleType:
    """A CuPy with a device of so many multiprocessors and so much free memory [byte].

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
        "multiProcessorCount": multiprocessors,
    }  # fmt: skip
    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "pretended"
    cupy.asarray = array
    cupy.asnumpy = np.array
    cupy.empty = lambda shape, dtype: array(np.full(shape, 77, dtype))
    cupy.zeros = lambda shape, dtype=float: array(np.zeros(shape, dtype))
    cupy.concatenate, cupy.repeat, cupy.moveaxis = np.concatenate, np.repeat, np.moveaxis
    cupy.ascontiguousarray = array
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
