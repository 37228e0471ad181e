"""Compilation of a model to PTX with numba-cuda-mlir, the successor of numba-cuda, if that is not installed.

numba-cuda-mlir compiles a kernel to LLVM code by way of MLIR. Its own entry point would have other
parameters, fuse `a * b + c` into one rounding, and call functions instead of inlining them. So the entry
point is written here, and libnvvm is called. No device is needed.
"""

import functools
import operator
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba_cuda_mlir import compiler, cuda, mlir_optimization, tools
from numba_cuda_mlir._mlir.dialects import arith
from numba_cuda_mlir.descriptor import mlir_target
from numba_cuda_mlir.lowering_utilities import context, equal
from numba_cuda_mlir.mlir_lowering import MLIRLower
from numba_cuda_mlir.numba_cuda.cudadrv.nvvm import NVVM, CompilationUnit, LibDevice
from numba_cuda_mlir.numba_cuda.types.functions import NamedTupleClass

from netcarlo.kernels.base import inline as hints
from netcarlo.kernels.runtime import garbage
from netcarlo.kernels.runtime.compile import CAPABILITY
from netcarlo.kernels.runtime.gpu_launch import LANES

_REGISTERS = [f"llvm.nvvm.read.ptx.sreg.{name}.x" for name in ("ctaid", "ntid", "tid")]
_WHERE = (
    *(f"%r{k} = call i32 @{name}()" for k, name in enumerate(_REGISTERS)),
    *(f"%r{k}x = zext i32 %r{k} to i64" for k in range(3)),
    "%before = mul i64 %r0x, %r1x",
    "%thread = add i64 %before, %r2x",
    f"%warp = udiv i64 %thread, {LANES}",
    f"%lane = urem i64 %thread, {LANES}",
    "%lane8 = mul i64 %lane, 8",
)
"""LLVM code for the thread's warp and the byte offset of its words among those of the warp."""


def step(function: Callable[..., Any]) -> Any:
    """Compile a function for CUDA, to be called by a kernel (step)."""
    # LLVM inlines in a fraction of the time, but a call cannot return an array (`global_memory`).
    hint = function.__module__ == hints.__name__
    return cuda.jit(device=True, inline="always" if hint else "never")(function)


step.lockstep = True  # type: ignore[attr-defined]


def compile_kernel(model: Any, signature: str, name: str) -> str:
    """Return the PTX of a model's kernel, called `name` there."""
    with settings():
        code = _llvm(_kernel(model), of_lane(signature))
    unit = CompilationUnit({"arch": "compute_{}{}".format(*CAPABILITY), "opt": 3, "fma": False})
    unit.add_module(with_entry(code, signature, name).encode())
    unit.verify()
    unit.lazy_add_module(LibDevice().get())
    text = str(unit.compile().decode().rstrip("\0"))
    assert ".extern" not in text, "PTX that calls what it has not, such as malloc"
    return text


def _kernel(model: Any) -> Callable[..., None]:
    """Return the function that a thread runs with its views of the arrays of a launch."""
    flow = model.make(step)

    def kernel(
        parameters: Any, constants: Any, first: Any, second: Any, losses: Any,
        scratch: Any, memory: Any, out: Any, trace: Any,
    ) -> None:  # fmt: skip
        flow(parameters, constants, first, second, losses, scratch, memory, out, trace)

    return kernel


def of_lane(signature: str) -> str:
    """Return the types of a lane's views of arrays [warp, ..., lane] of these types."""
    return re.sub(r"\[:,((?:,?:)+),::1\]", r"[\1]", signature)


def _llvm(kernel: Callable[..., None], signature: str) -> str:
    """Return the LLVM code of a kernel and all that it calls, not optimised."""
    mlir_target.ensure_initialized()
    made = compiler._compile_only(kernel, signature, {"cc": CAPABILITY}).metadata
    with context.get_context():
        module = made["mlir_module"]
        passes = mlir_optimization.PassManager.parse(mlir_optimization.get_base_pipeline())
        passes.run(module.operation)
        mlir_optimization.run_pre_codegen_patterns(module)
        code = mlir_optimization._call_llvm70_capi(module, made["targetoptions"], gen_llvmir=True)
    return str(code.decode())


def with_entry(code: str, signature: str, name: str) -> str:
    """Return LLVM code in which the only kernel is called `name` and has the parameters of `cuda`.

    Each thread calls it with its views. numba-cuda-mlir passes an array as two addresses, an offset, the
    shape, and strides in items; a launch passes meminfo, parent, number of items, item size, address, shape,
    and strides in bytes.
    """
    [kernel] = re.findall(r"^define ptx_kernel void @([\w.$]+)\(", code, re.M)
    code = re.sub(r"^define (?:ptx_kernel )?(.*) \{$", r"define internal \1 alwaysinline {", code, flags=re.M)
    code = re.sub(r"^@llvm\.used = .*$", "", code, flags=re.M)
    code = re.sub(r"^(target datalayout) = .*$", rf'\1 = "{NVVM().data_layout}"', code, flags=re.M)
    parameters, passed, warps = list[str](), list[str](), ""
    lines = [*_WHERE]
    for k, (bits, shape) in enumerate(re.findall(r"[a-z]+(\d+)\[([:,1]+)\]", signature)):
        axes = shape.count(",") + 1
        names = [f"%a{k}.{i}" for i in range(5 + 2 * axes)]
        kinds = "i8*", "i8*", "i64", "i64", "i8* noalias", *["i64"] * 2 * axes
        parameters += [f"{kind} {n}" for kind, n in zip(kinds, names, strict=True)]
        address, sizes, steps = names[4], names[5 : 5 + axes], names[5 + axes :]
        items = [f"{step}i" for step in steps]
        lines += [f"{i} = sdiv exact i64 {n}, {int(bits) // 8}" for i, n in zip(items, steps, strict=True)]
        items[-1] = "1"
        if axes > 2:  # [warp, ..., lane]
            warps = sizes[0]
            lines += [
                f"{address}w = mul i64 %warp, {steps[0]}",
                f"{address}o = add i64 {address}w, %lane8",
                f"{address}p = getelementptr i8, i8* {address}, i64 {address}o",
            ]
            address, sizes, items = f"{address}p", sizes[1:-1], [*items[1:-2], str(LANES)]
        passed += [f"i8* {address}", f"i8* {address}", "i64 0", *(f"i64 {n}" for n in (*sizes, *items))]
    entry = f'!{{void ({", ".join(p.split()[0] for p in parameters)})* @{name}, !"kernel", i32 1}}'
    code = re.sub(r'^(!\d+) = .*, !"kernel", i32 1}$', rf"\1 = {entry}", code, flags=re.M)
    for register in _REGISTERS:
        if f"@{register}(" not in code:
            code += f"\ndeclare i32 @{register}()"
    lines += [
        f"%inside = icmp slt i64 %warp, {warps}", "br i1 %inside, label %run, label %end", "run:",
        f"call void @{kernel}({', '.join(passed)})", "br label %end", "end:", "ret void",
    ]  # fmt: skip
    return f"{code}\ndefine void @{name}({', '.join(parameters)}) {{\n" + "\n".join(lines) + "\n}\n"


@contextmanager
def settings() -> Iterator[None]:
    """Make numba-cuda-mlir compile without a device, and add code that it (0.6) lacks for some types.

    These are named tuples and calls of functions with `*others`. Its code for `number in (a, b)` leaks memory
    of the device's heap.
    """

    def builder(self: Any, function: Any, signature: Any) -> Any:
        if isinstance(self.fndesc.typemap.get(getattr(function, "name", None)), NamedTupleClass):
            return _named_tuple
        if function is operator.contains:
            return _one_of
        return originals[1](self, function, signature)

    def load(self: Any, variable: Any) -> Any:
        load_one = functools.partial(originals[2], self)
        return tuple(map(load_one, variable)) if isinstance(variable, tuple) else load_one(variable)

    originals = tools._cached_cc, MLIRLower.get_registered_builder, MLIRLower.load_var
    tools._cached_cc, MLIRLower.get_registered_builder, MLIRLower.load_var = CAPABILITY, builder, load
    try:
        with garbage.paused():
            yield
    finally:
        tools._cached_cc, MLIRLower.get_registered_builder, MLIRLower.load_var = originals


def _named_tuple(lower: Any, target: Any, arguments: list[Any], named: list[tuple[str, Any]]) -> None:
    """Compile the construction of a named tuple, as the tuple of its fields."""
    fields = lower.get_numba_type(target.name).fields
    given = dict(zip(fields, arguments, strict=False)) | dict(named)
    lower.store_var(target, tuple(lower.load_var(given[field]) for field in fields))


def _one_of(lower: Any, target: Any, arguments: list[Any], named: list[tuple[str, Any]]) -> None:
    """Compile the test whether a number is in a tuple of numbers."""
    numbers, number = map(lower.load_var, arguments)
    lower.store_var(target, functools.reduce(arith.ori, [equal(one, number) for one in numbers]))
