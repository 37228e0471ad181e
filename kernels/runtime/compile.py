"""Compilation of models: with Numba for the CPU, and (`cuda`, `mlir`) to PTX.

Models are plain functions, bound (`base.bind`) by a step that compiles each for a target: `cpu`, `cuda.step`
or `plain` (no compilation). Floating-point rounding is never relaxed.

`python -m netcarlo.kernels.runtime.compile` compiles the built-in models to PTX in the cache folder. A GPU
host without numba-cuda can use them if `NETCARLO_CACHE` names a copy of the folder.
"""

import functools
import importlib
import importlib.util
import logging
import platform
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from netcarlo.kernels.congestion.user import refusals
from netcarlo.kernels.runtime import cache, compile_speed
from netcarlo.kernels.runtime.file_lock import exclusive, is_locked
from netcarlo.kernels.runtime.threads import cores, interruptible, map_unordered

ENTRY = "netcarlo"
"""Name of the kernel in the PTX of every model."""

CAPABILITY = 7, 5
"""Compute capability of the PTX; all devices from it on accept the PTX."""

PTX_VERSION = "8.0"
"""PTX version of CUDA 12.0, written instead of the compilers' (9.0).

Drivers reject a version newer than their own. No model needs a newer one: ptxas would report it.
"""

CUDA_COMPILERS = {"numba_cuda": "cuda", "numba_cuda_mlir": "mlir"}
"""Packages that compile for CUDA, in order of preference, and the modules here that call them."""

_TYPES = "int64", "float64", "int64", "int64", "uint32", "int64", "float64", "int64", "float64"
_CPU = 1, 1, 2, 2  # dimensions of scratch and memory of one thread, outcomes, trace
_LOSSES = 4  # index of the only array that rows share

Listener = Callable[[str, float], object]
_listeners: list[Listener] = []


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function unchanged (step without compilation: models run as Python)."""
    return function


def cpu(function: Callable[..., Any], model: str = "", *, noalias: bool = False) -> Any:
    """Compile a function for the CPU, to be called by compiled functions only (step).

    `model` becomes part of the function's symbol and differs for each compilation. All models share one
    linker, and Numba numbers its symbols anew in each process: otherwise a model loaded from disk could call
    another's function. `noalias` is that of `base.model.Model`.
    """
    import numba

    from netcarlo.kernels.runtime.numba_pipeline import Compiler

    function.__qualname__ = f"{model}.{function.__qualname__}"
    compiled = numba.njit(
        error_model="numpy",
        forceinline=not getattr(function, "noinline", False),
        _nrt=False,  # arrays are views of memory that the caller holds: no reference counts
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=Compiler,
    )(function)
    compiled.get_call_template = functools.partial(_of_types, compiled.get_call_template)
    if noalias:
        compiled._compiler._customize_flags = _without_aliases
    return compiled


def _of_types(get_call_template: Any, args: Any, kws: Any) -> Any:
    """Compile a function once for `f(x, 0)` and `f(x, n)`; LLVM, which inlines it, propagates constants."""
    from numba.core.types.misc import unliteral

    return get_call_template(tuple(unliteral(kind) for kind in args), kws)


_compiled_with: dict[bool, dict[Any, Any]] = {False: {}, True: {}}
"""By `noalias`: compiled functions of this process that models share."""


def _step(symbols: str, noalias: bool) -> Callable[..., Any]:
    """Return `cpu` as a step that compiles shared functions once."""
    step: Any = functools.partial(cpu, model=symbols, noalias=noalias)
    step.compiled = _compiled_with[noalias]
    return step  # type: ignore[no-any-return]


def _without_aliases(flags: Any) -> Any:
    """Set LLVM's `noalias` for all arguments, for which Numba has no option."""
    flags.noalias = True
    return flags


@contextmanager
def announced(listener: Listener) -> Iterator[None]:
    """Call `listener(what, seconds)` before a compilation, with its approximate duration."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _announce(models: list[Any], side_by_side: int = 1) -> None:
    times = [model.compile_s for model in models]
    what = models[0].name if len(models) == 1 else f"{len(models)} models"
    seconds = max(sum(times) / side_by_side, max(times)) * compile_speed.factor()
    for listener in _listeners[-1:]:
        listener(what, seconds)
    if not _listeners:
        logging.getLogger("netcarlo").info("compiling %s, about %.0f s, once on this machine", what, seconds)


@functools.cache
def cpu_loop(model: Any) -> Any:
    """Compile `loop(lo, hi, ...)`, which simulates rows `lo` to `hi` - 1 in turn.

    It returns the number of trace rows of the last.
    """
    file = _file(model)
    symbols = f"{file.stem.replace('-', '_')}_{uuid.uuid4().hex}"
    flow = model.make(_step(symbols, model.noalias))

    def loop(
        lo: Any, hi: Any, parameters: Any, constants: Any, first: Any, second: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> Any:  # fmt: skip
        events = 0
        for i in range(lo, hi):
            events = flow(
                parameters[i], constants[i], first[i], second[i], losses, scratch, memory, out[i], trace
            )
        return events

    if not file.exists():
        _announce([model])
    loop.__qualname__ = f"{symbols}.{loop.__qualname__}"
    with exclusive(file), refusals(model.file):
        there, start = file.exists(), time.perf_counter()
        found = _compiled(loop, file, f"int64(int64,int64,{_arrays(model.dimensions + _CPU)})")
    if not there:
        compile_speed.remember(model.compile_s, time.perf_counter() - start)
    return found


def prepare(models: Iterable[Any]) -> None:
    """Compile the models that are not in the cache folder in parallel.

    Compiling holds the interpreter lock, so other processes help and store their results in the cache folder.
    Models with a user's congestion control are compiled later.
    """
    from netcarlo.kernels.models import MODELS

    wanted = [m for m in dict.fromkeys(models) if m in MODELS.values()]
    if len(wanted) < 2 or cores() < 2 or not cache.writable():
        return
    files = {m.name: _file(m) for m in wanted}
    missing = [m for m in wanted if not files[m.name].exists()]
    if missing:
        _announce(missing, min(cores(), len(missing)))
    helpers: list[subprocess.Popen[str]] = []
    choosing = threading.Lock()

    def compile_some(number: int) -> None:
        if number == 0:  # in this process
            for model in _unmade(missing, files, choosing):
                cpu_loop(model)
            return
        helper = subprocess.Popen(
            [sys.executable, "-P", "-c", _HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        helpers.append(helper)
        assert helper.stdin and helper.stdout
        for model in _unmade(missing, files, choosing):
            print(model.name, file=helper.stdin, flush=True)
            if not helper.stdout.readline():
                return  # the helper has died; its standard error states why
        helper.stdin.close()

    try:
        with announced(lambda what, seconds: None):
            for _ in map_unordered(compile_some, range(min(cores(), len(missing))), threads=cores()):
                pass
    finally:
        missing.clear()
        for helper in helpers:
            helper.kill()
            helper.wait()


def _unmade(missing: list[Any], files: Mapping[str, Path], choosing: threading.Lock) -> Iterator[Any]:
    """Take models out of `missing`, which threads share; models that other processes compile now
    come last."""
    while True:
        with choosing:
            missing[:] = [model for model in missing if not files[model.name].exists()]
            missing.sort(key=lambda model: is_locked(files[model.name]))
            if not missing:
                return
            model = missing.pop(0)
        yield model


_HELPER = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches it, too
from netcarlo.kernels import models
from netcarlo.kernels.runtime import compile
for line in sys.stdin:
    compile.cpu_loop(models.model(line.strip()))
    print(flush=True)
"""


@functools.cache
def ptx(model: Any) -> str:
    """Return the PTX of a model's kernel `ENTRY`, from the cache folder or compiled.

    Raises ModuleNotFoundError with a remedy if it must be compiled and cannot be.
    """
    installed = [package for package in CUDA_COMPILERS if importlib.util.find_spec(package)]
    for package in installed[:1] or CUDA_COMPILERS:
        file = cache.path(model, ".ptx", package)
        if (kept := cache.read(file)) is not None:
            return kept.decode()
    if not installed:
        raise ModuleNotFoundError(
            "compiling a model for CUDA needs numba-cuda: pip install 'netcarlo[cuda13]', "
            f"or copy the cache folder of a machine that has it ({file.name} is not in {file.parent})"
        )
    compiler = importlib.import_module(f"netcarlo.kernels.runtime.{CUDA_COMPILERS[package]}")
    with exclusive(file), refusals(model.file):
        if (kept := cache.read(file)) is not None:  # compiled by another process meanwhile
            return kept.decode()
        text: str = compiler.compile_kernel(model, f"void({_arrays(cuda_dimensions(model))})", ENTRY)
        text = re.sub(r"^\.version .*$", f".version {PTX_VERSION}", text, flags=re.MULTILINE)
        cache.keep(file, text.encode())
    return text


def cuda_dimensions(model: Any) -> tuple[int, ...]:
    """Return the dimensions of the arrays of a CUDA launch: one more than on the CPU if per lane."""
    of_rows = (n + (place != _LOSSES) for place, n in enumerate(model.dimensions))
    return *of_rows, 3, 3, 3, 2  # scratch, memory, outcomes, trace


def _arrays(dimensions: tuple[int, ...]) -> str:
    """Return the types of the arguments of a model, with these numbers of dimensions."""
    shapes = [",".join(":" * (n - 1) + "1").replace("1", "::1") for n in dimensions]
    return ",".join(f"{kind}[{shape}]" for kind, shape in zip(_TYPES, shapes, strict=True))


def _compiled(function: Callable[..., Any], file: Path, signature: str) -> Any:
    """Compile a function that Python calls for one signature, or load it from a file.

    It runs without the interpreter lock.
    """
    import numba

    from netcarlo.kernels.runtime.numba_pipeline import OuterCompiler, settings

    compiled = numba.njit(
        nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True, pipeline_class=OuterCompiler
    )(function)
    compiled._cache = cache.NumbaFile(file)

    def work() -> None:
        with settings():
            compiled.compile(signature)

    interruptible(work)
    return compiled


def on_disk(model: Any) -> bool:
    """Return True if the compiled loop of a model is in the cache folder."""
    return _file(model).exists()


def _file(model: Any) -> Path:
    """Return the file in which the compiled loop of a model is kept."""
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    processor = llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    versions = numba.__version__, llvm.llvm_version_info, np.__version__, platform.python_version(), processor
    return cache.path(model, ".nbc", *versions)


def main() -> None:
    """Compile the built-in models to PTX in the cache folder."""
    from netcarlo.kernels import models

    for name in models.NAMES:
        text = ptx(models.model(name))
        print(f"{cache.folder()}: {name}, {len(text)} bytes of PTX")


if __name__ == "__main__":
    main()
