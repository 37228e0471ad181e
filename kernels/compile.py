"""The one module that knows the compilers: Numba for the CPU, numba-cuda for PTX.

Models are plain functions made by factories that take `dev`, the step that compiles a function for
a target: `cpu`, `cuda` or `plain` (no compilation).  Floating-point rounding is never relaxed.

`python -m netcarlo.kernels.compile` compiles the built-in models to PTX in the cache folder, which
a GPU host without numba-cuda can then use (set `NETCARLO_CACHE` to a copy of the folder there).
"""

import functools
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from netcarlo.kernels import cache

ENTRY = "netcarlo"
"""Name of the kernel in the PTX of every model."""

CAPABILITY = (7, 5)
"""The PTX asks for this compute capability; devices from it on compile it when it is loaded."""

_TYPES = "int64", "float64", "int64", "int64", "uint32", "int64", "float64", "int64", "float64"
_ROW = 1, 1, 3, 4, 2, 1, 1, 1, 2  # dimensions of a flow's arguments
_CPU = 2, 2, 4, 5, 2, 1, 1, 2, 2  # of all rows, scratch and memory of one thread
_CUDA = 2, 2, 4, 5, 2, 2, 2, 2, 2  # of all rows, scratch and memory of all threads


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The step that compiles nothing: models run as Python."""
    return function


def cpu(function: Callable[..., Any]) -> Any:
    """The step that compiles a function for the CPU, to be called by compiled functions only."""
    import numba

    return numba.njit(
        error_model="numpy",
        forceinline=not getattr(function, "cold", False),
        _nrt=False,  # arrays are views of memory that the caller holds: no reference counts
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(_with_numbers(function))


def cuda(function: Callable[..., Any]) -> Any:
    """The step that compiles a function of a CUDA kernel (no device is needed)."""
    from numba import cuda as compiler

    return compiler.jit(device=True)(_with_numbers(function))


@functools.cache
def cpu_loop(model: Any) -> Any:
    """Compile `loop(lo, hi, ...)`, which simulates rows `lo` to `hi` - 1 one after the other."""
    flow = model.make(cpu, False)

    def loop(
        lo: Any, hi: Any, parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        for i in range(lo, hi):
            flow(parameters[i], constants[i], hops[i], outages[i], losses, scratch, memory, out[i], trace)

    return _compiled(loop, _file(model, cpu_loop), f"void(int64,int64,{_arrays(_CPU)})")


@functools.cache
def cpu_flow(model: Any) -> Any:
    """Compile the flow of a model that records a trace and returns its length."""
    flow = model.make(cpu, True)

    def traced(
        parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> Any:  # fmt: skip
        return flow(parameters, constants, hops, outages, losses, scratch, memory, out, trace)

    return _compiled(traced, _file(model, cpu_flow), f"int64({_arrays(_ROW)})")


def prepare(loops: Iterable[Any], flows: Iterable[Any] = ()) -> None:
    """Compile side by side what is not in the cache folder: models to be run, models to be traced.

    Compiling holds the interpreter lock, so other processes help; they leave their results in the
    cache folder.  Users' models are left for later.
    """
    from netcarlo.kernels import models

    wanted = dict.fromkeys([(cpu_loop, m) for m in loops] + [(cpu_flow, m) for m in flows])
    missing = [
        (compiler, model)
        for compiler, model in wanted
        if model in models.MODELS.values() and not _file(model, compiler).exists()
    ]
    if len(missing) < 2 or cores() < 2 or not cache.writable():
        return
    todo = iter(missing)

    def help_out() -> None:
        for compiler, model in todo:
            code = f"from netcarlo.kernels import compile as c, models as m; c.{compiler.__name__}(m.model({model.name!r}))"
            subprocess.run([sys.executable, "-c", code], check=False, stdin=subprocess.DEVNULL)

    with ThreadPoolExecutor(cores()) as helpers:
        for _ in range(min(cores(), len(missing)) - 1):
            helpers.submit(help_out)
        for compiler, model in todo:
            compiler(model)


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_kernel(model: Any) -> Callable[..., None]:
    """The CUDA kernel that simulates one row per thread, uncompiled."""
    from numba import cuda as compiler

    flow = model.make(cuda, False)
    grid = compiler.grid

    def kernel(
        parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        i = grid(1)
        if i < out.shape[0]:
            flow(
                parameters[i], constants[i], hops[i], outages[i], losses, scratch[i], memory[i], out[i], trace
            )  # fmt: skip

    return kernel


@functools.cache
def ptx(model: Any) -> str:
    """The PTX of a model's kernel `ENTRY`, from the cache folder or compiled.

    Raises ModuleNotFoundError, saying what to do, where it would have to be compiled and cannot be.
    """
    file = cache.path(model, ".ptx", ENTRY, CAPABILITY)
    if file.exists():
        return file.read_text()
    try:
        with _cuda_settings():
            from numba import cuda as compiler

            text, _ = compiler.compile_ptx(make_kernel(model), f"void({_arrays(_CUDA)})", cc=CAPABILITY)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error}; compiling a model for CUDA needs numba-cuda: pip install 'netcarlo[cuda13]', "
            f"or copy the cache folder of a machine that has it ({file.name} is not in {file.parent})"
        ) from error
    found = re.search(r"\.entry (\w+)\(", text)
    assert found, "the PTX has no kernel"
    text = text.replace(found[1], ENTRY)
    cache.write(file, text.encode())
    return text


def _with_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function that finds plain integers where its source names members of enumerations.

    numba-cuda does not index with them, and Numba compiles integers faster.
    """
    numbers = {
        name: _numbers(value)
        for name, value in function.__globals__.items()
        if isinstance(value, type) and issubclass(value, IntEnum)
    }
    copy = FunctionType(
        function.__code__, {**function.__globals__, **numbers}, function.__name__, None, function.__closure__
    )
    return functools.update_wrapper(copy, function)


@functools.cache
def _numbers(enumeration: type[IntEnum]) -> ModuleType:
    """An enumeration as a module of integers: compilers take those for constants."""
    module = ModuleType(enumeration.__name__)
    module.__dict__.update({member.name: int(member) for member in enumeration})
    return module


def _arrays(dimensions: tuple[int, ...]) -> str:
    """The types of the arguments of a flow, with these numbers of dimensions."""
    shapes = [",".join(":" * (n - 1) + "1").replace("1", "::1") for n in dimensions]
    return ",".join(f"{kind}[{shape}]" for kind, shape in zip(_TYPES, shapes, strict=True))


def _compiled(function: Callable[..., Any], file: Path, signature: str) -> Any:
    """Compile a function that Python calls for one signature, or load it from a file.

    It runs without the interpreter lock.
    """
    import numba

    compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)(function)
    compiled._cache = cache.NumbaFile(file)
    compiled.compile(signature)
    return compiled


def _file(model: Any, compiler: Any) -> Path:
    """Where the result of `cpu_loop` or `cpu_flow` for a model is kept."""
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    processor = llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    versions = numba.__version__, llvm.llvm_version_info, np.__version__, platform.python_version(), processor
    return cache.path(model, ".nbc", compiler.__name__, *versions)


@contextmanager
def _cuda_settings() -> Iterator[None]:
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
        yield
    finally:
        dispatcher.get_current_device, nvvm.compile_ir = originals


def main() -> None:
    """Compile the built-in models to PTX in the cache folder."""
    from netcarlo.kernels import models

    for name in models.NAMES:
        text = ptx(models.model(name))
        print(f"{cache.folder()}: {name}, {len(text)} bytes of PTX")


if __name__ == "__main__":
    main()
