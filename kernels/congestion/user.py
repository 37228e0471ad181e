"""A user's own congestion control: a Python file with the functions of `aimd`.

The file defines `grow` and `reduce` like `aimd.py`, may define `acked` like `bic.py` and `on_ack` like
`westwood.py`, and may list its `CONSTANTS` with defaults. For a sender that paces (today's Linux), `grow` and
`reduce` return (window, rate) in packets and packets per second.
"""

import math
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np


class RefusedError(ValueError):
    """Refusal of a user's file by a compiler; one line with place and reason."""


@contextmanager
def refusals(file: Path | None) -> Iterator[None]:
    """Turn a compiler's errors about a model with the user's `file` into RefusedError."""
    try:
        yield
    except Exception as error:
        if file is None:
            raise
        lines = [line.strip() for line in str(error).splitlines()]
        said = [line for line in lines if line and not line.startswith("Failed in ")] or [repr(error)]
        reason = " ".join(said[: 2 if said[0].endswith(":") else 1]).partition(" Raised from ")[0]
        reason = re.sub(r" at 0x[0-9a-f]+", "", reason)
        at = re.search(re.escape(file.name) + r"""(?:["'], line | \()(\d+)""", str(error))
        where = f"{file}:{at[1]}" if at else str(file)
        raise RefusedError(
            f"{where}: cannot be compiled ({reason.rstrip('.')}); write it with numbers, arithmetic, "
            "comparisons, if, loops and math"
        ) from None


def load(path: Path, content: bytes, *, paced: bool = False) -> ModuleType:
    """Run the content of a file as a module and call its functions once, in plain Python.

    For a sender that is `paced` they return a window and a rate, for all others a window. The content is
    passed in, so that what runs is what was checked; no bytecode is written.

    Raises ValueError, or what the file itself raises, if it cannot serve as a congestion control.
    """
    name = f"netcarlo_user_{path.stem}_{zlib.crc32(str(path.resolve()).encode()):08x}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # Numba looks the module up when it loads compiled functions from disk
    exec(compile(content, str(path), "exec"), vars(module))
    if hasattr(module, "heard"):  # name of `on_ack` in earlier versions
        vars(module).setdefault("on_ack", module.heard)
    for name in ("grow", "reduce"):
        if not callable(getattr(module, name, None)):
            raise ValueError(f"defines no function {name}; see netcarlo/kernels/congestion/aimd.py for both")
    constants = np.array(list(getattr(module, "CONSTANTS", {}).values()), np.float64)
    memory = np.zeros(16)
    if hasattr(module, "acked"):
        module.acked(1, memory)
    if hasattr(module, "on_ack"):
        module.on_ack(1, 10**9, 10**8, memory)
    for name, first, second in (("grow", 8.0, 4), ("reduce", 8.0, False)):
        value = getattr(module, name)(first, second, 10**9, 10**8, constants, memory)
        call, given = f"{name}({first}, {second}, ...)", value if isinstance(value, tuple) else (value,)
        if len(given) == 2 and not paced:
            raise ValueError(
                f"{call} returns a rate, at which linux alone paces; write protocol: linux, or return "
                "a window"
            )
        if len(given) == 1 and paced:
            raise ValueError(
                f"{call} returns no rate, at which linux would pace; return (window, rate) with packets per "
                "second, or write protocol: sack"
            )
        if len(given) > 2 or not all(math.isfinite(number) and number > 0 for number in given):
            wanted = "a window in packets" + " and a rate in packets per second" * paced
            raise ValueError(f"{call} returns {value}, not {wanted}")
    return module
