"""Execution of the PTX of a kernel on the CPU, thread by thread: PTX to C to machine code (gcc)."""

import ctypes
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.device import ptx
from tests.device.instructions import TYPES, to_c, variable

PRELUDE = Path(__file__).with_name("prelude.c")
GCC = "gcc", "-O0", "-fwrapv", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC"


class Kernel:
    """`kernel(grid, block, arguments)` as in CuPy; compiled in `folder`, which must exist."""

    def __init__(self, text: str, folder: Path) -> None:
        functions = ptx.read(text)
        [self.parameters] = [function.parameters for function in functions if function.is_kernel]
        source, library = folder / "kernel.c", folder / "kernel.so"
        source.write_text(module(functions, ptx.shared(text)))
        subprocess.run([*GCC, str(source), "-o", str(library), "-lm"], check=True)
        self._run = ctypes.CDLL(str(library)).launch
        self._run.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]
        self._run.restype = None

    def __call__(self, grid: tuple[int], block: tuple[int], arguments: Sequence[np.int64]) -> None:
        assert len(arguments) == self.parameters
        self._run(np.array(arguments).ctypes.data, *grid, *block)


def module(functions: Sequence[ptx.Function], shared: Mapping[str, int]) -> str:
    """Return a module in C: its functions, and `launch(parameters, blocks, threads)` for its only kernel.

    `shared` memory is not initialised to zero.
    """
    names = [function.name for function in functions]
    [kernel] = [function.name for function in functions if function.is_kernel]
    return "\n".join([
        PRELUDE.read_text(),
        *(f"static _Alignas(8) unsigned char {name}[{size}];" for name, size in shared.items()),
        *(f"{_head(function)};" for function in functions),
        *(f"{_head(function)} {{\n{body(function, names)}}}" for function in functions),
        "void launch(const uint64_t *param, uint32_t blocks, uint32_t threads) {",
        "    for (uint32_t block = 0; block < blocks; block++) {",
        *(f"        memset({name}, 77, sizeof {name});" for name in shared),
        "        for (uint32_t thread = 0; thread < threads; thread++)",
        f"            {kernel}(param, block, threads, thread);",
        "    }",
        "}\n",
    ])  # fmt: skip


def _head(function: ptx.Function) -> str:
    arguments = "const uint64_t *param, uint32_t ctaid_x, uint32_t ntid_x, uint32_t tid_x"
    return f"static uint64_t {function.name}({arguments})"


def body(function: ptx.Function, names: Sequence[str] = ()) -> str:
    """Return the statements of a function in C."""
    lines = ["uint64_t func_retval0 = 0;"]
    for statement in function.statements:
        if statement in "{}":
            lines.append(statement)
        elif statement.endswith(":"):
            lines.append(f"{variable(statement[:-1])}: ;")
        elif statement.startswith("."):
            lines.append(declaration(statement))
        else:
            lines.append(to_c(statement, names))
    return "\n".join([*lines, "return func_retval0;", ""])


def declaration(statement: str) -> str:
    """Return a declaration of registers, local memory or parameters of a call in C."""
    if statement.startswith(".pragma "):
        return ""
    if found := re.fullmatch(r"\.reg \.(\w+) %(\w+)<(\d+)>", statement):
        registers = ", ".join(f"{found[2]}{i} = 0" for i in range(int(found[3])))
        return f"{TYPES[found[1]]} {registers};"
    if found := re.fullmatch(r"\.reg \.(\w+) %?(\w+)", statement):
        return f"{TYPES[found[1]]} {found[2]} = 0;"
    if found := re.fullmatch(r"\.local \.align (\d+) \.b8 (\w+)\[(\d+)\]", statement):
        return f"_Alignas({found[1]}) unsigned char {found[2]}[{found[3]}];"
    if found := re.fullmatch(r"\.param \.b(?:32|64) (\w+)", statement):
        return f"uint64_t {found[1]} = 0;"
    raise ptx.UnknownError(statement)
