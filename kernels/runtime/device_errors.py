"""Errors of a failed kernel, after which the process can use no device any more."""

from collections.abc import Iterator
from contextlib import contextmanager

OUT_OF_MEMORY = 2
"""Status of cudaErrorMemoryAllocation and of CUDA_ERROR_OUT_OF_MEMORY."""


class DeviceError(RuntimeError):
    """Failure of a kernel, which makes all devices unusable in this process; only another process
    can go on."""


@contextmanager
def raising_device_errors(number: int) -> Iterator[None]:
    """Raise DeviceError for errors on device `number` that end all its work in this process.

    CUDA returns such an error from every later call. Other errors, such as bad arguments, are reported once.
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
    """Return True if an error reports a lack of device memory or pinned memory."""
    return isinstance(error, MemoryError) or getattr(error, "status", None) == OUT_OF_MEMORY
