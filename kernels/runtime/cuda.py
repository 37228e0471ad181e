"""Compilation of a model to PTX with numba-cuda, which a CPU installation does not need.

No device is needed either: the driver of the device that loads the PTX compiles it.
"""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import cuda, int64

from netcarlo.kernels.base import inline
from netcarlo.kernels.runtime import garbage, indices, numba_cache, shared_memory
from netcarlo.kernels.runtime.compile import CAPABILITY
from netcarlo.kernels.runtime.gpu_launch import LANES, THREADS


def step(function: Callable[..., Any]) -> Any:
    """Compile a function for CUDA, to be called by a kernel (step)."""
    if function.__module__ == inline.__name__:
        return getattr(shared_memory, function.__name__)
    return cuda.jit(device=True)(function)


step.lockstep = True  # type: ignore[attr-defined]
step.compiled = {}  # type: ignore[attr-defined]


def make_kernel(model: Any) -> Callable[..., None]:
    """Return the kernel that simulates one row per thread, for `cuda.jit`."""
    flow, own = model.make(step), _in_steps_of_a_warp()

    def kernel(
        parameters: Any, constants: Any, first: Any, second: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        i = cuda.grid(1)
        warp, lane = i // LANES, i % LANES
        if warp < out.shape[0]:
            flow(
                own(parameters[warp, ..., lane]), own(constants[warp, ..., lane]),
                own(first[warp, ..., lane]), own(second[warp, ..., lane]), losses,
                own(scratch[warp, ..., lane]), own(memory[warp, ..., lane]), own(out[warp, ..., lane]), trace,
            )  # fmt: skip

    if not model.hot_words:
        return kernel
    words = sum(high - low for low, high in model.hot_words)
    room, scratch_of = (THREADS // LANES, words, LANES), shared_memory.scratch(model.hot_words, LANES * 8)

    def kernel_with_shared_memory(
        parameters: Any, constants: Any, first: Any, second: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        shared_words = cuda.shared.array(room, int64)
        i = cuda.grid(1)
        warp, lane = i // LANES, i % LANES
        if warp < out.shape[0]:
            flow(
                own(parameters[warp, ..., lane]), own(constants[warp, ..., lane]),
                own(first[warp, ..., lane]), own(second[warp, ..., lane]), losses,
                scratch_of(scratch[warp, ..., lane], shared_words[cuda.threadIdx.x // LANES, ..., lane]),
                own(memory[warp, ..., lane]), own(out[warp, ..., lane]), trace,
            )  # fmt: skip

    return kernel_with_shared_memory


def _in_steps_of_a_warp() -> Any:
    """Return an intrinsic that sets the stride of a view: each item is 32 * 8 bytes after the previous.

    Compilers then make constant indices part of loads and stores; other indices cost a shift.
    """
    from llvmlite import ir
    from numba.cuda.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def own(typing: Any, view: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(view)(context, builder, arguments[0])
            step = ir.Constant(ir.IntType(64), LANES * 8)
            array.strides = builder.insert_value(array.strides, step, [view.ndim - 1])
            return array._getvalue()

        return view(view), generate

    return own


def _compile_ir(compile_ir: Any, code: Any, **options: Any) -> Any:
    """Compile LLVM code to PTX, with arrays that share no memory and without fused operations."""
    pieces = [code] if isinstance(code, str) else code
    return compile_ir([_with_noalias(piece) for piece in pieces], **{**options, "fma": False})


def _with_noalias(code: str) -> str:
    """Return LLVM code with the arguments of its kernel as `noalias`, so that constants need not be
    reloaded."""
    heads = re.findall(r"^define void @.*$", code, re.M)
    for head in heads:
        code = code.replace(head, re.sub(r'\* (?=%"[^"]*\.4")', "* noalias ", head))
    return code


def _behind(builder: Any, pointer: Any, offset: Any, return_type: Any = None) -> Any:
    """Return a pointer `offset` bytes further on.

    Numba converts pointers to integers, so that compilers lose track of the memory space and the array.
    """
    from llvmlite import ir

    offset = ir.Constant(ir.IntType(64), offset) if isinstance(offset, int) else offset
    byte = builder.gep(builder.bitcast(pointer, ir.IntType(8).as_pointer()), [offset])
    return builder.bitcast(byte, return_type or pointer.type)


def compile_kernel(model: Any, signature: str, name: str) -> str:
    """Return the PTX of a model's kernel, called `name` there."""
    with settings():
        text, _ = cuda.compile_ptx(make_kernel(model), signature, cc=CAPABILITY)
    entries = re.findall(r"\.entry (\w+)\(", text)
    assert len(entries) == 1, f"PTX with the kernels {entries}"
    return str(text).replace(entries[0], name)


@contextmanager
def settings() -> Iterator[None]:
    """Make numba-cuda compile without a device, without negative indices (`indices`) and without fusing
    operations.

    numba-cuda asks the device for its compute capability, and has no options for the others. Fusing would
    round `a * b + c` once instead of twice.
    """
    from numba.cuda import cgutils, dispatcher
    from numba.cuda.core import base
    from numba.cuda.cpython import slicing
    from numba.cuda.cudadrv import nvvm
    from numba.cuda.np import arrayobj

    class Device:
        compute_capability = CAPABILITY

    patches = [
        (dispatcher, "get_current_device", Device),
        (nvvm, "compile_ir", functools.partial(_compile_ir, nvvm.compile_ir)),
        (arrayobj, "fix_integer_index", indices.cast),
        (slicing, "fix_slice", indices.clip),
        (cgutils, "pointer_add", _behind),
    ]
    originals = [(module, name, getattr(module, name)) for module, name, _ in patches]
    try:
        for module, name, value in patches:
            setattr(module, name, value)
        with garbage.paused(), numba_cache.enabled(base.BaseContext):
            yield
    finally:
        for module, name, value in originals:
            setattr(module, name, value)
