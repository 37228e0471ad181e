"""The one module that knows the compilers: Numba for the CPU, Numba's CUDA compiler for PTX.

Models are plain functions made by factories that take `dev`, the step that compiles a function for
a target: `cpu`, `cuda` or `plain` (no compilation).  Floating-point rounding is never relaxed.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_ROW = "int64[::1],float64[::1],int64[:,:,::1],int64[:,:,:,::1],uint32[:,::1],int64[::1],float64[::1],int64[::1],float64[:,::1]"
_ROWS = (
    "int64[:,::1],float64[:,::1],int64[:,:,:,::1],int64[:,:,:,:,::1],uint32[:,::1],"
    "int64[::1],float64[::1],int64[:,::1],float64[:,::1]"
)


def plain(function: F) -> F:
    """The step that compiles nothing: models run as Python."""
    return function


def cpu(function: Callable[..., Any]) -> Any:
    """Compile a function for the CPU; it runs without the interpreter lock."""
    import numba

    return numba.njit(nogil=True, error_model="numpy")(function)


def make_loop(dev: Callable[[Any], Any], flow: Any) -> Any:
    """`loop(lo, hi, ...)`: simulate rows `lo` to `hi` - 1 one after the other."""

    def loop(
        lo: Any, hi: Any, parameters: Any, constants: Any, hops: Any, outages: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        for i in range(lo, hi):
            flow(parameters[i], constants[i], hops[i], outages[i], losses, scratch, memory, out[i], trace)

    return dev(loop)


@functools.cache
def cpu_loop(model: Any) -> Any:
    """The compiled loop of a model, see `make_loop`."""
    loop = make_loop(cpu, model.make(cpu, False))
    loop.compile(f"void(int64,int64,{_ROWS})")
    return loop


@functools.cache
def cpu_flow(model: Any) -> Any:
    """The compiled flow of a model that records a trace and returns its length."""
    flow = model.make(cpu, True)
    flow.compile(f"int64({_ROW})")
    return flow
