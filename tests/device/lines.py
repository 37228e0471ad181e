"""PTX with the source lines of its instructions, and the behaviour of warps by line.

Numba's line numbers (`lineinfo`) do not change the instructions, except perhaps their order. Each instruction
has the line of its function, and those of the calls that were inlined.
"""

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from netcarlo.kernels.runtime import compile as compilers
from tests.device.ptx import Place

LANES = (1, 1), (2, 8), (9, 24), (25, 32)
"""Number of lanes that are distinguished."""


def ptx(model: Any) -> str:
    """Return the PTX of a model's kernel, with lines."""
    from numba import cuda
    from numba.cuda import lowering
    from numba.cuda.cudadrv import nvvm

    from netcarlo.kernels.runtime.cuda import compile_kernel, step

    def compile_ir(code: Sequence[str], *, original: Any = nvvm.compile_ir, **options: Any) -> Any:
        return original([_lines_alone(piece) for piece in code], **options)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("jit", "compile_ptx"):
            patch.setattr(cuda, name, functools.partial(getattr(cuda, name), lineinfo=True))
        # Numba's function requires a statement after a docstring; `base.inline.loop_header` has none.
        patch.setattr(lowering, "get_func_def_lineno", lambda function: function.__code__.co_firstlineno)
        patch.setattr(nvvm, "compile_ir", compile_ir)
        patch.setattr(step, "compiled", {})  # functions with and without lines cannot be combined
        arrays = compilers._arrays(compilers.cuda_dimensions(model))
        text = compile_kernel(model, f"void({arrays})", compilers.ENTRY)
    text = re.sub(r"^\.version .*$", f".version {compilers.PTX_VERSION}", text, flags=re.M)
    return text.partition("\t.section\t.debug")[0]


def _lines_alone(code: str) -> str:
    """Return LLVM code without variables and without their names, many of which libnvvm rejects."""
    code = re.sub(r'^.*call void @"?llvm\.dbg\..*$', "", code, flags=re.M)
    code = re.sub(r'linkageName: "[^"]*", ', "", code)
    return re.sub(r'(?<![a-z])name: "[^"]*"', 'name: "it"', code)


def tree(parts: Sequence[Sequence[tuple[Place, float]]], runs: NDArray[np.int64], least: float) -> str:
    """Return the functions in which warps spend more than a share of `least` of their instructions.

    `parts` are the weights of the instructions of each block, `runs` how often it ran with 0 to 32 lanes.
    """
    spent: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for weights, by_lanes in zip(parts, runs, strict=True):
        for place, weight in weights:
            names = tuple(_function(*line) for line in place)
            for depth in range(len(names) + 1):
                at = spent.setdefault(names[:depth], np.zeros(runs.shape[1]))
                at += weight * by_lanes
    lanes = np.arange(runs.shape[1])
    whole = spent[()].sum()
    wasted = (spent[()] * (lanes[-1] - lanes)).sum()

    def rows(parent: tuple[str, ...]) -> Iterator[str]:
        inside = [names for names in spent if names[:-1] == parent and names]
        for names in sorted(inside, key=lambda names: -spent[names].sum()):
            here = spent[names]
            if here.sum() < least * whole:
                break
            some = (f"{here[low : high + 1].sum() / here.sum():4.0%}" for low, high in LANES)
            yield (
                f"  {here.sum() / whole:6.1%} {(here * (lanes[-1] - lanes)).sum() / wasted:6.1%} "
                f"{(here * lanes).sum() / here.sum():5.1f}  {' '.join(some)}  {'  ' * len(parent)}{names[-1]}"
            )
            yield from rows(names)

    head = " ".join(f"{low}-{high}".rjust(4) if high > low else f"{low}".rjust(4) for low, high in LANES)
    return "\n".join([f"   issued wasted lanes  {head}", *rows(())])


@functools.cache
def _function(file: str, line: int) -> str:
    """Return the innermost function around a line, with its module."""
    inside = [begin for begin, end, _ in _functions(file) if begin <= line <= end]
    names = [name for begin, _, name in _functions(file) if inside and begin == inside[-1]]
    return f"{Path(file).stem}.{names[0]}" if names else Path(file).stem


@functools.cache
def _functions(file: str) -> list[tuple[int, int, str]]:
    path = Path(file)
    if not path.exists():
        return []
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    return sorted((node.lineno, node.end_lineno or node.lineno, node.name) for node in nodes)
