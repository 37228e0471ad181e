"""What a kernel that fails leaves behind: a process that can use no device any more."""

from collections.abc import Iterator
from contextlib import contextmanager

OUT_OF_MEMORY = 2
"""Status of cudaErrorMemoryAllocation and of CUDA_ERROR_OUT_OF_MEMORY."""


class DeviceError(RuntimeError):
    """A kernel failed, and with it every use of a device in this process; only another process can go on."""


@contextmanager
def raising_device_errors(number: int) -> Iterator[None]:
    """Errors of CUDA on device `number` that end all its work in this process are DeviceError.

    CUDA returns such an error from every later call; of others, such as bad arguments, it forgets.
    """
    import cupy

    errors = cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError
    try:
        yield
    except errors as error:
        try:
            cupy.cuda.runtime.deviceSynchronize()
        except errors:
            raise DeviceError(
                f"CUDA device {number} failed in a launch ({error}); this process can use it no more, "
                "another one can; with target cpu it is not needed"
            ) from None
        raise


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that there was no room in memory, of the device or pinned."""
    return isinstance(error, MemoryError) or getattr(error, "status", None) == OUT_OF_MEMORY
