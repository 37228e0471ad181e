"""Compilation without garbage collection, which would take a quarter of the time and find next to nothing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pause garbage collection: the millions of objects of a compiler are in use until it ends."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
