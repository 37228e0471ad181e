"""Kernels for the present device: machine code from the cache folder, or from the driver, once.

The driver compiles PTX to machine code ("cubin"), which takes from half a second to minutes. The result is
stored beside the PTX, by compute capability. It can be copied to other machines, or made elsewhere by
`ptxas`.
"""

import functools
import threading
from pathlib import Path
from typing import Any

from netcarlo.kernels.runtime import cache
from netcarlo.kernels.runtime import compile as compilers
from netcarlo.kernels.runtime.file_lock import exclusive

_ONE_AT_A_TIME = threading.Lock()
"""Lock held while a kernel is prepared: compiling modifies numba-cuda temporarily."""


def kernel(model: Any) -> Any:
    """Return the kernel of a model on CuPy's current device, to be called with a grid, a block and arguments.

    It is compiled if necessary. Raises RuntimeError with one line if no device can run it.
    """
    if reason := obstacle():
        raise RuntimeError(f"no CUDA device: {reason}")
    import cupy

    with _ONE_AT_A_TIME:
        return _loaded(model, cupy.cuda.runtime.getDevice())


def obstacle() -> str | None:
    """Return one line on why CuPy's current device cannot be used, and a remedy; None if it can."""
    try:
        import cupy
    except Exception as error:  # missing, or not for this machine
        return f"CuPy cannot be imported ({' '.join(str(error).split())}): pip install 'netcarlo[cuda13]'"
    runtime = cupy.cuda.runtime
    driver, needed = runtime.driverGetVersion(), runtime.runtimeGetVersion() // 1000 * 1000
    if driver == 0:
        return "there is no NVIDIA driver; install one for CUDA 13 (580 or newer), or use target cpu"
    if driver < needed:
        return (
            f"the NVIDIA driver is for CUDA {version(driver)}, the CuPy that is installed needs CUDA "
            f"{version(needed)}; install a newer driver, or {_OLDER.get(driver // 1000, 'use target cpu')}"
        )
    try:
        runtime.getDeviceCount()
        found = _capability(runtime.getDevice())
    except Exception as error:  # no device, one in a bad state, ...
        return f"the driver gives no CUDA device ({error}); see nvidia-smi, or use target cpu"
    if found < compilers.CAPABILITY:
        has, needs = (".".join(map(str, numbers)) for numbers in (found, compilers.CAPABILITY))
        return f"the device has compute capability {has}, netcarlo needs {needs}; use target cpu"
    return None


_OLDER = {12: "pip uninstall cupy-cuda13x and pip install 'netcarlo[cuda12]'"}
"""Packages for drivers of an older CUDA, by its major version."""


def version(number: int) -> str:
    """Format a version of CUDA: 13020 is 13.2."""
    return f"{number // 1000}.{number % 1000 // 10}"


def versions() -> dict[str, str]:
    """Return the versions of CuPy, of its CUDA, and of the driver's CUDA."""
    import cupy

    runtime = cupy.cuda.runtime
    return {
        "cupy": cupy.__version__,
        "cuda": version(runtime.runtimeGetVersion()),
        "driver": version(runtime.driverGetVersion()),
    }


def machine_code(model: Any, capability: tuple[int, int]) -> Path:
    """Return the file of a model's machine code for devices of a compute capability."""
    major, minor = capability
    return cache.path(model, f".sm_{major}{minor}.cubin")


def _capability(device: int) -> tuple[int, int]:
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(device)
    return properties["major"], properties["minor"]


def on_disk(model: Any) -> bool:
    """Return True if the machine code of a model for the first device is in the cache folder."""
    return machine_code(model, _capability(0)).exists()


@functools.cache
def _loaded(model: Any, device: int) -> Any:
    import cupy

    file = machine_code(model, _capability(device))
    with exclusive(file):
        kept = cache.read(file)
        if kept is not None:
            try:
                return load(kept)
            except cupy.cuda.driver.CUDADriverError:  # made by a ptxas that is newer than this driver
                pass
        made = assembled(compilers.ptx(model))
        cache.keep(file, made)
    return load(made)


def load(code: bytes) -> Any:
    """Load machine code on the current device; return the kernel."""
    import cupy

    module = cupy.cuda.function.Module()
    module.load(code)
    return module.get_function(compilers.ENTRY)


def assembled(ptx: str) -> bytes:
    """Return the driver's machine code for its current device."""
    import cupy

    link = cupy.cuda.function.LinkState()
    link.add_ptr_data(ptx.encode(), "netcarlo.ptx")
    code: bytes = link.complete()
    return code
