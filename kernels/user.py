"""A user's own congestion control: a Python file with the functions of `aimd`.

The file defines `grow` and `reduce` like `aimd.py`, may define `acked` like `bic.py` and `heard` like
`westwood.py`, and may list its `CONSTANTS` with defaults.
"""

import math
import sys
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np


def load(path: Path, content: bytes) -> ModuleType:
    """Run the content of the file as a module and try its functions once, in plain Python.

    The file is not read again: what runs is what was checked, and no bytecode beside it.

    Raises ValueError (or whatever the file itself raises) when it cannot serve as a congestion
    control.
    """
    name = f"netcarlo_user_{path.stem}_{zlib.crc32(str(path.resolve()).encode()):08x}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # Numba looks it up there when it loads compiled functions from disk
    exec(compile(content, str(path), "exec"), vars(module))
    for name in ("grow", "reduce"):
        if not callable(getattr(module, name, None)):
            raise ValueError(f"defines no function {name}; see netcarlo/kernels/aimd.py for both")
    constants = np.array(list(getattr(module, "CONSTANTS", {}).values()), np.float64)
    memory = np.zeros(16)
    if hasattr(module, "acked"):
        module.acked(1, memory)
    if hasattr(module, "heard"):
        module.heard(1, 10**9, 10**8, memory)
    for name, first, second in (("grow", 8.0, 4), ("reduce", 8.0, False)):
        value = getattr(module, name)(first, second, 10**9, 10**8, constants, memory)
        if not math.isfinite(value) or value <= 0:
            raise ValueError(f"{name}({first}, {second}, ...) returns {value}, not a window in packets")
    return module
