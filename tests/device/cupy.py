"""Fake CuPy on the host, with the parts that netcarlo uses: memory, streams, and launches.

Work queued on a stream is done only when it is synchronised. So memory that is read too early, or released
too soon, causes an error.
"""

import functools
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime import modules
from netcarlo.kernels.runtime.compile import ENTRY

MACHINE_CODE = b"\x7fELF pretended "
"""Prefix of the machine code that the fake driver makes of PTX."""

Launch = Callable[[tuple[int], tuple[int], tuple[np.int64, ...]], None]


class CUDARuntimeError(RuntimeError):
    """Counterpart of CuPy's error of this name."""

    def __init__(self, status: int) -> None:
        names = {1: "InvalidValue", 35: "InsufficientDriver", 700: "IllegalAddress"}
        super().__init__(f"cudaError{names[status]}")
        self.status = status


class CUDADriverError(RuntimeError):
    """Counterpart of CuPy's error of this name."""

    status = 200


class OutOfMemoryError(MemoryError):
    """Counterpart of CuPy's error of this name."""


class IllegalAddressError(Exception):
    """Error of a fake kernel, after which every call of the process fails."""


class Pinned(np.ndarray):  # type: ignore[type-arg]
    """Counterpart of the result of `cupyx.empty_pinned`, a plain array there."""


class Array:
    """Counterpart of `cupy.ndarray` with the methods that a launch uses; `host` holds its contents."""

    def __init__(self, host: np.ndarray[Any, Any], queue: Callable[[Callable[[], Any]], None]) -> None:
        self.host = host
        self.dtype, self.size, self.itemsize = host.dtype, host.size, host.itemsize
        self.shape, self.strides = host.shape, host.strides
        self.data = SimpleNamespace(ptr=host.ctypes.data)
        self._queue = queue

    def set(self, arr: np.ndarray[Any, Any]) -> None:
        """Copy from the host when the stream gets there."""
        self._check(arr)
        self._queue(lambda: np.copyto(self.host, arr))

    def get(self, *, out: np.ndarray[Any, Any], blocking: bool) -> None:
        """Copy to the host when the stream gets there."""
        self._check(out)
        assert not blocking
        self._queue(lambda: np.copyto(out, self.host))

    def _check(self, other: np.ndarray[Any, Any]) -> None:
        assert isinstance(other, Pinned) and other.flags.c_contiguous
        assert (other.dtype, other.shape) == (self.dtype, self.shape)


def host_array(array: np.ndarray[Any, Any]) -> Array:
    """Return an array on a device, of which only the shape matters."""
    return Array(np.array(array, order="C"), lambda work: None)


class LinkState:
    """Counterpart of the driver's assembler."""

    def add_ptr_data(self, ptx: bytes, name: str) -> None:
        assert type(ptx) is bytes and type(name) is str
        self.ptx = ptx

    def complete(self) -> bytes:
        return MACHINE_CODE + self.ptx


class Event:
    """Event on a stream that processes its work in order."""

    def record(self, stream: object = None) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        """Do nothing: no work is in progress."""


class Machine:
    """Devices with this many free bytes each, and `pool` more that CuPy's pool keeps."""

    def __init__(self, kernel: Callable[[str], Launch], *, free: int, pool: int, devices: int) -> None:
        self.kernel, self.free, self.pool, self.devices = kernel, free, pool, devices
        self.is_dead = False
        self.used, self.most_used = [0] * devices, [0] * devices
        self.loaded: list[int] = []
        """The devices onto which a module was loaded."""
        self._here = threading.local()

    @property
    def device(self) -> int:
        """Return the current device."""
        return getattr(self._here, "devices", [0])[-1]  # type: ignore[no-any-return]

    def check(self) -> None:
        if self.is_dead:
            raise CUDARuntimeError(700)

    def queue(self, work: Callable[[], Any]) -> None:
        """Queue work on the current stream; the default stream does it at once."""
        self.check()
        streams = getattr(self._here, "streams", [])
        streams[-1].work.append(work) if streams else work()

    def array(self, values: Any, dtype: Any = None) -> Array:
        self.check()
        made = Array(np.array(values, dtype, order="C"), self.queue)  # the device has its own memory
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
    kernel: Callable[[str], Launch],
    *,
    free: int = 1 << 40,
    pool: int = 0,
    devices: int = 1,
    multiprocessors: int = 1,
    capability: tuple[int, int] = (9, 0),
    driver: int = 13000,
    runtime: int = 13020,
) -> ModuleType:
    """Return a CuPy on a `Machine`, its attribute `machine`; `install` puts it into `sys.modules`.

    `kernel(ptx)` is launched, with a grid, a block and arguments. `driver` and `runtime` are the versions of
    CUDA of the driver (0: there is none) and of CuPy.
    """
    machine = Machine(kernel, free=free, pool=pool, devices=devices)
    here = machine._here

    class Entered:
        """Device or stream that is current in a block."""

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
        def load(self, code: bytes) -> None:
            if not code.startswith(MACHINE_CODE):
                raise CUDADriverError("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid")
            self.launch = machine.load(code.removeprefix(MACHINE_CODE).decode())

        def get_function(self, name: str) -> Launch:
            assert name == ENTRY
            return self.launch

    def count() -> int:
        if driver < runtime // 1000 * 1000:
            raise CUDARuntimeError(35)
        return devices

    properties = {
        "name": b"Pretended", "major": capability[0], "minor": capability[1], "totalGlobalMem": free,
        "multiProcessorCount": multiprocessors,
    }  # fmt: skip
    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "pretended"
    cupy.machine = machine
    cupy.asarray = machine.array
    cupy.empty = lambda shape, dtype: machine.array(np.full(shape, 77, dtype))
    cupy.zeros = lambda shape, dtype=float: machine.array(np.zeros(shape, dtype))
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: pool)
    cupy.cuda = SimpleNamespace(
        Device=Device,
        Stream=Stream,
        Event=Event,
        get_elapsed_time=lambda start, end: 1e3 * (end.at - start.at),
        function=SimpleNamespace(Module=Module, LinkState=LinkState),
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            deviceSynchronize=machine.check,
            driverGetVersion=lambda: driver,
            runtimeGetVersion=lambda: runtime,
            getDeviceCount=count,
            getDevice=lambda: machine.device,
            getDeviceProperties=lambda index: properties,
            memGetInfo=lambda: (free - machine.used[machine.device], free),
        ),
    )
    assert isinstance(cupy, ModuleType)
    return cupy


def fake_cupyx() -> ModuleType:
    """Return the fake `cupyx`, the part of CuPy beside NumPy's interface."""
    cupyx: Any = ModuleType("cupyx")
    cupyx.empty_pinned = lambda shape, dtype: np.full(shape, 55, dtype).view(Pinned)
    return cupyx  # type: ignore[no-any-return]


def install(patch: Any, cupy: ModuleType) -> Machine:
    """Make `import cupy` and `import cupyx` find a fake, with nothing loaded.

    Machine code of its driver is not stored, as real devices would use it.
    """
    patch.setitem(sys.modules, "cupy", cupy)
    patch.setitem(sys.modules, "cupyx", fake_cupyx())
    made = functools.cache(lambda model, device: modules.load(modules.assembled(compilers.ptx(model))))
    patch.setattr(modules, "_loaded", made)
    machine: Machine = cupy.machine  # type: ignore[attr-defined]
    return machine
