"""As much of CuPy as netcarlo uses, on the host: memory, streams, launches by whatever runs a kernel here.

What is queued on a stream is done when somebody waits for it, no sooner: so memory that is read too early, or
given away too soon, shows.
"""

import sys
import threading
import weakref
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from netcarlo.kernels.runtime import modules
from netcarlo.kernels.runtime.compile import ENTRY

Launch = Callable[[tuple[int], tuple[int], tuple[np.int64, ...]], None]


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""

    def __init__(self, status: int) -> None:
        super().__init__({1: "cudaErrorInvalidValue", 700: "cudaErrorIllegalAddress"}[status])
        self.status = status


class CUDADriverError(CUDARuntimeError):
    """As CuPy's."""


class OutOfMemoryError(MemoryError):
    """As CuPy's."""


class IllegalAddressError(Exception):
    """Raised by what runs a kernel here: from then on every call of the process fails."""


class Pinned(np.ndarray):  # type: ignore[type-arg]
    """What `cupyx.empty_pinned` returns; there it is a plain array."""


class Array:
    """As much of `cupy.ndarray` as a launch uses."""

    def __init__(self, host: np.ndarray[Any, Any], queue: Callable[[Callable[[], Any]], None]) -> None:
        self.host = np.array(host, order="C")  # the device has its own memory
        self.dtype, self.size, self.itemsize = self.host.dtype, self.host.size, self.host.itemsize
        self.shape, self.strides = self.host.shape, self.host.strides
        self.data = SimpleNamespace(ptr=self.host.ctypes.data)
        self._queue = queue

    def set(self, arr: np.ndarray[Any, Any]) -> None:
        """Copy from the host, when the stream comes to it."""
        self._check(arr)
        self._queue(lambda: np.copyto(self.host, arr))

    def get(self, *, out: np.ndarray[Any, Any], blocking: bool) -> None:
        """Copy to the host, when the stream comes to it."""
        self._check(out)
        assert not blocking
        self._queue(lambda: np.copyto(out, self.host))

    def _check(self, other: np.ndarray[Any, Any]) -> None:
        assert isinstance(other, Pinned) and other.flags.c_contiguous
        assert (other.dtype, other.shape) == (self.dtype, self.shape)


def host_array(array: np.ndarray[Any, Any]) -> Array:
    """An array on a device, for what asks only for its shape."""
    return Array(array, lambda work: None)


class Machine:
    """Devices of one multiprocessor each, with so many free bytes, of which CuPy's pool keeps `pool`."""

    def __init__(self, kernel: Callable[[str], Launch], *, free: int, pool: int, devices: int) -> None:
        self.kernel, self.free, self.pool, self.devices = kernel, free, pool, devices
        self.is_dead = False
        self.used, self.most_used = [0] * devices, [0] * devices
        self.loaded: list[int] = []
        """The devices onto which a module was loaded."""
        self._here = threading.local()

    @property
    def device(self) -> int:
        """The current one."""
        return getattr(self._here, "devices", [0])[-1]  # type: ignore[no-any-return]

    def check(self) -> None:
        if self.is_dead:
            raise CUDARuntimeError(700)

    def queue(self, work: Callable[[], Any]) -> None:
        """On the current stream; at once on the default one."""
        self.check()
        streams = getattr(self._here, "streams", [])
        streams[-1].work.append(work) if streams else work()

    def array(self, values: Any, dtype: Any = None) -> Array:
        self.check()
        made = Array(np.asarray(values, dtype), self.queue)
        size, device = made.host.nbytes, self.device
        if self.used[device] + size > self.free + self.pool:
            raise OutOfMemoryError(f"Out of memory allocating {size} bytes")
        self._use(device, size)
        weakref.finalize(made, self._use, device, -size)
        return made

    def _use(self, device: int, size: int) -> None:
        self.used[device] += size
        self.most_used[device] = max(self.most_used[device], self.used[device])

    def load(self, text: str) -> Launch:
        self.check()
        device, run = self.device, self.kernel(text)
        self.loaded.append(device)

        def launch(grid: tuple[int], block: tuple[int], arguments: tuple[np.int64, ...]) -> None:
            assert self.device == device
            self.queue(lambda: run(grid, block, arguments))

        return launch


def fake_cupy(
    kernel: Callable[[str], Launch], *, free: int = 1 << 40, pool: int = 0, devices: int = 1
) -> ModuleType:
    """A CuPy on a `Machine`, which is its `machine`; put it into `sys.modules` by `install`.

    `kernel(ptx)` is what is launched, with a grid, a block and arguments.
    """
    machine = Machine(kernel, free=free, pool=pool, devices=devices)
    here = machine._here

    class Entered:
        """A device or a stream, current in a block."""

        kind = ""

        def __enter__(self) -> Any:
            setattr(here, self.kind, [*getattr(here, self.kind, []), self.value()])
            return self

        def __exit__(self, *_: object) -> None:
            setattr(here, self.kind, getattr(here, self.kind)[:-1] or [0] * (self.kind == "devices"))

        def value(self) -> Any:
            raise NotImplementedError

    class Device(Entered):
        kind = "devices"

        def __init__(self, number: int) -> None:
            assert 0 <= number < devices
            self.number = number

        def value(self) -> int:
            return self.number

    class Stream(Entered):
        kind = "streams"

        def __init__(self, *, non_blocking: bool) -> None:
            self.work: list[Callable[[], Any]] = []
            self.device = machine.device

        def value(self) -> Any:
            assert self.device == machine.device
            return self

        def synchronize(self) -> None:
            while self.work and not machine.is_dead:
                try:
                    self.work.pop(0)()
                except IllegalAddressError:
                    machine.is_dead = True
            machine.check()

    class Module:
        def load(self, ptx: bytes) -> None:
            self.launch = machine.load(ptx.decode())

        def get_function(self, name: str) -> Launch:
            assert name == ENTRY
            return self.launch

    properties = {
        "name": b"Pretended", "major": 9, "minor": 0, "totalGlobalMem": free, "multiProcessorCount": 1,
    }  # fmt: skip
    cupy: Any = ModuleType("cupy")
    cupy.machine = machine
    cupy.asarray = machine.array
    cupy.empty = lambda shape, dtype: machine.array(np.full(shape, 77, dtype))
    cupy.zeros = lambda shape, dtype=float: machine.array(np.zeros(shape, dtype))
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: pool)
    cupy.cuda = SimpleNamespace(
        Device=Device,
        Stream=Stream,
        function=SimpleNamespace(Module=Module),
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            deviceSynchronize=machine.check,
            getDeviceCount=lambda: devices,
            getDevice=lambda: machine.device,
            getDeviceProperties=lambda index: properties,
            memGetInfo=lambda: (free - machine.used[machine.device], free),
        ),
    )
    assert isinstance(cupy, ModuleType)
    return cupy


def install(patch: Any, kernel: Callable[[str], Launch], **options: int) -> Machine:
    """Let `import cupy` and `import cupyx` find a pretended one, with nothing loaded."""
    cupy: Any = fake_cupy(kernel, **options)
    cupyx: Any = ModuleType("cupyx")
    cupyx.empty_pinned = lambda shape, dtype: np.full(shape, 55, dtype).view(Pinned)
    patch.setitem(sys.modules, "cupy", cupy)
    patch.setitem(sys.modules, "cupyx", cupyx)
    modules._loaded.cache_clear()
    return cupy.machine  # type: ignore[no-any-return]
