"""Compiled models on devices: each is loaded once for a device."""

import functools
import threading
from typing import Any

from netcarlo.kernels.runtime import compile as compilers

_lock = threading.Lock()


def kernel(model: Any) -> Any:
    """What launches a model on the current device: `kernel(grid, block, arguments)`."""
    import cupy

    with _lock:  # one thread compiles what others would compile at the same time
        return _loaded(model, cupy.cuda.runtime.getDevice())


@functools.cache
def _loaded(model: Any, device: int) -> Any:
    import cupy

    module = cupy.cuda.function.Module()
    module.load(compilers.ptx(model).encode())
    return module.get_function(compilers.ENTRY)
