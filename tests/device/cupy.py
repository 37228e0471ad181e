"""As much of CuPy as netcarlo uses, on the host: memory, streams, launches by whatever runs a kernel here.

What is queued on a stream is done when somebody waits for it, no sooner: so memory that is read too early, or
given away too soon, shows.
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
"""Before PTX: what the pretended driver makes of it."""

Launch = Callable[[tuple[int], tuple[int], tuple[np.int64, ...]], None]


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""

    def __init__(self, status: int) -> None:
        names = {1: "InvalidValue", 35: "InsufficientDriver", 700: "IllegalAddress"}
        super().__init__(f"cudaError{names[status]}")
        self.status = status


class CUDADriverError(RuntimeError):
    """As CuPy's."""

    status = 200


class OutOfMemoryError(MemoryError):
    """As CuPy's."""


class IllegalAddressError(Exception):
    """Raised by what runs a kernel here: from then on every call of the process fails."""


class Pinned(np.ndarray):  # type: ignore[type-arg]
    """What `cupyx.empty_pinned` returns; there it is a plain array."""


class Array:
    """As much of `cupy.ndarray` as a launch uses; `host` holds what is in it."""

    def __init__(self, host: np.ndarray[Any, Any], queue: Callable[[Callable[[], Any]], None]) -> None:
        self.host = host
        self.dtype, self.size, self.itemsize = host.dtype, host.size, host.itemsize
        self.shape, self.strides = host.shape, host.strides
        self.data = SimpleNamespace(ptr=host.ctypes.data)
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
    return Array(np.array(array, order="C"), lambda work: None)


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


class Machine:
    """Devices with so many free bytes each, and `pool` more that CuPy's pool keeps."""

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
    """A CuPy on a `Machine`, which is its `machine`; put it into `sys.modules` by `install`.

    `kernel(ptx)` is what is launched, with a grid, a block and arguments.  `driver` and `runtime` are the
    versions of CUDA of the driver (0: there is none) and of CuPy.
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
    """What belongs to CuPy beside NumPy's."""
    cupyx: Any = ModuleType("cupyx")
    cupyx.empty_pinned = lambda shape, dtype: np.full(shape, 55, dtype).view(Pinned)
    return cupyx  # type: ignore[no-any-return]


def install(patch: Any, cupy: ModuleType) -> Machine:
    """Let `import cupy` and `import cupyx` find a pretended one, with nothing loaded.

    What its driver makes is kept nowhere: real devices would take it for theirs.
    """
    patch.setitem(sys.modules, "cupy", cupy)
    patch.setitem(sys.modules, "cupyx", fake_cupyx())
    made = functools.cache(lambda model, device: modules.load(modules.assembled(compilers.ptx(model))))
    patch.setattr(modules, "_loaded", made)
    machine: Machine = cupy.machine  # type: ignore[attr-defined]
    return machine
