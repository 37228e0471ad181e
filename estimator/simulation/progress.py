"""How far a run is: a function that is told, or with `True` a line on stderr that is written over."""

import sys
import time
from collections.abc import Callable

EVERY_S = 0.2
"""Seconds between two writings of the line."""

Report = Callable[[int, int], object]
"""Called with (done, in all)."""
Progress = Report | bool
"""Who asks for it: a function, or True for a line."""


def reporter(progress: Progress | None, what: str = "replications") -> Report | None:
    """The function that is told; None if nobody asks."""
    if isinstance(progress, bool) or progress is None:
        return _line(what) if progress else None
    return progress


def _line(what: str) -> Report:
    due = 0.0

    def write(done: int, total: int) -> None:
        nonlocal due
        over = done >= total
        if over or time.monotonic() >= due:
            due = time.monotonic() + EVERY_S
            end = "\n" if over else ""
            share = 100 * done // max(total, 1)
            print(f"\r{share:3d} %: {done} of {total} {what}", end=end, file=sys.stderr, flush=True)

    return write
