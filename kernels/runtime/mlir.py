"""From a model to PTX with numba-cuda-mlir, the successor of numba-cuda, where that is not installed.

It makes LLVM code of a kernel, by way of MLIR.  What it does with that itself would have other parameters,
fuse `a * b + c` into one rounding, and call functions instead of inlining them; so the entry is written here,
and libnvvm called.  No device is needed either.
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
from numba_cuda_mlir.numba_cuda import types
from numba_cuda_mlir.numba_cuda.cudadrv.nvvm import NVVM, CompilationUnit, LibDevice

from netcarlo.kernels.runtime import garbage
from netcarlo.kernels.runtime.compile import CAPABILITY
from netcarlo.kernels.runtime.kernel import make_kernel


def step(function: Callable[..., Any]) -> Any:
    """The step that compiles a function for CUDA, to be called by a kernel."""
    return cuda.jit(device=True, inline="never")(function)  # LLVM inlines in a fraction of the time


def compile_kernel(model: Any, signature: str, name: str) -> str:
    """The PTX of a model's kernel, called `name` there."""
    with settings():
        code = _llvm(make_kernel(model, step, cuda), signature)
    unit = CompilationUnit({"arch": "compute_{}{}".format(*CAPABILITY), "opt": 3, "fma": False})
    unit.add_module(with_entry(code, signature, name).encode())
    unit.verify()
    unit.lazy_add_module(LibDevice().get())
    text = str(unit.compile().decode().rstrip("\0"))
    assert ".extern" not in text, "PTX that calls what it has not, such as malloc"
    return text


def _llvm(kernel: Callable[..., None], signature: str) -> str:
    """The LLVM code of a kernel and all that it calls, not optimised."""
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
    """LLVM code in which the only kernel is called `name` and has the parameters that `cuda` gives it.

    numba-cuda-mlir passes an array as two addresses, an offset, the shape, and strides in items; numba-cuda
    as meminfo, parent, number of items, item size, address, shape, and strides in bytes.
    """
    [kernel] = re.findall(r"^define ptx_kernel void @([\w.$]+)\(", code, re.M)
    code = re.sub(r"^define (?:ptx_kernel )?(.*) \{$", r"define internal \1 alwaysinline {", code, flags=re.M)
    code = re.sub(r"^@llvm\.used = .*$", "", code, flags=re.M)
    code = re.sub(r"^(target datalayout) = .*$", rf'\1 = "{NVVM().data_layout}"', code, flags=re.M)
    parameters: list[str] = []
    strides: list[str] = []
    passed: list[str] = []
    for bits, shape in re.findall(r"[a-z]+(\d+)\[([:,1]+)\]", signature):
        axes = shape.split(",")
        at = len(parameters) + 5
        parameters += "i8*", "i8*", "i64", "i64", "i8*", *["i64"] * 2 * len(axes)
        passed += f"i8* %{at - 1}", f"i8* %{at - 1}", "i64 0", *(f"i64 %{at + i}" for i in range(len(axes)))
        for i, axis in enumerate(axes, at + len(axes)):
            if axis == ":":
                strides.append(f"%items{i} = sdiv exact i64 %{i}, {int(bits) // 8}\n")
            passed.append(f"i64 %items{i}" if axis == ":" else "i64 1")
    entry = f'!{{void ({", ".join(parameters)})* @{name}, !"kernel", i32 1}}'
    code = re.sub(r'^(!\d+) = .*, !"kernel", i32 1}$', rf"\1 = {entry}", code, flags=re.M)
    body = f"{''.join(strides)}call void @{kernel}({', '.join(passed)})\nret void\n"
    return f"{code}\ndefine void @{name}({', '.join(parameters)}) {{\n{body}}}\n"


@contextmanager
def settings() -> Iterator[None]:
    """Make numba-cuda-mlir compile without a device, and what it (0.6) has types, but no code for.

    These are named tuples and calls of functions with `*others`.  What it makes of `number in (a, b)` takes
    memory of the device's heap and never gives it back.
    """

    def builder(self: Any, function: Any, signature: Any) -> Any:
        if isinstance(self.fndesc.typemap.get(getattr(function, "name", None)), types.NamedTupleClass):
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
        with garbage.kept():
            yield
    finally:
        tools._cached_cc, MLIRLower.get_registered_builder, MLIRLower.load_var = originals


def _named_tuple(lower: Any, target: Any, arguments: list[Any], named: list[tuple[str, Any]]) -> None:
    """A named tuple is the tuple of its fields."""
    fields = lower.get_numba_type(target.name).fields
    given = dict(zip(fields, arguments, strict=False)) | dict(named)
    lower.store_var(target, tuple(lower.load_var(given[field]) for field in fields))


def _one_of(lower: Any, target: Any, arguments: list[Any], named: list[tuple[str, Any]]) -> None:
    """Whether a number is in a tuple of numbers."""
    numbers, number = map(lower.load_var, arguments)
    lower.store_var(target, functools.reduce(arith.ori, [equal(one, number) for one in numbers]))
